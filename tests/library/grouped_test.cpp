// Grouped GEMMs through a context, on the simulated SM: one plan for all offsets, other addresses, and refusals.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/context.hpp>
#include <gantry/gantry.h>
#include <gantry/numeric.hpp>
#include <gantry/runtime/host_compiler.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kRows = 150, kN = 72, kK = 64, kGroups = 3;

struct Operands {
  std::int64_t k;
  std::vector<bf16> a = std::vector<bf16>(static_cast<std::size_t>(kRows * k)),
                    b = std::vector<bf16>(static_cast<std::size_t>(kGroups * kN * k));
  std::vector<float> bias = std::vector<float>(static_cast<std::size_t>(kGroups * kN)),
                     d = std::vector<float>(static_cast<std::size_t>(kRows * kN), -1);
  std::vector<std::int32_t> offsets = std::vector<std::int32_t>(static_cast<std::size_t>(kGroups + 1));

  explicit Operands(std::int64_t depth = kK) : k(depth) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(static_cast<int>(i * 7 % 9) - 4));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(static_cast<int>(i * 5 % 7) - 3));
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 5);
  }
  GemmCall call() {
    GemmCall out{.m = kRows, .n = kN, .k = k, .batch = kGroups, .a = a.data(), .b = b.data(), .d = d.data()};
    out.arguments = {{"bias", bias.data()}};
    out.groups.offsets = offsets.data();
    return out;
  }
  void expect_right() const {
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto after = std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int32_t>(row));
      const std::int64_t group = after - offsets.begin() - 1;
      for (std::int64_t j = 0; j < kN; ++j) {
        float sum = bias[static_cast<std::size_t>(group * kN + j)];
        for (std::int64_t x = 0; x < k; ++x) {
          sum += static_cast<float>(a[static_cast<std::size_t>(row * k + x)]) *
                 static_cast<float>(b[static_cast<std::size_t>((group * kN + j) * k + x)]);
        }
        ASSERT_EQ(d[static_cast<std::size_t>(row * kN + j)], sum) << "row " << row << ", column " << j;
      }
    }
  }
};

class GroupedContextTest : public testing::Test {
 protected:
  static Context context(const Folder& folder) {
    ContextOptions out;
    out.machine = MachineKind::simulated;
    out.policy = CompilePolicy::wait;
    out.cache_directory = folder / "cache";
    return Context(out);
  }
  static GemmRequest request() {
    return {.options = {.d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 1}, .groups = GemmGrouping::along_m},
            .epilogue = "d = acc + row(bias)"};
  }
  Folder folder_;
};

TEST_F(GroupedContextTest, KeepsOnePlanForEveryOffset) {
  ASSERT_TRUE(HostCompiler::find().status());  // what built this test is there
  GemmRequest wanted = request();
  wanted.expected_rows = {0, 75, 75};
  const auto gemm = context(folder_).gemm(wanted);
  if (!gemm) FAIL() << gemm.error().describe();
  Operands x, other;  // other addresses are the same plan
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{0, 50, 100, 150}, {0, 0, 150, 150}, {0, 129, 130, 150}}) {
    for (Operands* o : {&x, &other}) {
      o->offsets = offsets;
      const Status ran = gemm->run(o->call());
      ASSERT_TRUE(ran) << ran.describe();
      o->expect_right();
    }
  }
  EXPECT_EQ(gemm->plans(), 1);
  const auto explained = gemm->explain(x.call());
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->plan, HasSubstr("150 x 72 x 64 (M x N x K), 3 groups along M"));
  EXPECT_THAT(explained->plan, HasSubstr("by the device, which reads the groups"));
  EXPECT_THAT(explained->choice, HasSubstr("3 groups along M, of 0 to 75 rows"));
  // Rows that TMA cannot address are packed, by the plan of another size.
  for (int of_other_addresses = 0; of_other_addresses < 2; ++of_other_addresses) {
    Operands odd(kK - 3);
    odd.offsets = {0, 70, 70, 150};
    const Status ran = gemm->run(odd.call());
    ASSERT_TRUE(ran) << ran.describe();
    odd.expect_right();
  }
  EXPECT_EQ(gemm->plans(), 2);
}

// Its kernel's A is B: each tensor map moves with its own matrix.
TEST_F(GroupedContextTest, KeepsOnePlanForEveryAddressWithSwappedOperands) {
  GemmRequest wanted = request();
  wanted.options.tile = {16, 64};
  wanted.options.swapped = true;
  const auto gemm = context(folder_).gemm(wanted);
  if (!gemm) FAIL() << gemm.error().describe();
  Operands x, other;
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{0, 3, 3, 150}, std::vector<std::int32_t>{0, 1, 140, 150}}) {
    for (Operands* o : {&x, &other}) {
      o->offsets = offsets;
      const Status ran = gemm->run(o->call());
      ASSERT_TRUE(ran) << ran.describe();
      o->expect_right();
    }
  }
  EXPECT_EQ(gemm->plans(), 1);
}

