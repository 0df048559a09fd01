// GEMMs whose rows of D go where an index says, on the simulated SM: stored, or added to what is there, in any order or
// in that of the rows.
#include <numeric>

#include "gather_exact.hpp"

namespace gantry_test {
namespace {

template <RowScatter scatter, ElementType d, GemmGrouping groups, GemmSchedule schedule, bool gathers = false,
          int kColumns = 64>
struct Scattered {
  static constexpr GemmOptions options{.d = d,
                                       .tile = {64, kColumns},
                                       .cluster = {2, 1},
                                       .schedule = schedule,
                                       .groups = groups,
                                       .gather_a = gathers,
                                       .scatter_d = scatter};
  static constexpr fusion::Graph graph = fusion::graph("d = col(weight) * acc");
};

// `index`: of D's rows, for each row of the GEMM. Rows of A are those of the index too, where they are gathered.
template <class Spec>
void expect_scattered(const GemmExtents& e, const std::vector<std::int32_t>& index, int rows,
                      const std::vector<int>& sizes, std::uint64_t seed) {
  using Gemm = gantry::Gemm<Spec>;
  using D = typename Gemm::Arguments::D;
  const bool grouped = !sizes.empty();
  const auto groups = static_cast<std::size_t>(e.batch), n = static_cast<std::size_t>(e.n);
  const std::size_t lines = index.size(), of_a = Spec::options.gather_a ? static_cast<std::size_t>(rows) : lines;
  Problem<bf16, D> p;
  p.a = numbers<bf16>(of_a * static_cast<std::size_t>(e.k), 1);
  p.b = numbers<bf16>(groups * n * static_cast<std::size_t>(e.k), 2);
  p.index.resize(lines);
  std::iota(p.index.begin(), p.index.end(), 0);
  if (Spec::options.gather_a) p.index = index;
  p.rows = static_cast<int>(of_a);
  p.n = static_cast<int>(e.n);
  p.k = p.stride = static_cast<int>(e.k);
  auto weights = numbers<float>(static_cast<std::size_t>(e.m), 3);
  // Sums that depend on their order.
  constexpr bool ordered = Spec::options.scatter_d == RowScatter::ordered;
  for (float& weight : weights) weight *= ordered ? 0.37f : 1.0f;
  const Offsets offsets = offsets_of(sizes);
  const std::size_t matrices = grouped ? 1 : groups;
  const Buffer<std::int32_t> to = guarded(index);
  Buffer<D> d(matrices * static_cast<std::size_t>(rows) * n);
  std::fill(d.begin(), d.end(), D(7.0f));
  typename Gemm::Arguments args(e);
  args.a = p.a.data();
  args.b = p.b.data();
  args.d = d.data();
  args.fusion["weight"] = weights.data();
  args.scatter = {to.data(), rows};
  if (grouped) args.groups.offsets = offsets.data();
  if constexpr (Spec::options.gather_a) args.gather = {to.data(), rows};
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  std::vector<float> expected(d.size(), 7.0f);
  for (std::size_t line = 0; line < lines; ++line) {
    const std::int32_t row = index[line];
    if (row < 0 || row >= rows) continue;
    std::size_t group = line / static_cast<std::size_t>(e.m), matrix = group;
    if (grouped) {
      if (line >= static_cast<std::size_t>(offsets.back())) continue;
      group = static_cast<std::size_t>(
          std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int32_t>(line)) - offsets.begin() - 1);
      matrix = 0;
    }
    for (std::size_t j = 0; j < n; ++j) {
      const float value =
          weights[line % static_cast<std::size_t>(e.m)] * p.dot(line, static_cast<int>(group), static_cast<int>(j));
      float& sum = expected[(matrix * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row)) * n + j];
      sum = Spec::options.scatter_d != RowScatter::store ? sum + value : float(D(value));
    }
  }
  for (std::size_t i = 0; i < d.size(); ++i) {
    ASSERT_EQ(float(d[i]), expected[i]) << "row " << i / n << ", column " << i % n;
  }
}

