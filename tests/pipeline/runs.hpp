// Runs kernels of this folder on the simulated SM.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/mutation_sweep.hpp>
#include <gantry/arch/simulator.hpp>

#include "moves.hpp"

namespace gantry::test {

// `tile_count` tiles of input, each word different, and room for `copies` times as many of output.
struct Memory {
  explicit Memory(int tile_count, int copies = 1)
      : tiles(tile_count),
        from(static_cast<std::size_t>(tile_count) * kWords),
        to(from.size() * static_cast<std::size_t>(copies)) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint32_t>(1000 * i + 7);
  }

  MoveParams params() { return {from.data(), to.data(), tiles}; }

  int tiles;
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> to;
};

template <class Kernel>
Report run_once(Memory& memory, const SimulatorOptions& options = {}, const Extent3& cluster = {}) {
  return Simulator(options).run<Kernel>({.grid = cluster,
                                         .cluster = cluster,
                                         .block = {Kernel::kThreads},
                                         .shared_bytes = sizeof(typename Kernel::Storage),
                                         .name = "pipeline"},
                                        memory.params());
}

// Under both policies and every latency: the run is clean, and `to` is what `expected` says.
template <class Kernel>
void expect_clean(int tiles, const std::vector<std::uint32_t>& expected, const Extent3& cluster = {}) {
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  Memory memory(tiles, static_cast<int>(cluster.count()));
  for (const Schedule schedule : {Schedule::round_robin, Schedule::random, Schedule::pct}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      std::fill(memory.to.begin(), memory.to.end(), 0xDEADu);
      const Report report =
          run_once<Kernel>(memory, {.seed = seed, .schedule = schedule, .latency = kLatencies[seed % 4]}, cluster);
      ASSERT_TRUE(report.clean()) << report.text();
      ASSERT_EQ(memory.to, expected) << "seed " << seed;
    }
  }
}

// The first finding of `rule` in the reports of some seeds; empty: there is none.
template <class Kernel>
std::string finding(const std::string& rule, int tiles, const Extent3& cluster = {}) {
  Memory memory(tiles, static_cast<int>(cluster.count()));
  std::string others;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const Finding& found : run_once<Kernel>(memory, {.seed = seed, .max_steps = 500'000}, cluster).findings) {
      if (found.rule == rule) return found.text;
      others += found.rule + ": " + found.text + "\n";
    }
  }
  ADD_FAILURE() << "no " << rule << " was found, but\n" << others;
  return "";
}

// The kernel with one synchronising call left out or changed, for each call, is found out. `harmless`, a function of
// the entry, says of which changes that is not asked.
template <class Kernel, class Harmless>
void expect_every_change_detected(int tiles, Harmless harmless, const Extent3& cluster = {}) {
  Memory memory(tiles, static_cast<int>(cluster.count()));
  const SweepReport report = mutation_sweep({.max_steps = 500'000}, 8, [&](const SimulatorOptions& options) {
    return run_once<Kernel>(memory, options, cluster);
  });
  EXPECT_TRUE(report.original_clean);
  EXPECT_GE(report.entries.size(), 4u);
  for (const SweepEntry& entry : report.entries) {
    if (!harmless(entry)) {
      EXPECT_TRUE(entry.detected()) << entry.site.file << ":" << entry.site.line << " " << entry.site.operation
                                    << ", change " << static_cast<int>(entry.kind);
    }
  }
}

}  // namespace gantry::test
