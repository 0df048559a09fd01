// What a matrix product is compiled for: elements and majors, tile, depth of the pipeline, cluster. D = A B^T, A is
// M x K, B is N x K, D is M x N; sums in f32, of integers in s32.
//
// A kernel takes a configuration type; derive from one that is here and change what differs.
//
// Example at namespace scope:
//     struct Narrow : gantry::CooperativeConfig {  // 8-bit floats, sums promoted
//       static constexpr gantry::ElementType kA = gantry::ElementType::e4m3, kB = gantry::ElementType::e5m2;
//       static constexpr bool kPromote = true;
//       static constexpr int kTileN = 128;
//       static constexpr int kStages = 6;
//     };
//     static_assert(gantry::GemmShape<Narrow>::kTileK == 128);
#pragma once

#include <gantry/hardware/architecture.hpp>
#include <gantry/layout.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry {

// Registers of a thread where one warpgroup loads for `math` others: a CTA has what its threads are launched with, and
// the one that loads leaves most of its own to the others.
template <int math>
struct RegisterShares {
  static constexpr int kLaunch = kSm90.registers_per_block / (128 * (1 + math)) / 8 * 8;
  static constexpr int kLoad = math > 2 ? 32 : 40;
  static constexpr int kMath = (kLaunch * (1 + math) - kLoad) / math / 8 * 8;
};

// The operands.
struct GemmElements {
  static constexpr ElementType kA = ElementType::bf16, kB = ElementType::bf16;
  static constexpr Major kMajorA = Major::K, kMajorB = Major::K;  // MN-major operands have 16-bit elements
  // Sums of 8-bit floats, which the tensor core keeps in 14 bits or so, are added up in f32 every 128 of K.
  static constexpr bool kPromote = false;
};

// 128 x 256 for each CTA of a pair along M: the two share a tile of B, so that the pair loads no more than a tile of
// 256 x 256 needs.
struct CooperativeConfig : GemmElements {
  static constexpr int kTileM = 128, kTileN = 256;
  static constexpr int kTileWarpgroups = 2;  // that share a tile, one above the other
  static constexpr int kAlternating = 1;     // tiles that are in work at the same time, each by warpgroups of its own
  static constexpr int kStages = 4;
  static constexpr int kClusterM = 2, kClusterN = 1;
  static constexpr int kStoreBuffers = 2;  // slabs of 64 columns of D that a warpgroup has room for
};

// What follows from a configuration.
template <class Config>
struct GemmShape {
  static constexpr ElementType kA = Config::kA, kB = Config::kB;
  static constexpr Major kMajorA = Config::kMajorA, kMajorB = Config::kMajorB;
  static constexpr bool kPromote = Config::kPromote;
  static constexpr int kElementBits = element_bits(kA);
  static constexpr bool kIntegers = kA == ElementType::s8 || kA == ElementType::u8;
  static constexpr ElementType kAccumulator = kIntegers ? ElementType::s32 : ElementType::f32;

  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kTileK = 1024 / kElementBits;  // 128 bytes, the width of the swizzle
  static constexpr int kClusterM = Config::kClusterM, kClusterN = Config::kClusterN;
  static constexpr int kCluster = kClusterM * kClusterN;
  static constexpr int kTileWarpgroups = Config::kTileWarpgroups;             // on one tile
  static constexpr int kWarpgroupM = kTileM / kTileWarpgroups;                // rows of a tile that a warpgroup has
  static constexpr int kWarpgroups = kTileWarpgroups * Config::kAlternating;  // that multiply
  static constexpr int kThreads = 128 * (1 + kWarpgroups);                    // warpgroup 0 loads
  using Registers = RegisterShares<kWarpgroups>;

  static_assert(kTileM % (64 * kTileWarpgroups) == 0, "gantry: a warpgroup multiplies 64 rows at a time");
  static_assert(kTileN % 8 == 0 && kTileN <= 256, "gantry: wgmma has a multiple of 8 columns, up to 256");
  static_assert(kWarpgroupM * kTileN <= 128 * 192,
                "gantry: a warpgroup has registers for the sums of 64 x 256 or 128 x 192");
  static_assert(kWarpgroups <= 3, "gantry: no more than three warpgroups multiply");
  static_assert(kWarpgroups <= 2 || (kTileN <= 192 && kWarpgroupM * kTileN <= 128 * 128),
                "gantry: of three warpgroups each has registers for the sums of 64 x 192 or 128 x 128");
  static_assert(element_bits(kB) == kElementBits, "gantry: wgmma multiplies elements of one width");
  static_assert((kMajorA == Major::K && kMajorB == Major::K) || kElementBits == 16,
                "gantry: wgmma reads MN-major operands only of 16-bit elements: keep the others K-major");
  static_assert(!kPromote || (kElementBits == 8 && !kIntegers), "gantry: only sums of 8-bit floats are promoted");
  static_assert(!kPromote || kWarpgroupM * kTileN <= 64 * 160,
                "gantry: promoted sums are held twice: a warpgroup has registers for those of 64 x 160");

  // `rows` x kTileK of an operand, stage after stage, as TMA writes and wgmma reads them: swizzled rows of 128 bytes
  // along K, or of up to 128 bytes along M or N.
  GANTRY_HD static constexpr ComposedLayout shared_stages(Major major, int rows, int stages) {
    const IntTuple shape = make_shape(Int::fixed(rows), Int::fixed(kTileK), Int::fixed(stages));
    if (major == Major::K) return tile_to_shape(smem_atom(major, SwizzleMode::b128, kElementBits), shape);
    SwizzleMode mode = SwizzleMode::b128;
    while (rows * kElementBits % (8 * swizzle_row_bytes(mode)) != 0) mode = static_cast<SwizzleMode>(int(mode) - 1);
    return tile_to_shape(smem_atom(major, mode, kElementBits), shape, make_int_tuple(_2, _1, _3));
  }
  // (M or N, K, L), extents and the other strides unknown.
  GANTRY_HD static constexpr Layout matrices(Major major) {
    const Int u = Int::unknown();
    return make_layout(make_shape(u, u, u), major == Major::K ? make_stride(u, _1, u) : make_stride(_1, u, u));
  }

  GANTRY_HD static constexpr int clusters_along_m(int m) { return ceil_div(m, kTileM * kClusterM); }
  GANTRY_HD static constexpr int clusters_along_n(int n) { return ceil_div(n, kTileN * kClusterN); }
  GANTRY_HD static constexpr int k_steps(int k) { return ceil_div(k, kTileK); }

 private:
  GANTRY_HD static constexpr int ceil_div(int a, int b) { return a / b + (a % b > 0 ? 1 : 0); }  // a may be near 2^31
};

}  // namespace gantry
