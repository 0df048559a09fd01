// Gated epilogues of groups along M: each group has a gate and an up of its own, against the definition; alone, with
// rows of A gathered, and with rows of D scattered.
#include <numeric>

#include "gather_exact.hpp"

namespace gantry_test {
namespace {

using enum GemmSchedule;

template <GemmGate kGate, GemmSchedule schedule, int cluster_m, bool gathers, RowScatter scatter = RowScatter::none>
struct GatedGroups {
  static constexpr GemmOptions options{.d = ElementType::f32,
                                       .tile = {64, 64},
                                       .cluster = {cluster_m, 1},
                                       .stages = 3,
                                       .schedule = schedule,
                                       .groups = GemmGrouping::along_m,
                                       .gate = kGate,
                                       .gather_a = gathers,
                                       .scatter_d = scatter};
  static constexpr fusion::Graph graph = fusion::graph("d = gate(acc) - 3 * up(acc) + row(bias) + col(shift)");
};

// Small integers: accumulators and results are exact.
template <class Spec>
void expect_definition(const std::vector<int>& sizes, int n, int k, std::uint64_t seed) {
  using Gemm = gantry::Gemm<Spec>;
  constexpr bool kInterleaved = Spec::options.gate == GemmGate::interleaved;
  constexpr int kSeen = 50;
  std::mt19937 random(static_cast<unsigned>(seed) + 3);
  const Offsets offsets = offsets_of(sizes);
  const int m = offsets.back() + 5, columns = n / 2;
  const auto groups = sizes.size(), rows = static_cast<std::size_t>(m);
  const auto of = [](std::size_t x, int each) { return x * static_cast<std::size_t>(each); };
  Problem<bf16, float> p;
  p.rows = Spec::options.gather_a ? kSeen : m;
  p.n = n;
  p.k = p.stride = k;
  p.a = numbers<bf16>(of(static_cast<std::size_t>(p.rows), k), 1);
  p.b = numbers<bf16>(of(groups, n * k), 2);
  p.index.resize(rows);
  std::iota(p.index.begin(), p.index.end(), 0);
  if (Spec::options.gather_a) p.index = random_index(random, rows, kSeen);
  std::vector<std::int32_t> to(rows);
  std::iota(to.begin(), to.end(), 0);
  if (Spec::options.scatter_d != RowScatter::none) std::shuffle(to.begin(), to.end(), random);
  const auto bias = numbers<float>(of(groups, columns), 3), shift = numbers<float>(rows, 4);
  const Buffer<bf16> a = guarded(p.a), b = guarded(p.b);
  Buffer<float> d(of(rows, columns));
  std::fill(d.begin(), d.end(), kUntouched);
  typename Gemm::Arguments args({.m = m, .n = n, .k = k, .batch = static_cast<std::int64_t>(groups)});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  if constexpr (Spec::options.gather_a) args.gather = {p.index.data(), kSeen};
  if constexpr (Spec::options.scatter_d != RowScatter::none) args.scatter = {to.data(), m};
  args.fusion["bias"] = bias.data();
  args.fusion["shift"] = shift.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int32_t>(row));
    const bool inside = static_cast<std::int32_t>(row) < offsets.back();
    const int group = static_cast<int>(after - offsets.begin()) - 1;
    for (int j = 0; j < columns; ++j) {
      const int gate_row = kInterleaved ? 2 * j : j, up_row = kInterleaved ? 2 * j + 1 : columns + j;
      const float expected = inside ? p.dot(row, group, gate_row) - 3 * p.dot(row, group, up_row) +
                                          bias[static_cast<std::size_t>(group * columns + j)] + shift[row]
                                    : kUntouched;
      const std::size_t at = of(static_cast<std::size_t>(to[row]), columns) + static_cast<std::size_t>(j);
      ASSERT_EQ(d[at], expected) << "row " << row << " of group " << group << ", column " << j;
    }
  }
}

const std::vector<int> kSizes{70, 0, 1, 129, 64, 3};

TEST(GatedGroups, HaveAGateAndAnUpOfTheirOwn) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_definition<GatedGroups<GemmGate::halves, cooperative, 2, false>>(kSizes, 96, 136, seed);
    expect_definition<GatedGroups<GemmGate::interleaved, pingpong, 1, false>>(kSizes, 160, 72, seed);
  }
}

TEST(GatedGroups, MayHaveTheirRowsGatheredAndScattered) {
  expect_definition<GatedGroups<GemmGate::halves, pingpong, 2, true>>(kSizes, 96, 136, 1);
  expect_definition<GatedGroups<GemmGate::halves, cooperative, 1, true, RowScatter::store>>(kSizes, 96, 136, 2);
}

// Of random sizes, of which many are 0 or 1.
TEST(GatedGroups, OfRandomSizes) {
  std::mt19937 random(7);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    expect_definition<GatedGroups<GemmGate::interleaved, cooperative, 2, false>>(random_sizes(random, 7, 64, 150), 144,
                                                                                 72, seed);
  }
}

}  // namespace
}  // namespace gantry_test
