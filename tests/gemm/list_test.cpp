// A new kernel is a new file: a GEMM whose tiles come from a list in memory, on the kernel frame. One warp finds the
// next tile and publishes it through a ring in shared memory; every other role reads it there. Only the scheduler is
// new.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>

#include "kernel_params.hpp"

namespace gantry {
namespace {

// Tiles of clusters, in any order; which of them a cluster computes is up to the list.
struct alignas(16) ListedTile {
  int m = 0, n = 0, cluster = 0, unused = 0;
};

// Goes through the list and takes what is this cluster's.
class ListScheduler {
 public:
  struct Params {
    const ListedTile* tiles;
    int count;
    int k_steps;
    int clusters;
  };
  static constexpr int kSharedBytes = 0;
  GANTRY_INLINE static const int& uniform_k_steps(const Params& params) { return params.k_steps; }
  GANTRY_INLINE const int& k_steps(const Work&) const { return p_.k_steps; }

  template <class Shared>
  GANTRY_INLINE ListScheduler(const Params& params, const Shared&, int cluster) : p_(params), cluster_(cluster) {}

  GANTRY_INLINE bool next(Work& work) {
    while (at_ < p_.count) {
      const ListedTile tile = arch::ld(arch::space_global, p_.tiles + at_++);
      if (tile.cluster != cluster_) continue;
      work = {};
      work.m = tile.m;
      work.n = tile.n;
      work.steps = p_.k_steps;
      return true;
    }
    return false;
  }
  GANTRY_INLINE void place(Work&) const {}
  GANTRY_INLINE bool helps(int, const Work&) const { return false; }

 private:
  const Params& p_;
  int cluster_;
  int at_ = 0;
};
static_assert(TileScheduler<ListScheduler>);

template <int M>
struct Design {
  static constexpr GemmDesign design =
      make_gemm_design({.tile = {64, 128}, .cluster = {M, 1}, .stages = 2, .schedule = GemmSchedule::cooperative},
                       fusion::graph("d = acc"));
};

template <int M>
void expect_exact(const std::vector<ListedTile>& list, int clusters, int m, int n, int k, std::uint64_t seed) {
  using Kernel = CooperativeGemm<Design<M>, OverlappedStore<Design<M>>, ListScheduler>;
  std::vector<bf16> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(n * k)),
      d(static_cast<std::size_t>(m * n), bf16(-1.0f));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(i % 5) - 2);
  const GemmProblem problem{.a = a.data(), .b = b.data(), .d = d.data(), .m = m, .n = n, .k = k};
  constexpr const GemmDesign& design = Kernel::design();
  typename Kernel::Params params{};
  params.loop = {encode_packed(bind_a(design, problem)).map, encode_packed(bind_b(design, problem)).map};
  params.epilogue = gantry_test::map_of_d<Kernel>(problem);
  params.schedule = {list.data(), static_cast<int>(list.size()), design.k_steps(k), clusters};
  TileSchedule shape;
  shape.clusters = clusters;
  const LaunchResult result = launch(Simulator({.seed = seed, .resident_clusters = clusters}),
                                     launch_config_of(design, shape), Kernel{}, params);
  ASSERT_TRUE(result) << result.problem;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k; ++x)
        sum += float(a[static_cast<std::size_t>(i * k + x)]) * float(b[static_cast<std::size_t>(j * k + x)]);
      bool listed = false;
      for (const ListedTile& t : list) listed = listed || (t.m == i / (64 * M) && t.n == j / 128);
      ASSERT_EQ(float(d[static_cast<std::size_t>(i * n + j)]), listed ? float(bf16(sum)) : -1.0f) << i << ", " << j;
    }
  }
}

TEST(ListedTiles, AreComputedInTheOrderOfTheListAndNoOthers) {
  const std::vector<ListedTile> list{
      {1, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 1, 0}};  // (1, 0) and (2, 1) are not asked for
  for (std::uint64_t seed = 0; seed < 4; ++seed) expect_exact<1>(list, 2, 136, 200, 136, seed);
}

TEST(ListedTiles, BelongToClustersThatShareB) {
  const std::vector<ListedTile> list{{0, 0, 0}, {0, 1, 1}, {1, 1, 0}};
  for (std::uint64_t seed = 0; seed < 4; ++seed) expect_exact<2>(list, 2, 200, 200, 136, seed);
}

TEST(ListedTiles, MayBeNone) { expect_exact<1>({{0, 0, 1}}, 2, 64, 128, 64, 1); }

}  // namespace
}  // namespace gantry
