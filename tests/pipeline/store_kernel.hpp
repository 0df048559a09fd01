// Stores from a ring of buffers: two warps write tiles, one thread of the second stores them. Word w of tile i is
// from[w] + i.
#pragma once

#include "moves.hpp"

namespace gantry::test {

enum class StoreFlaw : std::uint8_t { none, no_acquire, no_tail };

template <int Stages, int UnacquiredStages = Stages - 1, StoreFlaw flaw = StoreFlaw::none>
struct StoreKernel {
  using Params = MoveParams;
  using Pipeline = PipelineTmaStore<Stages, UnacquiredStages>;
  using State = typename Pipeline::State;
  static constexpr int kThreads = kWords;

  struct Storage {
    alignas(128) std::uint32_t buffer[Stages][kWords];
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const std::uint32_t word = arch::thread_rank();
    const bool elected = arch::elect_sync();
    if (word == 0) arch::name(s.buffer, sizeof s.buffer, "buffer");
    Pipeline pipeline({.issues = arch::warp_rank() == 1 && elected});
    State write = make_producer_start_state<Stages>();
    const std::uint32_t value = arch::ld(arch::space_global, p.from + word);
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++write) {
      const auto number = static_cast<std::uint32_t>(i);
      if (flaw != StoreFlaw::no_acquire) pipeline.producer_acquire(write);
      arch::barrier_sync(1, kThreads);
      arch::st(arch::space_shared, &s.buffer[write.index()][word], value + number);
      arch::fence_proxy_async(arch::space_shared);
      arch::barrier_sync(1, kThreads);
      if (pipeline.issues()) {
        arch::cp_async_bulk(arch::space_global, arch::space_shared, p.to + number * kWords, s.buffer[write.index()],
                            kBytes);
      }
      pipeline.producer_commit(write);
    }
    if (flaw != StoreFlaw::no_tail) pipeline.producer_tail(write);
  }
};

}  // namespace gantry::test
