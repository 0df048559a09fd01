// TMA copies from plans that are constants, in the simulator: loads, multicasts, stores and reductions, of tiles that
// take several instructions and overhang the tensor; and their coordinates against the plan's own walk.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/atom/copy.hpp>
#include <gantry/atom/tma_copy.hpp>
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tma/instructions.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

using test::simulate;

constexpr Layout kRows = make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));

// 64 x 64 floats: two boxes of 32 columns, 128-byte swizzled.
struct Tile64 {
  static constexpr ComposedLayout value =
      tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 32), make_shape(_64, _64));
};
template <TmaOp op, int ctas = 1>
struct Plan {
  static constexpr TmaPlan value = plan_structure({.op = op,
                                                   .gtensor = {.element = ElementType::f32, .layout = kRows},
                                                   .smem = Tile64::value,
                                                   .num_multicast = ctas});
};

struct Storage {
  alignas(1024) float tile[64 * 64];
  std::uint64_t barrier;
};

template <class P>
TmaDescriptor map_of(const std::vector<float>& data, int rows, int columns) {
  GlobalTensor matrix{
      .address = reinterpret_cast<std::uint64_t>(data.data()), .element = ElementType::f32, .layout = {}};
  matrix.layout = make_layout(make_shape(rows, columns), make_stride(columns, _1));
  return pack(bind(P::value, matrix).descriptor);
}

constexpr int kM = 100, kN = 128;

template <TmaOp load, TmaOp store, int ctas>
void expect_tile_to_arrive(float before, float (*expected)(float before, float value),
                           TmaCacheHint hint = TmaCacheHint::none) {
  std::vector<float> from(kM * kN), to(kM * kN, before);
  std::iota(from.begin(), from.end(), 1.0f);
  using Load = Plan<load, ctas>;
  using Store = Plan<store>;
  const TmaDescriptor source = map_of<Load>(from, kM, kN);
  const TmaDescriptor target = map_of<Store>(to, kM, kN);
  const Report report = simulate(
      {.grid = {ctas}, .cluster = {ctas}, .block = {32}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        const bool leader = arch::thread_rank() == 0;
        const auto rank = static_cast<int>(arch::cluster_block_rank());
        if (leader) {
          arch::mbarrier_init(&s.barrier, 1);
          arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
          arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.barrier,
                                          sizeof(s.tile));
        }
        arch::barrier_cluster_arrive();
        arch::barrier_cluster_wait();
        if (!leader) return;
        const auto tile = make_tensor(make_smem_ptr(s.tile), Tile64{});
        const TmaCopy<Load> in{&source};
        const auto tiles = local_tile(in.get_tma_tensor(kM, kN), Tile<64, 64>{}, coord(1, _));
        if (hint == TmaCacheHint::none) {
          const auto parts = tma_partition(in, rank, group_modes<0, 2>(tile), group_modes<0, 2>(tiles));
          if constexpr (ctas == 1) prefetch(in, parts.gmem(_, 1));
          copy(in.with(&s.barrier, (1 << ctas) - 1), parts.gmem(_, 1), parts.smem);
        } else {
          const auto mine = in.get_slice(rank);
          copy(in.with(&s.barrier, (1 << ctas) - 1, hint), mine.partition_S(tiles)(_, 0, 0, 1), mine.partition_D(tile));
        }
        arch::wait(&s.barrier, 0);
        if (rank == ctas - 1) {
          const TmaCopy<Store> out{&target};
          const auto places = local_tile(out.get_tma_tensor(kM, kN), Tile<64, 64>{}, coord(1, 1));
          const auto back = tma_partition(out, 0, group_modes<0, 2>(tile), group_modes<0, 2>(places));
          if (hint == TmaCacheHint::none) {
            copy(out, back.smem, back.gmem);
          } else {
            copy(out.with(hint), back.smem, back.gmem);
          }
          arch::cp_async_bulk_commit_group();
          arch::cp_async_bulk_wait_group(arch::n32<0>);
        }
      });
  EXPECT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < kM * kN; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool inside = i / kN >= 64 && i % kN >= 64;
    ASSERT_EQ(to[at], inside ? expected(before, from[at]) : before) << i / kN << " " << i % kN;
  }
}

TEST(TmaCopies, LoadATileAndStoreIt) {
  expect_tile_to_arrive<TmaOp::load, TmaOp::store, 1>(-1, [](float, float value) { return value; });
}
TEST(TmaCopies, ShareATileBetweenTheCtasOfACluster) {
  expect_tile_to_arrive<TmaOp::load_multicast, TmaOp::store, 2>(-1, [](float, float value) { return value; });
}
TEST(TmaCopies, AddATileToMemory) {
  expect_tile_to_arrive<TmaOp::load, TmaOp::reduce_add, 1>(5, [](float before, float value) { return before + value; });
}

