// The host surface of a GEMM: every refusal, workspaces, plans that run again and again, and what explain() says.
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/gemm.hpp>

namespace gantry {
namespace {

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

TEST(GemmArguments, RefuseSizesThatCannotBe) {
  EXPECT_THAT(can_implement(arguments({.m = -1, .n = 8, .k = 1LL << 40})),
              ElementsAre("M is -1: sizes are not negative; the nearest value that works is 0, which computes nothing",
                          "K is 1099511627776: coordinates have 32 bits; the nearest value that works is 2147483392"));
  EXPECT_THAT(can_implement(arguments({.m = 8, .n = 8, .k = 8, .batch = -3})),
              ElementsAre("the batch is -3: sizes are not negative; the nearest value that works is 0, which computes "
                          "nothing"));
  EXPECT_THAT(can_implement(arguments({.m = 1 << 20, .n = 1 << 20, .k = 1 << 20})),
              ElementsAre("the product has 1099578736640 steps of tiles: they are counted in 30 bits; with M = 896, or "
                          "as much smaller a batch or N, this works"));
}

TEST(GemmArguments, RefuseMatricesThatTheCopyEngineCannotRead) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 100});
  EXPECT_THAT(
      can_implement(args),
      ElementsAre("A has rows that lie 100 elements of bf16 apart, which is 200 bytes: each begins at a multiple "
                  "of 16 bytes; the nearest stride that works is 104",
                  "B has columns that lie 100 elements of bf16 apart, which is 200 bytes: each begins at a "
                  "multiple of 16 bytes; the nearest stride that works is 104"));
  args.a.stride = args.b.stride = 104;
  EXPECT_THAT(can_implement(args), IsEmpty());
  args.a.stride = 96;
  EXPECT_THAT(can_implement(args),
              ElementsAre("A has rows of 100 elements that lie 96 apart: they overlap; the nearest "
                          "stride that works is 104"));
  args = arguments({.m = 256, .n = 256, .k = 64});
  args.a.data += 1;
  args.b.data = nullptr;
  EXPECT_THAT(
      can_implement(args),
      ElementsAre("A begins 2 bytes beyond a multiple of 16: the copy engine begins at multiples of 16; the next "
                  "address that works is 14 bytes further",
                  "B was not given"));
  args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  args.b.batch_stride = 4;
  args.d.batch_stride = 0;
  EXPECT_THAT(
      can_implement(args),
      ElementsAre("B has matrices that lie 4 elements of bf16 apart: each begins at a multiple of 16 bytes; the "
                  "nearest batch stride that works is 8",
                  "D: batches 0 and 1 are written to the same place; they lie 0 elements apart, and a batch stride "
                  "that works is 65536"));
  args.b.batch_stride = 0;  // batches may share what is read
  args.d.batch_stride = kPacked;
  EXPECT_THAT(can_implement(args), IsEmpty());
}

// The copy engine has strides of less than 2^40 bytes; beyond, numbers must not wrap around to ones that work.
TEST(GemmArguments, RefuseStridesThatAreTooLong) {
  for (const std::int64_t stride : {std::int64_t{1} << 39, std::int64_t{1} << 60, INT64_MAX - 7, INT64_MAX}) {
    GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
    args.a.stride = args.d.stride = stride;
    EXPECT_THAT(can_implement(args),
                ElementsAre("A has rows that lie " + std::to_string(stride) +
                                " elements of bf16 apart: a stride is less than 2^40 bytes; the nearest stride that "
                                "works is 549755813880",
                            HasSubstr("D has rows that lie " + std::to_string(stride))));
  }
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  args.b.stride = 549755813880;  // of one matrix; the other would lie 256 times as far
  EXPECT_THAT(can_implement(args), ElementsAre(HasSubstr("B has matrices that lie 140737488353280 elements")));
  args.b.batch_stride = 64;
  EXPECT_THAT(can_implement(args), IsEmpty());
}

TEST(GemmArguments, CountTilesOfTheLargestSizes) {
  constexpr int most = 0x7fffff00;
  constexpr GemmDesign largest = make_gemm_design({.tile = {256, 128}, .cluster = {2, 2}}, fusion::graph("d = acc"));
  static_assert(largest.clusters_along_m(most) == (1LL << 31) / 512);
  static_assert(largest.clusters_along_n(most) == (1LL << 31) / 256 - 1);
  EXPECT_THAT(can_implement(arguments({.m = most, .n = most, .k = most, .batch = most})),
              testing::Contains(HasSubstr("counted in 30 bits; even with M = 1 there are too many")));
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
    const std::string pair = "D: batches 0 and " + std::to_string(c.first) + " are written to the same place";
    if (c.first == 0) {
      EXPECT_THAT(can_implement(args), IsEmpty());
    } else {
      EXPECT_THAT(can_implement(args), ElementsAre(HasSubstr(pair)));
    }
  }
}

