// A design's numbers as constants of a type, under the names that kernels use. Nothing is derived here: every member
// reads the design.
//
// `Design` is a type with `static constexpr GemmDesign design`; make one from a specification with GemmDesignOf
// (types.hpp), or write it down.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Narrow {  // 8-bit floats whose accumulators are promoted
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = acc");
//       static constexpr gantry::GemmDesign design =
//           gantry::make_gemm_design({.a = gantry::ElementType::e4m3, .b = gantry::ElementType::e5m2, .promote = true}, graph);
//     };
//     static_assert(gantry::GemmShape<Narrow>::kTileK == 128 && gantry::GemmShape<Narrow>::kTileN == 128);
#pragma once

#include <gantry/gemm/design.hpp>

namespace gantry {

template <class Design>
struct GemmShape {
  static constexpr ElementType kA = Design::design.options.a, kB = Design::design.options.b;
  static constexpr ElementType kAccumulator = Design::design.accumulator;
  static constexpr Major kMajorA = Design::design.options.major_a, kMajorB = Design::design.options.major_b;
  static constexpr ConstantOperand kConstant = Design::design.options.constant;
  // Each GEMM has tensor maps of its own (pointer_array.hpp).
  static constexpr bool kOwnMaps = Design::design.options.groups == GemmGrouping::pointer_array;
  // Rows of A are found by an index (gathered_operands.hpp).
  static constexpr bool kGathers = Design::design.options.gather_a;
  static constexpr bool kPromote = Design::design.options.promotes(), kScaled = Design::design.options.scaled();

  static constexpr int kTileM = Design::design.options.tile.m, kTileN = Design::design.options.tile.n;
  static constexpr int kTileK = Design::design.options.tile.k;
  static constexpr int kStages = Design::design.options.stages;
  static constexpr int kClusterM = Design::design.options.cluster.m, kClusterN = Design::design.options.cluster.n;
  static constexpr int kClusterK = Design::design.options.cluster.k;
  static constexpr int kMulticast = kClusterM * kClusterN;  // CTAs that share operands
  static constexpr int kCluster = kMulticast * kClusterK;

  static constexpr int kTileWarpgroups = Design::design.roles.tile_warpgroups;
  static constexpr int kWarpgroupM = Design::design.warpgroup_rows();
  static constexpr int kWarpgroups = Design::design.roles.math_warpgroups;
  static constexpr int kThreads = Design::design.roles.threads;
};

}  // namespace gantry
