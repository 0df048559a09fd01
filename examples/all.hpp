// Every example kernel that is right, by name, ready to run on the simulated SM with a small problem. The result
// is not looked at here: the tests do that. What the checker says of the run is the report.
#pragma once

#include <vector>

#include <gantry/arch/simulator.hpp>

#include "broadcast.hpp"
#include "im2col_gather.hpp"
#include "maps.hpp"
#include "reduce_add.hpp"
#include "tile_copy.hpp"
#include "tile_product.hpp"
#include "transpose.hpp"

namespace gantry::examples {

struct Example {
  const char* name;
  Report (*run)(const SimulatorOptions& options);
};

namespace detail {

struct SmallCopy : TileCopyConfig {
  static constexpr int kRows = 16, kStages = 3, kBoxes = 2;
};
struct SmallProduct {
  static constexpr int kTileN = 64, kStages = 2, kCluster = 2;
};

template <class T>
std::uint64_t address_of(const std::vector<T>& memory) {
  return reinterpret_cast<std::uint64_t>(memory.data());
}

template <class Kernel>
Report run_example(const SimulatorOptions& options, LaunchConfig config, const typename Kernel::Params& params) {
  config.shared_bytes = sizeof(typename Kernel::Storage);
  return Simulator(options).run<Kernel>(config, params);
}

inline Report run_tile_copy(const SimulatorOptions& options) {
  const std::vector<unsigned char> from(128 * 1024), to(from.size());
  const auto map = [](const auto& memory) {
    return pack(matrix_map(TmaDataType::u8, address_of(memory), 128, 1024, 16, 128, TmaSwizzle::bytes_128));
  };
  return run_example<TileCopy<SmallCopy>>(options, {.grid = {2}, .block = {32}, .name = "tile_copy"},
                                          {map(from), map(to), 8, 4});
}

inline Report run_transpose(const SimulatorOptions& options) {
  const std::vector<std::uint16_t> from(192 * 128), to(from.size());
  const auto map = [](const auto& memory, int rows, int columns) {
    return pack(matrix_map(TmaDataType::u16, address_of(memory), rows, columns, 64, 64, TmaSwizzle::bytes_128));
  };
  return run_example<Transpose>(options, {.block = {128}, .name = "transpose"},
                                {map(from, 192, 128), map(to, 128, 192), 3, 2});
}

inline Report run_broadcast(const SimulatorOptions& options) {
  const std::vector<unsigned char> from(8 * 32 * 128), a(from.size()), b(from.size()), c(from.size()), d(from.size());
  const auto map = [](const auto& memory) {
    return pack(matrix_map(TmaDataType::u8, address_of(memory), 256, 128, 32, 128, TmaSwizzle::none));
  };
  return run_example<Broadcast>(options, {.grid = {2}, .cluster = {2}, .block = {64}, .name = "broadcast"},
                                {map(from), {map(a), map(b), map(c), map(d)}, 8});
}

inline Report run_reduce_add(const SimulatorOptions& options) {
  constexpr int kRows = 40, kColumns = 48, kPartials = 4;
  const std::vector<float> partial(kRows * kColumns * kPartials), sum(kRows * kColumns);
  ReduceAdd::Params params{};
  params.partial = pack({.data_type = TmaDataType::f32,
                         .rank = 3,
                         .address = address_of(partial),
                         .dims = {kColumns, kRows, kPartials},
                         .strides = {4 * kColumns, 4 * kColumns * kRows},
                         .box = {ReduceAdd::kColumns, ReduceAdd::kRows, 1}});
  params.sum = pack(matrix_map(TmaDataType::f32, address_of(sum), kRows, kColumns, ReduceAdd::kRows,
                               ReduceAdd::kColumns, TmaSwizzle::none));
  params.row_tiles = 3, params.column_tiles = 2, params.partials = kPartials;
  return run_example<ReduceAdd>(options, {.grid = {2}, .block = {32}, .name = "reduce_add"}, params);
}

inline Report run_im2col_gather(const SimulatorOptions& options) {
  constexpr int kChannels = Im2colGather::kChannels;
  const std::vector<std::uint16_t> image(2 * 9 * 7 * kChannels);
  Im2colGather::Params params{};
  params.plan = plan_im2col({.data_type = TmaDataType::u16,
                             .address = address_of(image),
                             .images = 2,
                             .channels = kChannels,
                             .extent = {9, 7},
                             .filter = {3, 2},
                             .pad_lower = {1, 1},
                             .pad_upper = {1, 0}},
                            {.channels = kChannels, .pixels = Im2colGather::kPixels});
  const auto rows = static_cast<int>(params.plan.pixels()), columns = static_cast<int>(params.plan.taps()) * kChannels;
  const std::vector<std::uint16_t> matrix(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  params.image = pack(params.plan.map);
  params.matrix = pack(matrix_map(TmaDataType::u16, address_of(matrix), rows, columns, Im2colGather::kPixels, kChannels,
                                  TmaSwizzle::none));
  return run_example<Im2colGather>(options, {.grid = {2}, .block = {32}, .name = "im2col_gather"}, params);
}

inline Report run_tile_product(const SimulatorOptions& options) {
  using Kernel = TileProduct<SmallProduct>;
  const std::vector<std::uint16_t> a(256 * 256), b(a.size()), d(a.size());
  const auto map = [](const auto& memory, int rows) {
    return pack(matrix_map(TmaDataType::bf16, address_of(memory), 256, 256, rows, 64, TmaSwizzle::bytes_128));
  };
  return run_example<Kernel>(options,
                             {.grid = {2}, .cluster = {2}, .block = {Kernel::kThreads}, .name = "tile_product"},
                             {map(a, 128), map(b, Kernel::kLoadedRowsB), map(d, 64), 2, 4, 4});
}

}  // namespace detail

inline std::vector<Example> all() {
  return {{"tile_copy", detail::run_tile_copy},         {"transpose", detail::run_transpose},
          {"broadcast", detail::run_broadcast},         {"reduce_add", detail::run_reduce_add},
          {"im2col_gather", detail::run_im2col_gather}, {"tile_product", detail::run_tile_product}};
}

}  // namespace gantry::examples
