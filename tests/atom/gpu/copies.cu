// Copies by atoms: matrices to and from swizzled shared memory, vectors, predicates, TMA. No stack, no spills.
#include <gantry/arch.hpp>
#include <gantry/atom.hpp>
#include <gantry/layout/smem_atoms.hpp>

namespace {

using namespace gantry;

struct Buffer {
  static constexpr ComposedLayout value =
      tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_64, _64, _2));
};
struct Rows {
  static constexpr Layout value =
      make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));
};
struct Threads {
  static constexpr Layout value = make_layout(make_shape(_16, _8), LayoutRight{});
};
struct Mma {
  using Operation = SM90_GMMA<64, float, f16, f16>;
  static constexpr TiledMmaLayout value = make_tiled_mma(MMA_Atom<Operation>::value);
};
template <TmaOp op>
struct Plan {
  static constexpr TmaPlan value =
      plan_structure({.op = op,
                      .gtensor = {.element = ElementType::f16, .layout = Rows::value},
                      .smem = tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_64, _64))});
};

extern __shared__ __align__(1024) unsigned char memory[];

}  // namespace

__global__ void matrices_through_registers(int from, int to) {
  const TiledMma<Mma> mma;
  const auto tile =
      as_position_independent_swizzle_tensor(make_tensor(make_smem_ptr<f16>(static_cast<void*>(memory)), Buffer{}));
  const auto load = make_tiled_copy_C_atom(Copy_Atom<SM75_U32x4_LDSM_N, f16>{}, mma);
  const auto store = make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, f16>{}, mma);
  auto registers = make_tensor<f16>(Tile<8, 1, 4>{});
  const int thread = static_cast<int>(arch::thread_rank());
  copy(load, load.get_slice(thread).partition_S(tile)(_, _, _, from), registers);
  copy(store, registers, store.get_slice(thread).partition_D(tile)(_, _, _, to));
}

__global__ void rows_in_vectors(const f16* in, f16* out, int rows, int columns, int stage) {
  const auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<uint128>, f16>{}, Threads{}, Tile<1, 8>{});
  const auto mine = tiled.get_slice(static_cast<int>(arch::thread_rank()));
  const auto source = make_tensor(make_gmem_ptr(in), Rows{}, rows, columns, columns);
  const auto target = make_tensor(make_gmem_ptr(out), Rows{}, rows, columns, columns);
  const auto place = make_identity_tensor([] { return make_shape(Int::unknown(), Int::unknown()); }, rows, columns);
  const auto at = coord(static_cast<int>(arch::block_index().x), static_cast<int>(arch::block_index().y));
  const auto shared =
      mine.partition_D(make_tensor(make_smem_ptr<f16>(static_cast<void*>(memory)), Buffer{}))(_, _, _, stage);
  const auto here = mine.partition_S(local_tile(place, Tile<64, 64>{}, at));
  const Coordinate<2> end{{rows, columns}};
  copy_if(
      tiled, [&](auto i) { return elem_less(here(Constant<8 * i>{}), end); },
      mine.partition_S(local_tile(source, Tile<64, 64>{}, at)), shared);
  arch::syncthreads();
  auto registers = make_fragment_like(shared);
  copy(shared, registers);
  copy_if(
      tiled, [&](auto i) { return elem_less(here(Constant<8 * i>{}), end); }, registers,
      mine.partition_D(local_tile(target, Tile<64, 64>{}, at)));
}

__global__ void tiles_by_tma(const __grid_constant__ TmaDescriptor in, const __grid_constant__ TmaDescriptor out,
                             int rows, int columns) {
  const auto buffers = make_tensor(make_smem_ptr<f16>(static_cast<void*>(memory)), Buffer{});
  auto* barrier = reinterpret_cast<std::uint64_t*>(memory + 2 * 8192);
  if (arch::thread_rank() != 0) return;
  const TmaCopy<Plan<TmaOp::load>> load{&in};
  const TmaCopy<Plan<TmaOp::reduce_add>> add{&out};
  const auto at = coord(static_cast<int>(arch::block_index().x), _);
  const auto from = local_tile(load.get_tma_tensor(rows, columns), Tile<64, 64>{}, at);
  const auto to = local_tile(add.get_tma_tensor(rows, columns), Tile<64, 64>{}, at);
  const auto loads = tma_partition(load, 0, group_modes<0, 2>(buffers), group_modes<0, 2>(from));
  const auto adds = tma_partition(add, 0, group_modes<0, 2>(buffers), group_modes<0, 2>(to));
  for (int i = 0; i < size<2>(from); ++i) {
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, barrier, 8192);
    copy(load.with(barrier, 0, TmaCacheHint::evict_first), loads.gmem(_, i), loads.smem(_, i % 2));
    arch::wait(barrier, static_cast<std::uint32_t>(i & 1));
    copy(add, adds.smem(_, i % 2), adds.gmem(_, i));
    arch::cp_async_bulk_commit_group();
    arch::cp_async_bulk_wait_group_read(arch::n32<1>);
  }
}

namespace {

struct Gather {
  static constexpr Im2colPlan value = plan_im2col(
      {.channels = 64, .extent = {56, 56}, .filter = {3, 3}, .pad_lower = {1, 1}, .pad_upper = {1, 1}},
      {.channels = 64, .pixels = 128, .ctas = 2, .swizzle = TmaSwizzle::bytes_128}, TmaOp::load_im2col_multicast);
};
struct Scatter {
  static constexpr Im2colPlan value =
      plan_im2col(output_tensor(Gather::value, {.channels = 64}),
                  {.channels = 64, .pixels = 128, .swizzle = TmaSwizzle::bytes_128}, TmaOp::store_im2col);
};
struct Column {
  static constexpr ComposedLayout value =
      tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_128, _64));
};
struct Plans {
  Im2colPlan in, out;
};

}  // namespace

__global__ void columns_of_a_convolution(const __grid_constant__ TmaDescriptor in,
                                         const __grid_constant__ TmaDescriptor out,
                                         const __grid_constant__ Plans plans) {
  const auto tile = make_tensor(make_smem_ptr<f16>(static_cast<void*>(memory)), Column{});
  auto* barrier = reinterpret_cast<std::uint64_t*>(memory + 2 * 8192);
  if (arch::thread_rank() != 0) return;
  const Im2colCopy<Gather> load{&in, &plans.in};
  const Im2colCopy<Scatter> store{&out, &plans.out};
  const auto cta = static_cast<std::int32_t>(arch::cluster_block_rank());
  for (int i = 0; i < 9; ++i) {
    const Im2colTileIndex at{.pixel_tile = arch::cluster_index().x, .tap = {i % 3, i / 3}, .cta = cta};
    copy(load.with(barrier, 3, TmaCacheHint::evict_last), at, tile);
    arch::wait(barrier, static_cast<std::uint32_t>(i & 1));
  }
  copy(store, tile, {.pixel_tile = arch::cluster_index().x});
  arch::cp_async_bulk_commit_group();
  arch::cp_async_bulk_wait_group_read(arch::n32<0>);
}
