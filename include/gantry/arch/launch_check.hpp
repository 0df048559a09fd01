// The launch limits of sm_90, and every way in which a launch breaks them.
//
// Example:
//     const gantry::LaunchReasons reasons = gantry::problems({.grid = {131}, .cluster = {2}});
//     const bool uneven = reasons.has(gantry::LaunchRule::cluster_divides_grid);
//     // describe(reasons[0]): "kernel: the grid has 131 blocks along x and clusters of 2: clusters divide the grid; the
//     // next number that works is 132"
#pragma once

#include <gantry/arch/launch_config.hpp>
#include <gantry/hardware/architecture.hpp>
#include <gantry/rules/reasons.hpp>

namespace gantry {

inline constexpr std::uint32_t kMaxSharedBytesPerBlock = kSm90.shared_bytes_per_block;
inline constexpr std::uint32_t kMaxThreadsPerBlock = kSm90.threads_per_block;
inline constexpr std::uint32_t kMaxPortableCluster = kSm90.portable_cluster;
inline constexpr std::uint32_t kMaxCluster = kSm90.largest_cluster;

inline constexpr std::uint32_t kRegistersPerBlock = kSm90.registers_per_block;
inline constexpr std::uint32_t kMaxRegistersPerThread = kSm90.registers_per_thread;

enum class LaunchRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/arch/detail/launch_rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(LaunchRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(LaunchRule, __VA_ARGS__)
#include <gantry/arch/detail/launch_rule_table.hpp>
  }
  return {};
}

struct LaunchReason {
  LaunchRule rule = LaunchRule::empty;
  Text<64> kernel{};
  char axis = 'x';
  bool simulated = true;  // the machine that it is about
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  Text<200> words{};
};

using LaunchReasons = Reasons<LaunchReason, 8>;

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const LaunchReason& r) {
  constexpr const char* kMachines[] = {"a GPU", "the simulated SM"};
  if (word == "kernel") {
    out.append(r.kernel);
  } else if (word == "axis") {
    out.append(r.axis);
  } else if (word == "machine") {
    out.append(kMachines[r.simulated ? 1 : 0]);
  } else if (word == "other machine") {
    out.append(kMachines[r.simulated ? 0 : 1]);
  } else if (word == "words") {
    out.append(r.words);
  } else {
    return false;
  }
  return true;
}

// The registers that each thread of the launch starts with.
constexpr std::uint32_t registers_at_launch(const LaunchConfig& config) {
  if (config.registers_per_thread != 0) return config.registers_per_thread;
  const auto share = static_cast<std::uint32_t>(kRegistersPerBlock / config.block.count()) / 8 * 8;
  return share < kMaxRegistersPerThread ? share : kMaxRegistersPerThread;
}

namespace detail {

constexpr Text<200> extents_text(const Extent3& e) {
  const auto number = [](std::uint32_t x) { return static_cast<std::int64_t>(x); };
  return Text<200>().append(number(e.x)).append(" x ").append(number(e.y)).append(" x ").append(number(e.z));
}

GANTRY_COLD constexpr void check_registers(const LaunchConfig& config, LaunchReasons& out) {
  const std::uint32_t registers = config.registers_per_thread;
  const auto threads = static_cast<std::int64_t>(config.block.count());
  if (registers > kMaxRegistersPerThread || registers % 8 != 0) {
    out.add({.rule = LaunchRule::registers,
             .kernel = config.name,
             .actual = registers,
             .nearest = registers < kMaxRegistersPerThread ? registers / 8 * 8 + 8 : kMaxRegistersPerThread});
  } else if (registers * config.block.count() > kRegistersPerBlock) {
    out.add({.rule = LaunchRule::registers_of_block,
             .kernel = config.name,
             .actual = registers,
             .nearest = kRegistersPerBlock / threads / 8 * 8,
             .first = threads});
  }
}

GANTRY_COLD constexpr LaunchReasons problems_of(const LaunchConfig& config) {
  LaunchReasons out;
  if (config.grid.count() == 0 || config.block.count() == 0 || config.cluster.count() == 0) {
    out.add({.rule = LaunchRule::empty, .kernel = config.name});
    return out;
  }
  if (config.block.count() > kMaxThreadsPerBlock || config.block.z > 64) {
    out.add({.rule = LaunchRule::block, .kernel = config.name, .words = extents_text(config.block)});
  }
  if (config.grid.y > 65535 || config.grid.z > 65535 || config.grid.x > 0x7FFFFFFF) {
    out.add({.rule = LaunchRule::grid, .kernel = config.name, .words = extents_text(config.grid)});
  }
  if (config.shared_bytes > kMaxSharedBytesPerBlock) {
    out.add({.rule = LaunchRule::shared_memory,
             .kernel = config.name,
             .actual = config.shared_bytes,
             .nearest = kMaxSharedBytesPerBlock,
             .first = config.shared_bytes - kMaxSharedBytesPerBlock});
  }
  if (config.cluster.count() > kMaxCluster) {
    out.add({.rule = LaunchRule::cluster,
             .kernel = config.name,
             .actual = static_cast<std::int64_t>(config.cluster.count()),
             .nearest = kMaxCluster});
  }
  check_registers(config, out);
  const auto divides = [&](char axis, std::uint32_t grid, std::uint32_t cluster) {
    if (grid % cluster == 0) return;
    out.add({.rule = LaunchRule::cluster_divides_grid,
             .kernel = config.name,
             .axis = axis,
             .actual = grid,
             .nearest = grid / cluster * cluster + cluster,
             .first = cluster});
  };
  divides('x', config.grid.x, config.cluster.x);
  divides('y', config.grid.y, config.cluster.y);
  divides('z', config.grid.z, config.cluster.z);
  return out;
}

// The same at run time.
GANTRY_COLD GANTRY_LINKAGE LaunchReasons problems_now(const LaunchConfig& config);

}  // namespace detail

// Every reason why no sm_90 can run a launch of this shape.
GANTRY_COLD constexpr LaunchReasons problems(const LaunchConfig& config) {
  return is_constant_evaluated() ? detail::problems_of(config) : detail::problems_now(config);
}

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/arch/detail/launch_check_definitions.hpp>
#endif
