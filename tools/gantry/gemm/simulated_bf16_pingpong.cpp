#include "gemm/simulate.hpp"

namespace gantry::tool {

namespace {

struct Spec : AnyGraph<32 * 1024> {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .tile = {64, 128, 64},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::pingpong,
                                       .epilogue = {.epi_n = 64}};
};

}  // namespace

const BuiltInGemm kSimulatedBf16Pingpong{Gemm<Spec>::kDesign, takes<Spec>, simulate<Spec>};

}  // namespace gantry::tool
