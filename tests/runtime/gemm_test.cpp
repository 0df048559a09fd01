// A GEMM from its options and the text of its epilogue to a cubin. Nothing of it runs on a GPU.
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
  o.gather_a = true;
  const std::string source = gemm_source({.options = o, .expression = "d = acc"});
  for (const char* line :
       {".a = ElementType::e4m3,", ".b = ElementType::e5m2,", ".c = ElementType::bf16,", ".d = ElementType::f32,",
        ".major_a = Major::K,", ".layout_c = kRowMajor,", ".layout_d = kColumnMajor,", ".tile = {64, 64, 64},",
        ".cluster = {1, 1},", ".stages = 3,", ".schedule = GemmSchedule::pingpong,", ".warpgroups = 3,",
        ".epilogue = {32, 1, 2, Choice::no, 64},", ".promote = true,", ".split = SplitMode::none,",
        ".gather_a = true,"}) {
    EXPECT_NE(source.find(line), std::string::npos) << line << "\n" << source;
  }
  EXPECT_NE(gemm_source({}).find(".c = ElementType::void_,"), std::string::npos);
}

TEST(GemmSource, HoldsTheTextAsALiteral) {
  const std::string source = gemm_source({.options = {}, .expression = "d = \"acc\\\n\r1\x1b?\?/\xff"});
  EXPECT_NE(source.find(R"(fusion::graph("d = \"acc\\\012\0151\033\?\?/\377"))"), std::string::npos) << source;
}

TEST(GemmSource, HasTheKernelThatClearsReductionsWhereThereAreAny) {
  EXPECT_EQ(gemm_source({.expression = "d = acc"}).find("gantry_fill"), std::string::npos);
  EXPECT_NE(gemm_source({.expression = "d = acc; s:f32 = reduce_col_add(acc)"}).find("gantry_fill"), std::string::npos);
}

TEST(DesignSpec, SaysWhatIsWrongWithTextAndOptions) {
  EXPECT_TRUE(design_spec({.options = kSmall, .expression = "d = gelu(acc + row(bias))"}));
  const auto text = design_spec({.options = kSmall, .expression = "d = gulu(acc)"});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), StatusCode::invalid_argument);
  EXPECT_EQ(text.error().reasons().front().rule, "there_is_no_such_function");
  EXPECT_NE(text.error().describe().find("did you mean gelu"), std::string::npos) << text.error().describe();
  const auto options = design_spec({.options = {.tile = {96, 64, 64}}});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code(), StatusCode::unsupported);
}

TEST(DesignSpec, RefusesControlCharactersInABody) {
  for (const char* body : {"return x;\x1b", "return x;\r", "return x;\x7f", "return x;\xc2\x85"}) {
    const auto refused = design_spec({.options = kSmall, .expression = "d = f(acc)", .functions = {{"f", "x", body}}});
    ASSERT_FALSE(refused) << body;
    EXPECT_NE(refused.error().describe().find("control characters"), std::string::npos) << refused.error().describe();
  }
  EXPECT_TRUE(design_spec({.options = kSmall, .expression = "d = f(acc)", .functions = {{"f", "x", "\treturn x;\n"}}}));
}

TEST(LoadedGemm, NeedsAGpu) {
  const auto none = LoadedGemm::load(Device(), CachedKernel{.image = "cubin"}, {.options = kSmall});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), StatusCode::no_device);
  CachedKernel missing;
  missing.status = failure_of(RuntimeRule::nvcc_missing, "there is no nvcc");
  const auto failed = LoadedGemm::load(Device(), missing, {.options = kSmall});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(is_only(failed.error(), RuntimeRule::nvcc_missing));
}

// A compilation by each compiler that is there.
void expect_cubin(const KernelCompiler& compiler, const std::string& expression) {
  const Folder folder;
  const KernelCache cache({.directory = folder / "cache"});
  const GemmSpec spec{.options = kSmall, .expression = expression};
  EXPECT_FALSE(find_gemm(cache, compiler, spec));
  const CachedKernel kernel = compile_gemm(cache, compiler, spec);
  ASSERT_TRUE(kernel) << kernel.status.describe();
  EXPECT_TRUE(kernel.compiled);
  for (const char* name : {"gantry_gemm", "gantry_fill"}) EXPECT_NE(kernel.image.find(name), std::string::npos) << name;
  const std::optional<CachedKernel> again = find_gemm(cache, compiler, spec);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->image, kernel.image);
}

