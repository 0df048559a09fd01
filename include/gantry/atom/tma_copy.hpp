// TMA as a copy atom: a static plan gives the instruction, the coordinates and the partitions; the tensor map comes at
// run time.
//
// The plan's structure is known to the compiler (`Plan::value`, a TmaPlan, bound or not); TmaCopy<Plan> joins it with a
// map. get_tma_tensor is the global tensor as coordinates, cut with local_tile as any tensor; tma_partition cuts both
// sides into instructions; copy issues them. One thread issues; loads complete on the barrier of with(...), stores and
// reductions in the thread's bulk group. As in CuTe, tma_partition takes the CTA as a coordinate of a layout too, and
// get_slice(cta) has partition_S and partition_D.
//
// Example at namespace scope:
//     #include <gantry/layout/smem_atoms.hpp>
//     struct Load {  // 128 x 64 tiles of a row-major bf16 matrix of run-time size
//       static constexpr gantry::ComposedLayout smem = tile_to_shape(
//           gantry::smem_atom(gantry::Major::K, gantry::SwizzleMode::b128, 16), gantry::make_shape(gantry::_128, gantry::_64));
//       static constexpr gantry::TmaPlan value = gantry::plan_structure(
//           {.op = gantry::TmaOp::load,
//            .gtensor = {.element = gantry::ElementType::bf16,
//                        .layout = make_layout(gantry::make_shape(gantry::Int::unknown(), gantry::Int::unknown()),
//                                              gantry::make_stride(gantry::Int::unknown(), gantry::_1))},
//            .smem = smem});
//     };
//     inline void load_tile(const gantry::TmaDescriptor* map, gantry::bf16* shared, std::uint64_t* full, int m, int k) {
//       using namespace gantry;
//       const TmaCopy<Load> tma{map};
//       const auto tiles = local_tile(tma.get_tma_tensor(4096, 8192), Tile<128, 64>{}, coord(m, _));  // (128, 64, k)
//       const auto buffer = make_tensor(make_smem_ptr(shared), [] { return Load::smem; });
//       const auto parts = tma_partition(tma, 0, group_modes<0, 2>(buffer), group_modes<0, 2>(tiles));
//       copy(tma.with(full), parts.gmem(_, k), parts.smem);
//     }
#pragma once

#include <gantry/arch/bulk_tensor.hpp>
#include <gantry/atom/detail/words.hpp>
#include <gantry/tensor/coord_tensor.hpp>
#include <gantry/tensor/tiling.hpp>
#include <gantry/tma/copy.hpp>
#include <gantry/tma/partition.hpp>
#include <gantry/tma/plan_static_check.hpp>

namespace gantry {

namespace detail {

template <class Plan>
struct TmaTensorLayout {
  static constexpr Layout value = Layout(Plan::value.gmem.shape(), Plan::value.tma_tensor_stride);
};

// Both sides of a copy as ((values of an instruction, instructions), rest...).
template <class Plan, class S, class G>
struct TmaParts {
  static constexpr Layout kWalk = instruction_walk(Plan::value, S::value[0]);
  struct Shared {
    static constexpr Layout value = cut_by(kWalk, S::value);
  };
  struct Global {
    static constexpr Layout value = cut_by(kWalk, G::value);
  };
};

// A tensor, whose first modes are those of the tile, as ((values of an instruction, instructions), rest...).
template <class Plan, class T>
struct TmaSlicePart {
  static constexpr Layout value =
      gantry::get_slice(Plan::value, Int::fixed(0)).partition_S({coprofile(T::value), T::value}).layout;
};

GANTRY_HD constexpr arch::ReduceOp reduce_op(TmaOp op) {
  return static_cast<arch::ReduceOp>(static_cast<int>(op) - static_cast<int>(TmaOp::reduce_add));
}
static_assert(reduce_op(TmaOp::reduce_xor) == arch::ReduceOp::xor_ &&
              reduce_op(TmaOp::reduce_max) == arch::ReduceOp::max);

}  // namespace detail

// Calls of a plan's instructions: a load with its barrier, a store or a reduction with its hint.
template <class Plan>
struct TmaLoad : TmaCopyCall {};
template <class Plan>
struct TmaStore : TmaCopyCall {};

template <class Plan>
class TmaSlice;

template <class Plan>
struct TmaCopy {
  GANTRY_TMA_PLAN_STATIC_CHECK(Plan::value);
  static constexpr TmaOp op = Plan::value.op;
  static constexpr int rank = static_cast<int>(Plan::value.descriptor.rank);
  static constexpr int elements = static_cast<int>(Plan::value.elements_per_tma());

  const TmaDescriptor* map;

