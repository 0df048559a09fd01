// Grouped kernels translated for the GPU: none spills or keeps a stack, and wgmmas stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

struct GroupsOfRows {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative, .groups = GemmGrouping::along_m};
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

using OfRows = GemmTypes<GroupsOfRows>::Kernel;
using OfGated = GemmTypes<GatedRows>::Kernel;
using OfK = GemmTypes<GroupsOfK>::Kernel;
template __global__ void kernel_entry<OfRows>(const __grid_constant__ OfRows::Params);
template __global__ void kernel_entry<OfGated>(const __grid_constant__ OfGated::Params);
template __global__ void kernel_entry<OfK>(const __grid_constant__ OfK::Params);

}  // namespace gantry::detail
