// Kernels that gather rows of A or scatter rows of D, translated for the GPU: none spills or keeps a stack, and wgmmas
// stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

struct GatheredDense {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative, .gather_a = true};
};
struct GatheredGroups {
  static constexpr GemmOptions options{.tile = {128, 256},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::cooperative,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true};
};
struct GatheredFused {
  static constexpr GemmOptions options{.tile = {128, 192},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::pingpong,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + c + row(bias))");
};
struct GatheredTall {
  static constexpr GemmOptions options{
      .tile = {256, 128}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative, .gather_a = true};
};
struct ScatteredAdd {
  static constexpr GemmOptions options{.d = ElementType::f32,
                                       .tile = {128, 128},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::pingpong,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true,
                                       .scatter_d = RowScatter::add};
  static constexpr fusion::Graph graph = fusion::graph("d = col(weight) * acc");
};
struct ScatteredStore {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative, .scatter_d = RowScatter::store};
};
struct ScatteredGroups {
  static constexpr GemmOptions options{.tile = {128, 256},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::cooperative,
                                       .groups = GemmGrouping::along_m,
                                       .scatter_d = RowScatter::store};
};
struct ScatteredGroupsAdd {
  static constexpr GemmOptions options{.d = ElementType::f32,
                                       .tile = {128, 256},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::cooperative,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true,
                                       .scatter_d = RowScatter::add};
  static constexpr fusion::Graph graph = fusion::graph("d = col(weight) * acc");
};

struct GatheredScaled {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block,
                                       .groups = GemmGrouping::along_m,
                                       .gather_a = true};
};

using Dense = GemmTypes<GatheredDense>::Kernel;
using Groups = GemmTypes<GatheredGroups>::Kernel;
using Fused = GemmTypes<GatheredFused>::Kernel;
using Tall = GemmTypes<GatheredTall>::Kernel;
using Add = GemmTypes<ScatteredAdd>::Kernel;
using Store = GemmTypes<ScatteredStore>::Kernel;
using StoreGroups = GemmTypes<ScatteredGroups>::Kernel;
using AddGroups = GemmTypes<ScatteredGroupsAdd>::Kernel;
using Scaled = GemmTypes<GatheredScaled>::Kernel;
template __global__ void kernel_entry<Dense>(const __grid_constant__ Dense::Params);
template __global__ void kernel_entry<Groups>(const __grid_constant__ Groups::Params);
template __global__ void kernel_entry<Fused>(const __grid_constant__ Fused::Params);
template __global__ void kernel_entry<Tall>(const __grid_constant__ Tall::Params);
template __global__ void kernel_entry<Add>(const __grid_constant__ Add::Params);
template __global__ void kernel_entry<Store>(const __grid_constant__ Store::Params);
template __global__ void kernel_entry<StoreGroups>(const __grid_constant__ StoreGroups::Params);
template __global__ void kernel_entry<AddGroups>(const __grid_constant__ AddGroups::Params);
template __global__ void kernel_entry<Scaled>(const __grid_constant__ Scaled::Params);

}  // namespace gantry::detail