  // The barrier is credited with the bytes of the tile; a multicast names the CTAs that receive it.
  GANTRY_INLINE TmaLoad<Plan> with(std::uint64_t* barrier, std::uint16_t cta_mask = 0,
                                   TmaCacheHint hint = TmaCacheHint::none) const {
    static_assert(is_load(op), "gantry: only a TMA load signals a barrier; a store or a reduction is copied as it is");
    return {TmaCopyAtom{op, map}.with(barrier, cta_mask, hint)};
  }
  GANTRY_INLINE TmaStore<Plan> with(TmaCacheHint hint) const {
    static_assert(writes_global(op),
                  "gantry: a hint alone makes a TMA store or reduction; a load also needs its barrier");
    return {TmaCopyAtom{op, map}.with(hint)};
  }

  // The global tensor as TMA coordinates; the run-time values of its unknown extents.
  template <class... Extents>
  GANTRY_INLINE constexpr auto get_tma_tensor(Extents... extents) const {
    return make_coord_tensor(detail::TmaTensorLayout<Plan>{}, Coordinate<rank>{}, extents...);
  }

  // The part of CTA `cta` of the multicast, 0 without one.
  GANTRY_INLINE constexpr TmaSlice<Plan> get_slice(int cta) const { return TmaSlice<Plan>(cta); }
};

// Both sides of a copy, cut into instructions.
template <class G, class S>
struct TmaCopyParts {
  G gmem;
  S smem;
};

namespace detail {

// The part of one CTA of a multicast starts `first` values into every instruction.
template <class T, int... rest>
GANTRY_INLINE constexpr auto from_value(const T& t, int first, Sequence<rest...>) {
  return domain_offset(coord(coord(first, Constant<0>{}), Constant<0 * rest>{}...), t);
}
template <class Plan, class T>
GANTRY_INLINE constexpr auto part_of_cta(const T& t, [[maybe_unused]] int cta) {
  if constexpr (Plan::value.num_multicast == 1) {
    return t;
  } else {
    constexpr int share = static_cast<int>(Plan::value.elements_per_tma() / Plan::value.num_multicast);
    return from_value(t, cta * share, make_sequence<gantry::rank(LayoutOf<T>::value) - 1>{});
  }
}

}  // namespace detail

// Mode 0 of both tensors is the tile, as the plan has it; the modes that follow stay. `cta` is this CTA's part of the
// multicast, 0 without one. Guarantees: parts.gmem and parts.smem are ((values, instructions), rest...).
template <class Plan, StaticTensor S, StaticTensor G>
GANTRY_INLINE constexpr auto tma_partition(const TmaCopy<Plan>&, int cta, const S& smem, const G& gmem) {
  using Parts = detail::TmaParts<Plan, detail::LayoutOf<S>, detail::LayoutOf<G>>;
  const auto s = detail::part_of_cta<Plan>(detail::view_as<typename Parts::Shared>(smem, smem.extents()), cta);
  const auto g = detail::part_of_cta<Plan>(detail::view_as<typename Parts::Global>(gmem, gmem.extents()), cta);
  return TmaCopyParts<detail::plain<decltype(g)>, detail::plain<decltype(s)>>{g, s};
}

// CTA `cta_coord` of the multicast, whose part `cta_layout` says: tma_partition(tma, rank, [] { return make_layout(_2);
// }, smem, gmem), as CuTe has it.
template <class Plan, class C, StaticValue L, StaticTensor S, StaticTensor G>
GANTRY_INLINE constexpr auto tma_partition(const TmaCopy<Plan>& tma, const C& cta_coord, L /*cta_layout*/,
                                           const S& smem, const G& gmem) {
  using Ctas = layout_type<L>;
  static_assert(cosize(Ctas::value) == Plan::value.num_multicast,
                "gantry: the layout of CTAs has as many parts as the plan's multicast has CTAs");
  return tma_partition(tma, static_cast<int>(offset_of<Ctas, std::int64_t, 1>(cta_coord).along[0]), smem, gmem);
}

// The copy as one CTA of the multicast issues it. Source and destination are cut alike.
template <class Plan>
class TmaSlice {
 public:
  GANTRY_INLINE constexpr explicit TmaSlice(int cta) : cta_(cta) {}

  // ((values, instructions), rest...) of a tensor of coordinates or of shared memory whose first modes are the tile's.
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_S(const T& t) const {
    return partition(t);
  }
  template <StaticTensor T>
  GANTRY_INLINE constexpr auto partition_D(const T& t) const {
    return partition(t);
  }

 private:
  template <class T>
  GANTRY_INLINE constexpr auto partition(const T& t) const {
    using Part = detail::TmaSlicePart<Plan, detail::LayoutOf<T>>;
    return detail::part_of_cta<Plan>(detail::view_as<Part>(t, t.extents()), cta_);
  }

