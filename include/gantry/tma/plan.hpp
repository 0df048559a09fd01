// The plan of a TMA copy: from an operation, a global tensor, a shared layout and a tile to a tensor map, the box of
// one instruction and the coordinates that it takes.
//
// A plan is a value, made by the same function at compile time and at run time. Its structure depends only on static
// leaves: plan_structure works on layouts whose run-time leaves are unknown, and bind completes it with a tensor. A
// plan that cannot be is not an error: it says why, with every reason. `tma/explain.hpp` prints it, `tma/partition.hpp`
// and `tma/instructions.hpp` turn it into instructions.
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

#include <gantry/tma/plan_checks.hpp>

namespace gantry {

namespace detail {

GANTRY_HD constexpr void judge(TmaPlan& plan) {
  const auto weigh = [&plan](TmaVerdict verdict) {
    plan.refused = plan.refused || verdict == TmaVerdict::refused;
    plan.not_on_hopper = plan.not_on_hopper || verdict == TmaVerdict::not_on_hopper;
  };
  plan.refused = plan.not_on_hopper = false;
  for (const TmaReason& r : plan.reasons) weigh(verdict_of(r));
  for_each_violation(plan, [&weigh](const TmaViolation& v) { weigh(verdict_of(v)); });
}

GANTRY_HD constexpr Tiler tiler_of(const TmaCopyRequest& request) {
  if (!TilerView(request.cta_tiler).is_all()) return request.cta_tiler;
  const IntTuple& shape = request.smem.shape();
  return shape.is_leaf() ? Tiler(shape) : Tiler(product_each(shape));
}

// The side of the tensor map that depends on the tensor's extents and strides.
GANTRY_COLD GANTRY_HD constexpr void complete(TmaPlan& plan, const TmaGmodes& gmodes, const TmaCopyDescOperands& in) {
  TmaCopyDesc desc;
  desc.params = plan.descriptor;
  fill_gmem_side(gmodes, in, desc);
  plan.descriptor = desc.params;
  plan.tma_tensor_stride = desc.tma_tensor_stride;
  plan.bound = desc.bound;
  plan.tile_reproduced = desc.tile_reproduced;
  plan.reasons.add(desc.reasons);
  check_modes_without_coordinate(plan, gmodes, plan.reasons);
  check_shared_dimensions(plan, gmodes, plan.reasons);
}

GANTRY_HD constexpr TmaCopyDescOperands desc_operands(const TmaPlan& plan, const GlobalTensor& gtensor) {
  return {.gtensor = gtensor,
          .tma_gbasis = plan.tma_gbasis,
          .tma_element = plan.tma_element,
          .swizzle = plan.smem.swizzle(),
          .num_multicast = plan.num_multicast};
}

// What can be judged where there is no box.
GANTRY_HD constexpr void complete_without_box(TmaPlan& plan, const GlobalTensor& gtensor) {
  plan.without_box = true;
  if (plan.smem.ok() && plan.gmem.ok()) check_shared_layout(plan, TmaGmodes(plan.gmem, plan.units()), plan.reasons);
  fill_without_box(desc_operands(plan, gtensor), plan.descriptor, plan.reasons);
}

}  // namespace detail

// The plan as far as layouts are known: complete if every leaf of the global layout is, otherwise its structure, which
// bind completes. `steps`, if given, receives every intermediate value.
GANTRY_HD constexpr TmaPlan plan_structure(const TmaCopyRequest& request, TmaPlanSteps* steps = nullptr) {
  TmaPlan plan;
  plan.op = request.op;
  plan.element = request.gtensor.element;
  plan.tma_element = request.tma_element == ElementType::void_ ? request.gtensor.element : request.tma_element;
  plan.num_multicast = detail::check_ctas(plan.op, request.num_multicast, plan.reasons);
  plan.gmem = request.gtensor.layout;
  plan.smem = ComposedLayout(byte_swizzle(request.smem, element_bits(plan.element)), request.smem.offset(),
                             request.smem.layout(), element_bits(plan.element));
  plan.cta_tiler = detail::tiler_of(request);
  detail::check_request(plan, plan.reasons);
  if (plan.gmem.ok() && plan.smem.ok() && plan.cta_tiler.ok() && !plan.reasons.has(TmaPlanRule::tiler_rank)) {
    plan.cta_v_map = make_cta_v_map(plan.gmem.shape(), plan.cta_tiler);
    const TmaGmodes gmodes(plan.gmem, plan.units());
    const TmaGbasis gbasis =
        construct_tma_gbasis(gmodes, plan.smem.layout(), plan.cta_v_map, steps != nullptr ? &steps->gbasis : nullptr);
    plan.tma_gbasis = gbasis.layout;
    plan.reasons.add(gbasis.reasons);
    if (plan.tma_gbasis.ok()) {
      plan.num_bits_per_tma = detail::bits_of(size(plan.tma_gbasis), element_bits(plan.tma_element));
      const TmaCopyDescOperands operands = detail::desc_operands(plan, request.gtensor);
      detail::fill_box_side(operands, plan.descriptor, plan.reasons);
      detail::check_shared_layout(plan, gmodes, plan.reasons);
      detail::check_shared_side(plan, plan.reasons);
      plan.structural_reasons = plan.reasons.size();
      detail::complete(plan, gmodes, operands);
    }
  }
  if (plan.num_bits_per_tma == 0) detail::complete_without_box(plan, request.gtensor);
  detail::judge(plan);
  if (steps != nullptr && plan.num_bits_per_tma > 0) {
    steps->val_layout_src = tma_val_layout(plan.elements_per_tma());
    steps->tiled_copy = make_tma_copy_tiled({.smem = plan.smem.layout(),
                                             .cta_v_map = plan.cta_v_map,
                                             .elements_per_tma = plan.elements_per_tma(),
                                             .num_multicast = plan.num_multicast});
  }
  return plan;
}

// A structure completed with a tensor, or a plan moved to another tensor of the same structure. Requires a layout with
// the plan's tree and static leaves; anything else is a reason.
GANTRY_COLD GANTRY_HD constexpr TmaPlan bind(const TmaPlan& structure, const GlobalTensor& gtensor) {
  TmaPlan plan = structure;
  if (plan.num_bits_per_tma == 0) return plan;
  plan.reasons.truncate(plan.structural_reasons);
  const int before = plan.reasons.size();
  detail::check_bind(structure, gtensor, plan.reasons);
  if (plan.reasons.size() == before) {
    plan.gmem = gtensor.layout;
    detail::complete(plan, TmaGmodes(plan.gmem, plan.units()), detail::desc_operands(plan, gtensor));
  }
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

namespace detail {

// The CTAs of a cluster; 0, which no copy can have, where their number is not known.
GANTRY_HD constexpr std::int64_t ctas_of(TupleView cluster) {
  const Int ctas = product(cluster);
  return ctas.is_known() ? ctas.value() : 0;
}

}  // namespace detail

// Without a tiler the tile is as large as the shared layout; without a cluster no other CTA shares it.
GANTRY_HD constexpr TmaPlan make_tma_copy(TmaOp op, const GlobalTensor& gtensor, const ComposedLayout& smem,
                                          const Tiler& cta_tiler = _, TupleView cluster = Int::fixed(1)) {
  return plan_structure(
      {.op = op, .gtensor = gtensor, .smem = smem, .cta_tiler = cta_tiler, .num_multicast = detail::ctas_of(cluster)});
}
GANTRY_HD constexpr TmaPlan make_tma_atom(TmaOp op, const GlobalTensor& gtensor, const ComposedLayout& smem,
                                          const Tiler& cta_tiler = _, TupleView cluster = Int::fixed(1)) {
  return make_tma_copy(op, gtensor, smem, cta_tiler, cluster);
}

// The operands of a GEMM: tile (M,N,K), cluster (M,N,K).
struct TmaGemmRequest {
  TmaOp op = TmaOp::load;
  GlobalTensor gtensor{};
  ComposedLayout smem{};
  IntTuple tile_mnk{};
  IntTuple cluster_mnk = make_shape(Int::fixed(1), Int::fixed(1), Int::fixed(1));
  ElementType tma_element = ElementType::void_;
};

namespace detail {

GANTRY_HD constexpr TmaPlan plan_operand(const TmaGemmRequest& r, int tile_mode_left_out, int multicast_mode) {
  const TupleView given[] = {r.tile_mnk, r.cluster_mnk};
  for (const TupleView t : given) {
    if (t.is_tuple() && rank(t) == 3) continue;
    TmaPlan plan;
    plan.op = r.op;
    plan.reasons.add({.rule = TmaPlanRule::operand_rank, .actual = rank(t), .nearest = 3});
    judge(plan);
    return plan;
  }
  const std::int64_t ctas = multicast_mode < 0 ? 1 : ctas_of(TupleView(r.cluster_mnk)[multicast_mode]);
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
