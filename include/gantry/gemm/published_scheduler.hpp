// A tile scheduler in which one warp of each CTA finds the next piece of work and publishes it to the CTA's other roles
// through a ring in shared memory. For schedulers whose next() is expensive: those that search groups, or read lists.
//
// `Inner` is a tile scheduler; the finder runs it, and places its work. Readers get copies. Every reading thread
// releases a slot by itself, so that the finder runs at most kSlots pieces ahead of the slowest role.
//
// Invariant: every reader reads every slot up to the one that says that there is no more work, and releases it once.
// The finder leaves after all slots have been released.
//
// Example:
//     using namespace gantry;
//     using Published = PublishedScheduler<PersistentScheduler>;
//     static_assert(TileScheduler<Published> && Published::kSharedBytes == 4 * (32 + 16));
#pragma once

#include <gantry/gemm/frame.hpp>
#include <gantry/pipeline/async.hpp>

namespace gantry {

template <class Inner, int kSlots = 4>
class PublishedScheduler {
  using Ring = PipelineAsync<kSlots>;
  // A piece of work in two 16-byte words.
  struct alignas(16) Words {
    int x, y, z, w;
  };
  struct Storage {
    Words slots[kSlots][2];
    typename Ring::SharedStorage ring;
  };
  static constexpr int kNoWork = -1;  // K tiles of the slot that ends the ring

 public:
  using Params = typename Inner::Params;
  static constexpr int kSharedBytes = sizeof(Storage);
  static constexpr int kFinders = 1;  // threads that run find()
  GANTRY_INLINE static const int& uniform_k_steps(const Params& params) { return Inner::uniform_k_steps(params); }

  // By one thread, before a barrier of the CTA. `readers`: threads that read the ring.
  GANTRY_INLINE static void init(SharedMemory ring, int readers) {
    Ring::init(ring.template as<Storage>().ring,
               {.producer_arrivals = 1, .consumer_arrivals = static_cast<std::uint32_t>(readers)}, "work");
  }

  // One thread of the CTA.
  template <class KernelParams>
  GANTRY_INLINE static void find(const KernelParams& params, SharedMemory ring, int cluster) {
    Storage& s = ring.template as<Storage>();
    Ring pipeline(s.ring, {.role = PipelineRole::producer});
    auto state = make_producer_start_state<kSlots>();
    Inner inner(params.schedule, ring, cluster);
    const auto publish = [&](const Words& first, const Words& second) {
      pipeline.producer_acquire(state);
      arch::st(arch::space_shared, &s.slots[state.index()][0], first);
      arch::st(arch::space_shared, &s.slots[state.index()][1], second);
      pipeline.producer_commit(state);
      ++state;
    };
    for (Work work; inner.next(work);) {
      inner.place(work);
      publish({work.m, work.n, work.batch, work.k_begin},
              {work.steps, work.k_step, static_cast<int>(work.part), inner.k_steps(work)});
    }
    publish({0, 0, 0, 0}, {kNoWork, 0, 0, 0});
    pipeline.producer_tail(state);
  }

  // ---- A reader

  GANTRY_INLINE PublishedScheduler(const Params&, SharedMemory ring, int /*cluster*/)
      : s_(ring.template as<Storage>()), pipeline_(s_.ring, {.role = PipelineRole::consumer}) {}

  GANTRY_INLINE bool next(Work& work) {
    if (ended_) return false;
    pipeline_.consumer_wait(state_);
    const Words first = arch::ld(arch::space_shared, &s_.slots[state_.index()][0]);
    const Words second = arch::ld(arch::space_shared, &s_.slots[state_.index()][1]);
    pipeline_.consumer_release(state_);
    ++state_;
    work = {};
    work.m = first.x;
    work.n = first.y;
    work.batch = first.z;
    work.k_begin = first.w;
    work.steps = second.x;
    work.k_step = second.y;
    work.part = static_cast<Work::Part>(second.z);
    k_steps_ = second.w;
    ended_ = work.steps == kNoWork;
    return !ended_;
  }
  GANTRY_INLINE void place(Work&) const {}
  // The K tiles of the pieces that were skipped.
  GANTRY_INLINE int skip(int tiles) {
    int steps = 0;
    Work other;
    for (int i = 0; i < tiles && next(other); ++i) steps += other.steps;
    return steps;
  }
  GANTRY_INLINE const int& k_steps(const Work&) const { return k_steps_; }
  GANTRY_INLINE bool is_peer(int, const Work&) const { return false; }  // split tiles are not published

 private:
  Storage& s_;
  Ring pipeline_;
  PipelineState<kSlots> state_{};
  int k_steps_ = 0;
  bool ended_ = false;
};

}  // namespace gantry
