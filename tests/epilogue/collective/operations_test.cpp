// Named operations agree with the reference: one of each family, with vectors along rows in some and along columns in
// others. operations_sweep.cpp has all of them.
#include "operations_cases.hpp"

namespace gantry::test {
namespace {

constexpr int number_of(std::string_view name) {
  for (int k = 0; k < kOperationCount; ++k) {
    if (name == fusion::kOperations[k].name) return k;
  }
  return -1;
}

TEST(EpilogueOperations, OneOfEachFamilyAgrees) {
  expect_operations_agree<0>(
      std::integer_sequence<int, number_of("ScaledAcc"), number_of("LinCombPerRowBias"),
                            number_of("LinCombPerColBiasEltActAux"), number_of("PerColLinCombPerColBiasEltAct"),
                            number_of("ScaledLinCombPerRowBiasEltActAmaxAux"),
                            number_of("LinCombDeEltActDePerRowBias")>{});
}

}  // namespace
}  // namespace gantry::test
