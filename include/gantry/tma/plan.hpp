// The plan of a TMA copy: from an operation, a global tensor, a shared layout and a tile to a tensor map, the box of one
// instruction and the coordinates that it takes.
//
// A plan is a value, made by the same function at compile time and at run time. Its structure depends only on static
// leaves: plan_structure works on layouts whose run-time leaves are unknown, and bind completes it with a tensor. A plan
// that cannot be is not an error: it says why, with every reason. `tma/explain.hpp` prints it, `tma/partition.hpp` and
// `tma/instructions.hpp` turn it into instructions.
//
// Example:
//     using namespace gantry;
//     constexpr Layout rows = make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));
//     constexpr ComposedLayout tile(make_swizzle(SwizzleMode::b128), _0, make_layout(make_shape(_128, _64), LayoutRight{}), 16);
//     constexpr TmaPlan structure =
//         plan_structure({.op = TmaOp::load, .gtensor = {.element = ElementType::bf16, .layout = rows}, .smem = tile});
//     static_assert(structure.ok() && !structure.bound && structure.descriptor.box[1] == 128);
//
//     const TmaPlan plan = bind(structure, {.address = 0x7f0000000000,
//                                           .element = ElementType::bf16,
//                                           .layout = make_layout(make_shape(4096, 8192), make_stride(8192, _1))});
//     // plan.bound, plan.descriptor.dims[0] == 8192
#pragma once

#include <gantry/tma/copy_desc.hpp>
#include <gantry/tma/operations.hpp>
#include <gantry/tma/rules.hpp>
#include <gantry/tma/tiled_copy.hpp>

namespace gantry {

// What is asked for. A tiler of `_` means a tile as large as the shared layout, mode by mode.
struct TmaCopyRequest {
  TmaOp op = TmaOp::load;
  GlobalTensor gtensor{};
  ComposedLayout smem{};                         // one tile
  Tiler cta_tiler{_};
  std::uint32_t num_multicast = 1;               // CTAs that share one tile
  ElementType tma_element = ElementType::void_;  // what the instruction moves; void: the value type
};

struct TmaPlan {
  TmaOp op = TmaOp::load;
  ElementType element = ElementType::void_;
  ElementType tma_element = ElementType::void_;
  std::uint32_t num_multicast = 1;
  Layout gmem;                       // values
  ComposedLayout smem;               // values, one tile; the swizzle on bytes
  Tiler cta_tiler{_};                // the tile, mode by mode of the global tensor
  Layout cta_v_map;                  // tile index -> global coordinate
  Layout tma_gbasis;                 // TMA mode -> global mode, with the box before it is divided among CTAs
  IntTuple tma_tensor_stride;        // global mode -> TMA coordinate
  TmaDescriptorParams descriptor;    // the box is that of one CTA
  std::int64_t num_bits_per_tma = 0; // the whole box, before it is divided
  bool bound = false;                // extents and strides of the tensor map are known
  bool tile_reproduced = false;      // box and strides address exactly the tile; meaningful once bound
  bool refused = false;              // a rule of planning or of tensor maps is broken
  bool not_on_hopper = false;        // the plan stands, and Hopper does not run it
  TmaReasons reasons;

  // This machine runs the plan.
  GANTRY_HD constexpr bool ok() const noexcept { return !refused && !not_on_hopper; }

