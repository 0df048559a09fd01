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

struct Dropout {
  static constexpr fusion::Graph graph =
      fusion::graph("d = dropout(acc + row(bias:bf16), 0.1, seed) + c; bits:u1 = keep(0.1, seed)");
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
struct SwappedDropout : Dropout {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {32, 128}, .swapped = true};
};
struct RotaryAdjacent {
  static constexpr fusion::Graph graph = fusion::graph("d = rotary_adjacent(acc, load(cos:bf16), load(sin:bf16))");
  static constexpr GemmOptions options{.tile = {128, 128}, .schedule = GemmSchedule::pingpong};
};
struct RotaryHalves {
  static constexpr fusion::Graph graph = fusion::graph("d = rotary_halves(acc, load(cos:bf16), load(sin:bf16), 128)");
  static constexpr GemmOptions options{.tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
struct Quantized {
  static constexpr fusion::Graph graph = fusion::graph("d = quantize(acc, scalar(scale)); top = reduce_amax(acc)");
  static constexpr GemmOptions options{.d = ElementType::e4m3, .tile = {128, 128}, .schedule = GemmSchedule::pingpong};
};

template <class Spec>
const void* entry() {
  return reinterpret_cast<const void*>(detail::kernel_entry<typename GemmTypes<Spec>::Kernel>);
}
const void* kernels[] = {entry<Cooperative>(),    entry<Pingpong>(),     entry<ThreeInTurn>(),
                         entry<ResidualAux>(),    entry<Dropout>(),      entry<SwappedDropout>(),
                         entry<RotaryAdjacent>(), entry<RotaryHalves>(), entry<Quantized>()};

}  // namespace gantry_test
