// The host surface of a GEMM: every refusal, workspaces, plans that run again and again, and what explain() says.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/gemm.hpp>
#include <gantry/gemm/choice.hpp>

#include "../rules/rule_names.hpp"

namespace gantry {
namespace {

using test::name_of;
using test::names_of;
using test::sentences_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 128, .n = 128}, .cluster = {1, 1}};
};
struct Reducing {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {2, 1}};
  // With a large negative bias, what lies outside would show in the sums, and in what is largest.
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + c + row(bias); d = relu(-z); top = reduce_max(z); sums deterministic = reduce_row_add(z)");
};

template <class Spec>
class Product {
 public:
  Product(int m, int n, int k) : a(count(m, k)), b(count(n, k)), c(count(m, n)), d(count(m, n)), args({m, n, k}) {
    // Small integers, so that sums are exact in any order.
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i * 7 % 5) - 2);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(i * 5 % 7) - 3);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = bf16(static_cast<float>(i % 9) - 4);
    args.a = a.data();
    args.b = b.data();
    args.d = d.data();
  }
  static std::size_t count(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  Buffer<bf16> a, b, c, d;
  GemmArguments<Spec> args;
};

// Of matrices that nobody looks at, far from each other.
GemmArguments<Plain> arguments(GemmExtents extents) {
  const auto far = [](int i) { return reinterpret_cast<bf16*>(std::uintptr_t{1} << (56 + i)); };  // NOLINT
  GemmArguments<Plain> args(extents);
  args.a = far(0);
  args.b = far(1);
  args.d = far(2);
  return args;
}

// The plan of arguments that are right.
template <class Spec>
GemmPlan<Spec> planned(const GemmArguments<Spec>& args, const GemmDevice& device = device_of(Simulator())) {
  auto plan = Gemm<Spec>::plan(args, device);
  if (!plan) throw std::runtime_error(sentences_of(plan.error()));
  return std::move(*plan);
}

TEST(GemmArguments, RefuseSizesThatCannotBe) {
  const ArgumentReasons reasons = can_implement(arguments({.m = -1, .n = 8, .k = 1LL << 40}));
  ASSERT_THAT(names_of(reasons), ElementsAre("size_negative M", "size_too_large K"));
  EXPECT_EQ(reasons[0].actual, -1);
  EXPECT_EQ(reasons[1].actual, 1LL << 40);
  EXPECT_EQ(reasons[1].nearest, 2147483392);
  EXPECT_THAT(names_of(can_implement(arguments({.m = 8, .n = 8, .k = 8, .batch = -3}))),
              ElementsAre("size_negative batch"));
  const ArgumentReasons many = can_implement(arguments({.m = 1 << 20, .n = 1 << 20, .k = 1 << 20}));
  ASSERT_THAT(names_of(many), ElementsAre("too_many_tiles"));
  EXPECT_EQ(many[0].actual, 1099578736640);
  EXPECT_EQ(many[0].nearest, 896);
}

TEST(GemmArguments, RefuseOperandsWhoseRowsOverlapOrThatBeginInsideAnElement) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 100});
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty()) << "rows of 200 bytes are packed";
  args.a.stride = args.b.stride = 104;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
  args.a.stride = 96;
  ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("stride_too_short A"));
  EXPECT_EQ(reasons[0].first, 100);
  EXPECT_EQ(reasons[0].nearest, 100);
  EXPECT_THAT(sentences_of(reasons), HasSubstr("A has rows of 100 elements and a stride of 96"));
  args.a.stride = 104;
  args.b.stride = 96;
  EXPECT_THAT(sentences_of(can_implement(args)), HasSubstr("B has rows of 100 elements and a stride of 96"));
  args = arguments({.m = 256, .n = 256, .k = 64});
  args.a.data += 1;
  args.b.data = nullptr;
  ASSERT_THAT(names_of(can_implement(args)), ElementsAre("matrix_missing B"));
  args.a.data = reinterpret_cast<const bf16*>(reinterpret_cast<std::uintptr_t>(args.a.data) + 1);  // NOLINT
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("element_misaligned A", "matrix_missing B"));
  EXPECT_EQ(reasons[0].actual, 1);
  EXPECT_EQ(reasons[0].nearest, 1);
  EXPECT_EQ(reasons[0].first, 2);
  args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  args.b.batch_stride = -4;
  args.d.batch_stride = 0;
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("batch_stride_negative B", "batches_overlap D"));
  EXPECT_EQ(reasons[0].actual, -4);
  EXPECT_EQ(reasons[1].first, 1);
  EXPECT_EQ(reasons[1].nearest, 65536);
  args.b.batch_stride = 0;  // batches may share what is read
  args.d.batch_stride = kPacked;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
  args.d.stride = 256;
  args.d.batch_stride = 4;  // both multiples of 8 next to it lie in the first matrix
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("batch_stride_misaligned D"));
  EXPECT_EQ(reasons[0].nearest, 65536);
}