  GANTRY_HD constexpr TmaUnits units() const noexcept { return {element_bits(element), element_bits(tma_element)}; }
  // Values that one instruction moves before the box is divided among CTAs.
  GANTRY_HD constexpr std::int64_t elements_per_tma() const noexcept {
    const int bits = element_bits(element);
    return bits > 0 ? num_bits_per_tma / bits : 0;
  }
  // Bytes that one instruction moves, and credits to the barrier of every CTA that it reaches.
  GANTRY_HD constexpr std::int64_t bytes_per_instruction() const noexcept {
    return num_bits_per_tma / 8 / static_cast<std::int64_t>(num_multicast);
  }
};

// All intermediate values, for reports and comparisons.
struct TmaPlanSteps {
  TmaGbasisSteps gbasis;
  TmaTiledCopy tiled_copy;
  Layout val_layout_src;
};

// ---- What a violation of the tensor map's rules means for a plan

enum class TmaVerdict : std::uint8_t { refused, not_on_hopper, legal };

GANTRY_HD constexpr TmaVerdict verdict_of(const TmaViolation& violation) noexcept {
  switch (violation.rule) {
    case TmaRule::data_type_not_on_hopper:
    case TmaRule::swizzle_not_on_hopper:
    case TmaRule::box_bytes_too_large:
    case TmaRule::box_exceeds_shared_memory:
    case TmaRule::store_overlaps_itself:
      return TmaVerdict::not_on_hopper;
    default:
      return violation.severity() == TmaSeverity::pitfall ? TmaVerdict::legal : TmaVerdict::refused;
  }
}

GANTRY_HD constexpr TmaVerdict verdict_of(const TmaReason& reason) noexcept {
  return reason.weight() == TmaPlanWeight::refused ? TmaVerdict::refused : TmaVerdict::not_on_hopper;
}

// Violations of the tensor map's rules and of the operation's, where there is a map to judge.
GANTRY_HD constexpr TmaViolations check_map(const TmaPlan& plan) noexcept {
  TmaViolations found;
  if (!plan.bound) return found;
  found.add(validate(plan.descriptor));
  found.add(check_operation(plan.op, plan.descriptor));
  return found;
}

namespace detail {

GANTRY_HD constexpr void judge(TmaPlan& plan) {
  plan.refused = plan.reasons.has(TmaPlanWeight::refused);
  plan.not_on_hopper = plan.reasons.has(TmaPlanWeight::hopper);
  for (const TmaViolation& v : check_map(plan)) {
    plan.refused = plan.refused || verdict_of(v) == TmaVerdict::refused;
    plan.not_on_hopper = plan.not_on_hopper || verdict_of(v) == TmaVerdict::not_on_hopper;
  }
}

GANTRY_HD constexpr void add_all(TmaReasons& to, const TmaReasons& from) {
  for (const TmaReason& r : from) to.add(r);
}

// Where a static structure is legal and the hardware still does something else: instructions that would not start at a
// multiple of 128 bytes, and rows that a swizzle spaces farther apart than the shared layout does.
GANTRY_HD constexpr void check_shared_side(TmaPlan& plan) {
  const std::int64_t bits = element_bits(plan.element);
  const auto span = static_cast<std::int64_t>(swizzle_span_bytes(plan.descriptor.swizzle));
  const std::int64_t inner = static_cast<std::int64_t>(plan.descriptor.box[0]) * element_bits(plan.tma_element) / 8;
  const std::int64_t per_cta = plan.bytes_per_instruction();
  if (span > inner && per_cta > inner && inner > 0) {
    plan.reasons.add({.rule = TmaPlanRule::rows_padded, .actual = inner, .nearest = span, .first = span});
  }
  const auto report = [&plan](std::int64_t step_bytes) {
    constexpr auto unit = static_cast<std::int64_t>(kTmaSharedAlignment);
    if (step_bytes % unit == 0 || plan.reasons.has(TmaPlanRule::shared_step_misaligned)) return;
    plan.reasons.add({.rule = TmaPlanRule::shared_step_misaligned,
                      .actual = step_bytes,
                      .nearest = (step_bytes + unit - 1) / unit * unit});
  };
  if (plan.num_multicast > 1) report(per_cta);
  const std::int64_t per_tma = plan.elements_per_tma();
  if (per_tma < 1 || size(plan.cta_v_map) == per_tma) return;
  const TmaTiledCopy tiled = make_tma_copy_tiled(
      {.smem = plan.smem.layout(), .cta_v_map = plan.cta_v_map, .elements_per_tma = per_tma, .num_multicast = 1});
  if (!tiled.ok) return;
  const Layout starts = logical_divide(tiled.layout_V, make_layout(Int::fixed(per_tma)))[1];
  const Layout offsets = composition(plan.smem.layout(), coalesce(starts));
  const TupleView s = offsets.shape();
  const TupleView d = offsets.stride();
  for (int i = 0; offsets.ok() && i < s.nodes(); ++i) {
    if (s.node_is_leaf(i) && !s.node_leaf(i).is_fixed(1)) report(d.node_leaf(i).value() * bits / 8);
  }
}

// How far a tile reaches along a global mode, in values.
GANTRY_HD constexpr std::int64_t tile_extent(const Layout& cta_v_map, BasisPath path) {
  std::int64_t last = 0;
  const TupleView s = cta_v_map.shape();
  const TupleView d = cta_v_map.stride();
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i) || !(d.node_leaf(i).path() == path)) continue;
    last += (s.node_leaf(i).value() - 1) * d.node_leaf(i).value();
  }
  return last + 1;
}