// Without the check the same offsets have a defined result: the group is empty.
TEST_F(GroupedContextTest, NamesTheGroupsWhoseOffsetsAreWrongWhereTheDeviceIsChecked) {
  const auto gemm = context(folder_).gemm(request());
  ASSERT_TRUE(gemm);
  Operands x;
  x.offsets = {0, 100, 60, 151};
  const RunOptions checked{.check = RunCheck::device};
  const Status refused = gemm->run(x.call(), checked);
  ASSERT_EQ(refused.reasons().size(), 2U);
  EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
  EXPECT_EQ(refused.reasons()[0].rule, "offset_falls");
  EXPECT_EQ(refused.reasons()[0].actual, 1);
  EXPECT_EQ(refused.reasons()[0].sentence,
            "group 1 begins at row 100 and ends before row 60: offsets ascend; it counts as empty");
  EXPECT_EQ(refused.reasons()[1].rule, "offset_beyond");
  EXPECT_TRUE(std::all_of(x.d.begin(), x.d.end(), [](float d) { return d == -1; })) << "nothing is launched";
  ASSERT_TRUE(gemm->run(x.call()).ok());
  EXPECT_NE(x.d[0], -1);
  EXPECT_EQ(x.d[static_cast<std::size_t>(100 * kN)], -1);
  x.offsets = {0, 50, 50, 150};
  ASSERT_TRUE(gemm->run(x.call(), checked).ok());
  x.expect_right();
  GemmCall masked = x.call();
  const std::int32_t counts[] = {50, 51, -1};
  masked.groups = {.counts = counts};
  const Status of_counts = gemm->run(masked, checked);
  ASSERT_EQ(of_counts.reasons().size(), 2U);
  EXPECT_EQ(of_counts.reasons()[0].rule, "count_too_large");
  EXPECT_EQ(of_counts.reasons()[1].rule, "count_negative");
}

// One plan for other indices, addresses and offsets.
TEST_F(GroupedContextTest, GathersTheRowsThatAnIndexNames) {
  GemmRequest wanted = request();
  wanted.options.gather_a = true;
  const auto gemm = context(folder_).gemm(wanted);
  if (!gemm) FAIL() << gemm.error().describe();
  Operands x, other, whole;
  whole.offsets = x.offsets = other.offsets = {0, 50, 100, 150};
  std::vector<bf16> a = whole.a;  // of 150 rows, of which the calls see the first 140
  constexpr std::int32_t kSeen = 140;
  for (Operands* o : {&x, &other}) {
    std::vector<std::int32_t> index(static_cast<std::size_t>(kRows));
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] = static_cast<std::int32_t>(i * 11 % 150);
      const std::size_t row = static_cast<std::size_t>(index[i]);
      const auto from = static_cast<std::ptrdiff_t>(row * kK), to = static_cast<std::ptrdiff_t>(i * kK);
      if (index[i] < kSeen) {
        std::copy_n(a.begin() + from, kK, o->a.begin() + to);
      } else {
        std::fill_n(o->a.begin() + to, kK, bf16(0.0F));
      }
    }
    GemmCall call = o->call();
    call.a = a.data();
    call.gather = {index.data(), kSeen};
    const Status ran = gemm->run(call);
    ASSERT_TRUE(ran.ok()) << ran.describe();
    o->expect_right();
  }
  EXPECT_EQ(gemm->plans(), 1);
  Operands odd(kK - 3);  // rows that begin anywhere are packed
  odd.offsets = {0, 50, 100, 150};
  std::vector<std::int32_t> as_they_lie(static_cast<std::size_t>(kRows));
  std::iota(as_they_lie.begin(), as_they_lie.end(), 0);
  GemmCall of_odd = odd.call();
  of_odd.gather = {as_they_lie.data(), kRows};
  ASSERT_TRUE(gemm->run(of_odd).ok());
  odd.expect_right();
  const auto rule_of = [](const Status& status) { return status.ok() ? "" : status.reasons()[0].rule; };
  EXPECT_EQ(rule_of(gemm->can_implement(x.call())), "gather_missing");
  // Where the device is checked, indices outside are named; those of rows that no group has may be anything.
  std::vector<std::int32_t> index(static_cast<std::size_t>(kRows), -7);
  std::fill_n(index.begin(), 100, -1);  // padding
  index[7] = kSeen;
  x.offsets = {0, 50, 100, 100};
  GemmCall call = x.call();
  call.gather = {index.data(), kSeen};
  const Status refused = gemm->run(call, {.check = RunCheck::device});
  ASSERT_EQ(refused.reasons().size(), 1U) << refused.describe();
  EXPECT_EQ(refused.reasons()[0].rule, "index_outside");
  EXPECT_EQ(refused.reasons()[0].actual, 7);
  index[7] = kSeen - 1;
  EXPECT_TRUE(gemm->run(call, {.check = RunCheck::device}).ok());
}

