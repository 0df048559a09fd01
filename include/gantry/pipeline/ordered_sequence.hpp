// Groups of threads that take turns. In a pingpong kernel one math warpgroup issues wgmmas while the other runs its
// epilogue: each part of the work is done by one group at a time, always in the same order.
//
// The work of a round has `Depth` parts. A group waits for its turn in a part, does it, and hands the part to the next
// group, the last one back to the first; the barriers of a part are one for each group. All `group_size` threads of a
// group wait and arrive, and every group goes through every part of every round, so that no turn can be missed.
//
// Example at namespace scope:
//     using Order = gantry::OrderedSequenceBarrier<2, 2>;  // two parts, two warpgroups
//     GANTRY_HD inline void take_turns(Order::SharedStorage& storage, std::uint32_t warpgroup, int tiles) {
//       Order order(storage, {.group = warpgroup, .group_size = 128});
//       for (int i = 0; i < tiles; ++i) {
//         order.wait();    // then the main loop, alone
//         order.arrive();
//         order.wait();    // then the epilogue, alone
//         order.arrive();
//       }
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/mbarrier.hpp>
#include <gantry/pipeline/state.hpp>

namespace gantry {

template <int Depth, int Groups>
class OrderedSequenceBarrier {
 public:
  static_assert(Depth >= 1, "a round has at least one part");
  static_assert(Groups >= 2 && Groups <= 8, "two to eight groups take turns");

  struct SharedStorage {
    std::uint64_t turn[Depth][Groups];
  };

  struct Params {
    std::uint32_t group = 0;         // of this thread, from 0 to Groups - 1
    std::uint32_t group_size = 128;  // threads of a group
  };

  // Group 0 begins: its barriers count as complete before anyone has arrived.
  GANTRY_INLINE OrderedSequenceBarrier(SharedStorage& storage, const Params& params)
      : turn_(storage.turn), group_(params.group), part_(0, params.group == 0 ? 1 : 0, 0) {}

  // One thread of the CTA initialises the barriers; `fence_mbarrier_init` and a barrier of the CTA follow. Reports call
  // the turn of group g in part d `name`.group<g>[d].
  GANTRY_INLINE static void init(SharedStorage& storage, const Params& params, const char* name = "order",
                                 Site site = Site::here()) {
    for (int d = 0; d < Depth; ++d) {
      for (int g = 0; g < Groups; ++g) {
        arch::name(&storage.turn[d][g], sizeof(std::uint64_t), name, d, group_name(g));
        arch::mbarrier_init(&storage.turn[d][g], params.group_size, site);
      }
    }
  }

  // Waits until it is this group's turn in the current part.
  GANTRY_INLINE void wait(Site site = Site::here()) { arch::wait(&turn_[part_.index()][group_], part_.phase(), site); }

  // Hands the current part to the next group and goes on to the next part.
  GANTRY_INLINE void arrive(Site site = Site::here()) {
    const std::uint32_t next = group_ + 1 == Groups ? 0 : group_ + 1;
    arch::mbarrier_arrive(&turn_[part_.index()][next], site);
    advance();
  }

  // Skips this part without taking a turn in it. All groups do, or none.
  GANTRY_INLINE void advance() { ++part_; }

 private:
  GANTRY_HD static constexpr const char* group_name(int group) noexcept {
    switch (group) {
      case 0:
        return ".group0";
      case 1:
        return ".group1";
      case 2:
        return ".group2";
      case 3:
        return ".group3";
      case 4:
        return ".group4";
      case 5:
        return ".group5";
      case 6:
        return ".group6";
      default:
        return ".group7";
    }
  }

  std::uint64_t (*turn_)[Groups];
  std::uint32_t group_;
  PipelineState<Depth> part_;
};

}  // namespace gantry
