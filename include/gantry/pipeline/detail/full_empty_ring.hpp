// A full and an empty barrier for each stage, and the ways to wait on them: what the pipelines over mbarriers share.
//
// A producer waits on empty with its state's phase, which starts at 1: a barrier in its first phase counts parity 1 as
// complete, so that the first lap finds every stage empty. A consumer waits on full, from phase 0.
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/mbarrier.hpp>
#include <gantry/pipeline/role.hpp>
#include <gantry/pipeline/state.hpp>

namespace gantry::detail {

template <int Stages>
class FullEmptyRing {
 public:
  using State = PipelineState<Stages>;
  using Role = PipelineRole;

  static constexpr int kStages = Stages;

  struct SharedStorage {
    std::uint64_t full[Stages];
    std::uint64_t empty[Stages];
  };

  // Tests whether the stage is empty; does not wait.
  GANTRY_INLINE ProducerToken producer_try_acquire(const State& state, Site site = Site::here()) {
    return {!is_producer() || arch::mbarrier_test_wait_parity(empty(state), state.phase(), site)};
  }

  // The mbarrier that copies into this stage complete on.
  GANTRY_INLINE std::uint64_t* producer_get_barrier(const State& state) { return &full_[state.index()]; }

  // Waits until consumers have released every stage, so that no CTA exits while others may still signal it. `state` is
  // the one after the last stage that was filled.
  GANTRY_INLINE void producer_tail(State state, Site site = Site::here()) {
    for (int i = 0; i < Stages; ++i, ++state) wait_empty(state, site);
  }

  // Tests whether the stage is full; does not wait.
  GANTRY_INLINE ConsumerToken consumer_try_wait(const State& state, Site site = Site::here()) {
    return {arch::mbarrier_test_wait_parity(full(state), state.phase(), site)};
  }

  GANTRY_INLINE void consumer_wait(const State& state, Site site = Site::here()) {
    arch::wait(full(state), state.phase(), site);
  }

  GANTRY_INLINE void consumer_wait(const State& state, ConsumerToken token, Site site = Site::here()) {
    if (!token.arrived) consumer_wait(state, site);
  }

 protected:
  GANTRY_INLINE FullEmptyRing(SharedStorage& storage, Role role)
      : full_(storage.full), empty_(storage.empty), role_(role) {}

  struct Arrivals {
    std::uint32_t full;
    std::uint32_t empty;
  };

  GANTRY_INLINE static void init_barriers(SharedStorage& storage, const Arrivals& arrivals, const char* name,
                                          Site site) {
    for (int i = 0; i < Stages; ++i) {
      arch::name(&storage.full[i], sizeof(std::uint64_t), name, i, ".full");
      arch::name(&storage.empty[i], sizeof(std::uint64_t), name, i, ".empty");
      arch::mbarrier_init(&storage.full[i], arrivals.full, site);
      arch::mbarrier_init(&storage.empty[i], arrivals.empty, site);
    }
  }

  // A thread that does not fill stages must not wait for them to be empty: the others need not wait for it, and the
  // parity that it waits for may come round again before it is tested.
  GANTRY_INLINE void wait_empty(const State& state, Site site) {
    if (is_producer()) arch::wait(empty(state), state.phase(), site);
  }

  GANTRY_INLINE bool is_producer() const { return produces(role_); }
  GANTRY_INLINE bool is_consumer() const { return consumes(role_); }
  GANTRY_INLINE std::uint64_t* full(const State& state) { return &full_[state.index()]; }
  GANTRY_INLINE std::uint64_t* empty(const State& state) { return &empty_[state.index()]; }

 private:
  std::uint64_t* full_;
  std::uint64_t* empty_;
  Role role_;
};

}  // namespace gantry::detail
