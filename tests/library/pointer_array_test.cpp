// Pointer arrays through a context, on the simulated SM: one plan whatever stands in the array, and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/context.hpp>
#include <gantry/gantry.h>
#include <gantry/gemm/array_check.hpp>
#include <gantry/numeric.hpp>
#include <gantry/runtime/host_compiler.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

using testing::HasSubstr;

struct Extents {
  int m, n, k;
};

// Three GEMMs with C, a bias and a second output each.
struct Operands {
  std::vector<std::vector<bf16>> a, b;
  std::vector<std::vector<float>> c, d, bias, copy;
  std::vector<Extents> extents;
  std::vector<GemmGroup> gemms;
  std::vector<const void*> biases;
  std::vector<GemmGroupTensor> copies;

  explicit Operands(const std::vector<Extents>& sizes) : extents(sizes) {
    const auto numbers = [](auto& to, int count, int step) {
      using Element = typename std::remove_reference_t<decltype(to)>::value_type::value_type;
      auto& x = to.emplace_back(static_cast<std::size_t>(count + 8));
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = Element(static_cast<float>(static_cast<int>(i * static_cast<std::size_t>(step) % 9) - 4));
      }
      return x.data();
    };
    for (const auto& [m, n, k] : sizes) {
      GemmGroup gemm{.m = m, .n = n, .k = k};
      gemm.a = numbers(a, m * k, 7);
      gemm.b = numbers(b, n * k, 5);
      gemm.c = numbers(c, m * n, 3);
      gemm.d = numbers(d, m * n, 2);
      gemms.push_back(gemm);
      biases.push_back(numbers(bias, n, 4));
      copies.push_back({numbers(copy, m * n, 1), 0});
    }
  }
  GemmCall call() const {
    GemmCall out{.m = 64, .n = 64, .k = 64, .batch = static_cast<std::int64_t>(gemms.size())};
    out.arguments = {{"bias", biases.data()}, {"copy", copies.data()}};
    out.groups.gemms = gemms.data();
    return out;
  }
  void expect_right() const {
    for (std::size_t g = 0; g < extents.size(); ++g) {
      const auto& [m, n, k] = extents[g];
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          float sum = 0;
          for (int x = 0; x < k; ++x) {
            sum += static_cast<float>(a[g][static_cast<std::size_t>(i * k + x)]) *
                   static_cast<float>(b[g][static_cast<std::size_t>(j * k + x)]);
          }
          const auto at = static_cast<std::size_t>(i * n + j);
          ASSERT_EQ(copy[g][at], sum) << "GEMM " << g << ", row " << i << ", column " << j;
          ASSERT_EQ(d[g][at], sum + c[g][at] + bias[g][static_cast<std::size_t>(j)]) << "GEMM " << g << ", row " << i;
        }
      }
    }
  }
};

class PointerArrayContextTest : public testing::Test {
 protected:
  static Context context(const Folder& folder) {
    ContextOptions out;
    out.machine = MachineKind::simulated;
    out.policy = CompilePolicy::wait;
    out.cache_directory = folder / "cache";
    return Context(out);
  }
  static GemmRequest request() {
    return {
        .options = {.d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 1}, .groups = GemmGrouping::pointer_array},
        .epilogue = "copy:f32 = acc; d = acc + c + row(bias)"};
  }
  Folder folder_;
};

TEST_F(PointerArrayContextTest, KeepsOnePlanWhateverStandsInTheArray) {
  ASSERT_TRUE(HostCompiler::find().status());  // what built this test is there
  const auto gemm = context(folder_).gemm(request());
  if (!gemm) FAIL() << gemm.error().describe();
  Operands x({{64, 72, 64}, {0, 8, 8}, {100, 64, 136}}), other({{1, 8, 0}, {70, 136, 200}, {64, 64, 64}});
  for (Operands* o : {&x, &other, &x}) {
    const Status ran = gemm->run(o->call());
    ASSERT_TRUE(ran) << ran.describe();
    o->expect_right();
  }
  EXPECT_EQ(gemm->plans(), 1);
  const auto explained = gemm->explain(x.call());
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->plan, HasSubstr("64 x 64 x 64 (M x N x K) and others, a pointer array of 3 GEMMs"));
  EXPECT_THAT(explained->plan, HasSubstr("writes the tensor maps of a GEMM before its first tile"));
}

