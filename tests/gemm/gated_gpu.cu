// Gated GEMMs as they are shipped: ptxas must report no spills, no stack and no serialised wgmma.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry_test {

using namespace gantry;

struct SwiGlu {
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
};
struct Cooperative : SwiGlu {
  static constexpr GemmOptions options{.tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
struct Tall : SwiGlu {
  static constexpr GemmOptions options{.tile = {256, 128}, .schedule = GemmSchedule::cooperative};
};
struct Pingpong : SwiGlu {
  static constexpr GemmOptions options{.tile = {128, 192}, .schedule = GemmSchedule::pingpong};
};
struct Geglu {
  static constexpr fusion::Graph graph = fusion::graph("d = gelu(gate(acc)) * up(acc)");
  static constexpr GemmOptions options{.tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
// What a training step keeps for its backward pass, with biases.
struct KeepsBoth {
  static constexpr fusion::Graph graph =
      fusion::graph("g:bf16 = gate(acc) + row(b1:bf16); u:bf16 = up(acc) + row(b2:bf16); d = silu(g) * u");
  static constexpr GemmOptions options{.tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
// The first GEMM of an expert: tokens gathered, weights of gate and up of its own.
struct Experts : SwiGlu {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .schedule = GemmSchedule::cooperative, .groups = GemmGrouping::along_m, .gather_a = true};
};
struct ExpertsPingpong : SwiGlu {
  static constexpr GemmOptions options{
      .tile = {128, 192}, .schedule = GemmSchedule::pingpong, .groups = GemmGrouping::along_m};
};
template <class Spec>
const void* entry() {
  return reinterpret_cast<const void*>(detail::kernel_entry<typename GemmTypes<Spec>::Kernel>);
}
const void* kernels[] = {entry<Cooperative>(), entry<Tall>(),    entry<Pingpong>(),       entry<Geglu>(),
                         entry<KeepsBoth>(),   entry<Experts>(), entry<ExpertsPingpong>()};

}  // namespace gantry_test
