// GEMMs whose epilogues combine columns of a row, as tiles are chosen for them, leave partial results, or round values:
// ptxas must report no spills, no stack and no serialised wgmma.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry_test {

using namespace gantry;

struct BlockScales {
  static constexpr fusion::Graph graph = fusion::graph(
      "let x = gelu_tanh(acc + row(bias:bf16)); scales = block_scale(x:e4m3, 128); d = quantize(x, rcp(scales))");
  static constexpr GemmOptions options{.d = ElementType::e4m3};
};
struct WideBlockScales : BlockScales {
  static constexpr GemmOptions options{
      .d = ElementType::e4m3, .tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
struct GatedBlockScales {
  static constexpr fusion::Graph graph = fusion::graph(
      "let x = silu(gate(acc)) * up(acc); scales col = block_scale(x:e4m3, 128); d = quantize(x, rcp(scales))");
  static constexpr GemmOptions options{.d = ElementType::e4m3};
};
struct Fp8BlockScales : BlockScales {  // from blocks of A and B that are scaled too
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .d = ElementType::e4m3,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block};
};
struct RowScales {
  static constexpr fusion::Graph graph =
      fusion::graph("scales = block_scale(acc:e4m3); d = quantize(acc, rcp(scales))");
  static constexpr GemmOptions options{.d = ElementType::e4m3};
};
struct Softmax {
  static constexpr fusion::Graph graph = fusion::graph("d = softmax(acc + row(bias))");
  static constexpr GemmOptions options{};
};
struct Top2 {
  static constexpr fusion::Graph graph = fusion::graph("d = top_k_softmax(acc, 2)");
  static constexpr GemmOptions options{.tile = {128, 192}, .schedule = GemmSchedule::cooperative};
};
struct Top4 {
  static constexpr fusion::Graph graph = fusion::graph("d = top_k_softmax(acc, 4)");
  static constexpr GemmOptions options{.tile = {128, 128}, .schedule = GemmSchedule::pingpong};
};

struct Rounded {
  static constexpr fusion::Graph graph = fusion::graph("compute bf16; d = gelu_tanh(acc + row(bias:bf16))");
  static constexpr GemmOptions options{};
};

struct PartialSoftmax {
  static constexpr fusion::Graph graph =
      fusion::graph("d = acc; m col = reduce_col_max(acc, 128); s col = reduce_col_sumexp(acc, 128)");
  static constexpr GemmOptions options{.tile = {128, 256}, .schedule = GemmSchedule::cooperative};
};
struct CutOff {
  static constexpr fusion::Graph graph = fusion::graph("round toward_zero; d = acc; r:bf16 = reduce_row_add(acc, 64)");
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {8, 1}, .schedule = GemmSchedule::cooperative};
};

template <class Spec>
const void* entry() {
  return reinterpret_cast<const void*>(detail::kernel_entry<typename GemmTypes<Spec>::Kernel>);
}
const void* kernels[] = {entry<BlockScales>(),
                         entry<WideBlockScales>(),
                         entry<GatedBlockScales>(),
                         entry<Fp8BlockScales>(),
                         entry<RowScales>(),
                         entry<Softmax>(),
                         entry<Top2>(),
                         entry<Top4>(),
                         entry<Rounded>(),
                         entry<PartialSoftmax>(),
                         entry<CutOff>()};

}  // namespace gantry_test