// TMA has strides of less than 2^40 bytes; beyond, numbers must not wrap around to ones that work.
TEST(GemmArguments, RefuseStridesThatAreTooLong) {
  for (const std::int64_t stride : {std::int64_t{1} << 39, std::int64_t{1} << 60, INT64_MAX - 7, INT64_MAX}) {
    GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
    args.a.stride = args.d.stride = stride;
    const ArgumentReasons reasons = can_implement(args);
    ASSERT_THAT(names_of(reasons), ElementsAre("stride_too_long A", "stride_too_long D"));
    EXPECT_EQ(reasons[0].actual, stride);
    EXPECT_EQ(reasons[0].nearest, 549755813880);
    EXPECT_FALSE(reasons[0].of_batches);
  }
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  args.b.stride = 549755813880;  // of one matrix; the other would lie 256 times as far
  const ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("stride_too_long B"));
  EXPECT_TRUE(reasons[0].of_batches);
  EXPECT_EQ(reasons[0].actual, 140737488353280);
  args.b.batch_stride = 64;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
}

TEST(GemmArguments, CountTilesOfTheLargestSizes) {
  constexpr int most = 0x7fffff00;
  constexpr GemmDesign largest = make_gemm_design({.tile = {256, 128}, .cluster = {2, 2}}, fusion::graph("d = acc"));
  static_assert(largest.clusters_along_m(most) == (1LL << 31) / 512);
  static_assert(largest.clusters_along_n(most) == (1LL << 31) / 256 - 1);
  EXPECT_TRUE(can_implement(arguments({.m = most, .n = most, .k = most, .batch = most}))
                  .has(ArgumentRule::too_many_tiles_for_any_m));
}

// Matrices may lie one after the other, or side by side, each with its part of every row; never in each other.
TEST(GemmArguments, RefuseBatchesThatAreWrittenIntoEachOther) {
  struct Case {
    std::int64_t batches, stride, batch_stride, first;  // batch that overlaps batch 0, or 0
  };
  for (const Case& c : {Case{2, 256, 65536, 0}, Case{2, 256, 65528, 1}, Case{2, 256, 8, 1}, Case{2, 512, 256, 0},
                        Case{3, 512, 256, 2}, Case{3, 768, 256, 0}, Case{2, 768, 65536, 0}, Case{2, 768, 65528, 1}}) {
    SCOPED_TRACE(testing::Message() << c.batches << " batches, " << c.stride << ", " << c.batch_stride);
    GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = c.batches});
    args.d.stride = c.stride;
    args.d.batch_stride = c.batch_stride;
    const ArgumentReasons reasons = can_implement(args);
    if (c.first == 0) {
      EXPECT_THAT(names_of(reasons), IsEmpty());
    } else {
      ASSERT_THAT(names_of(reasons), ElementsAre("batches_overlap D"));
      EXPECT_EQ(reasons[0].first, c.first);
    }
  }
}

