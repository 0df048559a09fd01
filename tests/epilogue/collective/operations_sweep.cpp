// Every named operation in the variant GANTRY_VARIANT of tile, elements, majors and buffers.
#include "operations_cases.hpp"

namespace gantry::test {
namespace {

#define GANTRY_TEST_NAME_(v) Variant##v
#define GANTRY_TEST_NAME(v) GANTRY_TEST_NAME_(v)
TEST(EpilogueOperationsSweep, GANTRY_TEST_NAME(GANTRY_VARIANT)) {
  expect_operations_agree<GANTRY_VARIANT>(std::make_integer_sequence<int, kOperationCount>{});
}

}  // namespace
}  // namespace gantry::test
