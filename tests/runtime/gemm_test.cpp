// A product from its options and the text of its epilogue to a shared object that answers. Where nvcc is, a real one;
// nothing of it runs on a GPU.
#include <cstdlib>

#include <gtest/gtest.h>

#include <gantry/runtime/gemm.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

constexpr GemmOptions kSmall{
    .d = ElementType::f32, .tile = {64, 64, 64}, .cluster = {1, 1}, .schedule = GemmSchedule::pingpong};

TEST(GemmSource, SaysEveryOption) {
  GemmOptions o = kSmall;
  o.a = ElementType::e4m3;
  o.b = ElementType::e5m2;
  o.c = ElementType::bf16;
  o.layout_d = kColumnMajor;
  o.stages = 3;
  o.warpgroups = 3;
  o.promote = true;
  o.epilogue = {32, 1, 2, Choice::no, 64};
  o.split = SplitMode::none;
  const std::string source = gemm_source({.options = o, .expression = "d = acc"});
  for (const char* line :
       {".a = ElementType::e4m3,", ".b = ElementType::e5m2,", ".c = ElementType::bf16,", ".d = ElementType::f32,",
        ".major_a = Major::K,", ".layout_c = kRowMajor,", ".layout_d = kColumnMajor,", ".tile = {64, 64, 64},",
        ".cluster = {1, 1},", ".stages = 3,", ".schedule = GemmSchedule::pingpong,", ".warpgroups = 3,",
        ".epilogue = {32, 1, 2, Choice::no, 64},", ".promote = true,", ".split = SplitMode::none,"}) {
    EXPECT_NE(source.find(line), std::string::npos) << line << "\n" << source;
  }
  EXPECT_NE(gemm_source({}).find(".c = ElementType::void_,"), std::string::npos);
}

TEST(GemmSource, HoldsTheTextAsALiteral) {
  const std::string source = gemm_source({.options = {}, .expression = "d = \"acc\\\n\r1\x1b?\?/\xff"});
  EXPECT_NE(source.find(R"(fusion::graph("d = \"acc\\\012\0151\033\?\?/\377"))"), std::string::npos) << source;
}

TEST(LoadedGemm, RefusesASharedObjectThatIsNoProduct) {
  const LoadedGemm none({.image = read(GANTRY_ANSWER_42)}, "it");
  EXPECT_EQ(none.problem(), "it is no product of this version of Gantry: it has no function gantry_gemm");
  const LoadedGemm damaged({.image = "no object"}, "it");
  EXPECT_NE(damaged.problem().find("it could not be loaded"), std::string::npos) << damaged.problem();
}

TEST(LoadedGemm, ThatIsNotThereAnswersEverythingWithItsProblem) {
  const LoadedGemm none({.problem = "there is no nvcc"}, "it");
  EXPECT_EQ(none.describe(), "");
  EXPECT_EQ(none.can_implement({}), std::vector<std::string>{"there is no nvcc"});
  EXPECT_EQ(none.workspace_bytes({}), 0U);
  const LoadedGemmPlan plan = none.plan({});
  EXPECT_FALSE(plan);
  EXPECT_EQ(plan.run(), "there is no nvcc");
  EXPECT_EQ(LoadedGemmPlan().run(), "no product was planned");
}

// One compilation for everything that a compiled product answers.
TEST(LoadedGemm, ThatNvccCompiledDescribesItselfAndRefusesInSentences) {
  const Compiler compiler = Compiler::find();
  if (!compiler) GTEST_SKIP() << compiler.problem();
  const Folder folder;
  const KernelCache cache({.directory = folder / "cache"});
  const GemmSpec spec{.options = kSmall, .expression = "d = gelu(acc + row(bias))"};
  const LoadedGemm first = load_gemm(cache, compiler, spec), second = load_gemm(cache, compiler, spec);
  ASSERT_TRUE(first) << first.problem();
  EXPECT_TRUE(first.kernel().compiled);
  ASSERT_TRUE(second) << second.problem();
  EXPECT_FALSE(second.kernel().compiled);
  EXPECT_TRUE(first.describe().starts_with("64x64x64 pingpong 1x1 bf16 bf16 f32 s")) << first.describe();
  EXPECT_TRUE(first.describe().ends_with(" E32 D2")) << first.describe();

  GemmAbiProblem problem;
  problem.m = problem.n = 128;
  problem.k = 100;
  problem.a.data = problem.b.data = reinterpret_cast<void*>(0x10000);
  problem.d.data = reinterpret_cast<void*>(0x100000);
  const std::vector<std::string> reasons = first.can_implement(problem);
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_NE(reasons[0].find("A has rows that lie 100 elements of bf16 apart"), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[1].find("the nearest stride that works is 104"), std::string::npos) << reasons[1];
  EXPECT_EQ(reasons[2], "bias was not given: it is a row vector and has no default");

  const GemmAbiArgument null{"bias", nullptr, 0, -1, -1};
  problem.k = 128;
  problem.arguments = &null;
  problem.argument_count = 1;
  EXPECT_EQ(first.can_implement(problem),
            std::vector<std::string>{"bias was given a null address: it is a row vector and has no default"});
  const GemmAbiArgument bias{"bias", reinterpret_cast<void*>(0x20000), 0, -1, -1};
  problem.arguments = &bias;
  EXPECT_EQ(first.can_implement(problem), std::vector<std::string>{});
}

TEST(LoadedGemm, ThatCannotBeCompiledSaysWhyAndWhereItsSourceIs) {
  const Compiler compiler = Compiler::find();
  if (!compiler) GTEST_SKIP() << compiler.problem();
  const Folder folder;
  const CachedKernel kernel =
      KernelCache({.directory = folder.path()})
          .get(NvccCompiler(compiler, ImageKind::cubin), {.text = "int main() { return no_such_name; }\n"});
  EXPECT_NE(kernel.problem.find("identifier \"no_such_name\" is undefined"), std::string::npos) << kernel.problem;
  EXPECT_NE(kernel.problem.find("Its source is " + folder.path()), std::string::npos) << kernel.problem;
}

}  // namespace
}  // namespace gantry::runtime::test