// Threads write masks and results of blocks of columns: lines of 256 bits, and of 4 elements.
struct WithMask {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("d = acc; bits:u1 = acc > 0; tops = across_max(acc, 64)");
};
TEST(GemmArguments, RefuseBatchesOfMasksAndBlocksThatAreWrittenIntoEachOther) {
  const auto reasons_with = [](std::int64_t bits, std::int64_t tops) {
    alignas(16) static bf16 a[8], b[8], d[8];
    static std::uint8_t mask[8];
    static float blocks[8];
    GemmArguments<WithMask> args({.m = 128, .n = 256, .k = 64, .batch = 2});
    args.a = a;
    args.b = b;
    args.d = d;
    args.fusion["bits"].tensor(mask, 256, bits);
    args.fusion["tops"].tensor(blocks, 4, tops);
    ArgumentReasons out;
    for (const ArgumentReason& reason : can_implement(args)) {
      if (reason.operand == "bits" || reason.operand == "tops") out.add(reason);
    }
    return out;
  };
  EXPECT_FALSE(reasons_with(256 * 128, 4 * 128).has(ArgumentRule::batches_overlap));
  EXPECT_THAT(names_of(reasons_with(256, 4 * 128 + 4)), Contains("batches_overlap bits"));
  EXPECT_THAT(names_of(reasons_with(256 * 128, 4)), Contains("batches_overlap tops"));
  EXPECT_THAT(names_of(reasons_with(-8, 4 * 128)), Contains("batch_stride_negative bits"));
  EXPECT_THAT(names_of(reasons_with(256 * 128, -4)), Contains("batch_stride_negative tops"));
}

// One row has no neighbour to be apart from.
TEST(GemmArguments, TakeASingleRowOfAnyLength) {
  GemmArguments<Plain> args = arguments({.m = 1, .n = 1, .k = 13});
  const ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_EQ(reasons[0].nearest, 8);
  args = arguments({.m = 1, .n = 8, .k = 16});
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
}

struct WithAux {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .layout_d = kColumnMajor, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("aux:f16 = acc + c; d = relu(aux)");
};

// Said once, with sizes of the GEMM that work.
TEST(GemmArguments, RefuseResultsThatWouldBeWrittenBesideTheMatrix) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 100, .k = 64});
  ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_EQ(reasons[0].actual, 100);
  EXPECT_EQ(reasons[0].first, 8) << "bytes";
  EXPECT_EQ(reasons[0].nearest, 104);
  EXPECT_EQ(reasons[0].second, 0) << "104 is larger already";
  args.d.stride = 104;
  EXPECT_THAT(names_of(can_implement(args)), ElementsAre("ends_inside_chunk D"));
  args.d.stride = 106;
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D", "stride_misaligned D"));
  EXPECT_EQ(reasons[1].nearest, 104);
  args = arguments({.m = 256, .n = 106, .k = 64});
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_EQ(reasons[0].nearest, 104);
  EXPECT_EQ(reasons[0].second, 112) << "which holds all of it";
  Product<WithAux> x(101, 100, 64);
  Buffer<f16> aux(x.d.size());
  x.args.c = x.c.data();
  x.args.fusion["aux"] = aux.data();
  reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("stride_misaligned C", "ends_inside_chunk D", "ends_inside_chunk aux"));
  EXPECT_TRUE(reasons[1].columns) << "M is refused";
  EXPECT_EQ(reasons[1].nearest, 104);
  EXPECT_FALSE(reasons[2].columns) << "N is refused";
  EXPECT_EQ(reasons[2].nearest, 104);
}