// One row has no neighbour to be apart from.
TEST(GemmArguments, TakeASingleRowOfAnyLength) {
  GemmArguments<Plain> args = arguments({.m = 1, .n = 1, .k = 13});
  EXPECT_THAT(can_implement(args), ElementsAre(HasSubstr("the nearest N that works is 8")));
  args = arguments({.m = 1, .n = 8, .k = 16});
  EXPECT_THAT(can_implement(args), IsEmpty());
}

struct WithAux {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .layout_d = kColumnMajor, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("aux:f16 = acc + c; d = relu(aux)");
};

// Said once, in the words of the GEMM, with values that work.
TEST(GemmArguments, RefuseResultsThatWouldBeWrittenBesideTheMatrix) {
  const std::string ends =
      "N is 100: rows of D would end 8 bytes into a chunk of 16, and chunks are written whole; "
      "the nearest N that works is 104";
  GemmArguments<Plain> args = arguments({.m = 256, .n = 100, .k = 64});
  EXPECT_THAT(can_implement(args), ElementsAre(ends));
  args.d.stride = 104;
  EXPECT_THAT(can_implement(args), ElementsAre(ends));
  args.d.stride = 106;
  EXPECT_THAT(can_implement(args),
              ElementsAre(ends,
                          "D has rows that lie 106 elements of bf16 apart, which is 212 bytes: each begins at a "
                          "multiple of 16 bytes; the nearest stride that works is 104"));
  Product<WithAux> x(101, 100, 64);
  Buffer<f16> aux(x.d.size());
  x.args.c = x.c.data();
  x.args.fusion["aux"] = aux.data();
  EXPECT_THAT(can_implement(x.args),
              ElementsAre("C has rows that lie 100 elements of bf16 apart, which is 200 bytes: each begins at a "
                          "multiple of 16 bytes; the nearest stride that works is 104",
                          "M is 101: columns of D would end 10 bytes into a chunk of 16, and chunks are written whole; "
                          "the nearest M that works is 104",
                          "N is 100: rows of aux would end 8 bytes into a chunk of 16, and chunks are written whole; "
                          "the nearest N that works is 104"));
}

// Tiles come in any order: what is written is nobody else's. But C may make room for D, tile by tile.
TEST(GemmArguments, RefuseResultsThatLieInSomethingElse) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  bf16* const a = const_cast<bf16*>(args.a.data);  // NOLINT
  args.d = a;
  EXPECT_THAT(can_implement(args),
              ElementsAre("D begins 0 bytes into A: A is read while D is written; give D memory of its own"));
  args.a.stride = 128;  // room for a second matrix of 64 columns beside A, which D is not: it is wider
  args.d = {a + 256 * 128 + 64, 512};
  EXPECT_THAT(can_implement(args), IsEmpty()) << "between the rows of the second A";
  args.d.data += 64;
  EXPECT_THAT(can_implement(args), ElementsAre(HasSubstr("D begins 65792 bytes into A: A is read while D")));
  args.b = args.d.data + 512;
  args.d = {a + 64, 128, 256 * 128};
  args.extents.n = 64;
  EXPECT_THAT(can_implement(args), IsEmpty()) << "side by side";
  args.d.data = const_cast<bf16*>(args.b.data) - 256;  // NOLINT
  EXPECT_THAT(can_implement(args), testing::Contains(HasSubstr("B is read while D is written")));

  Product<Reducing> x(64, 64, 64);
  std::vector<float> bias(64), sums(64);
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["sums"] = sums.data();
  x.args.fusion["top"] = &sums[3];
  EXPECT_THAT(can_implement(x.args),
              ElementsAre("top begins 12 bytes into sums: both are written; give sums memory of its own"));
  x.args.fusion["top"] = &bias[63];
  EXPECT_THAT(can_implement(x.args), ElementsAre(HasSubstr("bias is read while top is written")));
  float top = 0;
  x.args.fusion["top"] = &top;
  x.args.d = x.c.data();
  EXPECT_THAT(can_implement(x.args), IsEmpty()) << "D takes the place of C";
  x.args.d = x.c.data() + 8;
  EXPECT_THAT(can_implement(x.args),
              ElementsAre("D begins 16 bytes into C: C is read while D is written; D may take the place of C with the "
                          "same address, strides and major, and elements as wide"));
}

TEST(GemmArguments, QuoteWhatTheEpilogueRefuses) {
  Product<Reducing> x(64, 64, 64);
  x.args.fusion["bais"] = x.d.data();
  EXPECT_THAT(can_implement(x.args),
              ElementsAre("there is no argument bais; did you mean bias? The arguments are bias, top, sums",
                          "bias was not given: it is a row vector and has no default",
                          "top was not given: it is a reduction and has no default",
                          "sums was not given: it is a reduction and has no default",
                          "C was not given: the expression uses it, and no factor is 0"));
}

