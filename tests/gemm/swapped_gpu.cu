// Kernels with swapped operands translated for the GPU: none spills or keeps a stack, and wgmmas stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

// CTAs of a cluster share K; weights are loaded early.
struct Narrow {
  static constexpr GemmOptions options{
      .tile = {8, 64}, .cluster = {1, 1, 2}, .swapped = true, .constant = ConstantOperand::b};
};
struct NarrowGelu {
  static constexpr GemmOptions options{.tile = {16, 64}, .cluster = {1, 1, 4}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias:bf16))");
};
// Two warpgroups, and the widest side for tokens.
struct Wide {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {64, 128}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c + row(bias); s = reduce_col_add(acc)");
};

// Groups with few rows.
struct NarrowGroups {
  static constexpr GemmOptions options{.tile = {8, 64}, .swapped = true, .groups = GemmGrouping::along_m};
};
struct WideGroups {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {64, 128}, .swapped = true, .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + c + row(bias))");
};

using OfNarrow = GemmTypes<Narrow>::Kernel;
using OfNarrowGelu = GemmTypes<NarrowGelu>::Kernel;
using OfWide = GemmTypes<Wide>::Kernel;
using OfNarrowGroups = GemmTypes<NarrowGroups>::Kernel;
using OfWideGroups = GemmTypes<WideGroups>::Kernel;
template __global__ void kernel_entry<OfNarrow>(const __grid_constant__ OfNarrow::Params);
template __global__ void kernel_entry<OfNarrowGelu>(const __grid_constant__ OfNarrowGelu::Params);
template __global__ void kernel_entry<OfWide>(const __grid_constant__ OfWide::Params);
template __global__ void kernel_entry<OfNarrowGroups>(const __grid_constant__ OfNarrowGroups::Params);
template __global__ void kernel_entry<OfWideGroups>(const __grid_constant__ OfWideGroups::Params);

}  // namespace gantry::detail
