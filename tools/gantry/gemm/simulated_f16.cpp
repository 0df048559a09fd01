#include "gemm/simulate.hpp"

namespace gantry::tool {

namespace {

struct Spec : AnyGraph<32 * 1024> {
  static constexpr GemmOptions options{.a = ElementType::f16,
                                       .b = ElementType::f16,
                                       .c = ElementType::f16,
                                       .d = ElementType::f16,
                                       .tile = {128, 128, 64},
                                       .cluster = {1, 2},
                                       .schedule = GemmSchedule::cooperative};
};

}  // namespace

const SimulatedProduct kSimulatedF16{Gemm<Spec>::kDesign, simulate<Spec>};

}  // namespace gantry::tool