// Whether every instruction covers all that the tile has of a global mode.
GANTRY_HD constexpr bool box_covers(const TmaPlan& plan, BasisPath path, std::int64_t extent) {
  const TmaDimOfMode found = find_dim(plan.tma_gbasis, Int::fixed(1).with_path(path));
  if (found.dim < 0) return false;
  const Int whole = product(TupleView(plan.tma_gbasis.shape())[found.dim]);
  const std::int64_t box = plan.descriptor.box[found.dim];
  return found.modes == 1 ? box >= extent : box == whole.value();
}

// Modes that have no coordinate stay at their first element: right where all elements are the same, and where one box
// holds all of the mode.
GANTRY_HD constexpr void check_modes_without_coordinate(TmaPlan& plan) {
  const TmaUnits units = plan.units();
  for_each_mode(plan.gmem.shape(), plan.gmem.stride(), {}, [&](BasisPath path, const Int& extent, const Int& step) {
    const ModeInUnits mode = units(extent, step);
    if (!mode.extent.is_fixed(1) && !mode.step.is_fixed(0)) return;
    const std::int64_t s = extent.value();
    const std::int64_t e = tile_extent(plan.cta_v_map, path);
    if (e == 1 || s % e == 0 || (s < e && box_covers(plan, path, e))) return;
    plan.reasons.add({.rule = TmaPlanRule::mode_without_coordinate, .mode = path, .actual = s, .nearest = 1, .first = e});
  });
}

// Where modes share a dimension, a tile that passes the end of its mode must pass the end of the dimension.
GANTRY_HD constexpr void check_shared_dimensions(TmaPlan& plan) {
  constexpr TmaUnits values{8, 8};
  int dim = 0;
  auto basis = TupleView(plan.tma_gbasis.stride()).begin();
  for (TupleView box : TupleView(plan.tma_gbasis.shape())) {
    if (!box.is_leaf() && leaf_count(box) > 1) {
      std::int64_t last = 0;
      for_each_gmode(plan.gmem, values, box, *basis, [&last](BasisPath, const Int&, const Int& s, const Int& d) {
        last += (s.value() - 1) * d.value();
      });
      for_each_gmode(plan.gmem, values, box, *basis, [&](BasisPath path, const Int&, const Int& s, const Int& d) {
        const std::int64_t e = tile_extent(plan.cta_v_map, path);
        if (s.value() % e == 0 || s.value() * d.value() > last) return;
        plan.reasons.add({.rule = TmaPlanRule::tile_leaves_mode,
                          .mode = path,
                          .actual = s.value(),
                          .nearest = (s.value() + e - 1) / e * e,
                          .first = dim,
                          .second = e});
      });
    }
    ++dim;
    ++basis;
  }
}

// Completes a plan that has a box with the extents and strides of its global tensor.
GANTRY_HD constexpr void complete(TmaPlan& plan, const GlobalTensor& gtensor) {
  const TmaCopyDesc desc = make_tma_copy_desc({.gtensor = gtensor,
                                               .tma_gbasis = plan.tma_gbasis,
                                               .tma_element = plan.tma_element,
                                               .swizzle = plan.smem.swizzle(),
                                               .num_multicast = plan.num_multicast});
  plan.gmem = gtensor.layout;
  plan.descriptor = desc.params;
  plan.tma_tensor_stride = desc.tma_tensor_stride;
  plan.bound = desc.bound;
  plan.tile_reproduced = desc.tile_reproduced;
  add_all(plan.reasons, desc.reasons);
  if (!plan.bound) return;
  check_modes_without_coordinate(plan);
  check_shared_dimensions(plan);
}

GANTRY_HD constexpr Tiler tiler_of(const TmaCopyRequest& request) {
  const bool whole = TilerView(request.cta_tiler).is_all();
  if (!whole) return request.cta_tiler;
  const IntTuple& shape = request.smem.shape();
  return shape.is_leaf() ? Tiler(shape) : Tiler(product_each(shape));
}

