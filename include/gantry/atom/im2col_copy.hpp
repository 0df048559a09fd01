// Im2col copies as an atom: tiles of the im2col matrix of a convolution, pixels by channels, to and from shared memory.
//
// What must be static (rank, tile, swizzle, element, operation) comes from a plan that is a constant, `Plan::value`;
// run-time extents come with the plan that the kernel is given. `describes` says whether the two belong together. One
// thread issues. A load completes on the mbarrier of with(...), which is credited with the bytes of the tile, or of
// this CTA's part and those of its peers where the tile is multicast. A store completes in the thread's bulk group.
//
// Example at namespace scope:
//     #include <gantry/layout/smem_atoms.hpp>
//     struct Gather {  // tiles of 128 pixels x 64 channels, 3 x 3 filter
//       static constexpr gantry::Im2colPlan value = gantry::plan_im2col(
//           {.channels = 64, .extent = {56, 56}, .filter = {3, 3}, .pad_lower = {1, 1}, .pad_upper = {1, 1}},
//           {.channels = 64, .pixels = 128, .swizzle = gantry::TmaSwizzle::bytes_128});
//     };
//     struct GatherTile {
//       static constexpr gantry::ComposedLayout value = tile_to_shape(
//           gantry::smem_atom(gantry::Major::K, gantry::SwizzleMode::b128, 16), gantry::make_shape(gantry::_128, gantry::_64));
//     };
//     inline void gather(const gantry::TmaDescriptor* map, const gantry::Im2colPlan* plan, gantry::f16* shared,
//                        std::uint64_t* full, int tile) {
//       using namespace gantry;
//       const Im2colCopy<Gather> tma{map, plan};
//       copy(tma.with(full), {.pixel_tile = tile, .tap = {2, 0}}, make_tensor(make_smem_ptr(shared), GatherTile{}));
//     }
#pragma once

#include <gantry/arch/bulk_tensor_im2col.hpp>
#include <gantry/atom/tma_copy.hpp>
#include <gantry/tma/im2col.hpp>
#include <gantry/tma/static_check.hpp>

namespace gantry {

// A load of the plan's instruction with its barrier, and a store with its hint.
template <class Plan>
struct Im2colLoad : TmaCopyCall {
  const Im2colPlan* plan;
};
template <class Plan>
struct Im2colStore : TmaCopyCall {
  const Im2colPlan* plan;
};

template <class Plan>
struct Im2colCopy {
  GANTRY_TMA_STATIC_CHECK(Plan::value.map);
  static_assert(Plan::value.ok(), "gantry: the im2col plan has violations: describe(plan.violations[0]) says which");
  static constexpr TmaOp op = Plan::value.op;
  static constexpr int rank = static_cast<int>(Plan::value.map.rank);
  static constexpr int pixels = static_cast<int>(Plan::value.tile_pixels());
  static constexpr int channels = static_cast<int>(Plan::value.map.channels_per_pixel);

  const TmaDescriptor* map;
  const Im2colPlan* plan;

  GANTRY_INLINE Im2colLoad<Plan> with(std::uint64_t* barrier, std::uint16_t cta_mask = 0,
                                      TmaCacheHint hint = TmaCacheHint::none) const {
    static_assert(is_load(op), "gantry: only a TMA load signals a barrier; a store is copied as it is");
    return {TmaCopyAtom{op, map}.with(barrier, cta_mask, hint), plan};
  }
  GANTRY_INLINE Im2colStore<Plan> with(TmaCacheHint hint) const {
    static_assert(is_store(op), "gantry: a hint alone makes a TMA store; a load also needs its barrier");
    return {TmaCopyAtom{op, map}.with(hint), plan};
  }