  int cta_;
};

namespace detail {

template <class Plan, class G, class S>
GANTRY_INLINE constexpr int tma_instructions() {
  static_assert(
      plain<G>::kUnknownExtents == 0 && plain<S>::kUnknownExtents == 0,
      "gantry: copy needs extents that are known at compile time: slice the partitions down to one tile first");
  constexpr int n = size_v<plain<S>>;
  static_assert(n == size_v<plain<G>>, "gantry: copy needs as many elements in its destination as in its source");
  static_assert(n % TmaCopy<Plan>::elements == 0,
                "gantry: a TMA copy moves whole boxes: partition both tensors with tma_partition of the same plan");
  return n / TmaCopy<Plan>::elements;
}

template <int axes, int... is>
GANTRY_INLINE constexpr void read_coordinates(std::int32_t (&out)[axes], const Coordinate<axes>& c, Sequence<is...>) {
  ((out[is] = c.along[is]), ...);
}

}  // namespace detail

namespace detail {

// f(coordinates, shared address) for every instruction.
template <class Plan, class G, class S, class F>
GANTRY_INLINE void for_each_box(const G& gmem, const S& smem, const F& f) {
  constexpr int rank = TmaCopy<Plan>::rank;
  for_each_index<tma_instructions<Plan, G, S>()>([&](auto i) {
    constexpr int first = i * TmaCopy<Plan>::elements;
    std::int32_t at[rank];
    read_coordinates(at, gmem(Constant<first>{}), make_sequence<rank>{});
    f(at, unswizzled_address(smem, Constant<first>{}));
  });
}

}  // namespace detail

// ---- copy

namespace detail {

// Issues with the cache hint of the call as the last operand, or without one.
template <class F>
GANTRY_INLINE void with_hint(TmaCacheHint hint, const F& issue) {
  if (hint == TmaCacheHint::none) {
    issue();
  } else {
    issue(arch::CachePolicy{static_cast<std::uint64_t>(hint)});
  }
}

}  // namespace detail

template <class Plan, StaticTensor G, StaticTensor S>
GANTRY_INLINE void copy(const TmaLoad<Plan>& load, const G& from, const S& to, Site site = Site::here()) {
  detail::for_each_box<Plan>(from, to, [&](const auto& at, auto* shared) {
    detail::with_hint(load.hint, [&](auto... policy) {
      constexpr auto cluster = arch::space_cluster;
      constexpr auto global = arch::space_global;
      if constexpr (is_multicast(Plan::value.op)) {
        arch::cp_async_bulk_tensor(cluster, global, shared, load.map, at, load.barrier, load.cta_mask, policy..., site);
      } else {
        arch::cp_async_bulk_tensor(cluster, global, shared, load.map, at, load.barrier, policy..., site);
      }
    });
  });
}

// A store or a reduction.
template <class Plan, StaticTensor S, StaticTensor G>
GANTRY_INLINE void copy(const TmaStore<Plan>& store, const S& from, const G& to, Site site = Site::here()) {
  detail::for_each_box<Plan>(to, from, [&](const auto& at, const auto* shared) {
    detail::with_hint(store.hint, [&](auto... policy) {
      constexpr auto global = arch::space_global;
      constexpr auto cta = arch::space_shared;
      if constexpr (is_reduce(TmaCopy<Plan>::op)) {
        constexpr arch::OpTag<detail::reduce_op(TmaCopy<Plan>::op)> op{};
        arch::cp_reduce_async_bulk_tensor(global, cta, op, store.map, at, shared, policy..., site);
      } else {
        arch::cp_async_bulk_tensor(global, cta, store.map, at, shared, policy..., site);
      }
    });
  });
}
template <class Plan, StaticTensor S, StaticTensor G>
GANTRY_INLINE void copy(const TmaCopy<Plan>& tma, const S& from, const G& to, Site site = Site::here()) {
  static_assert(writes_global(TmaCopy<Plan>::op), "gantry: a TMA load needs its barrier: copy(tma.with(barrier), ...)");
  copy(tma.with(TmaCacheHint::none), from, to, site);
}

// The boxes of a load into L2 only. `gmem` is a part of tma_partition.
template <class Plan, StaticTensor G>
GANTRY_INLINE void prefetch(const TmaCopy<Plan>& tma, const G& gmem, Site site = Site::here()) {
  static_assert(is_load(TmaCopy<Plan>::op), "gantry: what is prefetched is the boxes of a load");
  constexpr int rank = TmaCopy<Plan>::rank;
  for_each_index<detail::tma_instructions<Plan, G, G>()>([&](auto i) {
    std::int32_t at[rank];
    detail::read_coordinates(at, gmem(Constant<i * TmaCopy<Plan>::elements>{}), make_sequence<rank>{});
    arch::cp_async_bulk_prefetch_tensor(arch::space_global, tma.map, at, site);
  });
}

}  // namespace gantry
