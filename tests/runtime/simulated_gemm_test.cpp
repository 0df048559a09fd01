// Kernels that nobody compiled in run on the simulated SM of this program: planned for sizes at run time, compared with
// sums of integers, and refused in a sentence where the object, the arguments or the request are wrong.
#include <algorithm>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

// One folder for all tests of this program, so that a kernel is compiled once.
const KernelCache& cache() {
  static const Folder folder;
  static const KernelCache cache({.directory = folder / "kernels"});
  return cache;
}

const HostCompiler& compiler() {
  static const HostCompiler found = HostCompiler::find();
  return found;
}

int small(std::size_t i, int seed) { return static_cast<int>((i * 7 + static_cast<std::size_t>(seed) * 3) % 11) - 5; }

template <class T>
std::vector<T> filled(std::size_t count, int seed) {
  std::vector<T> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = T(static_cast<float>(small(i, seed)));
  return out;
}

struct Sizes {
  int m, n, k, line_a, line_b;
};

// Element (m, n) of A B^T, whose elements are small().
int product(const Sizes& s, int m, int n) {
  int sum = 0;
  for (int k = 0; k < s.k; ++k)
    sum += small(static_cast<std::size_t>(m * s.line_a + k), 1) * small(static_cast<std::size_t>(n * s.line_b + k), 2);
  return sum;
}

TEST(SimulatedGemm, OfBytesToColumnMajorIntegersIsCompiledOnceAndRight) {
  const GemmSpec spec{.options = {.a = ElementType::s8,
                                  .b = ElementType::s8,
                                  .d = ElementType::s32,
                                  .layout_d = kColumnMajor,
                                  .tile = {64, 64, 128},
                                  .cluster = {1, 2},
                                  .stages = 2}};
  const auto gemm = SimulatedGemm::load(cache(), compiler(), spec);
  ASSERT_TRUE(gemm) << gemm.error().describe();
  EXPECT_TRUE(gemm->was_compiled());
  const auto again = SimulatedGemm::load(cache(), compiler(), spec);
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_FALSE(again->was_compiled());

  constexpr Sizes s{.m = 100, .n = 72, .k = 200, .line_a = 208, .line_b = 224};
  const auto a = filled<std::int8_t>(std::size_t{s.m} * s.line_a, 1);
  const auto b = filled<std::int8_t>(std::size_t{s.n} * s.line_b, 2);
  std::vector<std::int32_t> d(std::size_t{s.m} * s.n, -99);
  const auto plan =
      again->plan({.m = s.m, .n = s.n, .k = s.k, .a = {a.data(), s.line_a}, .b = {b.data(), s.line_b}, .d = d.data()});
  ASSERT_TRUE(plan) << plan.error().describe();
  SimulatedProgress progress;
  const LaunchResult result = plan->run(Simulator({.seed = 3}), &progress);
  EXPECT_TRUE(result) << result.report().text();
  for (int n = 0; n < s.n; ++n) {
    for (int m = 0; m < s.m; ++m)
      ASSERT_EQ(d[static_cast<std::size_t>(n * s.m + m)], product(s, m, n)) << m << ", " << n;
  }
  EXPECT_GT(progress.all, 0);
  EXPECT_EQ(progress.done, progress.all);
}

// One tile, whose K is split between the clusters of eight SMs.
TEST(SimulatedGemm, SplitsKThroughAWorkspaceAndClearsItsReductionsBeforeEachRun) {
  const GemmSpec spec{.options = {.d = ElementType::f32,
                                  .tile = {128, 64, 64},
                                  .cluster = {1, 1},
                                  .schedule = GemmSchedule::cooperative},
                      .expression = "d = acc + row(bias); top = reduce_max(acc)"};
  const auto gemm = SimulatedGemm::load(cache(), compiler(), spec);
  ASSERT_TRUE(gemm) << gemm.error().describe();
  constexpr Sizes s{.m = 128, .n = 64, .k = 4096, .line_a = 4096, .line_b = 4096};
  const auto a = filled<bf16>(std::size_t{s.m} * s.k, 1), b = filled<bf16>(std::size_t{s.n} * s.k, 2);
  const auto bias = filled<float>(std::size_t{s.n}, 5);
  std::vector<float> d(std::size_t{s.m} * s.n, -99);
  float top = 1e9F;
  GemmCall call{.m = s.m, .n = s.n, .k = s.k, .a = a.data(), .b = b.data(), .d = d.data()};
  call.arguments = {{"bias", bias.data()}, {"top", &top}};
  const auto plan = gemm->plan(call, 8);
  ASSERT_TRUE(plan) << plan.error().describe();
  EXPECT_GE(plan->workspace_bytes(), split_workspace_bytes(gemm->design(), 8)) << plan->explain();
  for (const std::uint64_t seed : {1U, 2U}) {
    SimulatedProgress progress;
    const LaunchResult result = plan->run(Simulator({.seed = seed}), &progress);
    EXPECT_TRUE(result) << result.report().text();
    EXPECT_EQ(progress.done, progress.all);
    int largest = product(s, 0, 0);
    for (int m = 0; m < s.m; ++m) {
      for (int n = 0; n < s.n; ++n) {
        const int expected = product(s, m, n);
        ASSERT_EQ(d[static_cast<std::size_t>(m * s.n + n)],
                  static_cast<float>(expected + small(static_cast<std::size_t>(n), 5)));
        largest = std::max(largest, expected);
      }
    }
    EXPECT_EQ(top, static_cast<float>(largest));
  }
  call.arguments = {{"bias", bias.data()}};
  EXPECT_EQ(gemm->can_implement(call).reasons().at(0).operand, "top");
}

