#include "gemm/simulate.hpp"

namespace gantry::tool {

namespace {

struct Spec : AnyGraph<32 * 1024> {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .c = ElementType::bf16,
                                       .d = ElementType::bf16,
                                       .tile = {128, 128, 128},
                                       .cluster = {1, 1},
                                       .schedule = GemmSchedule::cooperative};
};

}  // namespace

const SimulatedProduct kSimulatedE4m3{Gemm<Spec>::kDesign, simulate<Spec>};

}  // namespace gantry::tool
