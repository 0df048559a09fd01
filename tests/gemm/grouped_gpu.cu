// Grouped kernels translated for the GPU: none spills or keeps a stack, and wgmmas stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

struct GroupsOfRows {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative, .groups = GemmGrouping::along_m};
};
// The place in the cluster takes registers of the producer, which has boxes of A to count.
struct RowsInClusters {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .cluster = {2, 2}, .schedule = GemmSchedule::cooperative, .groups = GemmGrouping::along_m};
};
struct GatedRows {
  static constexpr GemmOptions options{
      .tile = {128, 192}, .cluster = {2, 1}, .schedule = GemmSchedule::pingpong, .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias))");
};
struct GroupsOfK {
  static constexpr GemmOptions options{.major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .tile = {128, 256},
                                       .cluster = {2, 1},
                                       .groups = GemmGrouping::along_k};
};

// Tokens with a scale for each row, weights with one for 128 x 128.
struct ScaledRows {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {128, 128},
                                       .cluster = {2, 1},
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block,
                                       .groups = GemmGrouping::along_m};
};

struct OfArray {
  static constexpr GemmOptions options{.tile = {128, 256},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::cooperative,
                                       .groups = GemmGrouping::pointer_array};
};
struct OfFusedArray {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .tile = {128, 256},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::cooperative,
                                       .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(alpha * acc + beta * c + row(bias))");
};
struct OfArrayInTurn {
  static constexpr GemmOptions options{
      .tile = {128, 128}, .cluster = {2, 1}, .schedule = GemmSchedule::pingpong, .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc + row(bias)); aux:bf16 = acc");
};

using OfRows = GemmTypes<GroupsOfRows>::Kernel;
using OfClusters = GemmTypes<RowsInClusters>::Kernel;
using OfGated = GemmTypes<GatedRows>::Kernel;
using OfK = GemmTypes<GroupsOfK>::Kernel;
using OfScaled = GemmTypes<ScaledRows>::Kernel;
using Array = GemmTypes<OfArray>::Kernel;
using FusedArray = GemmTypes<OfFusedArray>::Kernel;
using ArrayInTurn = GemmTypes<OfArrayInTurn>::Kernel;
template __global__ void kernel_entry<OfRows>(const __grid_constant__ OfRows::Params);
template __global__ void kernel_entry<OfClusters>(const __grid_constant__ OfClusters::Params);
template __global__ void kernel_entry<OfGated>(const __grid_constant__ OfGated::Params);
template __global__ void kernel_entry<OfK>(const __grid_constant__ OfK::Params);
template __global__ void kernel_entry<OfScaled>(const __grid_constant__ OfScaled::Params);
template __global__ void kernel_entry<Array>(const __grid_constant__ Array::Params);
template __global__ void kernel_entry<FusedArray>(const __grid_constant__ FusedArray::Params);
template __global__ void kernel_entry<ArrayInTurn>(const __grid_constant__ ArrayInTurn::Params);

}  // namespace gantry::detail
