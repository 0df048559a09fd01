// Every named operation agrees with the reference.
#include "operations_cases.hpp"

namespace gantry::test {
namespace {

TEST(EpilogueOperations, EveryNamedOneAgrees) {
  expect_operations_agree<0>(std::make_integer_sequence<int, kOperationCount>{});
}

}  // namespace
}  // namespace gantry::test
