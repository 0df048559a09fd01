// Fused GEMMs as they are shipped: ptxas must report no spills, no stack and no serialised wgmma.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry_test {

using namespace gantry;

constexpr GemmEpilogueOptions kNarrow{.epi_n = 32, .stages_c = 2, .stages_d = 2};

struct BiasGelu {
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias:bf16))");
};
struct Cooperative : BiasGelu {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .stages = 4, .schedule = GemmSchedule::cooperative, .epilogue = kNarrow};
};
struct Pingpong : BiasGelu {  // subtiles as wide as the tile
  static constexpr GemmOptions options{.tile = {128, 192},
                                       .stages = 4,
                                       .schedule = GemmSchedule::pingpong,
                                       .epilogue = {.epi_n = 192, .stages_c = 2, .stages_d = 1}};
};
struct ThreeInTurn : BiasGelu {
  static constexpr GemmOptions options{
      .tile = {128, 128}, .stages = 4, .schedule = GemmSchedule::pingpong, .warpgroups = 3, .epilogue = kNarrow};
};
struct ResidualAux {
  static constexpr fusion::Graph graph = fusion::graph("aux:bf16 = acc + c + row(bias:bf16); d = gelu_tanh(aux)");
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {128, 192}, .stages = 3, .schedule = GemmSchedule::pingpong, .epilogue = kNarrow};
};

template <class Spec>
const void* entry() {
  return reinterpret_cast<const void*>(detail::kernel_entry<typename GemmTypes<Spec>::Kernel>);
}
const void* kernels[] = {entry<Cooperative>(), entry<Pingpong>(), entry<ThreeInTurn>(), entry<ResidualAux>()};

}  // namespace gantry_test