TEST_F(PointerArrayContextTest, NamesTheGemmsThatAreLeftOutWhereTheDeviceIsChecked) {
  const auto gemm = context(folder_).gemm(request());
  ASSERT_TRUE(gemm);
  Operands x({{64, 72, 64}, {64, 64, 64}, {70, 64, 136}, {64, 64, 64}});
  const GemmCall call = x.call();
  const RunOptions checked{.check = RunCheck::device};
  ASSERT_TRUE(gemm->run(call, checked).ok());
  x.gemms[1].a = static_cast<const char*>(x.gemms[1].a) + 2;
  x.biases[2] = reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.biases[2]) + 2);
  x.copies[3].data = static_cast<char*>(x.copies[3].data) + 4;
  const Status refused = gemm->run(call, checked);
  ASSERT_EQ(refused.reasons().size(), 3U) << refused.describe();
  EXPECT_EQ(refused.reasons()[0].rule, "gemm_left_out");
  EXPECT_EQ(refused.reasons()[0].actual, 1);
  EXPECT_THAT(refused.reasons()[0].sentence, HasSubstr("GEMM 1: A begins 2 bytes after a multiple of 16"));
  EXPECT_THAT(refused.reasons()[1].sentence, HasSubstr("GEMM 2: bias begins 2 bytes after a multiple of 4"));
  EXPECT_THAT(refused.reasons()[2].sentence, HasSubstr("GEMM 3: copy begins 4 bytes after a multiple of 16"));
  // Without the check those GEMMs, and no others, are left out.
  for (auto& d : x.d) std::fill(d.begin(), d.end(), -1.0F);
  const Status ran = gemm->run(call);
  ASSERT_TRUE(ran.ok()) << ran.describe();
  for (std::size_t g = 0; g < x.d.size(); ++g) {
    const bool untouched = std::all_of(x.d[g].begin(), x.d[g].end(), [](float d) { return d == -1; });
    EXPECT_EQ(untouched, g != 0) << "GEMM " << g;
  }
}

TEST_F(PointerArrayContextTest, ComputesNothingOfAnEmptyArray) {
  const auto gemm = context(folder_).gemm(request());
  ASSERT_TRUE(gemm);
  GemmCall call = Operands({{64, 64, 64}}).call();
  call.batch = 0;
  EXPECT_TRUE(gemm->run(call).ok());
}

TEST_F(PointerArrayContextTest, RefusesCallsThatAreNoPointerArray) {
  const Context machine = context(folder_);
  const auto gemm = machine.gemm(request());
  ASSERT_TRUE(gemm);
  const auto rule_of = [](const Status& status) { return status.ok() ? "" : status.reasons()[0].rule; };
  const Operands x({{64, 64, 64}});
  GemmCall call = x.call();
  call.groups = {};
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "groups_missing");
  call = x.call();
  call.k = 0;
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "pointers_extent");
  call = x.call();
  call.a = x.a[0].data();
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "pointers_matrix");
  call = x.call();
  call.arguments = {{"bias", x.biases.data()}, {"copy", reinterpret_cast<const char*>(x.copies.data()) + 8}};
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "element_misaligned");
  const auto of_options = [&](const GemmOptions& options, const char* epilogue) {
    const auto made = machine.gemm({.options = options, .epilogue = epilogue});
    return made ? std::string() : made.error().reasons()[0].rule;
  };
  constexpr GemmGrouping kArray = GemmGrouping::pointer_array;
  EXPECT_EQ(of_options({.groups = kArray}, "d = acc; s = reduce_col_add(acc)"), "pointers_reduction");
  EXPECT_EQ(of_options({.tile = {8, 64}, .swapped = true, .groups = kArray}, "d = acc"), "groups_swapped");
  EXPECT_EQ(of_options({.groups = kArray}, "d = gate(acc) * up(acc)"), "gated_alone");
}

