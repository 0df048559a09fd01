// One pair of element types and majors on the simulated machine, in both kernels and every cluster, for all residues
// and several seeds. types_long.cmake compiles it once for each, with the definitions of on_gpu_kinds.cu.
#include "typed_product.hpp"

namespace gantry_test {
namespace {

constexpr EveryKernel kEvery = EveryKernel::of({.a = ElementType::GANTRY_A,
                                                .b = ElementType::GANTRY_B,
                                                .major_a = Major::GANTRY_MAJOR_A,
                                                .major_b = Major::GANTRY_MAJOR_B,
                                                .promote = GANTRY_PROMOTE});

#define GANTRY_TEST(suite) TEST(suite, IsExactInEveryKernelAndCluster)
GANTRY_TEST(GANTRY_SUITE) {
  for_each_index<EveryKernel::kCount>([](auto i) {
    constexpr Kind kind = kEvery.kinds[i];
    SCOPED_TRACE(testing::Message() << (kind.kernel == Kernel::cooperative ? "cooperative" : "pingpong") << ", cluster "
                                    << kind.cluster_m << " x " << kind.cluster_n);
    expect_exact_for_all_residues<kind>();
  });
}

}  // namespace
}  // namespace gantry_test
