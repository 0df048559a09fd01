// A ring of stages whose producers say, stage by stage, how many bytes will come: the pipeline of an epilogue's loads,
// where a stage may carry one copy, several, or none.
//
// A stage is full when every producer has committed it and the bytes that were expected have arrived; it is empty when
// every consumer has released it. `producer_arrivals` and `consumer_arrivals` are the numbers of threads that have
// these roles. A producer that issues copies expects their bytes before it commits, in any order with the copies
// themselves.
//
// Example at namespace scope:
//     using Loads = gantry::PipelineTransactionAsync<4>;
//     GANTRY_HD inline void load(Loads::SharedStorage& storage, const Loads::Params& params, Loads::State& write) {
//       Loads pipeline(storage, params);
//       pipeline.producer_acquire(write);             // then copies onto pipeline.producer_get_barrier(write)
//       pipeline.producer_expect_transaction(write);  // params.transaction_bytes of them
//       pipeline.producer_commit(write);
//       ++write;
//     }
//     GANTRY_HD inline void use(Loads& pipeline, Loads::State& read) {
//       pipeline.consumer_wait(read);
//       pipeline.consumer_release(read);
//       ++read;
//     }
#pragma once

#include <cstdint>

#include <gantry/pipeline/detail/full_empty_ring.hpp>

namespace gantry {

template <int Stages>
class PipelineTransactionAsync : public detail::FullEmptyRing<Stages> {
  using Ring = detail::FullEmptyRing<Stages>;

 public:
  using typename Ring::Role;
  using typename Ring::SharedStorage;
  using typename Ring::State;

  struct Params {
    Role role = Role::both;               // of this thread
    std::uint32_t transaction_bytes = 0;  // of a stage, unless the producer says otherwise
    std::uint32_t producer_arrivals = 1;  // commits of a stage
    std::uint32_t consumer_arrivals = 1;  // releases of a stage
  };

  GANTRY_INLINE PipelineTransactionAsync(SharedStorage& storage, const Params& params)
      : Ring(storage, params.role), transaction_bytes_(params.transaction_bytes) {}

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

  // The stage will not be full before `bytes` more have come. The same thread commits it afterwards.
  GANTRY_INLINE void producer_expect_transaction(const State& state, std::uint32_t bytes, Site site = Site::here()) {
    if (!this->is_producer()) return;
    arch::mbarrier_expect_tx(arch::sem_relaxed, arch::scope_cta, arch::space_shared, this->full(state), bytes, site);
  }

  GANTRY_INLINE void producer_expect_transaction(const State& state, Site site = Site::here()) {
    producer_expect_transaction(state, transaction_bytes_, site);
  }

  GANTRY_INLINE void producer_commit(const State& state, Site site = Site::here()) {
    if (this->is_producer()) arch::mbarrier_arrive(this->full(state), site);
  }

  // Expects `bytes` and commits, as one instruction.
  GANTRY_INLINE void producer_commit(const State& state, std::uint32_t bytes, Site site = Site::here()) {
    if (!this->is_producer()) return;
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, this->full(state), bytes,
                                    site);
  }

  GANTRY_INLINE void consumer_release(const State& state, Site site = Site::here()) {
    if (this->is_consumer()) arch::mbarrier_arrive(this->empty(state), site);
  }

 private:
  std::uint32_t transaction_bytes_;
};

}  // namespace gantry