// Tiles come in any order: what is written is nobody else's. But C may make room for D, tile by tile.
TEST(GemmArguments, RefuseResultsThatLieInSomethingElse) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  bf16* const a = const_cast<bf16*>(args.a.data);  // NOLINT
  args.d = a;
  ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("read_while_written D"));
  EXPECT_EQ(reasons[0].other, "A");
  EXPECT_FALSE(reasons[0].other_written);
  EXPECT_EQ(reasons[0].actual, 0);
  args.a.stride = 128;  // room for a second matrix of 64 columns beside A, which D is not: it is wider
  args.d = {a + 256 * 128 + 64, 512};
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty()) << "between the rows of the second A";
  args.d.data += 64;
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("read_while_written D"));
  EXPECT_EQ(reasons[0].actual, 65792);
  args.b = args.d.data + 512;
  args.d = {a + 64, 128, 256 * 128};
  args.extents.n = 64;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty()) << "side by side";
  args.d.data = const_cast<bf16*>(args.b.data) - 256;  // NOLINT
  reasons = can_implement(args);
  ASSERT_TRUE(reasons.has(ArgumentRule::read_while_written));
  EXPECT_EQ(name_of(reasons[reasons.size() - 1]), "read_while_written B");
  EXPECT_TRUE(reasons[reasons.size() - 1].other_written) << "D is";

  Product<Reducing> x(64, 64, 64);
  std::vector<float> bias(64), sums(64);
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["sums"] = sums.data();
  x.args.fusion["top"] = &sums[3];
  reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("written_twice top"));
  EXPECT_EQ(reasons[0].other, "sums");
  EXPECT_EQ(reasons[0].actual, 12);
  x.args.fusion["top"] = &bias[63];
  EXPECT_THAT(names_of(can_implement(x.args)), ElementsAre("read_while_written top"));
  float top = 0;
  x.args.fusion["top"] = &top;
  x.args.d = x.c.data();
  EXPECT_THAT(names_of(can_implement(x.args)), IsEmpty()) << "D takes the place of C";
  x.args.d = x.c.data() + 8;
  reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("in_place_of_another D"));
  EXPECT_EQ(reasons[0].other, "C");
  EXPECT_EQ(reasons[0].actual, 16);
}

TEST(GemmArguments, QuoteWhatTheEpilogueRefuses) {
  Product<Reducing> x(64, 64, 64);
  x.args.fusion["bais"] = x.d.data();
  const ArgumentReasons reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("unknown_name bais", "argument_missing bias", "argument_missing top",
                                             "argument_missing sums", "source_missing C"));
  EXPECT_EQ(reasons[0].other, "bias");
  EXPECT_EQ(reasons[0].words, "bias, top, sums");
}

TEST(GemmPlan, HasNothingToDoWithoutRowsColumnsOrBatches) {
  for (const GemmExtents extents : {GemmExtents{0, 8, 8}, GemmExtents{8, 0, 8}, GemmExtents{8, 8, 8, 0}}) {
    const auto plan = GemmPlan<Plain>::make(GemmArguments<Plain>{extents}, device_of(Simulator()));
    ASSERT_TRUE(plan) << sentences_of(plan.error());
    EXPECT_TRUE(plan->run(Simulator()));
    EXPECT_EQ(*Gemm<Plain>::workspace_bytes(GemmArguments<Plain>{extents}), 0u);
    EXPECT_THAT(plan->explain(), HasSubstr("There is nothing to compute, and nothing will be launched."));
  }
}

TEST(GemmPlan, ReducesNothingToWhatReductionsBeginWith) {
  for (const GemmExtents extents : {GemmExtents{0, 8, 8}, GemmExtents{8, 0, 8}, GemmExtents{8, 8, 8, 0}}) {
    GemmArguments<Reducing> args(extents);
    std::vector<float> sums(8, 7.0f);
    float top = 7.0f;
    args.fusion["sums"] = sums.data();
    args.fusion["top"] = &top;
    const auto plan = Gemm<Reducing>::plan(args);
    ASSERT_TRUE(plan) << sentences_of(plan.error());
    EXPECT_THAT(plan->explain(), HasSubstr("There is nothing to compute: sum reductions become 0"));
    const LaunchResult result = plan->run(Simulator());
    ASSERT_TRUE(result) << describe(result);
    EXPECT_EQ(top, -HUGE_VALF);
    EXPECT_THAT(sums, testing::Each(extents.n == 0 ? 7.0f : 0.0f));
    EXPECT_EQ(first_mismatch(args), "");
  }
}