GANTRY_HD constexpr void check_request(const TmaCopyRequest& request, const Tiler& tiler, TmaReasons& reasons) {
  if (!request.gtensor.layout.ok()) {
    reasons.add({.rule = TmaPlanRule::gmem_invalid, .fault = request.gtensor.layout.fault()});
  }
  if (!request.smem.ok()) reasons.add({.rule = TmaPlanRule::smem_invalid, .fault = request.smem.fault()});
  if (!tiler.ok()) reasons.add({.rule = TmaPlanRule::tile_invalid, .fault = tiler.fault()});
  if (request.num_multicast > 1 && !is_multicast(request.op)) {
    reasons.add({.rule = TmaPlanRule::multicast_needs_operation, .actual = request.num_multicast, .nearest = 1});
  }
  if (!reasons.has(TmaPlanRule::gmem_invalid) && TilerView(tiler).is_tuple()) {
    const int wanted = rank(tiler);
    const int most = rank(request.gtensor.layout);
    if (wanted > most) {
      reasons.add({.rule = TmaPlanRule::tiler_rank, .actual = wanted, .nearest = most, .first = most});
    }
  }
}

}  // namespace detail

// ---- Planning

// The plan as far as layouts are known: complete if every leaf of the global layout is, otherwise its structure, which
// bind completes. `steps`, if given, receives every intermediate value.
GANTRY_HD constexpr TmaPlan plan_structure(const TmaCopyRequest& request, TmaPlanSteps* steps = nullptr) {
  TmaPlan plan;
  plan.op = request.op;
  plan.element = request.gtensor.element;
  plan.tma_element = request.tma_element == ElementType::void_ ? request.gtensor.element : request.tma_element;
  plan.num_multicast = request.num_multicast < 1 ? 1 : request.num_multicast;
  plan.gmem = request.gtensor.layout;
  plan.cta_tiler = detail::tiler_of(request);
  detail::check_request(request, plan.cta_tiler, plan.reasons);
  plan.smem = ComposedLayout(byte_swizzle(request.smem, element_bits(plan.element)), request.smem.offset(),
                             request.smem.layout(), element_bits(plan.element));
  plan.refused = !plan.reasons.empty();
  if (plan.refused) return plan;

  plan.cta_v_map = make_cta_v_map(plan.gmem.shape(), plan.cta_tiler);
  const TmaGbasis gbasis = construct_tma_gbasis(
      {.gmem = plan.gmem, .smem = plan.smem.layout(), .cta_v_map = plan.cta_v_map, .units = plan.units()},
      steps != nullptr ? &steps->gbasis : nullptr);
  plan.tma_gbasis = gbasis.layout;
  detail::add_all(plan.reasons, gbasis.reasons);
  if (!plan.tma_gbasis.ok() || gbasis.reasons.has(TmaPlanRule::recast_width)) {
    plan.refused = true;
    return plan;
  }
  plan.num_bits_per_tma = size(plan.tma_gbasis) * element_bits(plan.tma_element);
  detail::complete(plan, request.gtensor);
  if (!plan.reasons.has(TmaPlanWeight::refused)) detail::check_shared_side(plan);
  detail::judge(plan);
  if (steps != nullptr) {
    steps->val_layout_src = tma_val_layout(plan.elements_per_tma());
    steps->tiled_copy = make_tma_copy_tiled({.smem = plan.smem.layout(),
                                             .cta_v_map = plan.cta_v_map,
                                             .elements_per_tma = plan.elements_per_tma(),
                                             .num_multicast = plan.num_multicast});
  }
  return plan;
}

namespace detail {

// Whether a tensor is one that a structure was made for: same tree, same static leaves.
GANTRY_HD constexpr void check_bind(const TmaPlan& plan, const GlobalTensor& gtensor, TmaReasons& reasons) {
  if (!gtensor.layout.ok()) {
    return reasons.add({.rule = TmaPlanRule::gmem_invalid, .fault = gtensor.layout.fault()});
  }
  if (!congruent(plan.gmem, gtensor.layout) || gtensor.element != plan.element) {
    return reasons.add({.rule = TmaPlanRule::bind_mismatch,
                        .actual = leaf_count(gtensor.layout.shape()),
                        .nearest = leaf_count(plan.gmem.shape())});
  }
  for_each_mode(plan.gmem.shape(), plan.gmem.stride(), {}, [&](BasisPath path, const Int& extent, const Int& step) {
    const Int new_extent = leaf_at(gtensor.layout.shape(), path);
    const Int new_step = leaf_at(gtensor.layout.stride(), path);
    if (extent.is_fixed() != new_extent.is_fixed() || (extent.is_fixed() && !(extent == new_extent))) {
      reasons.add({.rule = TmaPlanRule::bind_mismatch,
                   .mode = path,
                   .actual = new_extent.value(),
                   .nearest = extent.value()});
    } else if (step.is_fixed() != new_step.is_fixed() || (step.is_fixed() && !(step == new_step))) {
      reasons.add(
          {.rule = TmaPlanRule::bind_mismatch, .mode = path, .actual = new_step.value(), .nearest = step.value()});
    }
  });
}

}  // namespace detail

