// A ring of stages filled by TMA and emptied by consumers: a full and an empty barrier for each stage.
//
// The producer acquires a stage (waits until it is empty, and says how many bytes will come), issues copies onto its
// full barrier, and goes on. Consumers wait until it is full, use it, and release it. In a cluster that multicasts, a
// consumer releases a stage in every CTA whose producer fills it.
//
// Example at namespace scope:
//     GANTRY_HD inline void turn(gantry::PipelineTmaAsync<4>::SharedStorage& storage, gantry::PipelineState<4>& write,
//                                gantry::PipelineState<4>& read) {
//       gantry::PipelineTmaAsync<4> pipeline(storage);
//       pipeline.producer_acquire(write, 16384);  // then copies onto pipeline.producer_get_barrier(write)
//       pipeline.consumer_wait(read);
//       pipeline.consumer_release(read);
//       ++write, ++read;
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/mbarrier.hpp>
#include <gantry/pipeline/state.hpp>

namespace gantry {

template <int Stages>
class PipelineTmaAsync {
 public:
  using State = PipelineState<Stages>;

  struct SharedStorage {
    std::uint64_t full[Stages];
    std::uint64_t empty[Stages];
  };

  GANTRY_INLINE explicit PipelineTmaAsync(SharedStorage& storage) : full_(storage.full), empty_(storage.empty) {}

  // One thread of the CTA initialises the barriers; `fence_mbarrier_init` and a barrier of the CTA or the cluster
  // follow. `releases`: how many times `consumer_release` reaches this CTA's barrier in one lap.
  GANTRY_INLINE static void init(SharedStorage& storage, std::uint32_t releases, const char* name = "pipeline",
                                 Site site = Site::here()) {
    for (int i = 0; i < Stages; ++i) {
      arch::name(&storage.full[i], sizeof(std::uint64_t), name, i, ".full");
      arch::name(&storage.empty[i], sizeof(std::uint64_t), name, i, ".empty");
      arch::mbarrier_init(&storage.full[i], 1, site);
      arch::mbarrier_init(&storage.empty[i], releases, site);
    }
  }

  GANTRY_INLINE void producer_acquire(const State& state, std::uint32_t bytes, Site site = Site::here()) {
    arch::wait(&empty_[state.index()], state.phase(), site);
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &full_[state.index()],
                                    bytes, site);
  }

  GANTRY_INLINE std::uint64_t* producer_get_barrier(const State& state) { return &full_[state.index()]; }

  // Waits until consumers have released every stage, so that no CTA leaves while others may still signal it.
  GANTRY_INLINE void producer_tail(State state, Site site = Site::here()) {
    for (int i = 0; i < Stages; ++i, ++state) arch::wait(&empty_[state.index()], state.phase(), site);
  }

  GANTRY_INLINE void consumer_wait(const State& state, Site site = Site::here()) {
    arch::wait(&full_[state.index()], state.phase(), site);
  }

  GANTRY_INLINE void consumer_release(const State& state, Site site = Site::here()) {
    arch::mbarrier_arrive(&empty_[state.index()], site);
  }

  // Releases the stage in CTA `rank` of the cluster. The reads that it follows are complete, so no wider scope is
  // needed.
  GANTRY_INLINE void consumer_release(const State& state, std::uint32_t rank, Site site = Site::here()) {
    arch::mbarrier_arrive(arch::sem_release, arch::scope_cta, arch::space_cluster,
                          arch::mapa(arch::space_cluster, &empty_[state.index()], rank, site), site);
  }

 private:
  std::uint64_t* full_;
  std::uint64_t* empty_;
};

}  // namespace gantry
