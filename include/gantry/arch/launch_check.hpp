// The launch limits of sm_90, and every way in which a launch breaks them, as sentences.
//
// Example:
//     for (const std::string& problem : gantry::problems({.grid = {131}, .cluster = {2}})) {
//       (void)problem;  // "...131 blocks along x, which clusters of 2 do not divide; 132 is the next number that works."
//     }
#pragma once

#include <string>
#include <vector>

#include <gantry/arch/detail/sentence.hpp>
#include <gantry/arch/launch_config.hpp>
#include <gantry/hardware/architecture.hpp>

namespace gantry {

inline constexpr std::uint32_t kMaxSharedBytesPerBlock = kSm90.shared_bytes_per_block;
inline constexpr std::uint32_t kMaxThreadsPerBlock = kSm90.threads_per_block;
inline constexpr std::uint32_t kMaxPortableCluster = kSm90.portable_cluster;
inline constexpr std::uint32_t kMaxCluster = kSm90.largest_cluster;

inline constexpr std::uint32_t kRegistersPerBlock = kSm90.registers_per_block;
inline constexpr std::uint32_t kMaxRegistersPerThread = kSm90.registers_per_thread;

// The registers that each thread of the launch starts with.
constexpr std::uint32_t registers_at_launch(const LaunchConfig& config) {
  if (config.registers_per_thread != 0) return config.registers_per_thread;
  const auto share = static_cast<std::uint32_t>(kRegistersPerBlock / config.block.count()) / 8 * 8;
  return share < kMaxRegistersPerThread ? share : kMaxRegistersPerThread;
}

GANTRY_COLD inline std::vector<std::string> problems(const LaunchConfig& config) {
  std::vector<std::string> out;
  const auto say = [&](std::initializer_list<detail::SentencePart> words) {
    out.push_back(detail::sentence({config.name, ": ", detail::sentence(words)}));
  };
  if (config.grid.count() == 0 || config.block.count() == 0 || config.cluster.count() == 0) {
    say({"a launch needs at least one thread, block and cluster in every dimension."});
    return out;
  }
  if (config.block.count() > kMaxThreadsPerBlock || config.block.z > 64) {
    say({"a block of ", config.block.x, " x ", config.block.y, " x ", config.block.z,
         " threads was asked for; a block has at most 1024 threads, and at most 64 along z."});
  }
  if (config.grid.y > 65535 || config.grid.z > 65535 || config.grid.x > 0x7FFFFFFF) {
    say({"a grid of ", config.grid.x, " x ", config.grid.y, " x ", config.grid.z,
         " blocks was asked for; it has at most 2147483647 x 65535 x 65535."});
  }
  if (config.shared_bytes > kMaxSharedBytesPerBlock) {
    say({config.shared_bytes, " bytes of shared memory were asked for; a block has at most ", kMaxSharedBytesPerBlock,
         ", which is ", config.shared_bytes - kMaxSharedBytesPerBlock, " fewer."});
  }
  if (config.cluster.count() > kMaxCluster) {
    say({"a cluster of ", config.cluster.count(),
         " blocks was asked for; it has at most 8, or 16 where the device allows it."});
  }
  const std::uint32_t registers = config.registers_per_thread;
  if (registers > kMaxRegistersPerThread || registers % 8 != 0) {
    say({registers, " registers a thread were asked for; there are multiples of 8 up to 256, and ",
         registers < kMaxRegistersPerThread ? registers / 8 * 8 + 8 : kMaxRegistersPerThread,
         " is the nearest that works."});
  } else if (registers * config.block.count() > kRegistersPerBlock) {
    say({registers, " registers were asked for each of ", config.block.count(),
         " threads; a block has 65536, which is ", kRegistersPerBlock / config.block.count() / 8 * 8, " for each."});
  }
  const auto divides = [&](const char* axis, std::uint32_t grid, std::uint32_t cluster) {
    if (grid % cluster == 0) return;
    say({"the grid has ", grid, " blocks along ", axis, ", which clusters of ", cluster, " do not divide; ",
         grid / cluster * cluster + cluster, " is the next number that works."});
  };
  divides("x", config.grid.x, config.cluster.x);
  divides("y", config.grid.y, config.cluster.y);
  divides("z", config.grid.z, config.cluster.z);
  return out;
}

}  // namespace gantry