// What the device leaves out the host names with the rule.
TEST(GemmsOfAnArray, ThatTmaCannotAddressAreNamedWithTheRule) {
  alignas(16) static bf16 memory[64 * 64];
  const GemmOptions options{.groups = GemmGrouping::pointer_array};
  const GemmGroup right{.m = 64, .n = 64, .k = 64, .a = memory, .b = memory, .d = memory};
  const auto why = [&](auto change) {
    GemmGroup gemm = right;
    change(gemm);
    return why_left_out(options, gemm);
  };
  using Rule = ArrayRule;
  const auto expect = [](const std::optional<ArrayReason>& found, Rule rule, const char* operand) {
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->rule, rule) << describe(*found).c_str();
    EXPECT_STREQ(found->operand.text, operand);
  };
  EXPECT_FALSE(why([](GemmGroup&) {}));
  EXPECT_FALSE(why([](GemmGroup& g) { g.m = 0, g.d = nullptr; }));
  EXPECT_FALSE(why([](GemmGroup& g) { g.k = 0, g.a = nullptr; }));
  expect(why([](GemmGroup& g) { g.n = -1; }), Rule::size_negative, "");
  expect(why([](GemmGroup& g) { g.m = g.n = 1 << 30; }), Rule::size_too_large, "");
  expect(why([](GemmGroup& g) { g.b = nullptr; }), Rule::address_missing, "B");
  expect(why([](GemmGroup& g) { g.a = memory + 1; }), Rule::address_misaligned, "A");
  expect(why([](GemmGroup& g) { g.stride_b = 60; }), Rule::stride_too_short, "B");
  expect(why([](GemmGroup& g) { g.stride_a = 68; }), Rule::stride_misaligned, "A");
  EXPECT_EQ(why([](GemmGroup& g) { g.stride_a = 68; })->nearest, 72);
  expect(why([](GemmGroup& g) { g.n = 60, g.stride_d = 64; }), Rule::ends_inside_chunk, "D");
  EXPECT_EQ(why([](GemmGroup& g) { g.n = 60, g.stride_d = 64; })->nearest, 64);
}

// The same through the C interface, whose structs are those of the library.
TEST(PointerArraysInC, AreComputed) {
  const Folder folder;
  gantry_context_options context_options = GANTRY_CONTEXT_OPTIONS;
  const std::string cache = folder / "cache";
  context_options.machine = GANTRY_MACHINE_SIMULATED;
  context_options.policy = GANTRY_COMPILE_WAIT;
  context_options.cache_directory = cache.c_str();
  gantry_context* context = nullptr;
  ASSERT_EQ(gantry_context_create(&context_options, &context), GANTRY_OK) << gantry_error_message();
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  options.d = "f32";
  options.epilogue = "copy:f32 = acc; d = acc + c + row(bias)";
  options.tile_m = options.tile_n = 64;
  options.cluster_m = options.cluster_n = 1;
  options.groups = GANTRY_GROUPS_POINTER_ARRAY;
  gantry_gemm* gemm = nullptr;
  ASSERT_EQ(gantry_gemm_create(context, &options, &gemm), GANTRY_OK) << gantry_error_message();
  Operands x({{64, 72, 64}, {0, 8, 8}, {100, 64, 136}});
  std::vector<gantry_group> groups;
  for (const GemmGroup& g : x.gemms) {
    groups.push_back({g.m, g.n, g.k, 0, g.a, g.b, g.c, g.d, g.stride_a, g.stride_b, g.stride_c, g.stride_d});
  }
  gantry_argument arguments[] = {GANTRY_ARGUMENT, GANTRY_ARGUMENT};
  arguments[0].name = "bias";
  arguments[0].data = static_cast<void*>(x.biases.data());
  arguments[1].name = "copy";
  arguments[1].data = x.copies.data();
  gantry_call call = GANTRY_CALL;
  call.m = call.n = call.k = 64;
  call.batch = 3;
  call.arguments = arguments;
  call.argument_count = 2;
  call.group_gemms = groups.data();
  ASSERT_EQ(gantry_gemm_run(gemm, &call), GANTRY_OK) << gantry_error_message();
  x.expect_right();
  groups[2].stride_b = 68 * 2 + 4;
  call.check = GANTRY_CHECK_DEVICE;
  EXPECT_EQ(gantry_gemm_run(gemm, &call), GANTRY_INVALID_ARGUMENT);
  gantry_reason reason;
  ASSERT_EQ(gantry_error_reason(0, &reason), GANTRY_OK);
  EXPECT_EQ(reason.actual, 2);
  EXPECT_THAT(reason.sentence, HasSubstr("GEMM 2: B has a stride of 140 elements of bf16, which is 280 bytes"));
  call.check = 2;
  EXPECT_EQ(gantry_gemm_run(gemm, &call), GANTRY_INVALID_ARGUMENT);
  ASSERT_EQ(gantry_error_reason(0, &reason), GANTRY_OK);
  EXPECT_STREQ(reason.rule, "choice");
  EXPECT_EQ(reason.actual, 2);
  EXPECT_EQ(reason.nearest, 1);
  gantry_gemm_destroy(gemm);
  gantry_context_destroy(context);
}

}  // namespace
}  // namespace gantry::runtime::test