// Every row once, in another order, but for one in ten that goes nowhere.
std::vector<std::int32_t> permutation(std::size_t count, std::mt19937& random) {
  std::vector<std::int32_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  std::shuffle(out.begin(), out.end(), random);
  for (std::int32_t& x : out) {
    if (random() % 10 == 0) x = random() % 2 == 0 ? -1 : static_cast<std::int32_t>(count) + 3;
  }
  return out;
}

using enum GemmSchedule;
using enum GemmGrouping;

TEST(ScatteredRows, AreStoredWhereTheIndexSays) {
  std::mt19937 random(1);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_scattered<Scattered<RowScatter::store, ElementType::bf16, none, cooperative>>(
        {.m = 200, .n = 136, .k = 72}, permutation(200, random), 203, {}, seed);
    expect_scattered<Scattered<RowScatter::store, ElementType::bf16, along_m, pingpong>>(
        {.m = 200, .n = 71, .k = 72, .batch = 4}, permutation(200, random), 203, {70, 0, 1, 120}, seed);
  }
}

TEST(ScatteredRows, OfEachMatrixOfABatch) {
  std::mt19937 random(2);
  std::vector<std::int32_t> index = permutation(100, random);
  for (const std::int32_t row : permutation(100, random)) index.push_back(row);
  expect_scattered<Scattered<RowScatter::store, ElementType::f32, none, pingpong>>(
      {.m = 100, .n = 72, .k = 72, .batch = 2}, index, 103, {}, 1);
}

// Small integers: sums are exact in any order.
TEST(ScatteredRows, AreAddedToWhatIsThere) {
  std::mt19937 random(3);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_scattered<Scattered<RowScatter::add, ElementType::f32, none, cooperative>>(
        {.m = 200, .n = 72, .k = 72}, random_index(random, 200, 30), 30, {}, seed);
    expect_scattered<Scattered<RowScatter::add, ElementType::f32, along_m, pingpong>>(
        {.m = 200, .n = 72, .k = 72, .batch = 4}, random_index(random, 200, 30), 30, {70, 0, 1, 120}, seed);
  }
}

// Columns that are no whole 16 bytes are stored in slots by TMA all the same.
TEST(ScatteredRows, AreAddedInTheOrderOfTheirNumbers) {
  std::mt19937 random(8);
  using Ordered = Scattered<RowScatter::ordered, ElementType::f32, along_m, cooperative>;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_scattered<Ordered>({.m = 200, .n = 73, .k = 72, .batch = 4}, random_index(random, 200, 30), 30,
                              {70, 0, 1, 120}, seed);
  }
  expect_scattered<Scattered<RowScatter::ordered, ElementType::f32, none, cooperative>>(
      {.m = 100, .n = 73, .k = 72}, random_index(random, 100, 30), 30, {}, 1);
}

// Slots of f32, rows of which are multiples of 16 bytes, and a sentence that says what they cost.
TEST(ScatteredRows, InOrderTakeAWorkspaceOfSlots) {
  using Ordered = Scattered<RowScatter::ordered, ElementType::f32, along_m, cooperative>;
  const Buffer<bf16> a(1000 * 72), b(4 * 73 * 72);
  Buffer<float> d(300 * 73), weight(1000);
  const Buffer<std::int32_t> index(1000);
  GemmArguments<Ordered> args({.m = 1000, .n = 73, .k = 72, .batch = 4});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.fusion["weight"] = weight.data();
  args.scatter = {index.data(), 300};
  args.groups.offsets = index.data();
  const auto plan = gantry::Gemm<Ordered>::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  EXPECT_EQ(plan->workspace_bytes(), 1000u * 76 * 4);
  static_assert(problems(GemmOptions{.scatter_d = RowScatter::ordered}).has(GemmRule::scatter_element));  // D of bf16
  EXPECT_NE(plan->explain().find("adds the slots of each row of D in ascending order"), std::string::npos);
}

