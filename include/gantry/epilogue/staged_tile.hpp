// A ring of subtiles in shared memory: its layout, its TMA copies from and to a matrix in global memory, and the copies
// between it and the registers that hold accumulators. C, D and every auxiliary tensor of an epilogue is one.
//
// `Shape` has the tile (Subtiles), the element, the major and the number of buffers, and fixes everything else:
// the swizzle is the widest whose row divides the subtile's contiguous extent, 16-bit elements go through ldmatrix and
// stmatrix, others through the widest accesses that the layout allows.
//
// Example at namespace scope:
//     struct OutputShape {
//       static constexpr gantry::Subtiles tile{.m = 128, .n = 128, .epi_m = 64, .epi_n = 64, .warpgroups = 1};
//       static constexpr gantry::ElementType element = gantry::ElementType::bf16;
//       static constexpr bool row_major = true;
//       static constexpr int stages = 2;
//     };
//     using Output = gantry::StagedTile<OutputShape>;
//     static_assert(Output::kBytes == 2 * 64 * 64 * 2 && Output::kAlignment == 1024);
#pragma once

#include <gantry/atom/copy.hpp>
#include <gantry/atom/copy_operations.hpp>
#include <gantry/atom/mma_copy.hpp>
#include <gantry/atom/tma_copy.hpp>
#include <gantry/epilogue/operations_by_tile.hpp>
#include <gantry/epilogue/subtile_layout.hpp>
#include <gantry/epilogue/subtiles.hpp>

namespace gantry {

namespace detail {

// The type in atom/ that a copy operation names.
template <CopyOp op>
struct CopyOperation {
  using type = AutoVectorizingCopy;
};
#define GANTRY_X(name)                 \
  template <>                          \
  struct CopyOperation<CopyOp::name> { \
    using type = name;                 \
  };
GANTRY_X(SM75_U32x2_LDSM_N)
GANTRY_X(SM75_U32x4_LDSM_N)
GANTRY_X(SM75_U16x4_LDSM_T)
GANTRY_X(SM75_U16x8_LDSM_T)
GANTRY_X(SM90_U32x2_STSM_N)
GANTRY_X(SM90_U32x4_STSM_N)
GANTRY_X(SM90_U16x4_STSM_T)
GANTRY_X(SM90_U16x8_STSM_T)
#undef GANTRY_X

// The fragment of 16 (or 8) columns of accumulators, for all warpgroups of a tile.
template <int n, int warpgroups>
struct FragmentMma {
  using Operation = SM90_GMMA<n, float, bf16, bf16>;
  static constexpr TiledMmaLayout value =
      make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(warpgroups), _1, _1)));
};

}  // namespace detail

template <class Shape>
struct StagedTile {
  static constexpr Subtiles tile = Shape::tile;
  static constexpr bool row_major = Shape::row_major;
  static constexpr int stages = Shape::stages;
  using Element = element_t<Shape::element>;

  struct SharedLayout {
    static constexpr ComposedLayout value = staged_layout(Shape::element, row_major, tile.epi_m, tile.epi_n, stages);
  };
  GANTRY_STATIC_CHECK(SharedLayout::value);
  static constexpr int kStageBytes = tile.epi_m * tile.epi_n * element_bits(Shape::element) / 8;
  static constexpr int kBytes = stages * kStageBytes;
  static constexpr int kAlignment = static_cast<int>(smem_alignment(SharedLayout::value));

  // ---- Global memory

  using Map = TmaDescriptor;
  GANTRY_INLINE static const TmaDescriptor* descriptor(const Map& map) { return &map; }

  template <TmaOp kOp>
  struct Plan {
    static constexpr TmaPlan value = subtile_plan(Shape::element, row_major, {tile.epi_m, tile.epi_n}, kOp);
  };

