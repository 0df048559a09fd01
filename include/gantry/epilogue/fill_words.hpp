// A kernel that writes words: what reductions start from.
//
// Example:
//     using namespace gantry;
//     static std::uint32_t words[100];
//     FillWords::Params params;
//     params.add({.words = words, .count = 100, .value = 7});
//     const LaunchConfig config = fill_config(params);  // one CTA
#pragma once

#include <gantry/arch/kernel.hpp>
#include <gantry/arch/launch_config.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/epilogue/fusion/graph.hpp>

namespace gantry {

// Writes words of 4 bytes, or of 2: `rows` runs of `count`, `stride` words apart.
struct FillWords {
  static constexpr int kThreads = 256;
  struct Fill {
    void* words = nullptr;
    std::int64_t count = 0, rows = 1, stride = 0;
    std::uint32_t value = 0;
    int bytes = 4;
    int argument = -1;  // of the graph, whose memory this is; -1: workspace
  };
  struct Params {
    Fill fills[fusion::kMaxArguments + 1] = {};
    int fill_count = 0;

    void add(const Fill& fill) { fills[fill_count++] = fill; }
    std::int64_t most_words() const {
      std::int64_t most = 0;
      for (const Fill& fill : fills) most = fill.count * fill.rows > most ? fill.count * fill.rows : most;
      return most;
    }
  };

  GANTRY_HD static void run(const Params& params, SharedMemory /*shared*/) {
    const std::int64_t first = std::int64_t{arch::block_index().x} * kThreads + arch::thread_rank();
    const std::int64_t step = std::int64_t{arch::grid_dim().x} * kThreads;
    for (int f = 0; f < params.fill_count; ++f) {
      const Fill& fill = params.fills[f];
      for (std::int64_t i = first; i < fill.count * fill.rows; i += step) {
        const std::int64_t at = i / fill.count * fill.stride + i % fill.count;
        if (fill.bytes == 2) {
          arch::st(arch::space_global, static_cast<std::uint16_t*>(fill.words) + at,
                   static_cast<std::uint16_t>(fill.value));
        } else {
          arch::st(arch::space_global, static_cast<std::uint32_t*>(fill.words) + at, fill.value);
        }
      }
    }
  }
};

inline LaunchConfig fill_config(const FillWords::Params& params) {
  constexpr std::int64_t kMostCtas = 64;
  const std::int64_t ctas = (params.most_words() + FillWords::kThreads - 1) / FillWords::kThreads;
  LaunchConfig config;
  config.grid = {static_cast<std::uint32_t>(ctas < kMostCtas ? ctas : kMostCtas)};
  config.block = {FillWords::kThreads};
  config.name = "initialise workspace";
  return config;
}

}  // namespace gantry