TEST(GemmPlan, HasNothingToDoWithoutRowsColumnsOrBatches) {
  for (const GemmExtents extents : {GemmExtents{0, 8, 8}, GemmExtents{8, 0, 8}, GemmExtents{8, 8, 8, 0}}) {
    const GemmPlan<Plain> plan(GemmArguments<Plain>{extents}, device_of(Simulator()));
    EXPECT_TRUE(plan.ok());
    EXPECT_TRUE(plan.run(Simulator()));
    EXPECT_THAT(plan.explain(), HasSubstr("There is nothing to compute, and nothing will be launched."));
  }
}

TEST(GemmPlan, ReducesNothingToWhatReductionsBeginWith) {
  for (const GemmExtents extents : {GemmExtents{0, 8, 8}, GemmExtents{8, 0, 8}, GemmExtents{8, 8, 8, 0}}) {
    GemmArguments<Reducing> args(extents);
    std::vector<float> sums(8, 7.0f);
    float top = 7.0f;
    args.fusion["sums"] = sums.data();
    args.fusion["top"] = &top;
    const GemmPlan<Reducing> plan = Gemm<Reducing>::plan(args);
    EXPECT_THAT(plan.explain(), HasSubstr("There is nothing to compute: sum reductions become 0"));
    const LaunchResult result = plan.run(Simulator());
    ASSERT_TRUE(result) << result.problem;
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
  const LaunchResult result = Gemm<Plain>::plan(x.args).run(Simulator());
  ASSERT_TRUE(result) << result.problem;
  for (const bf16& y : x.d) ASSERT_EQ(static_cast<float>(y), 0.0f);
}

// The address sanitizer ends a program that asks for so much, unless it is told to return null, as CMakePresets.json
// does.
TEST(Buffer, IsEmptyWhereMemoryHasRunOut) {
  EXPECT_EQ(Buffer<double>((std::size_t{1} << 61) + 4).size(), 0u);  // 32 bytes and 2^64
  EXPECT_EQ(Buffer<double>(std::size_t{1} << 55).size(), 0u);
}

TEST(GemmPlan, SaysWhyThereIsNone) {
  const GemmPlan<Plain> plan = Gemm<Plain>::plan(GemmArguments<Plain>({.m = 8, .n = 8, .k = 8}));
  EXPECT_FALSE(plan.ok());
  EXPECT_THAT(plan.problems(), ElementsAre("A was not given", "B was not given", "D was not given"));
  EXPECT_EQ(plan.run(Simulator()).problem, "A was not given\nB was not given\nD was not given\n");
  EXPECT_EQ(plan.explain(), "A was not given\nB was not given\nD was not given\n");
  EXPECT_EQ(plan.workspace_bytes(), 0u);
  const GemmDevice none{.simulated = false, .problem = "there is no GPU here"};
  EXPECT_THAT(Gemm<Plain>::plan(arguments({.m = 8, .n = 8, .k = 8}), none).problems(),
              ElementsAre("there is no GPU here"));
}

TEST(GemmPlan, RunsOnlyOnTheMachineThatItIsFor) {
  const GemmDevice gpu{.simulated = false};
  EXPECT_EQ(Gemm<Plain>::plan(arguments({.m = 8, .n = 8, .k = 8}), gpu).run(Simulator()).problem,
            "this plan was made for a GPU, and is run on the simulated SM: make another with device_of that "
            "machine\n");
}

// One tile for eight CTAs and a long K: it is shared, through a workspace that is found as it was left.
TEST(GemmPlan, RunsAgainAndAgainInAWorkspaceThatItIsGiven) {
  Product<Plain> x(128, 128, 2048);
  const std::size_t bytes = Gemm<Plain>::workspace_bytes(x.args);
  ASSERT_GT(bytes, 0u);
  Buffer<std::uint32_t> memory(bytes / 4 + 4);
  for (std::uint32_t& word : memory) word = 0xdeadbeef;  // the plan clears it
  const GemmPlan<Plain> plan = Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data(), bytes});
  EXPECT_EQ(plan.workspace_bytes(), bytes);
  EXPECT_THAT(plan.explain(), HasSubstr("split-K: 3 clusters share each tile"));
  EXPECT_THAT(plan.explain(), HasSubstr("Workspace: " + std::to_string(bytes) + " bytes."));
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (bf16& y : x.d) y = bf16(-1e30f);
    const LaunchResult result =
        plan.run(Simulator({.seed = seed, .resident_clusters = 1}));  // the plan has room for all
    ASSERT_TRUE(result) << result.problem;
    ASSERT_EQ(first_mismatch(x.args), "");
  }
  EXPECT_EQ(memory[bytes / 4], 0xdeadbeefu);

  EXPECT_THAT(Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data(), bytes - 1}).problems(),
              ElementsAre("the workspace has " + std::to_string(bytes - 1) + " bytes: this product takes " +
                          std::to_string(bytes) + " on this device"));
  EXPECT_THAT(
      Gemm<Plain>::plan(x.args, device_of(Simulator()), {memory.data() + 1, bytes}).problems(),
      ElementsAre("the workspace begins 4 bytes beyond a multiple of 16; the next address that works is 12 bytes "
                  "further"));
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
  GemmPlan<Reducing> plan = Gemm<Reducing>::plan(x.args);
  ASSERT_TRUE(plan.ok()) << plan.explain();
  EXPECT_GT(plan.workspace_bytes(), 0u);
  const GemmPlan<Reducing> other = Gemm<Reducing>::plan(y.args);
  const GemmPlan<Reducing> moved = std::move(plan);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const LaunchResult result = moved.run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << result.problem;
    const LaunchResult other_result = other.run(Simulator({.seed = seed}));
    ASSERT_TRUE(other_result) << other_result.problem;
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
  const std::size_t words = Gemm<Reducing>::workspace_bytes(x.args) / 4;
  Buffer<std::uint32_t> memory(words + 1024);
  for (std::uint32_t& word : memory) word = 0xdeadbeef;
  const GemmPlan<Reducing> plan = Gemm<Reducing>::plan(x.args, device_of(Simulator()), {memory.data(), 4 * words});
  const LaunchResult result = plan.run(Simulator());
  ASSERT_TRUE(result) << result.problem;
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
  const LaunchResult apart = Gemm<Reducing>::plan(x.args).run(Simulator());
  ASSERT_TRUE(apart) << apart.problem;
  ASSERT_EQ(first_mismatch(x.args), "");
  x.args.d = x.c.data();
  const LaunchResult in_place = Gemm<Reducing>::plan(x.args).run(Simulator({.seed = 1, .schedule = Schedule::pct}));
  ASSERT_TRUE(in_place) << in_place.problem;
  for (std::size_t i = 0; i < x.c.size(); ++i) ASSERT_EQ(x.c[i].bits, x.d[i].bits) << i;
}

