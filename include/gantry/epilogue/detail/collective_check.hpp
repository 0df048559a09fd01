// What no collective runs of a policy that is complete otherwise: its values are still valid, CUTLASS has them.
#pragma once

#include <gantry/epilogue/atoms.hpp>
#include <gantry/epilogue/builder_options.hpp>
#include <gantry/epilogue/detail/nearest.hpp>

namespace gantry::detail {

inline constexpr int kMostAccumulators = 256;  // of a CTA tile, that one thread holds

// Adds every reason to the policy.
class CollectiveCheck {
 public:
  GANTRY_HD constexpr CollectiveCheck(const CollectiveBuilder& asked, EpiloguePolicy& policy)
      : in_(asked), p_(policy) {}

  // `tile`: the extents of the CTA tile are usable.
  GANTRY_HD constexpr void check(bool tile) {
    check_elements();
    check_collective(tile);
  }

 private:
  GANTRY_HD constexpr void check_elements() {
    const ElementType compute = in_.compute;
    const bool complex = is_complex(compute);
    const bool real = compute == ElementType::f32 || compute == ElementType::f16 || compute == ElementType::bf16;
    if (!real && compute != ElementType::cf32 && compute != ElementType::s32 && compute != ElementType::void_) {
      p_.reasons.add({.rule = EpilogueRule::compute_element,
                      .element = compute,
                      .nearest = static_cast<std::int64_t>(complex ? ElementType::cf32 : ElementType::f32)});
    }
    check_read(EpilogueSide::c, in_.c);
    check_read(EpilogueSide::accumulator, in_.acc);
    check_packed(EpilogueSide::d, p_.d.smem_element);
    check_wide(EpilogueSide::c, in_.c);
    check_wide(EpilogueSide::d, p_.d.smem_element);
    if (complex && p_.d.exists() && !is_complex(in_.d)) {
      p_.reasons.add({.rule = EpilogueRule::real_destination,
                      .operand = EpilogueSide::d,
                      .element = in_.d,
                      .nearest = static_cast<std::int64_t>(ElementType::cf32)});
    }
  }

  GANTRY_HD constexpr void check_read(EpilogueSide which, ElementType element) {
    check_packed(which, element);
    if (!is_complex(element) || is_complex(in_.compute)) return;
    p_.reasons.add({.rule = EpilogueRule::complex_operand,
                    .operand = which,
                    .element = element,
                    .nearest = static_cast<std::int64_t>(ElementType::cf32)});
  }

  GANTRY_HD constexpr void check_wide(EpilogueSide which, ElementType element) {
    if (!p_.uses_tma() || element_bits(element) <= 64) return;
    p_.reasons.add({.rule = EpilogueRule::wide_element,
                    .operand = which,
                    .element = element,
                    .actual = element_bits(element),
                    .nearest = static_cast<std::int64_t>(ElementType::cf32)});
  }

  GANTRY_HD constexpr void check_packed(EpilogueSide which, ElementType element) {
    const int bits = element_bits(element);
    if (bits == 0 || bits >= 8 || (p_.uses_tma() && 128 % bits != 0 && which != EpilogueSide::accumulator)) return;
    const bool floats = element == ElementType::e2m1 || element == ElementType::e3m2 || element == ElementType::e2m3;
    const bool has_sign = element == ElementType::s4 || element == ElementType::s2;
    const ElementType nearest = floats ? ElementType::e4m3 : has_sign ? ElementType::s8 : ElementType::u8;
    p_.reasons.add({.rule = EpilogueRule::packed_element,
                    .operand = which,
                    .element = element,
                    .actual = bits,
                    .nearest = static_cast<std::int64_t>(nearest)});
  }
  GANTRY_HD static constexpr bool is_complex(ElementType element) {
    return element == ElementType::cf32 || element == ElementType::cf64;
  }

  GANTRY_HD constexpr void check_collective(bool tile) {
    if (p_.pointer_array()) {
      const EpilogueSchedule one_tensor = !p_.uses_tma()       ? EpilogueSchedule::no_smem_warp_specialized
                                          : p_.warpgroups == 2 ? EpilogueSchedule::tma_warp_specialized_cooperative
                                                               : EpilogueSchedule::tma_warp_specialized;
      p_.reasons.add({.rule = EpilogueRule::pointer_arrays,
                      .schedule = p_.schedule,
                      .nearest = static_cast<std::int64_t>(one_tensor)});
    }
    if (!tile) return;
    const int rows = kMmaRows * p_.warpgroups;
    if (in_.tile.m % rows != 0) {
      p_.reasons.add({.rule = EpilogueRule::shared_mma_rows,
                      .actual = in_.tile.m,
                      .nearest = nearest_multiple(in_.tile.m, rows),
                      .first = p_.warpgroups});
    }
    if (!p_.uses_tma() && in_.tile.n % 8 != 0) {
      p_.reasons.add(
          {.rule = EpilogueRule::mma_columns, .actual = in_.tile.n, .nearest = nearest_multiple(in_.tile.n, 8)});
    }
    const int held = in_.tile.m * in_.tile.n / p_.threads();
    if (held > kMostAccumulators) {
      p_.reasons.add({.rule = EpilogueRule::accumulators,
                      .actual = held,
                      .nearest = kMostAccumulators * p_.threads() / in_.tile.m / 8 * 8,
                      .first = p_.threads()});
    }
  }

  const CollectiveBuilder& in_;
  EpiloguePolicy& p_;
};

}  // namespace gantry::detail