TEST(TmaCopies, TakeACacheHintWhateverTheyDo) {
  constexpr auto copied = [](float, float value) { return value; };
  constexpr auto added = [](float before, float value) { return before + value; };
  expect_tile_to_arrive<TmaOp::load, TmaOp::store, 1>(-1, copied, TmaCacheHint::evict_first);
  expect_tile_to_arrive<TmaOp::load_multicast, TmaOp::store, 2>(-1, copied, TmaCacheHint::evict_last);
  expect_tile_to_arrive<TmaOp::load, TmaOp::reduce_add, 1>(5, added, TmaCacheHint::evict_normal);
}

TEST(TmaCopies, AMulticastToNobodyIsReported) {
  std::vector<float> from(kM * kN);
  using Load = Plan<TmaOp::load_multicast, 2>;
  const TmaDescriptor source = map_of<Load>(from, kM, kN);
  const Report report =
      simulate({.grid = {2}, .cluster = {2}, .block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        arch::mbarrier_init(&s.barrier, 1);
        arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
        const auto tile = make_tensor(make_smem_ptr(s.tile), Tile64{});
        const TmaCopy<Load> in{&source};
        const auto tiles = local_tile(in.get_tma_tensor(kM, kN), Tile<64, 64>{}, coord(0, 0));
        const auto parts = tma_partition(in, 0, group_modes<0, 2>(tile), group_modes<0, 2>(tiles));
        copy(in.with(&s.barrier), parts.gmem, parts.smem);  // the mask was forgotten
      });
  EXPECT_TRUE(report.has("multicast-mask")) << report.text();
}

TEST(TmaCopies, HaveTheCoordinatesOfThePlansWalk) {
  using P = Plan<TmaOp::load_multicast, 4>;
  const TmaCopy<P> tma{nullptr};
  alignas(1024) static float buffer[64 * 64];
  const auto tile = make_tensor(make_smem_ptr(buffer), Tile64{});
  const auto tiles = local_tile(tma.get_tma_tensor(256, 512), Tile<64, 64>{}, coord(3, 5));
  const TmaTileWalk walk(P::value);
  ASSERT_EQ(walk.count(), 2);
  for (int cta = 0; cta < 4; ++cta) {
    const auto parts = tma_partition(tma, cta, group_modes<0, 2>(tile), group_modes<0, 2>(tiles));
    for (int i = 0; i < 2; ++i) {
      const TmaInstruction wanted = walk.at(i, cta);
      const auto at = parts.gmem(i * TmaCopy<P>::elements);
      EXPECT_EQ(at[0], wanted.coordinates[0] + 5 * 64);
      EXPECT_EQ(at[1], wanted.coordinates[1] + 3 * 64);
      const auto* shared = detail::unswizzled_address(parts.smem, i * TmaCopy<P>::elements);
      EXPECT_EQ(reinterpret_cast<const char*>(shared) - reinterpret_cast<const char*>(buffer), wanted.shared_offset);
    }
  }
}

// CuTe's forms: a CTA by its coordinate in a layout, and slices of the copy. The tile keeps its modes.
TEST(TmaCopies, ArePartitionedByTheCoordinateOfACtaAndBySlices) {
  using P = Plan<TmaOp::load_multicast, 4>;
  const TmaCopy<P> tma{nullptr};
  alignas(1024) static float buffer[64 * 64];
  const auto tile = make_tensor(make_smem_ptr(buffer), Tile64{});
  const auto tiles = local_tile(tma.get_tma_tensor(256, 512), Tile<64, 64>{}, coord(3, _));
  const TmaTileWalk walk(P::value);
  // CTAs 2 x 2, of which the second mode is the first to count.
  constexpr auto kCtas = [] { return make_layout(make_shape(_2, _2), make_stride(_2, _1)); };
  for (int cta = 0; cta < 4; ++cta) {
    const auto parts =
        tma_partition(tma, coord(cta / 2, cta % 2), kCtas, group_modes<0, 2>(tile), group_modes<0, 2>(tiles));
    const auto slice = tma.get_slice(cta);
    const auto from = slice.partition_S(tiles);
    const auto to = slice.partition_D(tile);
    for (int i = 0; i < 2; ++i) {
      const int first = i * TmaCopy<P>::elements;
      const TmaInstruction wanted = walk.at(i, cta);
      for (int column = 0; column < 8; ++column) {
        const auto of_atom = parts.gmem(first, column), of_slice = from(first, 0, 0, column);
        EXPECT_EQ(of_atom[0], wanted.coordinates[0] + column * 64);
        EXPECT_EQ(of_atom[1], wanted.coordinates[1] + 3 * 64);
        EXPECT_EQ(of_slice[0], of_atom[0]);
        EXPECT_EQ(of_slice[1], of_atom[1]);
      }
      EXPECT_EQ(detail::unswizzled_address(parts.smem, first), detail::unswizzled_address(to, first));
      const auto* shared = detail::unswizzled_address(to, first);
      EXPECT_EQ(reinterpret_cast<const char*>(shared) - reinterpret_cast<const char*>(buffer), wanted.shared_offset);
    }
  }
}

}  // namespace
}  // namespace gantry
