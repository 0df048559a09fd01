// Kernels of other elements and majors translated for the GPU: none spills or keeps a stack, and products stay in
// flight.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/gemm/cooperative.hpp>

namespace gantry::detail {

struct Transposed : CooperativeConfig {
  static constexpr Major kMajorA = Major::MN, kMajorB = Major::MN;
};
struct Promoted : CooperativeConfig {
  static constexpr ElementType kA = ElementType::e4m3, kB = ElementType::e5m2;
  static constexpr bool kPromote = true;
  static constexpr int kTileN = 128, kStages = 6;
};

using OfTransposed = CooperativeGemm<Transposed>;
using OfPromoted = CooperativeGemm<Promoted>;
template __global__ void kernel_entry<OfTransposed>(const __grid_constant__ OfTransposed::Params);
template __global__ void kernel_entry<OfPromoted>(const __grid_constant__ OfPromoted::Params);

}  // namespace gantry::detail
