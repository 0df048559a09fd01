// One pair of element types and majors on the simulated SM, in both kernels and every cluster, for all residues,
// every one under seeds of its own. types_long.cmake compiles it once for each, with the definitions of
// on_gpu_kinds.cu.
#include "typed_product.hpp"

namespace gantry_test {
namespace {

constexpr EveryKernel kEvery = EveryKernel::of({.a = ElementType::GANTRY_A,
                                                .b = ElementType::GANTRY_B,
                                                .major_a = Major::GANTRY_MAJOR_A,
                                                .major_b = Major::GANTRY_MAJOR_B,
                                                .promote = GANTRY_PROMOTE});

// No two kernels have the same: 20 seeds for each.
constexpr unsigned first_seed(int kernel) {
  const Kind& kind = kEvery.kinds[0];
  unsigned number = static_cast<unsigned>(kind.a) * 64 + static_cast<unsigned>(kind.b);
  for (const bool bit : {kind.major_a == Major::K, kind.major_b == Major::K, kind.promote}) number = 2 * number + bit;
  return 20 * (EveryKernel::kCount * number + static_cast<unsigned>(kernel));
}

#define GANTRY_TEST(suite) TEST(suite, IsExactInEveryKernelAndCluster)
GANTRY_TEST(GANTRY_SUITE) {
  for_each_index<EveryKernel::kCount>([](auto i) {
    constexpr Kind kind = kEvery.kinds[i];
    SCOPED_TRACE(testing::Message() << (kind.kernel == Kernel::cooperative ? "cooperative" : "pingpong") << " of "
                                    << kind.in_turn << ", cluster " << kind.cluster_m << " x " << kind.cluster_n);
    expect_exact_for_all_residues<kind>(first_seed(i));
  });
}

}  // namespace
}  // namespace gantry_test
