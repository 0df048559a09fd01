// The numbers of a TMA epilogue under the names that CUTLASS's users know: stages, fragment size, reuse, delay.
//
// A builder takes them ready-made; a policy gives them back. They say how the epilogue is pipelined and leave tiles,
// layouts and elements to the rest of the policy.
//
// Example:
//     using namespace gantry;
//     constexpr Sm90TmaWarpSpecialized wanted{.stages_c = 4, .stages_d = 2, .fragment_size = 16, .reuse_smem_c = true};
//     constexpr CollectiveBuilder builder{.tile = {128, 128, 64}, .c = ElementType::f16, .d = ElementType::f16};
//     constexpr EpiloguePolicy policy = with(builder, wanted).policy();
//     static_assert(policy.ok() && dispatch_policy(policy) == wanted);
//     static_assert(to_text(wanted) == "Sm90TmaWarpSpecialized<4, 2, 16, true, false>");
#pragma once

#include <gantry/epilogue/builder.hpp>

namespace gantry {

struct Sm90TmaWarpSpecialized {
  int stages_c = 4;
  int stages_d = 2;
  int fragment_size = 16;
  bool reuse_smem_c = false;
  bool delay_tma_store = false;

  GANTRY_HD friend constexpr bool operator==(Sm90TmaWarpSpecialized, Sm90TmaWarpSpecialized) noexcept = default;
};

// The same over pointer arrays: each warpgroup that stores has tensor maps of its own.
struct Sm90PtrArrayTmaWarpSpecialized {
  Sm90TmaWarpSpecialized tma{};
  int num_epilogue_warp_groups = 1;

  GANTRY_HD friend constexpr bool operator==(Sm90PtrArrayTmaWarpSpecialized,
                                             Sm90PtrArrayTmaWarpSpecialized) noexcept = default;
};

// Requires a policy that uses TMA.
GANTRY_HD constexpr Sm90TmaWarpSpecialized dispatch_policy(const EpiloguePolicy& p) noexcept {
  return {p.stages_c, p.stages_d, p.fragment_size, p.reuse_smem_c, p.delay_tma_store};
}
GANTRY_HD constexpr Sm90PtrArrayTmaWarpSpecialized ptr_array_dispatch_policy(const EpiloguePolicy& p) noexcept {
  return {dispatch_policy(p), p.map_warpgroups};
}

// The builder with these decisions made.
GANTRY_HD constexpr CollectiveBuilder with(CollectiveBuilder builder, const Sm90TmaWarpSpecialized& numbers) noexcept {
  builder.stages_c = numbers.stages_c;
  builder.stages_d = numbers.stages_d;
  builder.fragment_size = numbers.fragment_size;
  builder.reuse_smem_c = numbers.reuse_smem_c ? Choice::yes : Choice::no;
  builder.delay_tma_store = numbers.delay_tma_store ? Choice::yes : Choice::no;
  return builder;
}

using DispatchPolicyText = Text<96>;

namespace detail {

GANTRY_HD constexpr void append_numbers(DispatchPolicyText& out, const Sm90TmaWarpSpecialized& p) {
  out.append(p.stages_c).append(", ").append(p.stages_d).append(", ").append(p.fragment_size);
  out.append(p.reuse_smem_c ? ", true" : ", false").append(p.delay_tma_store ? ", true" : ", false");
}

}  // namespace detail

// As CUTLASS writes the type.
GANTRY_HD constexpr DispatchPolicyText to_text(const Sm90TmaWarpSpecialized& p) {
  DispatchPolicyText out("Sm90TmaWarpSpecialized<");
  detail::append_numbers(out, p);
  return out.append('>');
}
GANTRY_HD constexpr DispatchPolicyText to_text(const Sm90PtrArrayTmaWarpSpecialized& p) {
  DispatchPolicyText out("Sm90PtrArrayTmaWarpSpecialized<");
  detail::append_numbers(out, p.tma);
  return out.append(", ").append(p.num_epilogue_warp_groups).append('>');
}

}  // namespace gantry