  // Subtile (em, en) of a CTA's tile into a buffer; kStageBytes are credited to the barrier.
  GANTRY_INLINE static void load(const TmaDescriptor* map, Element* buffers, int stage, std::uint64_t* full,
                                 const TileCoordinate& at, int em, int en, Site site = Site::here()) {
    const TmaCopy<Plan<TmaOp::load>> tma{map};
    const auto parts = partition(tma, buffers, at);
    copy(tma.with(full), parts.gmem(_, at.m * tile.along_m() + em, at.n * tile.along_n() + en), parts.smem(_, stage),
         site);
  }
  // A buffer to subtile (em, en), or added to it, in the calling thread's bulk group.
  template <TmaOp kOp = TmaOp::store>
  GANTRY_INLINE static void store(const TmaDescriptor* map, Element* buffers, int stage, const TileCoordinate& at,
                                  int em, int en, Site site = Site::here()) {
    const TmaCopy<Plan<kOp>> tma{map};
    const auto parts = partition(tma, buffers, at);
    copy(tma, parts.smem(_, stage), parts.gmem(_, at.m * tile.along_m() + em, at.n * tile.along_n() + en), site);
  }

  // ---- Registers

  // A thread's values of a subtile, in the order of Subtiles.
  GANTRY_INLINE static auto make_registers() { return make_tensor<Element>(RegisterLayout{}); }

  template <class Registers>
  GANTRY_INLINE static void read(Element* buffers, int stage, int thread, Registers& registers,
                                 Site site = Site::here()) {
    const auto tiled = make_tiled_copy_C(Copy_Atom<Read, Element>{}, TiledMma<Mma>{});
    const auto mine = tiled.get_slice(thread);
    const auto parts = mine.partition_S(as_position_independent_swizzle_tensor(shared(buffers)));
    copy(tiled, parts(_, _, _, stage), registers, site);
  }
  template <class Registers>
  GANTRY_INLINE static void write(const Registers& registers, Element* buffers, int stage, int thread,
                                  Site site = Site::here()) {
    const auto tiled = make_tiled_copy_C(Copy_Atom<Write, Element>{}, TiledMma<Mma>{});
    const auto mine = tiled.get_slice(thread);
    const auto parts = mine.partition_D(as_position_independent_swizzle_tensor(shared(buffers)));
    copy(tiled, registers, parts(_, _, _, stage), site);
  }

 private:
  static constexpr int kColumns = tile.epi_n % 16 == 0 ? 16 : 8;  // that the threads hold side by side
  static constexpr int kBits = element_bits(Shape::element);
  using Read = typename detail::CopyOperation<smem_load_operation(kBits, !row_major, tile.epi_n)>::type;
  using Write = typename detail::CopyOperation<smem_store_operation(kBits, !row_major, tile.epi_n)>::type;
  using Mma = detail::FragmentMma<kColumns, tile.warpgroups>;

  struct RegisterLayout {
    static constexpr Layout value =
        make_layout(make_shape(Int::fixed(kColumns / 2), Int::fixed(tile.blocks()), Int::fixed(tile.epi_n / kColumns)),
                    make_stride(_1, Int::fixed(tile.values_of_block()), Int::fixed(kColumns / 2)));
  };

  GANTRY_INLINE static auto shared(Element* buffers) { return make_tensor(make_smem_ptr(buffers), SharedLayout{}); }

  template <class Tma>
  GANTRY_INLINE static auto partition(const Tma& tma, Element* buffers, const TileCoordinate& at) {
    // Extents do not enter coordinates: the tensor map clips.
    const auto matrix = tma.get_tma_tensor(1 << 30, 1 << 30, 1 << 30)(_, _, at.map_batch);
    const auto tiles = local_tile(domain_offset(coord(at.map_row, at.map_column), matrix),
                                  Tile<tile.epi_m, tile.epi_n>{}, coord(_, _));
    return tma_partition(tma, 0, group_modes<0, 2>(shared(buffers)), group_modes<0, 2>(tiles));
  }
};

}  // namespace gantry
