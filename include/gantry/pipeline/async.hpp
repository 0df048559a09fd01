// A ring of stages that threads fill with ordinary stores and other threads use.
//
// A stage is full when every producer has committed it, and empty when every consumer has released it;
// `producer_arrivals` and `consumer_arrivals` are the numbers of threads that have these roles. What producers wrote
// before they committed, consumers see after they waited. Where a stage is then read by TMA or wgmma, each producer
// executes `fence_proxy_async` before it commits; where TMA fills stages, `PipelineTransactionAsync` or
// `PipelineTmaAsync` count the bytes too.
//
// Example at namespace scope:
//     using Rows = gantry::PipelineAsync<2>;
//     GANTRY_HD inline void fill(Rows& pipeline, Rows::State& write) {
//       pipeline.producer_acquire(write);  // then stores to stage write.index()
//       pipeline.producer_commit(write);
//       ++write;
//     }
//     GANTRY_HD inline void use(Rows& pipeline, Rows::State& read) {
//       pipeline.consumer_wait(read);  // then loads from stage read.index()
//       pipeline.consumer_release(read);
//       ++read;
//     }
#pragma once

#include <cstdint>

#include <gantry/pipeline/detail/full_empty_ring.hpp>

namespace gantry {

template <int Stages>
class PipelineAsync : public detail::FullEmptyRing<Stages> {
  using Ring = detail::FullEmptyRing<Stages>;

 public:
  using typename Ring::Role;
  using typename Ring::SharedStorage;
  using typename Ring::State;

  struct Params {
    Role role = Role::both;               // of this thread
    std::uint32_t producer_arrivals = 1;  // commits of a stage
    std::uint32_t consumer_arrivals = 1;  // releases of a stage
  };

  GANTRY_INLINE PipelineAsync(SharedStorage& storage, const Params& params) : Ring(storage, params.role) {}

  // One thread of the CTA initialises the barriers; `fence_mbarrier_init` and a barrier of the CTA follow. Reports call
  // them `name`.full and `name`.empty.
  GANTRY_INLINE static void init(SharedStorage& storage, const Params& params, const char* name = "pipeline",
                                 Site site = Site::here()) {
    Ring::init_barriers(storage, {.full = params.producer_arrivals, .empty = params.consumer_arrivals}, name, site);
  }

  // Waits until consumers have released the stage.
  GANTRY_INLINE void producer_acquire(const State& state, Site site = Site::here()) { this->wait_empty(state, site); }

  GANTRY_INLINE void producer_acquire(const State& state, ProducerToken token, Site site = Site::here()) {
    if (!token.acquired) producer_acquire(state, site);
  }

  // This thread's part of the stage is done.
  GANTRY_INLINE void producer_commit(const State& state, Site site = Site::here()) {
    if (this->is_producer()) arch::mbarrier_arrive(this->full(state), site);
  }

  // This thread needs the stage no longer.
  GANTRY_INLINE void consumer_release(const State& state, Site site = Site::here()) {
    if (this->is_consumer()) arch::mbarrier_arrive(this->empty(state), site);
  }
};

}  // namespace gantry