TEST(GemmPlan, SumsNothingToZeroWhereKIsZero) {
  Product<Plain> x(136, 128, 0);
  for (bf16& y : x.d) y = bf16(7.0f);
  x.args.a = nullptr;
  x.args.b = nullptr;
  const LaunchResult result = planned(x.args).run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  for (const bf16& y : x.d) ASSERT_EQ(static_cast<float>(y), 0.0f);
}

// The address sanitizer ends a program that asks for so much, unless it is told to return null, as CMakePresets.json
// does.
TEST(Buffer, IsEmptyWhereMemoryHasRunOut) {
  EXPECT_EQ(Buffer<double>((std::size_t{1} << 61) + 4).size(), 0u);  // 32 bytes and 2^64
  EXPECT_EQ(Buffer<double>(std::size_t{1} << 55).size(), 0u);
}

TEST(GemmPlan, HasEveryReasonWhyThereIsNone) {
  const GemmArguments<Plain> args({.m = 8, .n = 8, .k = 8});
  const auto plan = Gemm<Plain>::plan(args);
  ASSERT_FALSE(plan);
  EXPECT_THAT(names_of(plan.error()), ElementsAre("matrix_missing A", "matrix_missing B", "matrix_missing D"));
  const auto bytes = Gemm<Plain>::workspace_bytes(args);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(names_of(bytes.error()), names_of(plan.error()));
  const GemmDevice none{.simulated = false, .present = false};
  const auto nowhere = Gemm<Plain>::plan(arguments({.m = 8, .n = 8, .k = 8}), none);
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(names_of(nowhere.error()), ElementsAre("no_device"));
  EXPECT_FALSE(Gemm<Plain>::workspace_bytes(arguments({.m = 8, .n = 8, .k = 8}), none));
}

TEST(GemmPlan, RunsOnlyOnTheMachineThatItIsFor) {
  const GemmDevice gpu{.simulated = false};
  const auto plan = Gemm<Plain>::plan(arguments({.m = 8, .n = 8, .k = 8}), gpu);
  ASSERT_TRUE(plan);
  const LaunchResult result = plan->run(Simulator());
  ASSERT_EQ(result.reasons.size(), 1);
  EXPECT_EQ(result.reasons[0].rule, LaunchRule::other_machine);
  EXPECT_TRUE(result.reasons[0].simulated);
}

// One tile for eight CTAs and a long K: it is shared, through a workspace that is found as it was left.
TEST(GemmPlan, RunsAgainAndAgainInAWorkspaceThatItIsGiven) {
  Product<Plain> x(128, 128, 2048);
  const std::size_t bytes = *Gemm<Plain>::workspace_bytes(x.args);
  ASSERT_GT(bytes, 0u);
  Buffer<std::uint32_t> memory(bytes / 4 + 4);
  for (std::uint32_t& word : memory) word = 0xdeadbeef;  // the plan clears it
  const auto made = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data(), bytes});
  ASSERT_TRUE(made) << sentences_of(made.error());
  const GemmPlan<Plain>& plan = *made;
  EXPECT_EQ(plan.workspace_bytes(), bytes);
  EXPECT_THAT(plan.explain(), HasSubstr("split-K: 3 clusters share each tile"));
  EXPECT_THAT(plan.explain(), HasSubstr("Workspace: " + std::to_string(bytes) + " bytes."));
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (bf16& y : x.d) y = bf16(-1e30f);
    const LaunchResult result =
        plan.run(Simulator({.seed = seed, .resident_clusters = 1}));  // the plan has room for all
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(first_mismatch(x.args), "");
  }
  EXPECT_EQ(memory[bytes / 4], 0xdeadbeefu);

  const auto small = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data(), bytes - 1});
  ASSERT_FALSE(small);
  ASSERT_THAT(names_of(small.error()), ElementsAre("workspace_too_small"));
  EXPECT_EQ(small.error()[0].nearest, static_cast<std::int64_t>(bytes));
  const auto uneven = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data() + 1, bytes});
  ASSERT_FALSE(uneven);
  ASSERT_THAT(names_of(uneven.error()), ElementsAre("workspace_misaligned"));
  EXPECT_EQ(uneven.error()[0].actual, 4);
  EXPECT_EQ(uneven.error()[0].nearest, 12);
}

