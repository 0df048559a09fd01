// Broadcasts, auxiliary tensors, masks and user functions.
#include "tensor_configs.hpp"

namespace gantry::test {
namespace {

struct Broadcasts : Plain {
  static constexpr EpiloguePolicy policy = bf16_policy();
  static constexpr fusion::Graph graph =
      fusion::graph("d = scalar(s = 2) * acc + row(r:bf16 = 0.5) * c + col(k:f16 = -1) + row(q) * col(w:bf16)");
};
TEST(EpilogueBroadcasts, FromMemory) { expect_agreement<Broadcasts>({.shape = kResidue, .scalar_by_value = false}); }
TEST(EpilogueBroadcasts, LeftOutTheyAreTheirDefaults) {
  expect_agreement<Broadcasts>({.shape = kResidue, .seed = 1, .leave_out = true});
}
TEST(EpilogueBroadcasts, OneForEachBatch) {
  expect_agreement<Broadcasts>({.shape = kBatches, .seed = 2, .by_batch = true, .scalar_by_value = false});
}
TEST(EpilogueBroadcasts, OneForAllBatches) { expect_agreement<Broadcasts>({.shape = kBatches, .seed = 3}); }

// With a default or without; C is multiplied by a vector of zeros, and its address may be missing.
TEST(EpilogueBroadcasts, OfOneNumber) {
  Problem problem(Broadcasts::graph, options_for<Broadcasts>({.shape = kBatches, .seed = 4}));
  problem.fusion()["q"] = 0.25f;
  problem.fusion()["k"] = 3.0f;
  problem.fusion()["w"] = -2.0f;
  const auto expected = [&] {
    return fusion::reference<fusion::UserFunctions<>>(problem.graph(), problem.reference(), problem.fusion());
  };
  expect_agreement<Broadcasts>(problem, expected());
  problem.fusion()["r"] = 0.0f;
  expect_agreement<Broadcasts>(problem, expected());
}

TEST(EpilogueTensors, InAndOutOfBatches) {
  expect_agreement<TensorsInAndOut<Choice::no, Choice::yes>>({.shape = kBatches, .seed = 1});
}
TEST(EpilogueTensors, InAndOutWithReuse) {
  expect_agreement<TensorsInAndOut<Choice::yes, Choice::no>>({.shape = kResidue, .seed = 2});
}

struct Optional : Plain {
  static constexpr EpiloguePolicy policy = bf16_policy();
  static constexpr fusion::Graph graph = fusion::graph(
      "d = acc + beta * c + load(x:bf16 = 1.5) + load(b:u1 = 1); y:bf16 optional = acc; m:u1 optional = acc > 0; "
      "s optional = reduce_add(acc); t optional deterministic = reduce_row_max(acc)");
};
TEST(EpilogueTensors, WhatIsOptionalMayBeLeftOut) {
  expect_agreement<Optional>({.shape = kResidue, .seed = 4});
  expect_agreement<Optional>({.shape = kResidue, .seed = 5, .leave_out = true});
}

struct OnlyLoads : Plain {  // no C, and yet a load thread
  static constexpr EpiloguePolicy policy = bf16_policy(E::void_);
  static constexpr fusion::Graph graph = fusion::graph("d = acc * load(x:bf16)");
};
TEST(EpilogueTensors, AnAuxiliaryInputWithoutC) { expect_agreement<OnlyLoads>({.shape = kResidue, .seed = 6}); }

struct OnlyAuxiliary : Plain {
  static constexpr EpiloguePolicy policy = bf16_policy(E::bf16, E::void_, Choice::automatic, Choice::automatic, E::f16);
  static constexpr fusion::Graph graph = fusion::graph("y:f16 = acc - c; z col = acc + c");
};
TEST(EpilogueTensors, NoDButAuxiliaryOutputs) { expect_agreement<OnlyAuxiliary>({.shape = kBatches, .seed = 7}); }

TEST(EpilogueMasks, RowMajor) {
  expect_agreement<Masks<true, 64, 32>>({.shape = {.m = 88, .n = 77}});
  expect_agreement<Masks<true, 64, 32>>({.shape = kBatches, .seed = 2});
}
TEST(EpilogueMasks, ColumnMajor) {
  expect_agreement<Masks<false, 64, 32>>({.shape = {.m = 77, .n = 80}});
  expect_agreement<Masks<false, 64, 32>>({.shape = kBatches, .seed = 2});
}

struct Softsign {
  static constexpr const char* name = "softsign";
  static constexpr double kLipschitz = 1;
  static float call(float x) { return x / (1.0f + ::fabsf(x)); }
};
struct Blend {
  static constexpr const char* name = "blend";
  static constexpr double kLipschitz = 20;
  static float call(float a, float b, float c) { return a + 0.25f * b * c; }
};
struct UserFunctionsOfAGraph {
  using Functions = fusion::UserFunctions<Softsign, Blend>;
  static constexpr EpiloguePolicy policy = bf16_policy();
  static constexpr fusion::Graph graph =
      fusion::graph("d = blend(softsign(acc), c, row(r))", fusion::UserFunctions<Softsign, Blend>{});
};
TEST(EpilogueFunctions, UserFunctionsAreCalled) { expect_agreement<UserFunctionsOfAGraph>({.shape = kResidue}); }

}  // namespace
}  // namespace gantry::test
