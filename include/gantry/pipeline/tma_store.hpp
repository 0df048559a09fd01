// A ring of buffers that are stored by TMA: bulk groups of the one thread that issues the stores.
//
// Stage i may be written again when the store that was committed `Stages` steps before has been read out of shared
// memory. Groups are read in order, so it suffices that at most `UnacquiredStages` of the newest are unread. Bulk
// groups belong to a thread: the caller elects the issuing thread once and sets `Params::issues` in it. Only that
// thread waits and commits; in the others these calls return at once, and a barrier among all writers after
// `producer_acquire` publishes that the buffer is free.
//
// Example at namespace scope:
//     using Stores = gantry::PipelineTmaStore<4>;
//     GANTRY_HD inline void store(Stores& pipeline, Stores::State& write) {
//       pipeline.producer_acquire(write);  // then a barrier, the writes, fence_proxy_async, a barrier
//       if (pipeline.issues()) { /* the copies of buffer write.index() */ }
//       pipeline.producer_commit(write);
//       ++write;
//     }
#pragma once

#include <gantry/arch/bulk_group.hpp>
#include <gantry/pipeline/state.hpp>

namespace gantry {

template <int Stages, int UnacquiredStages = Stages - 1>
class PipelineTmaStore {
 public:
  static_assert(Stages >= 1, "a pipeline has at least one stage");
  static_assert(UnacquiredStages >= 0 && UnacquiredStages < Stages,
                "a buffer may be written again when its own store has been read: UnacquiredStages is less than Stages");

  using State = PipelineState<Stages>;

  static constexpr int kStages = Stages;

  struct Params {
    bool issues = true;  // this thread issues the stores, all of them
  };

  GANTRY_INLINE explicit PipelineTmaStore(const Params& params = {}) : issues_(params.issues) {}

  GANTRY_INLINE bool issues() const { return issues_; }

  // Waits until at most UnacquiredStages groups are unread.
  GANTRY_INLINE void producer_acquire(const State&, Site site = Site::here()) {
    if (issues_) arch::cp_async_bulk_wait_group_read(arch::n32<UnacquiredStages>, site);
  }

  // The stores issued since the last commit are a group.
  GANTRY_INLINE void producer_commit(const State&, Site site = Site::here()) {
    if (issues_) arch::cp_async_bulk_commit_group(site);
  }

  // Waits until nothing is unread: then the CTA may exit, or reuse the buffers.
  GANTRY_INLINE void producer_tail(const State&, Site site = Site::here()) {
    arch::cp_async_bulk_wait_group_read(arch::n32<0>, site);  // threads that issue none have nothing to wait for
  }

  // How many of `committed` groups may be unread after `producer_acquire`: as many stages are still held.
  GANTRY_HD static constexpr int unread_groups(int committed) noexcept {
    return committed < UnacquiredStages ? committed : UnacquiredStages;
  }

 private:
  bool issues_;
};

}  // namespace gantry