// Reductions begin anew with every run; two plans do not know of each other.
TEST(GemmPlan, OwnsAWorkspaceForItsReductions) {
  Product<Reducing> x(200, 136, 72), y(64, 64, 64);
  std::vector<float> bias(136, -300.0f), sums(136, 1e30f), other_sums(64, 1e30f);
  float top = 1e30f, other_top = 1e30f;
  const auto give = [&bias](Product<Reducing>& p, float* to_top, std::vector<float>& to_sums) {
    p.args.c = p.c.data();
    p.args.fusion["bias"] = bias.data();
    p.args.fusion["top"] = to_top;
    p.args.fusion["sums"] = to_sums.data();
  };
  give(x, &top, sums);
  give(y, &other_top, other_sums);
  GemmPlan<Reducing> plan = planned(x.args);
  EXPECT_GT(plan.workspace_bytes(), 0u);
  const GemmPlan<Reducing> other = planned(y.args);
  const GemmPlan<Reducing> moved = std::move(plan);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const LaunchResult result = moved.run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << describe(result);
    const LaunchResult other_result = other.run(Simulator({.seed = seed}));
    ASSERT_TRUE(other_result) << describe(other_result);
    ASSERT_EQ(first_mismatch(x.args), "");
    ASSERT_EQ(first_mismatch(y.args), "");
  }
  sums[5] += 1;
  EXPECT_THAT(first_mismatch(x.args), HasSubstr("sums: element (0, 5, 0) is "));
  x.d[137] = bf16(1024.0f);
  EXPECT_THAT(first_mismatch(x.args), HasSubstr("D: element (1, 1, 0) is 1024.000000, and should be "));
}

// Three tiles of rows for clusters of two: the fourth lies outside altogether.
TEST(GemmPlan, KeepsToItsWorkspaceWhereATileOfAClusterLiesOutside) {
  Product<Reducing> x(160, 136, 72);
  std::vector<float> bias(136, -300.0f), sums(136, 1e30f);
  float top = 1e30f;
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["top"] = &top;
  x.args.fusion["sums"] = sums.data();
  const std::size_t words = *Gemm<Reducing>::workspace_bytes(x.args) / 4;
  Buffer<std::uint32_t> memory(words + 1024);
  for (std::uint32_t& word : memory) word = 0xdeadbeef;
  const auto plan = Gemm<Reducing>::plan(x.args, device_of(Simulator()), {memory.data(), 4 * words});
  ASSERT_TRUE(plan) << sentences_of(plan.error());
  const LaunchResult result = plan->run(Simulator());
  ASSERT_TRUE(result) << describe(result);
  EXPECT_EQ(first_mismatch(x.args), "");
  for (std::size_t i = words; i < memory.size(); ++i) ASSERT_EQ(memory[i], 0xdeadbeefu) << i - words;
}

TEST(GemmPlan, StoresDInThePlaceOfC) {
  Product<Reducing> x(200, 136, 72);
  std::vector<float> bias(136, -300.0f), sums(136);
  float top = 0;
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["top"] = &top;
  x.args.fusion["sums"] = sums.data();
  const LaunchResult apart = planned(x.args).run(Simulator());
  ASSERT_TRUE(apart) << describe(apart);
  ASSERT_EQ(first_mismatch(x.args), "");
  x.args.d = x.c.data();
  const LaunchResult in_place = planned(x.args).run(Simulator({.seed = 1, .schedule = Schedule::pct}));
  ASSERT_TRUE(in_place) << describe(in_place);
  for (std::size_t i = 0; i < x.c.size(); ++i) ASSERT_EQ(x.c[i].bits, x.d[i].bits) << i;
}

TEST(GemmPlan, RunsInSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  threads.reserve(wrong.size());
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &answer = wrong[static_cast<std::size_t>(i)]] {
      Product<Plain> x(72 + 64 * i, 136, 200);
      const GemmPlan<Plain> plan = planned(x.args);
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        for (bf16& y : x.d) y = bf16(-1e30f);
        answer += describe(plan.run(Simulator({.seed = seed})));
        answer += first_mismatch(x.args);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(""));
}

