// Warps that take turns: in each part of a round, every warp in its turn enters its number and the round's in a log, at
// a place that nothing but the order protects.
#pragma once

#include "moves.hpp"

namespace gantry::test {

enum class TurnFlaw : std::uint8_t { none, does_not_wait, does_not_arrive, arrives_first, skips_a_part };

template <int Depth, int Groups, TurnFlaw flaw = TurnFlaw::none>
struct OrderedKernel {
  using Params = MoveParams;
  using Order = OrderedSequenceBarrier<Depth, Groups>;
  static constexpr std::uint32_t kThreads = 32 * Groups;

  struct Storage {
    std::uint32_t entries[Depth];
    typename Order::SharedStorage order;
  };

  // What group `group` enters in round `round`.
  GANTRY_HD static constexpr std::uint32_t entry(std::uint32_t group, std::uint32_t round) {
    return 1000 * group + round;
  }

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const std::uint32_t group = arch::warp_rank();
    const typename Order::Params params{.group = group, .group_size = 32};
    if (arch::thread_rank() == 0) {
      arch::name(s.entries, sizeof s.entries, "entries");
      Order::init(s.order, params, "math order");
      for (int d = 0; d < Depth; ++d) arch::st(arch::space_shared, &s.entries[d], 0u);
    }
    publish_barriers();
    Order order(s.order, params);
    const std::uint32_t capacity = static_cast<std::uint32_t>(p.tiles) * Groups;
    GANTRY_NO_UNROLL
    for (int round = 0; round < p.tiles; ++round) {
      for (std::uint32_t d = 0; d < Depth; ++d) {
        const bool wrong = group == 1 && round == 2;
        if (wrong && d == 0 && flaw == TurnFlaw::skips_a_part) {
          order.advance();
          continue;
        }
        if (wrong && flaw == TurnFlaw::arrives_first) order.arrive();
        if (!wrong || flaw != TurnFlaw::does_not_wait) order.wait();
        if (arch::lane_rank() == 0) {
          const std::uint32_t at = arch::ld(arch::space_shared, &s.entries[d]);
          if (at < capacity) {
            arch::st(arch::space_global, p.to + d * capacity + at, entry(group, static_cast<std::uint32_t>(round)));
          }
          arch::st(arch::space_shared, &s.entries[d], at + 1);
        }
        if (wrong && flaw == TurnFlaw::does_not_arrive) {
          order.advance();
        } else if (!wrong || flaw != TurnFlaw::arrives_first) {
          order.arrive();
        }
      }
    }
  }
};

}  // namespace gantry::test
