// Kernels of other elements and majors translated for the GPU: none spills or keeps a stack, and wgmmas stay in flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry::detail {

struct Transposed {
  static constexpr GemmOptions options{.major_a = Major::MN, .major_b = Major::MN};
};
struct PromotedProduct {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .tile = {128, 128},
                                       .stages = 6,
                                       .schedule = GemmSchedule::cooperative,
                                       .promote = true};
};

using OfTransposed = GemmTypes<Transposed>::Kernel;
using OfPromoted = GemmTypes<PromotedProduct>::Kernel;
template __global__ void kernel_entry<OfTransposed>(const __grid_constant__ OfTransposed::Params);
template __global__ void kernel_entry<OfPromoted>(const __grid_constant__ OfPromoted::Params);

}  // namespace gantry::detail
