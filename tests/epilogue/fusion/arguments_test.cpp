// Arguments by name: what is taken, what is refused and in which words.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  EXPECT_THAT(sound(memory).problems(kShape), IsEmpty());
}

TEST(FusionArguments, ThatAreMissingAreNamed) {
  EXPECT_THAT(FusionArguments(kGraph).problems(kShape),
              ElementsAre("bias was not given: it is a row vector and has no default",
                          "x was not given: it is an input tensor and has no default",
                          "top was not given: it is a reduction and has no default"));
}

TEST(FusionArguments, WithAnUnknownNameAreRefusedWithTheNearestOne) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bais"] = memory.bias.data();
  args["nothing_like_it"] = 1.0f;
  EXPECT_THAT(args.problems(kShape),
              ElementsAre("there is no argument bais; did you mean bias? The arguments are alpha, bias, x, y, top",
                          "there is no argument nothing_like_it; the arguments are alpha, bias, x, y, top"));
}

TEST(FusionArguments, OfAnotherTypeAreRefused) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = memory.top.data();
  args["x"] = 2.0f;
  args["top"] = static_cast<const float*>(memory.top.data());
  EXPECT_THAT(args.problems(kShape), ElementsAre("bias is a row vector of bf16, and was given the address of f32",
                                                 "x is an input tensor, which is given by its address, not by a number",
                                                 "top is written, and was given a const address"));
  args["x"] = memory.x.data();  // what was wrong can be put right
  args["top"] = memory.top.data();
  args["bias"] = memory.y.data();
  EXPECT_THAT(args.problems(kShape), ElementsAre("bias is a row vector of bf16, and was given the address of f16"));
  args["bias"] = memory.bias.data();
  EXPECT_THAT(args.problems(kShape), ElementsAre());
}

TEST(FusionArguments, OfAnUntypedAddressAreTaken) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = static_cast<void*>(memory.bias.data());
  EXPECT_THAT(args.problems(kShape), IsEmpty());
}

TEST(FusionArguments, MustBeAlignedToTheirElements) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = static_cast<void*>(reinterpret_cast<std::uint8_t*>(memory.bias.data()) + 1);
  const auto problems = args.problems(kShape);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0], HasSubstr("bias must be aligned to its element, 2 bytes"));
}

TEST(FusionArguments, HaveStridesThatHoldTheirTensors) {
  Memory memory;
  FusionArguments args = sound(memory);
  args["x"].tensor(memory.x.data(), 63);
  args["y"].tensor(memory.y.data(), 100, 0);
  args["top"].batched(memory.top.data(), 32);
  EXPECT_THAT(args.problems(kShape),
              ElementsAre("x has a stride of 63, less than its rows are long: 64",
                          "y has a stride of 100, less than its columns are long: 128",
                          "y is written by every batch to the same place: its batch stride is 0",
                          "top has results that overlap: its batch stride is 32, and each batch has 64"));
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
  EXPECT_THAT(args.problems(kShape), IsEmpty());
  EXPECT_EQ(args.resolved(kShape).values[0].value, 1);
}

TEST(FusionArguments, WithoutADefaultAreRefusedAsNullPointers) {
  const char* const kNull = "bias was given a null address: it is a row vector and has no default";
  Memory memory;
  FusionArguments args = sound(memory);
  args["bias"] = nullptr;
  EXPECT_THAT(args.problems(kShape), ElementsAre(kNull));
  args["bias"] = memory.bias.data();
  EXPECT_THAT(args.problems(kShape), IsEmpty());
  args["bias"] = static_cast<const bf16*>(nullptr);
  EXPECT_THAT(args.problems(kShape), ElementsAre(kNull));
  args["bias"].batched(static_cast<void*>(nullptr), 64);
  EXPECT_THAT(args.problems(kShape), ElementsAre(kNull));
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
  EXPECT_THAT(args.problems(kShape), IsEmpty());
  EXPECT_EQ(args.value(0).value, 2);
  EXPECT_EQ(args.value(3).stride, 128);
  EXPECT_EQ(args.value(4).batch_stride, 64);
}

}  // namespace
