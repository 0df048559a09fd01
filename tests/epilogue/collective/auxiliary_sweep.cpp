// Auxiliary tensors and masks, with other buffers and in other subtiles than in auxiliary_test.cpp.
#include "tensor_configs.hpp"

namespace gantry::test {
namespace {

TEST(EpilogueTensors, InAndOut) { expect_agreement<TensorsInAndOut<Choice::no, Choice::no>>({.shape = kResidue}); }
TEST(EpilogueTensors, InAndOutWithReuseAndDelay) {
  expect_agreement<TensorsInAndOut<Choice::yes, Choice::yes>>({.shape = kResidue, .seed = 3});
}

TEST(EpilogueMasks, InTallSubtiles) {
  expect_agreement<Masks<true, 128, 16>>({.shape = {.m = 152, .n = 128}, .seed = 1});
  expect_agreement<Masks<false, 128, 64>>({.shape = {.m = 152, .n = 128}, .seed = 1});
}

}  // namespace
}  // namespace gantry::test
