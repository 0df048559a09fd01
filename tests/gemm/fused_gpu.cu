// Fused products as they are shipped: ptxas must report no spills, no stack and no serialised wgmma.
#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>

namespace gantry_test {

using namespace gantry;

struct BiasGelu : FusedElements {
  static constexpr int kEpiN = 32;
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias:bf16))");
  using Functions = fusion::UserFunctions<>;
};
struct WideBiasGelu : BiasGelu {  // subtiles as wide as the tile
  static constexpr int kEpiN = PingpongConfig::kTileN, kStagesD = 1;
};
struct ThreeInTurn : PingpongConfig {
  static constexpr int kAlternating = 3, kTileN = 128;
};
struct ResidualAux : FusedElements {
  static constexpr ElementType kC = ElementType::bf16;
  static constexpr int kEpiN = 32;
  static constexpr fusion::Graph graph = fusion::graph("aux:bf16 = acc + c + row(bias:bf16); d = gelu_tanh(aux)");
  using Functions = fusion::UserFunctions<>;
};

template <class Config, class Fusion>
using Cooperative = CooperativeGemm<Config, FusedEpilogue<Config, Fusion>>;
template <class Config, class Fusion>
using Pingpong = PingpongGemm<Config, FusedEpilogue<Config, Fusion>>;

const void* kernels[] = {
    reinterpret_cast<const void*>(detail::kernel_entry<Cooperative<CooperativeConfig, BiasGelu>>),
    reinterpret_cast<const void*>(detail::kernel_entry<Pingpong<PingpongConfig, WideBiasGelu>>),
    reinterpret_cast<const void*>(detail::kernel_entry<Pingpong<PingpongConfig, ResidualAux>>),
    reinterpret_cast<const void*>(detail::kernel_entry<Pingpong<ThreeInTurn, BiasGelu>>),
};

}  // namespace gantry_test
