#include "gemm/simulate.hpp"

namespace gantry::tool {

namespace {

struct Spec : AnyGraph<32 * 1024> {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {128, 128, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative};
};

}  // namespace

const BuiltInGemm kSimulatedBf16{Gemm<Spec>::kDesign, takes<Spec>, simulate<Spec>};

}  // namespace gantry::tool
