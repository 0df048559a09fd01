// A ring of stages filled by TMA and emptied by consumers: a full and an empty barrier for each stage.
//
// The producer, one thread of the CTA, acquires a stage (waits until it is empty, then arrives with the expected
// transaction bytes), issues copies onto its full barrier, and continues. Consumers wait until it is full, use it, and
// release it. In a cluster that multicasts, a stage is filled by the producers of several CTAs (`cluster_spread.hpp`),
// and a release reaches all of them.
//
// Consumers release in groups: warpgroups if their number is a multiple of 128, else warps. Every thread of the group
// calls `consumer_release` once all of them are known to have read (a wgmma wait, a named barrier, `syncwarp`); each
// signals one CTA at most.
//
// Example at namespace scope:
//     using Tiles = gantry::PipelineTmaAsync<4>;
//     GANTRY_HD constexpr Tiles::Params tiles(gantry::PipelineRole role) {
//       return {.role = role, .transaction_bytes = 16384, .consumers = 256, .cluster = {2, 1}};
//     }
//     GANTRY_HD inline void fill(Tiles::SharedStorage& storage, Tiles::State& write) {  // by the one producer
//       Tiles pipeline(storage, tiles(gantry::PipelineRole::producer));
//       pipeline.producer_acquire(write);  // then copies onto pipeline.producer_get_barrier(write)
//       ++write;
//     }
//     GANTRY_HD inline void use(Tiles::SharedStorage& storage, Tiles::State& read) {  // by all 256 consumers
//       Tiles pipeline(storage, tiles(gantry::PipelineRole::consumer));
//       pipeline.consumer_wait(read);
//       pipeline.consumer_release(read);
//       ++read;
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/thread.hpp>
#include <gantry/pipeline/cluster_spread.hpp>
#include <gantry/pipeline/detail/full_empty_ring.hpp>

namespace gantry {

template <int Stages>
class PipelineTmaAsync : public detail::FullEmptyRing<Stages> {
  using Ring = detail::FullEmptyRing<Stages>;

 public:
  using typename Ring::Role;
  using typename Ring::SharedStorage;
  using typename Ring::State;

  struct Params {
    Role role = Role::both;               // of this thread; one thread of the CTA is the producer
    std::uint32_t transaction_bytes = 0;  // that arrive in a stage of this CTA, from all CTAs that feed it
    std::uint32_t consumers = 128;        // threads of this CTA, whole warps
    Extent3 cluster{};
    // At a stage's full barrier: the producer's, and those of threads that fill a part of the stage themselves.
    std::uint32_t arrivals = 1;
  };

  GANTRY_INLINE PipelineTmaAsync(SharedStorage& storage, const Params& params)
      : Ring(storage, params.role),
        transaction_bytes_(params.transaction_bytes),
        in_cluster_(params.cluster.count() > 1),
        signal_(signal_of(params)) {}

  // For callers that spread releases themselves: every `consumer_release(state)` signals this CTA.
  GANTRY_INLINE explicit PipelineTmaAsync(SharedStorage& storage) : Ring(storage, Role::both) {}

  // How many signals reach a stage's empty barrier in one lap.
  GANTRY_HD static constexpr std::uint32_t releases(const Params& params) noexcept {
    return feeding_ctas(params.cluster) * (params.consumers / group_size(params));
  }

  // One thread of the CTA initialises the barriers; `fence_mbarrier_init` and a barrier of the CTA or the cluster
  // follow. Reports call them `name`.full and `name`.empty.
  GANTRY_INLINE static void init(SharedStorage& storage, const Params& params, const char* name = "pipeline",
                                 Site site = Site::here()) {
    Ring::init_barriers(storage, {.full = params.arrivals, .empty = releases(params)}, name, site);
  }

  // `release_count`: how many times `consumer_release` reaches this CTA's barrier in one lap.
  GANTRY_INLINE static void init(SharedStorage& storage, std::uint32_t release_count, const char* name = "pipeline",
                                 Site site = Site::here()) {
    Ring::init_barriers(storage, {.full = 1, .empty = release_count}, name, site);
  }

  // Waits until every consumer of the stage, in all CTAs that this one feeds, has released it; then expects the bytes
  // of the next tile.
  GANTRY_INLINE void producer_acquire(const State& state, Site site = Site::here()) {
    producer_acquire(state, transaction_bytes_, site);
  }

  GANTRY_INLINE void producer_acquire(const State& state, ProducerToken token, Site site = Site::here()) {
    if (!token.acquired) this->wait_empty(state, site);
    expect(state, transaction_bytes_, site);
  }

  GANTRY_INLINE void producer_acquire(const State& state, std::uint32_t bytes, Site site = Site::here()) {
    this->wait_empty(state, site);
    expect(state, bytes, site);
  }

  GANTRY_INLINE void consumer_release(const State& state, Site site = Site::here()) {
    if (!this->is_consumer() || !signal_.sent) return;
    if (in_cluster_) {
      consumer_release(state, signal_.rank, site);
    } else {
      arch::mbarrier_arrive(this->empty(state), site);
    }
  }

  // Releases the stage in CTA `rank` of the cluster. The reads that it follows are complete, so no wider scope is
  // needed.
  GANTRY_INLINE void consumer_release(const State& state, std::uint32_t rank, Site site = Site::here()) {
    arch::mbarrier_arrive(arch::sem_release, arch::scope_cta, arch::space_cluster,
                          arch::mapa(arch::space_cluster, this->empty(state), rank, site), site);
  }

 private:
  GANTRY_HD static constexpr std::uint32_t group_size(const Params& params) noexcept {
    return params.consumers % 128 == 0 ? 128 : 32;
  }

  GANTRY_INLINE static Signal signal_of(const Params& params) {
    const std::uint32_t rank = params.cluster.count() > 1 ? arch::cluster_block_rank() : 0;
    return signal_of_thread(arch::thread_rank() % group_size(params), rank, params.cluster, group_size(params));
  }

  GANTRY_INLINE void expect(const State& state, std::uint32_t bytes, Site site) {
    if (!this->is_producer()) return;
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, this->full(state), bytes,
                                    site);
  }

  std::uint32_t transaction_bytes_ = 0;
  bool in_cluster_ = false;
  Signal signal_{.sent = true};
};

}  // namespace gantry
