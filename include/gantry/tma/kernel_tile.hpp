// A plan inside a kernel: the coordinates of a tile from its place in the grid, and the instructions of the tile, with
// everything that is known when the kernel is compiled folded into constants.
//
// The plan is a constant of a type, `Plan::value`; it needs no run-time values as long as no tile steps along a global
// mode that shares its TMA dimension with others. A kernel that is compiled for another plan is another type.
//
// Example at namespace scope:
//     using namespace gantry;
//     struct LoadA {  // 64x128 tiles of a batch of bf16 matrices, in two slabs of swizzled rows
//       static constexpr Layout rows = make_layout(make_shape(Int::unknown(), Int::unknown(), Int::unknown()),
//                                                  make_stride(Int::unknown(), _1, Int::unknown()));
//       static constexpr Layout slabs = make_layout(make_shape(_64, make_shape(_64, _2)),
//                                                   make_stride(_64, make_stride(_1, _4096)));
//       static constexpr TmaPlan value = plan_structure({.op = TmaOp::load,
//                                                        .gtensor = {.element = ElementType::bf16, .layout = rows},
//                                                        .smem = ComposedLayout(Swizzle(3, 4, 3), _0, slabs, 16),
//                                                        .cta_tiler = make_tile(_64, _128)});
//     };
//     template <class Issue>
//     void load_tile(int m, int k, int batch, const Issue& issue) {
//       std::int32_t at[3];
//       TmaKernelTile<LoadA>::origin(at, m, k, batch);  // for (5,2,1): {256,320,1}
//       // issue({256,320,1}, 0), issue({320,320,1}, 8192)
//       TmaKernelTile<LoadA>::for_each(at, issue);
//     }
#pragma once

#include <gantry/tensor/index.hpp>
#include <gantry/tma/instructions.hpp>
#include <gantry/tma/plan_static_check.hpp>

namespace gantry {

namespace detail {

// One step of a tile along a mode of the grid, as steps of every TMA coordinate.
struct TmaGridStep {
  std::int32_t values[kTmaMaxRank] = {0, 0, 0, 0, 0};
  bool is_constant = true;  // false where the mode is nested, or its step is a run-time value
};

template <class Plan>
GANTRY_HD constexpr TmaGridStep grid_step(const Plan& plan, int mode) {
  TmaGridStep out;
  const Layout rest = zipped_divide(Layout(plan.gmem.shape(), plan.tma_tensor_stride), plan.cta_tiler)[1][mode];
  if (!rest.ok() || !rest.shape().is_leaf()) return {.values = {}, .is_constant = false};
  const Int step = rest.stride().leaf();
  out.is_constant = step.is_fixed() && step.denominator() == 1;
  if (step.is_basis()) out.values[step.path()[0]] = static_cast<std::int32_t>(step.value());
  return out;
}

}  // namespace detail

template <class Plan>
class TmaKernelTile {
 public:
  GANTRY_TMA_PLAN_STATIC_CHECK(Plan::value);
  static constexpr int rank = static_cast<int>(Plan::value.descriptor.rank);
  static constexpr int count = static_cast<int>(TmaTileWalk(Plan::value).count());
  // Bytes that the barrier of a CTA is credited with for one tile, by all CTAs that share it.
  static constexpr std::int32_t tile_bytes =
      static_cast<std::int32_t>(bytes_for_bits(element_bits(Plan::value.element), size(Plan::value.smem.layout())));

  // The coordinates of the tile at a place in the grid, one number for each mode of the global tensor.
  template <class... Place>
  GANTRY_INLINE static constexpr void origin(std::int32_t (&at)[rank], Place... place) {
    static_assert(sizeof...(Place) == gantry::rank(Plan::value.gmem),
                  "gantry: a place in the grid has one number for each mode of the global tensor");
    const std::int32_t places[] = {static_cast<std::int32_t>(place)...};
    for_each_index<rank>([&](auto k) { at[k] = 0; });
    for_each_index<static_cast<int>(sizeof...(Place))>([&](auto mode) {
      static_assert(grid_step<mode>.is_constant,
                    "gantry: a mode of the grid is nested or shares its TMA dimension: compute the coordinate with "
                    "tile_origin on the host");
      for_each_index<rank>([&](auto k) { at[k] += places[mode] * Constant<grid_step<mode>.values[k]>::value; });
    });
  }

  // Calls f(coordinates, shared offset in bytes) for every instruction of the tile.
  GANTRY_CALLS_ANY
  template <class F>
  GANTRY_INLINE static constexpr void for_each(const std::int32_t (&at)[rank], const F& f) {
    for_each_index<count>([&](auto i) {
      std::int32_t coordinates[rank];
      for_each_index<rank>([&](auto k) { coordinates[k] = at[k] + Constant<coordinate<i, k>>::value; });
      f(coordinates, Constant<static_cast<int>(instruction<i>.shared_offset)>::value);
    });
  }

  // The same for the CTA that has part `cta` of a multicast.
  GANTRY_CALLS_ANY
  template <class F>
  GANTRY_INLINE static constexpr void for_each(const std::int32_t (&at)[rank], std::int32_t cta, const F& f) {
    std::int32_t mine[rank];
    std::int32_t rest = cta;
    for_each_index<rank>([&](auto k) {
      mine[k] = at[k] + rest % parts<k> * Constant<static_cast<int>(Plan::value.descriptor.box[k])>::value;
      rest /= parts<k>;
    });
    const std::int32_t offset = cta * Constant<static_cast<int>(Plan::value.bytes_per_instruction())>::value;
    for_each(mine,
             [&](const std::int32_t(&coordinates)[rank], std::int32_t at_first) { f(coordinates, at_first + offset); });
  }

 private:
  template <int mode>
  static constexpr detail::TmaGridStep grid_step = detail::grid_step(Plan::value, mode);
  template <int i>
  static constexpr TmaInstruction instruction = TmaTileWalk(Plan::value).at(i);
  template <int i, int k>
  static constexpr int coordinate = static_cast<int>(instruction<i>.coordinates[k]);
  // Into how many parts a multicast divides dimension k of the box.
  template <int k>
  static constexpr std::int32_t parts = static_cast<std::int32_t>(size(TupleView(Plan::value.tma_gbasis.shape())[k]) /
                                                                  Plan::value.descriptor.box[k]);
};

}  // namespace gantry
