// Rows of a cluster translated for the GPU: no spill, and wgmmas stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

struct SoftmaxOfACluster {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {1, 4}};
  static constexpr fusion::Graph graph = fusion::graph("d = softmax(acc + row(bias))");
};
using Softmax = GemmTypes<SoftmaxOfACluster>::Kernel;
template __global__ void kernel_entry<Softmax>(const __grid_constant__ Softmax::Params);

struct ScaledRows {
  static constexpr GemmOptions options{
      .d = ElementType::e4m3, .tile = {128, 256}, .cluster = {1, 4}, .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph =
      fusion::graph("let s = block_scale(acc:e4m3); scales = s; d = quantize(acc, rcp(s))");
};
using Scaled = GemmTypes<ScaledRows>::Kernel;
template __global__ void kernel_entry<Scaled>(const __grid_constant__ Scaled::Params);

}  // namespace gantry::detail
