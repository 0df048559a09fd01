// Every kernel with a bug, by name, ready to run on the simulated SM.
#pragma once

#include <vector>

#include <gantry/arch/simulator.hpp>

#include "accumulator_early.hpp"
#include "another_thread_waits.hpp"
#include "asks_in_a_branch.hpp"
#include "early_release.hpp"
#include "elements_for_bytes.hpp"
#include "expects_too_much.hpp"
#include "init_without_fence.hpp"
#include "leaves_before_read.hpp"
#include "missing_proxy_fence.hpp"
#include "one_arrival_for_all.hpp"
#include "peer_leaves.hpp"
#include "phase_not_flipped.hpp"
#include "producer_parity.hpp"
#include "reloaded_under_product.hpp"
#include "wait_without_barrier.hpp"

namespace gantry::examples::bugs {

struct Bug {
  const char* name;
  Report (*run)(const SimulatorOptions& options);
};

namespace detail {

inline constexpr int kTiles = 3;

template <class Kernel>
Report run_on_simulator(const SimulatorOptions& options) {
  std::vector<std::uint32_t> from(kTiles * kRows * kColumns), to(from.size());
  const auto map = [](const std::vector<std::uint32_t>& matrix) {
    return pack({.data_type = TmaDataType::u32,
                 .rank = 2,
                 .address = reinterpret_cast<std::uint64_t>(matrix.data()),
                 .dims = {kColumns, kTiles * kRows, 1, 1, 1},
                 .strides = {kColumns * 4},
                 .box = {kColumns, kRows, 1, 1, 1}});
  };
  const Params params{map(from), map(to), kTiles};
  return Simulator(options).run<Kernel>({.grid = {Kernel::kCtas},
                                         .cluster = {Kernel::kCtas},
                                         .block = {Kernel::kThreads},
                                         .shared_bytes = 8192,
                                         .name = Kernel::kName},
                                        params);
}

template <class... Kernels>
std::vector<Bug> table() {
  return {{Kernels::kName, &run_on_simulator<Kernels>}...};
}

}  // namespace detail

inline std::vector<Bug> all() {
  return detail::table<MissingProxyFence, WaitWithoutBarrier, AnotherThreadWaits, LeavesBeforeRead, InitWithoutFence,
                       ElementsForBytes, ExpectsTooMuch, OneArrivalForAll, PhaseNotFlipped, ProducerParity,
                       EarlyRelease, AccumulatorEarly, ReloadedUnderProduct, PeerLeaves, AsksInABranch>();
}

}  // namespace gantry::examples::bugs
