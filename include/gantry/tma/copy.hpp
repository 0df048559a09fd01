// What a kernel hands to a copy instruction besides coordinates and a shared address: the tensor map, the barrier, the
// CTAs of a multicast and a cache hint. A description; `arch/` issues.
//
// Example:
//     using namespace gantry;
//     TmaDescriptor map{};
//     std::uint64_t barrier = 0;
//     const TmaCopyAtom load{TmaOp::load_multicast, &map};
//     const TmaCopyCall call = load.with(&barrier, 0b11, TmaCacheHint::evict_last);
//     // call.map, call.barrier, call.cta_mask, call.hint
#pragma once

#include <gantry/tma/operations.hpp>

namespace gantry {

// L2 policies as the instruction takes them, for all of the accesses.
enum class TmaCacheHint : std::uint64_t {
  none = 0,  // the instruction has no hint
  evict_unchanged = 0x10F0000000000000,
  evict_first = 0x12F0000000000000,
  evict_last = 0x14F0000000000000,
  evict_normal = 0x16F0000000000000,
};

struct TmaCopyCall {
  TmaOp op = TmaOp::load;
  const TmaDescriptor* map = nullptr;
  std::uint64_t* barrier = nullptr;  // loads: credited with the bytes of the box
  std::uint16_t cta_mask = 0;        // multicast loads: bit i is rank i of the cluster
  TmaCacheHint hint = TmaCacheHint::none;
};

struct TmaCopyAtom {
  TmaOp op = TmaOp::load;
  const TmaDescriptor* map = nullptr;

  // For loads.
  GANTRY_HD constexpr TmaCopyCall with(std::uint64_t* barrier, std::uint16_t cta_mask = 0,
                                       TmaCacheHint hint = TmaCacheHint::none) const noexcept {
    return {op, map, barrier, cta_mask, hint};
  }
  // For stores, reductions and prefetches, which signal no barrier.
  GANTRY_HD constexpr TmaCopyCall with(TmaCacheHint hint) const noexcept { return {op, map, nullptr, 0, hint}; }
};

}  // namespace gantry
