#define GANTRY_PART 1
#include "elements_compiled.hpp"

namespace gantry::test {
namespace {

TEST(FusionElements, AreRightInEveryPlaceOfACompiledGraphPart1) {
#define GANTRY_X(id, ...) expect_right_in_every_place<ElementType::id>();
  GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
}

TEST(EpilogueElements, AreRightAsCAndDOrAreRefusedByARulePart1) {
#define GANTRY_X(id, ...) expect_right_or_refused_as_c_and_d<ElementType::id>();
  GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
}

}  // namespace
}  // namespace gantry::test