// Columns that are no whole 16 bytes: threads write elements where they cannot write chunks.
TEST(ScatteredRows, MayBeginAndEndAnywhere) {
  std::mt19937 random(5);
  expect_scattered<Scattered<RowScatter::add, ElementType::f32, none, pingpong>>(
      {.m = 100, .n = 73, .k = 72}, random_index(random, 100, 30), 30, {}, 1);
  expect_scattered<Scattered<RowScatter::store, ElementType::bf16, none, pingpong>>(
      {.m = 100, .n = 75, .k = 72}, permutation(100, random), 103, {}, 2);
  expect_scattered<Scattered<RowScatter::store, ElementType::bf16, none, cooperative>>(
      {.m = 100, .n = 3, .k = 72}, permutation(100, random), 103, {}, 3);
}

// 3 x 16 bytes a row, and 192 pieces of rows for 128 threads: the pieces of a thread lie in different columns, and not
// all threads have as many.
TEST(ScatteredRows, HavePiecesThatThreadsDoNotShareEvenly) {
  std::mt19937 random(6);
  expect_scattered<Scattered<RowScatter::store, ElementType::bf16, none, pingpong, false, 24>>(
      {.m = 150, .n = 47, .k = 72}, permutation(150, random), 153, {}, 4);
}

// D has 100 rows of each batch, the GEMM 40: a row may go to any of the 100.
TEST(ScatteredRows, OfBatchesThatOverlapAreRefused) {
  using Spec = Scattered<RowScatter::store, ElementType::f32, none, pingpong>;
  alignas(16) static bf16 a[8], b[8];
  alignas(16) static float d[8], weight[8];
  static std::int32_t index[8];
  const auto overlaps = [&](std::int64_t batch_stride) {
    GemmArguments<Spec> args({.m = 40, .n = 72, .k = 72, .batch = 2});
    args.a = a;
    args.b = b;
    args.d = d;
    args.d.stride = 72;
    args.d.batch_stride = batch_stride;
    args.fusion["weight"] = weight;
    args.scatter = {index, 100};
    return can_implement(args).has(ArgumentRule::batches_overlap);
  };
  EXPECT_TRUE(overlaps(72 * 40));
  EXPECT_TRUE(overlaps(72 * 99));
  EXPECT_FALSE(overlaps(72 * 100));
}

// The mask follows the row of the GEMM, as column vectors do, and not the row of D.
struct Dropped {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2, .scatter_d = RowScatter::store};
  static constexpr fusion::Graph graph = fusion::graph("d = keep(0.5, seed)");
};
TEST(ScatteredRows, AreDroppedByTheirPlaceInTheGemm) {
  constexpr int kM = 70, kN = 64;
  constexpr fusion::Dropout dropout{fusion::drop_threshold(0.5f), fusion::dropout_key(5, 0)};
  const auto a = numbers<bf16>(kM * 16, 1), b = numbers<bf16>(kN * 16, 2);
  std::vector<std::int32_t> index(kM);
  for (int i = 0; i < kM; ++i) index[static_cast<std::size_t>(i)] = (i * 3 + 1) % kM;
  std::vector<float> d(kM * kN, -1);
  GemmArguments<Dropped> args({.m = kM, .n = kN, .k = 16});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.fusion["seed"] = 5.0f;
  args.scatter = {index.data(), kM};
  const auto plan = gantry::Gemm<Dropped>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  ASSERT_TRUE(plan->run(Simulator({.seed = 1})));
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      const auto at = static_cast<std::size_t>(index[static_cast<std::size_t>(m)] * kN + n);
      ASSERT_EQ(d[at], fusion::keeps(dropout, m, n) ? 1 : 0) << m << ", " << n;
    }
  }
}

// Tokens to experts and back: rows of A and of D by the same index.
TEST(ScatteredRows, MayHaveBeenGathered) {
  std::mt19937 random(4);
  expect_scattered<Scattered<RowScatter::add, ElementType::f32, along_m, cooperative, true>>(
      {.m = 200, .n = 72, .k = 72, .batch = 4}, random_index(random, 200, 30), 30, {70, 0, 1, 120}, 2);
}

}  // namespace
}  // namespace gantry_test