TEST_F(GroupedContextTest, RefusesGroupsThatAKernelDoesNotTake) {
  const Context machine = context(folder_);
  const auto gemm = machine.gemm(request());
  ASSERT_TRUE(gemm);
  const auto rule_of = [](const Status& status) { return status.ok() ? "" : status.reasons()[0].rule; };
  Operands x;
  GemmCall call = x.call();
  call.groups.offsets = nullptr;
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "groups_missing");
  call.groups = {x.offsets.data(), x.offsets.data()};
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "groups_twice");
  call.groups = {.counts = x.offsets.data()};
  EXPECT_TRUE(gemm->can_implement(call).ok());
  call.m = 149;
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "groups_capacity");
  call = x.call();
  call.batch = kMostExtent;
  call.d = reinterpret_cast<float*>(
      std::uintptr_t{4096});  // before the weights, which so many groups have beyond all memory
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "too_many_k_tiles");
  call = x.call();
  call.groups.offsets = reinterpret_cast<const std::int32_t*>(reinterpret_cast<const char*>(x.offsets.data()) + 2);
  EXPECT_EQ(rule_of(gemm->can_implement(call)), "element_misaligned");
  GemmRequest dense = request();
  dense.options.groups = GemmGrouping::none;
  EXPECT_EQ(rule_of(machine.gemm(dense)->can_implement(x.call())), "groups_not_asked");
}

TEST_F(GroupedContextTest, RefusesWhatNoGroupCanBe) {
  const Context machine = context(folder_);
  GemmRequest wanted = request();
  const auto refused = [&]() -> StatusReason {
    const auto gemm = machine.gemm(wanted);
    return gemm ? StatusReason() : gemm.error().reasons()[0];
  };
  wanted.expected_rows = {8, -3};
  EXPECT_EQ(refused().rule, "expected_rows");
  EXPECT_EQ(refused().actual, -3);
  EXPECT_EQ(refused().nearest, 0);
  wanted.expected_rows = {INT64_MAX};
  EXPECT_EQ(refused().nearest, kMostExtent);
  wanted.expected_rows = {8};
  wanted.options.groups = GemmGrouping::none;
  EXPECT_EQ(refused().rule, "rows_of_others");
  wanted.options.groups = GemmGrouping::pointer_array;
  EXPECT_EQ(refused().rule, "rows_of_others");
  wanted.expected_rows = {};
  wanted.expected_gemms = {{8, 8, 8}, {8, -1, kMostExtent + 1}};
  EXPECT_EQ(refused().rule, "expected_extent");
  EXPECT_EQ(refused().nearest, 0);
  wanted.expected_gemms = {{8, 8, 8, -1}};
  EXPECT_EQ(refused().rule, "expected_extent");
  for (const GemmGrouping grouping : {GemmGrouping::along_m, GemmGrouping::along_n}) {
    wanted.options.groups = grouping;
    EXPECT_EQ(refused().rule, "gemms_of_others");
  }
}

TEST_F(GroupedContextTest, RefusesOptionsThatHaveNoGroupedKernel) {
  const Context machine = context(folder_);
  const auto rule_of = [&](const GemmOptions& options, const char* epilogue) {
    const auto gemm = machine.gemm({.options = options, .epilogue = epilogue});
    return gemm ? std::string() : gemm.error().reasons()[0].rule;
  };
  constexpr GemmGrouping kRowGroups = GemmGrouping::along_m, kKGroups = GemmGrouping::along_k;
  EXPECT_EQ(rule_of({.major_a = Major::MN, .groups = kRowGroups}, "d = acc"), "groups_contiguous_m");
  EXPECT_EQ(rule_of({.layout_d = kColumnMajor, .groups = kRowGroups}, "d = acc"), "groups_contiguous_m");
  EXPECT_EQ(rule_of({.groups = kKGroups}, "d = acc"), "groups_contiguous_k");
  EXPECT_EQ(rule_of({.schedule = GemmSchedule::pingpong, .warpgroups = 3, .groups = kRowGroups}, "d = acc"),
            "groups_warpgroups");
  EXPECT_EQ(rule_of({.d = ElementType::f32, .split = SplitMode::reduce_add, .groups = kRowGroups}, "d = acc"),
            "groups_split");
  EXPECT_EQ(rule_of({.groups = kRowGroups}, "d = acc; s deterministic = reduce_row_add(acc)"), "groups_argument");
  EXPECT_EQ(rule_of({.groups = kRowGroups}, "d = acc; x:bf16 col = acc"), "groups_argument");
}

