// The example kernels, at a size that both machines run at once.
#pragma once

#include <examples/broadcast.hpp>
#include <examples/im2col_gather.hpp>
#include <examples/maps.hpp>
#include <examples/reduce_add.hpp>
#include <examples/tile_copy.hpp>
#include <examples/tile_product.hpp>
#include <examples/transpose.hpp>

#include "copy_cases.hpp"
#include "wgmma_cases.hpp"

namespace gantry::conformance {

inline std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

template <class Machine>
void add_examples(Cases<Machine>& cases) {
  using namespace examples;
  cases.push_back({"example: tile copy", [](Machine& m) {
                     using Kernel = TileCopy<>;
                     constexpr int kRows = 200, kColumns = 640;
                     std::uint8_t* from = m.buffer(Dice(21).bytes(kRows * kColumns));
                     std::uint8_t* to = m.buffer(Bytes(kRows * kColumns));
                     const auto map = [&](std::uint8_t* at) {
                       return m.map(matrix_map(TmaDataType::u8, address(at), kRows, kColumns, TileCopyConfig::kRows,
                                               TileCopyConfig::kBoxBytes, TmaSwizzle::bytes_128));
                     };
                     typename Kernel::Params params{map(from), map(to), 13, 1};
                     LaunchConfig config = one_cta<Kernel>("tile_copy");
                     config.grid = {3};
                     m.template launch<Kernel>(config, params);
                     m.result(to, kRows * kColumns);
                   }});
  cases.push_back(
      {"example: transpose", [](Machine& m) {
         constexpr int kRows = 128, kColumns = 192;
         std::uint8_t* from = m.buffer(Dice(22).bytes(kRows * kColumns * 2));
         std::uint8_t* to = m.buffer(Bytes(kRows * kColumns * 2));
         Transpose::Params params{
             m.map(matrix_map(TmaDataType::u16, address(from), kRows, kColumns, 64, 64, TmaSwizzle::bytes_128)),
             m.map(matrix_map(TmaDataType::u16, address(to), kColumns, kRows, 64, 64, TmaSwizzle::bytes_128)), 2, 3};
         LaunchConfig config = one_cta<Transpose>("transpose");
         config.grid = {2};
         m.template launch<Transpose>(config, params);
         m.result(to, kRows * kColumns * 2);
       }});
  cases.push_back({"example: broadcast", [](Machine& m) {
                     constexpr int kTiles = 5, kCluster = 4;
                     constexpr std::size_t kBytes = kTiles * Broadcast::kRows * Broadcast::kBytes;
                     const auto map = [&](std::uint8_t* at) {
                       return m.map(matrix_map(TmaDataType::u8, address(at), kTiles * Broadcast::kRows,
                                               Broadcast::kBytes, Broadcast::kRows, Broadcast::kBytes,
                                               TmaSwizzle::none));
                     };
                     Broadcast::Params params{};
                     params.from = map(m.buffer(Dice(23).bytes(kBytes)));
                     std::uint8_t* to = m.buffer(Bytes(kCluster * kBytes));
                     for (int i = 0; i < kCluster; ++i) params.to[i] = map(to + static_cast<std::size_t>(i) * kBytes);
                     params.tiles = kTiles;
                     LaunchConfig config = one_cta<Broadcast>("broadcast");
                     config.grid = config.cluster = {kCluster};
                     m.template launch<Broadcast>(config, params);
                     m.result(to, kCluster * kBytes);
                   }});
  cases.push_back({"example: reduce-add", [](Machine& m) {
                     constexpr int kRows = 40, kColumns = 48, kPartials = 5;  // neither is a multiple of the tile
                     // Small integers: their sums are the same in every order.
                     Dice dice(27);
                     Bytes partial(4 * kRows * kColumns * kPartials);
                     for (std::size_t i = 0; i < partial.size(); i += 4) {
                       const float value = static_cast<float>(dice.between(-100, 100));
                       std::memcpy(&partial[i], &value, 4);
                     }
                     std::uint8_t* sum = m.buffer(Bytes(4 * kRows * kColumns));
                     ReduceAdd::Params params{};
                     params.partial = m.map({.data_type = TmaDataType::f32,
                                             .rank = 3,
                                             .address = address(m.buffer(partial)),
                                             .dims = {kColumns, kRows, kPartials},
                                             .strides = {4 * kColumns, 4 * kColumns * kRows},
                                             .box = {ReduceAdd::kColumns, ReduceAdd::kRows, 1}});
                     params.sum = m.map(matrix_map(TmaDataType::f32, address(sum), kRows, kColumns, ReduceAdd::kRows,
                                                   ReduceAdd::kColumns, TmaSwizzle::none));
                     params.row_tiles = 3, params.column_tiles = 2, params.partials = kPartials;
                     LaunchConfig config = one_cta<ReduceAdd>("reduce_add");
                     config.grid = {12};
                     m.template launch<ReduceAdd>(config, params);
                     m.result(sum, 4 * kRows * kColumns);
                   }});
  cases.push_back({"example: im2col gather", [](Machine& m) {
                     constexpr int kW = 9, kH = 7, kN = 2, kC = Im2colGather::kChannels;
                     Im2colGather::Params params{};
                     params.plan = plan_im2col({.data_type = TmaDataType::u16,
                                                .address = address(m.buffer(Dice(24).bytes(kC * kW * kH * kN * 2))),
                                                .spatial_rank = 2,
                                                .images = kN,
                                                .channels = kC,
                                                .extent = {kW, kH},
                                                .filter = {3, 3},
                                                .pad_lower = {1, 1},
                                                .pad_upper = {1, 1},
                                                .stride = {2, 1},
                                                .dilation = {1, 2}},
                                               {.channels = kC, .pixels = Im2colGather::kPixels});
                     const int pixels = static_cast<int>(params.plan.pixels()),
                               columns = static_cast<int>(params.plan.taps()) * kC;
                     const auto bytes = static_cast<std::size_t>(pixels * columns * 2);
                     std::uint8_t* matrix = m.buffer(Bytes(bytes));
                     params.image = m.map(params.plan.map);
                     params.matrix = m.map(matrix_map(TmaDataType::u16, address(matrix), pixels, columns,
                                                      Im2colGather::kPixels, kC, TmaSwizzle::none));
                     LaunchConfig config = one_cta<Im2colGather>("im2col_gather");
                     config.grid = {2};
                     m.template launch<Im2colGather>(config, params);
                     m.result(matrix, bytes);
                   }});
  cases.push_back(
      {"example: tile product", [](Machine& m) {
         using Kernel = TileProduct<>;
         constexpr int kM = 300, kN = 264, kK = 136;
         // Small integers: every sum is exact on both machines.
         const auto integers = [](std::uint64_t seed, int count) {
           Dice dice(seed);
           Bytes out;
           for (int i = 0; i < count; ++i) {
             const std::uint16_t bits = bf16(static_cast<float>(dice.between(-8, 8))).bits;
             out.push_back(static_cast<std::uint8_t>(bits));
             out.push_back(static_cast<std::uint8_t>(bits >> 8));
           }
           return out;
         };
         std::uint8_t* d = m.buffer(Bytes(kM * kN * 2));
         const auto map = [&](std::uint8_t* at, int rows, int columns, int box_rows) {
           return m.map(matrix_map(TmaDataType::bf16, address(at), rows, columns, box_rows, 64, TmaSwizzle::bytes_128));
         };
         typename Kernel::Params params{};
         params.a = map(m.buffer(integers(25, kM * kK)), kM, kK, Kernel::kTileM);
         params.b = map(m.buffer(integers(26, kN * kK)), kN, kK, Kernel::kLoadedRowsB);
         params.d = map(d, kM, kN, 64);
         params.m_tiles = 4, params.n_tiles = 2, params.k_tiles = 3;
         LaunchConfig config = one_cta<Kernel>("tile_product");
         config.grid = {4}, config.cluster = {Kernel::kCluster};
         m.template launch<Kernel>(config, params);
         m.result(d, kM * kN * 2);
       }});
}

}  // namespace gantry::conformance