struct Small {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};
struct ColumnMajor {
  static constexpr GemmOptions options{.layout_d = kColumnMajor, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};

TEST(GemmSet, PlansWithTheOneThatIsChosenOrAskedFor) {
  using Products = GemmSet<Plain, Small>;
  Product<Plain> x(72, 64, 64);
  const GemmDevice device = device_of(Simulator());
  const char* const names[] = {"128x128x64 cooperative 1x1 bf16", "64x64x64 pingpong 1x1 bf16"};
  for (const GemmPreference& wanted : {GemmPreference{}, GemmPreference{.asked = names[0]}, {.asked = names[1]}}) {
    for (bf16& y : x.d) y = bf16(-1e30f);
    const auto plan = Products::plan(x.args, device, wanted);
    ASSERT_TRUE(plan) << sentences_of(plan.error());
    const int index = plan->choice().index;
    ASSERT_EQ(index, Products::choose(x.args, device, wanted).index());
    ASSERT_TRUE(*wanted.asked == 0 || wanted.asked == names[index]);
    EXPECT_THAT(plan->explain(), HasSubstr(std::string("Kernel: ") + names[index]));
    const LaunchResult result = plan->run(Simulator());
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(first_mismatch(x.args), "");
  }
  // A plan of one takes the place of another's.
  auto moved = Products::plan(x.args, device, {.asked = names[0]});
  *moved = std::move(*Products::plan(x.args, device, {.asked = names[1]}));
  EXPECT_THAT(moved->explain(), HasSubstr(std::string("Kernel: ") + names[1]));
  const auto none = Products::plan(x.args, device, {.asked = "64x64"});
  ASSERT_FALSE(none);
  ASSERT_THAT(names_of(none.error()), ElementsAre("no_configuration"));
  EXPECT_THAT(none.error()[0].words.c_str(), HasSubstr("64x64x64 pingpong 1x1 bf16"));
  x.args.a = nullptr;
  EXPECT_THAT(names_of(Products::plan(x.args, device).error()), ElementsAre("matrix_missing A"));
  for (const GemmExtents& e : {GemmExtents{1LL << 40, 8, 8}, GemmExtents{8, 8, 1LL << 62, 1LL << 62}}) {
    x.args.extents = e;  // which no model has numbers for
    const auto large = Products::plan(x.args, device);
    ASSERT_FALSE(large);
    EXPECT_TRUE(large.error().has(ArgumentRule::size_too_large));
  }
  x.args.dependent = true;
  EXPECT_TRUE(GemmArguments<Small>(x.args).dependent);
  EXPECT_FALSE((detail::share_arguments<Plain, ColumnMajor>()));
  const auto nothing = Products::plan(Products::Arguments({.m = 0, .n = 8, .k = 8}), device);
  ASSERT_TRUE(nothing) << sentences_of(nothing.error());
  EXPECT_TRUE(nothing->run(Simulator()));
}

TEST(GemmPlan, ExplainsItself) {
  Product<Plain> x(512, 768, 256);
  EXPECT_EQ(
      planned(x.args, device_of(Simulator(), 20)).explain(),
      "D = A B^T, 512 x 768 x 256 (M x N x K): d = acc\n"
      "Kernel: 128x128x64 cooperative 1x1 bf16. Two consumer warpgroups share a tile, half of its rows each.\n"
      "Shared memory: 230400 of 232448 bytes: 6 stages of 32768, and 32768 for the epilogue, which overlaps the store "
      "of a tile with the main loop of the next.\n"
      "Schedule: 24 tiles of 128 x 128, 4 K tiles each, over 12 clusters of 1 CTA (20 can be resident): "
      "2 waves, 100 % full.\n"
      "Work: 201 MFLOP; at least 655 kB read and 786 kB written, 140 FLOP/B; an H200 is compute-bound above 206 "
      "FLOP/B.\n"
      "Workspace: none.\n");
}

}  // namespace
}  // namespace gantry
