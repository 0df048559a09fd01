// Arguments by name: what is taken, what is refused and why.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

#include "../../rules/rule_names.hpp"

namespace {

using namespace gantry;
using namespace gantry::fusion;
using gantry::test::names_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ProblemShape kShape{.m = 128, .n = 64, .batch = 3};

constexpr Graph kGraph =
    graph("d = relu(alpha * acc + row(bias:bf16) + load(x:bf16)); y:f16 col optional = acc; top = reduce_row_max(acc)");

struct Memory {
  std::vector<bf16> bias = std::vector<bf16>(64);
  std::vector<bf16> x = std::vector<bf16>(128 * 64 * 3);
  std::vector<f16> y = std::vector<f16>(128 * 64 * 3);
  std::vector<float> top = std::vector<float>(64 * 3);
};

FusionArguments sound(Memory& memory) {
  FusionArguments args(kGraph);
  args["bias"] = memory.bias.data();
  args["x"] = memory.x.data();
  args["top"] = memory.top.data();
  return args;
}

TEST(FusionArguments, AreCompleteWhenEveryArgumentWithoutADefaultIsGiven) {
  Memory memory;
  EXPECT_THAT(names_of(sound(memory).problems(kShape)), IsEmpty());
}

TEST(FusionArguments, ThatAreMissingAreNamed) {
  const ArgumentReasons reasons = FusionArguments(kGraph).problems(kShape);
  ASSERT_THAT(names_of(reasons), ElementsAre("argument_missing bias", "argument_missing x", "argument_missing top"));
  EXPECT_EQ(reasons[0].kind, ArgumentKind::row);
  EXPECT_EQ(reasons[1].kind, ArgumentKind::aux_in);
  EXPECT_EQ(reasons[2].kind, ArgumentKind::reduction);
}

TEST(FusionArguments, WithAnUnknownNameAreRefusedWithTheNearestOne) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bais"] = memory.bias.data();
  args["nothing_like_it"] = 1.0f;
  args["a_name_that_is_longer_than_any_argument_of_a_fusion_may_have"] = 1.0f;
  const ArgumentReasons reasons = args.problems(kShape);
  ASSERT_EQ(reasons.size(), 3);
  for (const ArgumentReason& reason : reasons) {
    EXPECT_EQ(reason.rule, ArgumentRule::unknown_name);
    EXPECT_EQ(reason.words, "alpha, bias, x, y, top");
  }
  EXPECT_EQ(reasons[0].operand, "bais");
  EXPECT_EQ(reasons[0].other, "bias");
  EXPECT_EQ(reasons[1].operand, "nothing_like_it");
  EXPECT_TRUE(reasons[1].other.empty());
}

TEST(FusionArguments, OfAnotherTypeAreRefused) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = memory.top.data();
  args["x"] = 2.0f;
  args["top"] = static_cast<const float*>(memory.top.data());
  ArgumentReasons reasons = args.problems(kShape);
  ASSERT_THAT(names_of(reasons), ElementsAre("element_differs bias", "number_for_address x", "output_is_const top"));
  EXPECT_EQ(reasons[0].element, ElementType::bf16);
  EXPECT_EQ(reasons[0].given, ElementType::f32);
  args["x"] = memory.x.data();  // what was wrong can be put right
  args["top"] = memory.top.data();
  args["bias"] = memory.y.data();
  reasons = args.problems(kShape);
  ASSERT_THAT(names_of(reasons), ElementsAre("element_differs bias"));
  EXPECT_EQ(reasons[0].given, ElementType::f16);
  args["bias"] = memory.bias.data();
  EXPECT_THAT(names_of(args.problems(kShape)), IsEmpty());
}

TEST(FusionArguments, OfAVectorMayBeOneNumber) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = 0.5f;
  EXPECT_THAT(names_of(args.problems(kShape)), IsEmpty());
  const ArgumentValue bias = args.resolved(kShape).values[1];
  EXPECT_EQ(bias.pointer, nullptr);
  EXPECT_EQ(bias.value, 0.5f);
}

TEST(FusionArguments, OfAnUntypedAddressAreTaken) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = static_cast<void*>(memory.bias.data());
  EXPECT_THAT(names_of(args.problems(kShape)), IsEmpty());
}

TEST(FusionArguments, MustBeAlignedToTheirElements) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = static_cast<void*>(reinterpret_cast<std::uint8_t*>(memory.bias.data()) + 1);
  const ArgumentReasons reasons = args.problems(kShape);
  ASSERT_THAT(names_of(reasons), ElementsAre("element_misaligned bias"));
  EXPECT_EQ(reasons[0].actual, 1);
  EXPECT_EQ(reasons[0].first, 2);
}

