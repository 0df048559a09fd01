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
#include <gantry/atom/matrix_coordinates.hpp>
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

  // One box of TMA; the boxes of a subtile whose rows or columns are runs lie side by side, those along M first.
  static constexpr TileRuns kRows = tile.row_runs(), kColumns = tile.column_runs();
  static constexpr TileMN kBox{kRows.extent, kColumns.extent};
  static constexpr int kBoxes = kRows.count * kColumns.count;

  struct SharedLayout {
    static constexpr ComposedLayout value = staged_layout(Shape::element, row_major, kBox.m, kBox.n, stages* kBoxes);
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
    static constexpr TmaPlan value = subtile_plan(Shape::element, row_major, kBox, kOp, tile.ragged);
  };

  // Subtile (em, en) of a CTA's tile into a buffer; kStageBytes are credited to the barrier.
  GANTRY_INLINE static void load(const TmaDescriptor* map, Element* buffers, int stage, std::uint64_t* full,
                                 const TileCoordinate& at, int em, int en, Site site = Site::here()) {
    const TmaCopy<Plan<TmaOp::load>> tma{map};
    const auto parts = partition(tma, buffers, at);
    for_each_index<kBoxes>([&](auto i) {
      const BoxPlace box = place(at, em, en, decltype(i)::value);
      copy(tma.with(full), parts.gmem(_, box.m, box.n), parts.smem(_, stage * kBoxes + decltype(i)::value), site);
    });
  }
  // A buffer to subtile (em, en), or added to it, in the calling thread's bulk group.
  template <TmaOp kOp = TmaOp::store>
  GANTRY_INLINE static void store(const TmaDescriptor* map, Element* buffers, int stage, const TileCoordinate& at,
                                  int em, int en, Site site = Site::here()) {
    const TmaCopy<Plan<kOp>> tma{map};
    const auto parts = partition(tma, buffers, at);
    for_each_index<kBoxes>([&](auto i) {
      const BoxPlace box = place(at, em, en, decltype(i)::value);
      copy(tma, parts.smem(_, stage * kBoxes + decltype(i)::value), parts.gmem(_, box.m, box.n), site);
    });
  }

  // ---- Registers

  // A thread's values of a subtile, in the order of Subtiles.
  GANTRY_INLINE static auto make_registers() {
    return make_tensor<Element>(RegisterLayout<tile.epi_n, tile.blocks()>{});
  }

  template <class Registers>
  GANTRY_INLINE static void read(Element* buffers, int stage, int thread, Registers& registers,
                                 Site site = Site::here()) {
    const auto tiled = make_tiled_copy_C(Copy_Atom<Read, Element>{}, TiledMma<Mma>{});
    const auto mine = tiled.get_slice(thread);
    const auto parts = mine.partition_S(as_position_independent_swizzle_tensor(shared(buffers)));
    if constexpr (kBoxes == 1) {
      copy(tiled, parts(_, _, _, stage), registers, site);
    } else {
      for_each_index<kBoxes>([&](auto i) {
        auto box = make_tensor<Element>(RegisterLayout<kBox.n, kBox.m / tile.mma_m()>{});
        copy(tiled, parts(_, _, _, stage * kBoxes + decltype(i)::value), box, site);
        GANTRY_UNROLL
        for (int k = 0; k < kBoxValues; ++k) registers.data()[value_of_box(decltype(i)::value, k)] = box.data()[k];
      });
    }
  }
  template <class Registers>
  GANTRY_INLINE static void write(const Registers& registers, Element* buffers, int stage, int thread,
                                  Site site = Site::here()) {
    const auto tiled = make_tiled_copy_C(Copy_Atom<Write, Element>{}, TiledMma<Mma>{});
    const auto mine = tiled.get_slice(thread);
    const auto parts = mine.partition_D(as_position_independent_swizzle_tensor(shared(buffers)));
    if constexpr (kBoxes == 1) {
      copy(tiled, registers, parts(_, _, _, stage), site);
    } else {
      for_each_index<kBoxes>([&](auto i) {
        auto box = make_tensor<Element>(RegisterLayout<kBox.n, kBox.m / tile.mma_m()>{});
        GANTRY_UNROLL
        for (int k = 0; k < kBoxValues; ++k) box.data()[k] = registers.data()[value_of_box(decltype(i)::value, k)];
        copy(tiled, box, parts(_, _, _, stage * kBoxes + decltype(i)::value), site);
      });
    }
  }

 private:
  static constexpr int kWidth = kBox.n % 16 == 0 ? 16 : 8;  // columns that the threads hold side by side
  static constexpr int kBoxValues = kBox.size() / tile.threads();

  // Of the tensor, counted in boxes.
  struct BoxPlace {
    int m, n;
  };
  GANTRY_INLINE static BoxPlace place(const TileCoordinate& at, int em, int en, int box) {
    constexpr Subtiles subtiles = tile;
    constexpr TileRuns rows = kRows, columns = kColumns;
    return {at.m * (subtiles.m / rows.extent) + rows.number(em, box % rows.count),
            at.n * (subtiles.n / columns.extent) + columns.number(en, box / rows.count)};
  }
  // Value k of a box among those of the subtile.
  GANTRY_HD static constexpr int value_of_box(int box, int k) {
    constexpr int kValues = kBox.n / 2;  // of a block of rows
    const int block = box % kRows.count * (kBox.m / tile.mma_m()) + k / kValues;
    return block * tile.values_of_block() + box / kRows.count * kValues + k % kValues;
  }
  static constexpr int kBits = element_bits(Shape::element);
  using Read = typename detail::CopyOperation<smem_load_operation(kBits, !row_major, kBox.n)>::type;
  using Write = typename detail::CopyOperation<smem_store_operation(kBits, !row_major, kBox.n)>::type;
  using Mma = detail::FragmentMma<kWidth, tile.warpgroups>;

  template <int columns, int blocks>
  struct RegisterLayout {
    static constexpr Layout value =
        make_layout(make_shape(Int::fixed(kWidth / 2), Int::fixed(blocks), Int::fixed(columns / kWidth)),
                    make_stride(_1, Int::fixed(columns / 2), Int::fixed(kWidth / 2)));
  };

  GANTRY_INLINE static auto shared(Element* buffers) { return make_tensor(make_smem_ptr(buffers), SharedLayout{}); }

  template <class Tma>
  GANTRY_INLINE static auto partition(const Tma& tma, Element* buffers, const TileCoordinate& at) {
    const auto matrix = matrix_coordinates<tile.ragged>(tma, at.map_batch);
    const auto tiles =
        local_tile(domain_offset(coord(at.map_row, at.map_column), matrix), Tile<kBox.m, kBox.n>{}, coord(_, _));
    return tma_partition(tma, 0, group_modes<0, 2>(shared(buffers)), group_modes<0, 2>(tiles));
  }
};

}  // namespace gantry
