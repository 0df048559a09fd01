// A ring of stages whose producers state the transaction bytes stage by stage: the pipeline of an epilogue's loads,
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

#include <gantry/pipeline/async.hpp>

namespace gantry {

template <int Stages>
class PipelineTransactionAsync : public PipelineAsync<Stages> {
  using Base = PipelineAsync<Stages>;

 public:
  using typename Base::Role;
  using typename Base::SharedStorage;
  using typename Base::State;

  struct Params {
    Role role = Role::both;               // of this thread
    std::uint32_t transaction_bytes = 0;  // of a stage, unless the producer says otherwise
    std::uint32_t producer_arrivals = 1;  // commits of a stage
    std::uint32_t consumer_arrivals = 1;  // releases of a stage
  };

  GANTRY_INLINE PipelineTransactionAsync(SharedStorage& storage, const Params& params)
      : Base(storage, arrivals(params)), transaction_bytes_(params.transaction_bytes) {}

  // As `PipelineAsync::init`.
  GANTRY_INLINE static void init(SharedStorage& storage, const Params& params, const char* name = "pipeline",
                                 Site site = Site::here()) {
    Base::init(storage, arrivals(params), name, site);
  }

  // The stage will not be full before `bytes` more have arrived. The same thread commits it afterwards.
  GANTRY_INLINE void producer_expect_transaction(const State& state, std::uint32_t bytes, Site site = Site::here()) {
    if (!this->is_producer()) return;
    arch::mbarrier_expect_tx(arch::sem_relaxed, arch::scope_cta, arch::space_shared, this->full(state), bytes, site);
  }

  GANTRY_INLINE void producer_expect_transaction(const State& state, Site site = Site::here()) {
    producer_expect_transaction(state, transaction_bytes_, site);
  }

  using Base::producer_commit;

  // Expects `bytes` and commits, as one instruction.
  GANTRY_INLINE void producer_commit(const State& state, std::uint32_t bytes, Site site = Site::here()) {
    if (!this->is_producer()) return;
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, this->full(state), bytes,
                                    site);
  }

 private:
  GANTRY_HD static constexpr typename Base::Params arrivals(const Params& params) noexcept {
    return {.role = params.role,
            .producer_arrivals = params.producer_arrivals,
            .consumer_arrivals = params.consumer_arrivals};
  }

  std::uint32_t transaction_bytes_;
};

}  // namespace gantry