// Of every kind of element, as NVRTC lacks some builtins that conversions might use.
TEST(CompileGemm, MakesACubinByNvrtc) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  expect_cubin(compiler,
               "let x = gelu(acc * scalar(a:s32 = 2) + row(b:s8) + col(c:u64) + load(e:s16) + row(f:u1) + col(g:s4));"
               "d = x + row(h:e4m3) + row(i:e2m1) + row(j:tf32) + row(k:f64) + row(l:e3m2) + row(m:f16);"
               "y:s64 = x; z:u8 = 2 * x; s:f32 = reduce_col_add(acc)");
}

// Its maps are edited by the kernel, whose headers no other kernel has.
TEST(CompileGemm, MakesACubinOfAPointerArrayByNvrtc) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  const Folder folder;
  GemmSpec spec{.options = kSmall, .expression = "d = acc + row(bias); aux:bf16 = acc"};
  spec.options.groups = GemmGrouping::pointer_array;
  const CachedKernel kernel = compile_gemm(KernelCache({.directory = folder / "cache"}), compiler, spec);
  ASSERT_TRUE(kernel) << kernel.status.describe();
}

TEST(CompileGemm, MakesACubinOfGroupsWithSwappedOperandsByNvrtc) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  const Folder folder;
  GemmSpec spec{.options = {.tile = {16, 64, 64}, .cluster = {1, 1}}, .expression = "d = acc + row(bias)"};
  spec.options.swapped = true;
  spec.options.groups = GemmGrouping::along_m;
  const CachedKernel kernel = compile_gemm(KernelCache({.directory = folder / "cache"}), compiler, spec);
  ASSERT_TRUE(kernel) << kernel.status.describe();
}

// Threads copy rows, with headers that no other kernel has.
TEST(CompileGemm, MakesACubinOfGatheredRowsByNvrtc) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  const Folder folder;
  GemmSpec spec{.options = kSmall, .expression = "d = acc + row(bias)"};
  spec.options.groups = GemmGrouping::along_m;
  spec.options.gather_a = true;
  const CachedKernel kernel = compile_gemm(KernelCache({.directory = folder / "cache"}), compiler, spec);
  ASSERT_TRUE(kernel) << kernel.status.describe();
}

// Functions of the user's own, given as text: a typo is the compiler's to find, in words.
void expect_functions(const KernelCompiler& compiler) {
  const Folder folder;
  const KernelCache cache({.directory = folder / "cache"});
  GemmSpec spec{
      .options = kSmall,
      .expression = "d = half(acc) + mix(acc, row(bias))",
      .functions = {{"half", "x", "return x > 0 ? x : 0.5f * x;"},
                    {"mix", "x, y", "float z = x;\n  for (int i = 0; i < 3; ++i) z = z * y + x;\n  return z;"}}};
  const CachedKernel kernel = compile_gemm(cache, compiler, spec);
  ASSERT_TRUE(kernel) << kernel.status.describe();
  EXPECT_NE(kernel.image.find("gantry_gemm"), std::string::npos);
  spec.functions[0].body = "return no_such_name;";
  const CachedKernel typo = compile_gemm(cache, compiler, spec);
  EXPECT_FALSE(typo);
  EXPECT_TRUE(is_only(typo.status, RuntimeRule::compiler_failed)) << "no rule of Gantry's";
  EXPECT_NE(typo.status.describe().find("no_such_name"), std::string::npos) << typo.status.describe();
}

TEST(CompileGemm, MakesACubinOfFunctionsGivenAsTextByNvrtc) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  expect_functions(compiler);
}

TEST(CompileGemm, MakesACubinOfFunctionsGivenAsTextByNvcc) {
  const NvccCompiler compiler(Compiler::find(), ImageKind::cubin);
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  expect_functions(compiler);
}

TEST(CompileGemm, MakesACubinByNvcc) {
  const NvccCompiler compiler(Compiler::find(), ImageKind::cubin);
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  expect_cubin(compiler, "d = gelu(acc + row(bias)); s:f32 = reduce_col_add(acc)");
}

TEST(CompileGemm, ThatFailsSaysWhyAndWhereItsSourceIs) {
  const Compiler compiler = Compiler::find();
  if (!compiler) GTEST_SKIP() << compiler.status().describe();
  const Folder folder;
  const CachedKernel kernel =
      KernelCache({.directory = folder.path()})
          .get(NvccCompiler(compiler, ImageKind::cubin), {.text = "int main() { return no_such_name; }\n"});
  EXPECT_NE(kernel.status.describe().find("identifier \"no_such_name\" is undefined"), std::string::npos)
      << kernel.status.describe();
  EXPECT_NE(kernel.status.describe().find("Its source is " + folder.path()), std::string::npos)
      << kernel.status.describe();
}

}  // namespace
}  // namespace gantry::runtime::test