TEST(GemmPlan, RunsInSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(4);
  threads.reserve(wrong.size());
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i, &answer = wrong[static_cast<std::size_t>(i)]] {
      Product<Plain> x(72 + 64 * i, 136, 200);
      const GemmPlan<Plain> plan = Gemm<Plain>::plan(x.args);
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        for (bf16& y : x.d) y = bf16(-1e30f);
        answer += plan.run(Simulator({.seed = seed})).problem;
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
    const Products::Plan plan = Products::plan(x.args, device, wanted);
    const int index = plan.choice().index;
    ASSERT_EQ(index, Products::choose(x.args, device, wanted).index);
    ASSERT_TRUE(wanted.asked.empty() || wanted.asked == names[index]);
    EXPECT_THAT(plan.explain(), HasSubstr(std::string("Kernel: ") + names[index]));
    const LaunchResult result = plan.run(Simulator());
    ASSERT_TRUE(result) << result.problem;
    ASSERT_EQ(first_mismatch(x.args), "");
  }
  const Products::Plan none = Products::plan(x.args, device, {.asked = "64x64"});
  EXPECT_THAT(none.explain(), HasSubstr("There is no configuration \"64x64\" for this GEMM; there are "));
  EXPECT_EQ(none.run(Simulator()).problem, none.explain());
  x.args.a = nullptr;
  EXPECT_THAT(Products::plan(x.args, device).problems(), ElementsAre("A was not given"));
  for (const GemmExtents& e : {GemmExtents{1LL << 40, 8, 8}, GemmExtents{8, 8, 1LL << 62, 1LL << 62}}) {
    x.args.extents = e;  // which no model has numbers for
    EXPECT_THAT(Products::plan(x.args, device).problems(), testing::Contains(HasSubstr("coordinates have 32 bits")));
  }
  x.args.dependent = true;
  EXPECT_TRUE(GemmArguments<Small>(x.args).dependent);
  EXPECT_FALSE((detail::share_arguments<Plain, ColumnMajor>()));
  EXPECT_TRUE(Products::plan(Products::Arguments({.m = 0, .n = 8, .k = 8}), device).run(Simulator()));
}

TEST(GemmPlan, ExplainsItself) {
  Product<Plain> x(512, 768, 256);
  EXPECT_EQ(
      Gemm<Plain>::plan(x.args, device_of(Simulator(), 20)).explain(),
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