// One plan for other indices and addresses, of D too.
class ScatteredContextTest : public GroupedContextTest, public testing::WithParamInterface<RowScatter> {};
INSTANTIATE_TEST_SUITE_P(Rows, ScatteredContextTest, testing::Values(RowScatter::add, RowScatter::ordered));

TEST_P(ScatteredContextTest, AddsToTheRowsThatAnIndexNames) {
  GemmRequest wanted = request();
  wanted.options.scatter_d = GetParam();
  const auto gemm = context(folder_).gemm(wanted);
  if (!gemm) FAIL() << gemm.error().describe();
  Operands x, other;
  for (Operands* o : {&x, &other}) {
    o->offsets = {0, 50, 100, 150};
    std::vector<std::int32_t> index(static_cast<std::size_t>(kRows));
    for (std::size_t i = 0; i < index.size(); ++i) {  // reversed; every row once
      index[i] = static_cast<std::int32_t>(index.size() - 1 - i) + (o == &other ? 10 : 0);
    }
    std::vector<float> d(static_cast<std::size_t>((kRows + 5) * kN), 1);  // of `other`, the first five rows go nowhere
    GemmCall call = o->call();
    call.d = d.data();
    call.scatter = {index.data(), kRows + 5};
    const Status ran = gemm->run(call);
    ASSERT_TRUE(ran.ok()) << ran.describe();
    for (std::size_t i = 0; i < index.size(); ++i) {
      for (std::size_t j = 0; j < kN; ++j) {
        const bool dropped = index[i] >= kRows + 5;
        float& to = o->d[i * kN + j];
        to = dropped ? 0 : d[static_cast<std::size_t>(index[i]) * kN + j] - 1;
      }
    }
    if (o == &x) x.expect_right();
    if (o == &other) {
      EXPECT_EQ(other.d[5 * kN], x.d[5 * kN]);
      EXPECT_EQ(d[0], 1) << "no row goes there";
    }
  }
  EXPECT_EQ(gemm->plans(), 1);
  const auto rule_of = [](const Status& status) { return status.ok() ? "" : status.reasons()[0].rule; };
  EXPECT_EQ(rule_of(gemm->can_implement(x.call())), "scatter_missing");
  GemmCall replaces = x.call();
  const std::vector<std::int32_t> index(static_cast<std::size_t>(kRows), 0);
  replaces.scatter = {index.data(), kRows};
  replaces.d = const_cast<bf16*>(x.b.data());  // what another tile reads
  EXPECT_EQ(rule_of(gemm->can_implement(replaces)), "read_while_written");
}

TEST(GatheredRowsInC, AreMultiplied) {
  const Folder folder;
  gantry_context_options context_options = GANTRY_CONTEXT_OPTIONS;
  const std::string cache = folder / "cache";
  context_options.machine = GANTRY_MACHINE_SIMULATED;
  context_options.policy = GANTRY_COMPILE_WAIT;
  context_options.cache_directory = cache.c_str();
  gantry_context* context = nullptr;
  ASSERT_EQ(gantry_context_create(&context_options, &context), GANTRY_OK) << gantry_error_message();
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  options.tile_m = options.tile_n = 64;
  options.cluster_m = options.cluster_n = 1;
  options.gather_a = 1;
  gantry_gemm* gemm = nullptr;
  ASSERT_EQ(gantry_gemm_create(context, &options, &gemm), GANTRY_OK) << gantry_error_message();
  constexpr std::size_t kM = 3, kWidth = 64;
  std::vector<bf16> a(2 * kWidth, bf16(1.0F)), b(8 * kWidth, bf16(1.0F)), d(kM * 8);
  std::fill(a.begin() + kWidth, a.end(), bf16(2.0F));
  const std::int32_t index[kM] = {1, 2, 0};  // there is no row 2
  gantry_call call = GANTRY_CALL;
  call.m = kM;
  call.n = 8;
  call.k = kWidth;
  call.a.data = a.data();
  call.b.data = b.data();
  call.d.data = d.data();
  call.gather_index = index;
  call.gather_rows = 2;
  ASSERT_EQ(gantry_gemm_run(gemm, &call), GANTRY_OK) << gantry_error_message();
  const float expected[kM] = {128, 0, 64};
  for (std::size_t i = 0; i < d.size(); ++i) EXPECT_EQ(float(d[i]), expected[i / 8]) << i;
  call.gather_index = nullptr;
  EXPECT_EQ(gantry_gemm_run(gemm, &call), GANTRY_INVALID_ARGUMENT);
  EXPECT_THAT(gantry_error_message(), HasSubstr("the kernel gathers rows of A, and no index was given"));
  gantry_gemm_destroy(gemm);
  gantry_context_destroy(context);
}

}  // namespace
}  // namespace gantry::runtime::test