TEST(FusionArguments, HaveStridesThatHoldTheirTensors) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["x"].tensor(memory.x.data(), 63);
  args["y"].tensor(memory.y.data(), 100, 0);
  args["top"].batched(memory.top.data(), 32);
  const ArgumentReasons reasons = args.problems(kShape);
  ASSERT_THAT(names_of(reasons),
              ElementsAre("stride_too_short x", "stride_too_short y", "batches_overlap y", "results_overlap top"));
  EXPECT_EQ(reasons[0].actual, 63);
  EXPECT_EQ(reasons[0].nearest, 64);
  EXPECT_TRUE(reasons[1].columns);
  EXPECT_EQ(reasons[1].nearest, 128);
  EXPECT_EQ(reasons[2].nearest, 100 * 64);
  EXPECT_EQ(reasons[3].actual, 32);
  EXPECT_EQ(reasons[3].nearest, 64);
}

TEST(FusionArguments, ResolveDefaultsAndDenseStrides) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["y"] = memory.y.data();
  args["bias"].batched(memory.bias.data(), 64);
  const ResolvedArguments r = args.resolved(kShape);
  EXPECT_EQ(r.values[0].value, 1) << "alpha";
  EXPECT_EQ(r.values[0].pointer, nullptr);
  EXPECT_EQ(r.values[1].batch_stride, 64) << "bias";
  EXPECT_EQ(r.values[2].stride, 64) << "x, row-major";
  EXPECT_EQ(r.values[2].batch_stride, 64 * 128);
  EXPECT_EQ(r.values[3].stride, 128) << "y, column-major";
  EXPECT_EQ(r.values[3].batch_stride, 64 * 128);
  EXPECT_EQ(r.values[4].batch_stride, 0) << "top";
}

TEST(FusionArguments, OfStridesThatNoMemoryHoldsDoNotWrapAround) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["x"].tensor(memory.x.data(), INT64_MAX / 2);
  EXPECT_EQ(args.resolved(kShape).values[2].batch_stride, INT64_MAX);
}

TEST(FusionArguments, ThatAreNullPointersFallBackToTheDefault) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["alpha"] = static_cast<const float*>(nullptr);
  args["y"] = nullptr;
  EXPECT_THAT(names_of(args.problems(kShape)), IsEmpty());
  EXPECT_EQ(args.resolved(kShape).values[0].value, 1);
}

TEST(FusionArguments, WithoutADefaultAreRefusedAsNullPointers) {
  const char* const kNull = "argument_null bias";
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = nullptr;
  EXPECT_THAT(names_of(args.problems(kShape)), ElementsAre(kNull));
  args["bias"] = memory.bias.data();
  EXPECT_THAT(names_of(args.problems(kShape)), IsEmpty());
  args["bias"] = static_cast<const bf16*>(nullptr);
  EXPECT_THAT(names_of(args.problems(kShape)), ElementsAre(kNull));
  args["bias"].batched(static_cast<void*>(nullptr), 64);
  EXPECT_THAT(names_of(args.problems(kShape)), ElementsAre(kNull));
}

TEST(FusionArguments, ReplaceWhatWasGivenBefore) {
  Memory memory;
  FusionArguments args = sound(memory);
  const float alphas[3] = {1, 2, 3};
  args["alpha"].batched(alphas, 1);
  EXPECT_EQ(args.resolved(kShape).values[0].pointer, alphas);
  args["alpha"] = 2.5f;
  EXPECT_EQ(args.resolved(kShape).values[0].pointer, nullptr);
  EXPECT_EQ(args.resolved(kShape).values[0].value, 2.5f);
}

struct BiasRelu {
  static constexpr Graph graph = kGraph;
};

TEST(FusionArguments, OfAGraphKnownAtCompileTimeAreCheckedThere) {
  Memory memory;
  ArgumentsFor<BiasRelu> args;
  args.set<"alpha">(2.0f);
  args.set<"bias">(memory.bias.data());
  args.set<"x">(memory.x.data());
  args.set<"top">(memory.top.data(), 64);
  args.set_tensor<"y">(memory.y.data(), 128, 128 * 64);
  EXPECT_THAT(names_of(args.problems(kShape)), IsEmpty());
  EXPECT_EQ(args.value(0).value, 2);
  EXPECT_EQ(args.value(3).stride, 128);
  EXPECT_EQ(args.value(4).batch_stride, 64);
}

}  // namespace