TEST(SimulatedGemm, ThatCannotBeIsRefusedBeforeAnythingIsCompiled) {
  const Folder folder;
  const CountingCompiler counting(folder / "calls");
  const auto misspelt = SimulatedGemm::load(cache(), counting, {.expression = "d = gulu(acc)"});
  ASSERT_FALSE(misspelt);
  EXPECT_NE(misspelt.error().describe().find("gelu"), std::string::npos) << misspelt.error().describe();
  const auto odd_tile = SimulatedGemm::load(cache(), counting, {.options = {.tile = {.m = 96}}});
  ASSERT_FALSE(odd_tile);
  EXPECT_EQ(odd_tile.error().reasons().at(0).actual, 96);
  EXPECT_EQ(counting.calls(), 0);
}

TEST(SimulatedGemm, WhoseOptionsAreLeftOpenSharesItsEntryWithTheOneThatTheyMake) {
  const Folder folder;
  const CountingCompiler counting(folder / "calls");
  for (const char* expression : {"d = acc", "d = gelu(acc + row(bias))"}) {
    const GemmSpec open{.options = {}, .expression = expression};
    EXPECT_TRUE(compile_simulated(cache(), counting, open).compiled);
    EXPECT_FALSE(compile_simulated(cache(), counting, {design_spec(open)->design.options, expression}).compiled);
  }
  EXPECT_EQ(counting.calls(), 2);
}

// What was compiled from `source`, taken for the kernel of the default specification.
Status status_of_object(const std::string& source) {
  CachedKernel kernel;
  kernel.image = compiler().compile({.text = source}).bytes;
  const auto gemm = SimulatedGemm::load(kernel, {});
  return gemm ? Status() : gemm.error();
}

TEST(SimulatedGemm, WhoseObjectIsOfAnotherVersionOrDesignIsRefused) {
  const std::string visible = "extern \"C\" __attribute__((visibility(\"default\"))) ";
  EXPECT_TRUE(is_only(status_of_object("int nothing;\n"), RuntimeRule::module_of_another));
  const Status older =
      status_of_object(visible + "const char* gantry_simulated_headers() { return \"0123456789abcdef\"; }\n" + visible +
                       "const void* gantry_simulated_kernel(const void*) { return 0; }\n");
  EXPECT_TRUE(is_only(older, RuntimeRule::module_of_another));
  EXPECT_NE(older.describe().find("headers of another version of Gantry: their digest begins with 0123456789ab"),
            std::string::npos);
  const Status other = status_of_object(
      "#include <gantry/runtime/simulated_abi.hpp>\n" + visible +
      "const char* gantry_simulated_headers() { return GANTRY_HEADERS_DIGEST; }\n" + visible +
      "const gantry::runtime::SimulatedKernel* gantry_simulated_kernel(const gantry::SimulatorTable*) {\n"
      "  static constexpr gantry::runtime::SimulatedKernel kernel{.parameter_bytes = 7};\n  return &kernel;\n}\n");
  EXPECT_TRUE(is_only(other, RuntimeRule::module_of_another));
  EXPECT_NE(other.describe().find("another design: it takes 7 bytes of parameters"), std::string::npos);
}

TEST(SimulatorTable, HasEveryFunctionThatKernelsMayCall) {
  std::set<std::string> declared, listed;
  const std::regex function(R"(\n\w[\w:&* ]*?[ *&](\w+)\([^;{}]*\);)");
  for (const HeaderFile& file : DeviceHeaders::embedded().files) {
    if (std::string_view(file.name).find("gantry/arch/detail/machine") != 0) continue;
    const std::string text(file.text);
    for (std::sregex_iterator match(text.begin(), text.end(), function), end; match != end; ++match)
      declared.insert((*match)[1].str());
  }
#define GANTRY_X(name, parameters) listed.insert(#name);
  GANTRY_SIMULATOR_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
  EXPECT_GE(declared.size(), 50U);
  EXPECT_EQ(declared, listed);
}

}  // namespace
}  // namespace gantry::runtime::test
