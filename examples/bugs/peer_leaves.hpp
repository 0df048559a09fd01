// A cluster of two: the second CTA multicasts into the first, which does not wait for anything and returns. Its shared
// memory is gone when the copy arrives.
#pragma once

#include "doubler.hpp"

namespace gantry::examples::bugs {

struct PeerLeaves : Doubler {
  static constexpr const char* kName = "peer_leaves";
  static constexpr int kCtas = 2;  // of a cluster

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = prepare(shared);
    if (arch::thread_rank() == 0) expect(&s.full, kTileBytes);
    arch::barrier_cluster_arrive();
    arch::barrier_cluster_wait();
    if (arch::cluster_block_rank() == 1 && arch::thread_rank() == 0) {
      const std::int32_t at[2] = {0, 0};
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile, &p.from, at, &s.full,
                                 std::uint16_t{3});
      arch::wait(&s.full, 0);
    }
    // here every CTA should wait for its bytes, or all should wait at the cluster barrier once more
  }
};

}  // namespace gantry::examples::bugs