  // True if a run-time plan agrees with the static one in everything the kernel was compiled for.
  GANTRY_HD static constexpr bool describes(const Im2colPlan& run) noexcept {
    const TmaDescriptorParams &a = Plan::value.map, &b = run.map;
    return run.ok() && run.op == op && run.ctas == Plan::value.ctas && a.rank == b.rank && a.data_type == b.data_type &&
           a.channels_per_pixel == b.channels_per_pixel && a.pixels_per_column == b.pixels_per_column &&
           a.swizzle == b.swizzle && a.interleave == b.interleave;
  }
};

namespace detail {

// Where the map puts channel c of pixel p, in elements, before the swizzle.
GANTRY_HD constexpr std::int64_t im2col_offset(const Im2colPlan& plan, std::int64_t p, std::int64_t c) {
  return p * static_cast<std::int64_t>(shared_row_pitch(plan.map)) / element_bytes(plan.map.data_type) + c;
}

// True if a tensor of pixels x channels lies as the map lays it out; the first pixel, the first channel and the last
// element decide.
template <class Plan, class S>
struct Im2colImage {
  GANTRY_HD static constexpr bool make() {
    constexpr Im2colPlan plan = Plan::value;
    constexpr int pixels = Im2colCopy<Plan>::pixels, channels = Im2colCopy<Plan>::channels;
    const auto lies_right = [&](int p, int c) {
      return offset_of<LayoutOf<S>, std::int64_t, 1>(p + c * pixels).along[0] == im2col_offset(plan, p, c);
    };
    for (int p = 0; p < pixels; ++p) {
      if (!lies_right(p, 0)) return false;
    }
    for (int c = 0; c < channels; ++c) {
      if (!lies_right(0, c)) return false;
    }
    return lies_right(pixels - 1, channels - 1);
  }
  static constexpr bool value = make();
};

template <class Plan, class S>
GANTRY_HD constexpr void check_im2col_tile() {
  constexpr int swizzle_bits = static_cast<int>(Plan::value.map.swizzle);  // 0 to 3: none, 32, 64, 128 bytes
  static_assert(size_v<plain<S>> == Im2colCopy<Plan>::pixels * Im2colCopy<Plan>::channels,
                "gantry: an im2col copy moves the pixels x channels of its plan's tile");
  static_assert(sizeof_bits_v<ValueOfTensor<S>> == 8 * element_bytes(Plan::value.map.data_type),
                "gantry: an im2col copy needs shared elements as wide as those of its map");
  static_assert(ByteSwizzleOf<EngineOf<S>>::get() == Swizzle(swizzle_bits, 4, 3),
                "gantry: an im2col copy needs a shared tile with the swizzle of its map");
  static_assert(
      Im2colImage<Plan, S>::value,
      "gantry: an im2col copy needs a shared tile of pixels x channels, channels next to each other and pixels "
      "spaced by the row of the map");
}

// The operands of one tile. The rank is a constant, which unrolls the loops over the axes.
template <class Plan>
struct Im2colOperands {
  static constexpr int rank = Im2colCopy<Plan>::rank;
  std::int32_t coordinates[rank];
  std::uint16_t offsets[rank - 2];
  std::uint64_t shared_bytes;  // from the start of the tile

  GANTRY_INLINE Im2colOperands(const Im2colPlan& run, const Im2colTileIndex& index) {
    Im2colPlan plan = run;
    plan.map.rank = rank;
    const TmaIssue issue = [&] {
      if constexpr (is_store(Plan::value.op)) {
        return im2col_store(plan, index);
      } else {
        return im2col_load(plan, index);
      }
    }();
    for_each_index<rank>([&](auto i) { coordinates[i] = issue.coordinates[i]; });
    for_each_index<rank - 2>([&](auto i) { offsets[i] = issue.offsets[i]; });
    shared_bytes = issue.shared_address;
  }
};

}  // namespace detail

// Tile `from` of the matrix into shared memory. Of a tile that CTAs share, this one loads the part of `from.cta`.
template <class Plan, StaticTensor S>
GANTRY_INLINE void copy(const Im2colLoad<Plan>& load, const Im2colTileIndex& from, const S& to,
                        Site site = Site::here()) {
  detail::check_im2col_tile<Plan, S>();
  const detail::Im2colOperands<Plan> at(*load.plan, from);
  void* shared = reinterpret_cast<unsigned char*>(detail::unswizzled_address(to, Constant<0>{})) + at.shared_bytes;
  detail::with_hint(load.hint, [&](auto... policy) {
    constexpr auto cluster = arch::space_cluster;
    constexpr auto global = arch::space_global;
    if constexpr (is_multicast(Plan::value.op)) {
      arch::cp_async_bulk_tensor_im2col(cluster, global, shared, load.map, at.coordinates, load.barrier, at.offsets,
                                        load.cta_mask, policy..., site);
    } else {
      arch::cp_async_bulk_tensor_im2col(cluster, global, shared, load.map, at.coordinates, load.barrier, at.offsets,
                                        policy..., site);
    }
  });
}

// A shared tile to tile `to` of the tensor.
template <class Plan, StaticTensor S>
GANTRY_INLINE void copy(const Im2colStore<Plan>& store, const S& from, const Im2colTileIndex& to,
                        Site site = Site::here()) {
  detail::check_im2col_tile<Plan, S>();
  const detail::Im2colOperands<Plan> at(*store.plan, to);
  const void* shared = detail::unswizzled_address(from, Constant<0>{});
  detail::with_hint(store.hint, [&](auto... policy) {
    arch::cp_async_bulk_tensor_im2col(arch::space_global, arch::space_shared, store.map, at.coordinates, shared,
                                      policy..., site);
  });
}
template <class Plan, StaticTensor S>
GANTRY_INLINE void copy(const Im2colCopy<Plan>& tma, const S& from, const Im2colTileIndex& to,
                        Site site = Site::here()) {
  static_assert(is_store(Im2colCopy<Plan>::op), "gantry: a TMA load needs its barrier: copy(tma.with(barrier), ...)");
  copy(tma.with(TmaCacheHint::none), from, to, site);
}

// A tile into L2 only.
template <class Plan>
GANTRY_INLINE void prefetch(const Im2colCopy<Plan>& tma, const Im2colTileIndex& tile, Site site = Site::here()) {
  static_assert(is_load(Im2colCopy<Plan>::op), "gantry: what is prefetched is the tile of a load");
  const detail::Im2colOperands<Plan> at(*tma.plan, tile);
  arch::cp_async_bulk_prefetch_tensor_im2col(arch::space_global, tma.map, at.coordinates, at.offsets, site);
}

}  // namespace gantry