// A structure completed with a tensor, or a plan moved to another tensor of the same structure. Requires a layout with
// the plan's tree and static leaves; anything else is a reason.
GANTRY_HD constexpr TmaPlan bind(const TmaPlan& structure, const GlobalTensor& gtensor) {
  TmaPlan plan = structure;
  if (!plan.tma_gbasis.ok() || plan.num_bits_per_tma == 0) return plan;
  plan.reasons = TmaReasons();
  detail::check_bind(structure, gtensor, plan.reasons);
  if (!plan.reasons.empty()) {
    plan.refused = true;
    return plan;
  }
  detail::check_units(gtensor.layout, plan.units(), plan.reasons);
  detail::complete(plan, gtensor);
  if (!plan.reasons.has(TmaPlanWeight::refused)) detail::check_shared_side(plan);
  detail::judge(plan);
  return plan;
}

// ---- The forms that CuTe's users know
//
// CuTe's tiled copy carries thread-value layouts that its atom does not; here `tma/partition.hpp` computes them when
// they are asked for, so the copy and the atom are the same plan.

GANTRY_HD constexpr TmaPlan make_tma_atom(const TmaCopyRequest& request, TmaPlanSteps* steps = nullptr) {
  return plan_structure(request, steps);
}
GANTRY_HD constexpr TmaPlan make_tma_copy(const TmaCopyRequest& request, TmaPlanSteps* steps = nullptr) {
  return plan_structure(request, steps);
}

// Without a tiler the tile is as large as the shared layout; without a cluster no other CTA shares it.
GANTRY_HD constexpr TmaPlan make_tma_copy(TmaOp op, const GlobalTensor& gtensor, const ComposedLayout& smem,
                                          const Tiler& cta_tiler = _, TupleView cluster = Int::fixed(1)) {
  return plan_structure({.op = op,
                         .gtensor = gtensor,
                         .smem = smem,
                         .cta_tiler = cta_tiler,
                         .num_multicast = static_cast<std::uint32_t>(size(cluster))});
}

// The operands of a matrix product: tile (M,N,K), cluster (M,N,K).
struct TmaGemmRequest {
  TmaOp op = TmaOp::load;
  GlobalTensor gtensor{};
  ComposedLayout smem{};
  IntTuple tile_mnk{};
  IntTuple cluster_mnk{};
  ElementType tma_element = ElementType::void_;
};

namespace detail {

GANTRY_HD constexpr TmaPlan plan_operand(const TmaGemmRequest& r, int tile_mode_left_out, int multicast_mode) {
  const auto ctas = multicast_mode < 0 ? 1U : static_cast<std::uint32_t>(size(r.cluster_mnk[multicast_mode]));
  return plan_structure({.op = r.op,
                         .gtensor = r.gtensor,
                         .smem = r.smem,
                         .cta_tiler = Tiler(remove(r.tile_mnk, tile_mode_left_out)),
                         .num_multicast = ctas,
                         .tma_element = r.tma_element});
}

}  // namespace detail

// A is (M,K) and shared by the CTAs along N, B is (N,K) and shared by those along M, C is (M,N) and not shared.
GANTRY_HD constexpr TmaPlan make_tma_copy_A_sm90(const TmaGemmRequest& r) { return detail::plan_operand(r, 1, 1); }
GANTRY_HD constexpr TmaPlan make_tma_copy_B_sm90(const TmaGemmRequest& r) { return detail::plan_operand(r, 0, 0); }
GANTRY_HD constexpr TmaPlan make_tma_copy_C_sm90(const TmaGemmRequest& r) { return detail::plan_operand(r, 2, -1); }

}  // namespace gantry
