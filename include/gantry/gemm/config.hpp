// What a matrix product is compiled for: tile, depth of the pipeline, cluster. D = A B^T, A is M x K, B is N x K, D is
// M x N, all row-major bf16, sums in f32.
//
// A kernel takes a configuration type; derive from one that is here and change what differs.
//
// Example at namespace scope:
//     struct Narrow : gantry::CooperativeConfig {
//       static constexpr int kTileN = 128;
//       static constexpr int kStages = 6;
//     };
#pragma once

#include <gantry/layout.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry {

// 128 x 256 for each CTA of a pair along M: the two share a tile of B, so that the pair loads no more than a tile of
// 256 x 256 needs.
struct CooperativeConfig {
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
  static constexpr int kStages = 4;
  static constexpr int kClusterM = 2, kClusterN = 1;
  static constexpr int kStoreBuffers = 2;  // slabs of 64 columns of D that a warpgroup has room for
};

// What follows from a configuration.
template <class Config>
struct GemmShape {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kClusterM = Config::kClusterM, kClusterN = Config::kClusterN;
  static constexpr int kCluster = kClusterM * kClusterN;
  static constexpr int kMathWarpgroups = kTileM / 64;           // on one tile
  static constexpr int kThreads = 128 * (1 + kMathWarpgroups);  // warpgroup 0 loads

  static_assert(kTileM == 64 || kTileM == 128, "one or two warpgroups of 64 rows each make a tile");
  static_assert(kTileN % 64 == 0 && kTileN <= 256, "D is stored in slabs of 64 columns, and wgmma has up to 256");
  static_assert(kTileK == 64, "a row of a tile is 128 bytes, the width of the swizzle");

  // 128-byte rows, swizzled: what TMA writes and wgmma reads, and the other way round for D.
  static constexpr ComposedLayout kAtom = smem_atom(Major::K, SwizzleMode::b128, 16);
  static constexpr Layout kMatrix =
      make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));

  GANTRY_HD static constexpr int clusters_along_m(int m) { return ceil_div(m, kTileM * kClusterM); }
  GANTRY_HD static constexpr int clusters_along_n(int n) { return ceil_div(n, kTileN * kClusterN); }
  GANTRY_HD static constexpr int k_steps(int k) { return ceil_div(k, kTileK); }

 private:
  GANTRY_HD static constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
};

}  // namespace gantry
