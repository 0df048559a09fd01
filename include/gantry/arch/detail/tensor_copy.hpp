// Bulk tensor copies on both machines, of tiled and of im2col maps: one body for loads, one for stores, one for
// reductions and one for prefetches. Whether there is a multicast or a cache hint, and the rank, are constants that
// choose the instruction's text; the operands that it names are always four and come before the coordinates.
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/detail/tensor_instruction.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch::detail {

enum class TensorMode { tile, im2col };

template <TensorMode Mode, int Rank>
inline constexpr bool kTensorRank = Rank >= (Mode == TensorMode::tile ? 1 : 3) && Rank <= 5;

// Where a copy starts. Stores and tiled copies have no offsets.
struct TensorStart {
  const void* map;
  const std::int32_t* coordinates;
  const std::uint16_t* offsets;
};

// The shared side of a load, the barrier that is told, and the CTAs of a multicast.
struct TensorReceiver {
  void* destination;
  std::uint64_t* barrier;
  std::uint16_t mask;
};

template <TensorMode Mode, int Rank, bool Multicast, bool Hinted>
GANTRY_INLINE void tensor_load(const TensorStart& start, const TensorReceiver& to, [[maybe_unused]] CachePolicy policy,
                               [[maybe_unused]] Site site) {
#if GANTRY_ON_DEVICE
#define GANTRY_TENSOR_LOAD(prefix, qualifiers, barrier, after, c, d)                                                \
  if constexpr (Mode == TensorMode::tile) {                                                                         \
    GANTRY_TENSOR_TILED(prefix "cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("tile") qualifiers " [%0], [%1, ",    \
                        "], " barrier after, "r"(shared_address(to.destination)), "l"(start.map), c, d)             \
  } else {                                                                                                          \
    GANTRY_TENSOR_IM2COL(prefix "cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("im2col") qualifiers " [%0], [%1, ", \
                         "], " barrier ", ", after, "r"(shared_address(to.destination)), "l"(start.map), c, d)      \
  }
  if constexpr (Multicast && Hinted) {
    const std::uint64_t barrier_and_mask = std::uint64_t{to.mask} << 32 | std::uint64_t{shared_address(to.barrier)};
    GANTRY_TENSOR_LOAD(GANTRY_BARRIER_AND_MASK, ".multicast::cluster.L2::cache_hint", "[bar]", ", mask, %3;\n}",
                       "l"(barrier_and_mask), "l"(policy.bits))
  } else if constexpr (Multicast) {
    GANTRY_TENSOR_LOAD("", ".multicast::cluster", "[%2]", ", %3;", "r"(shared_address(to.barrier)), "h"(to.mask))
  } else if constexpr (Hinted) {
    GANTRY_TENSOR_LOAD("", ".L2::cache_hint", "[%2]", ", %3;", "r"(shared_address(to.barrier)), "l"(policy.bits))
  } else {
    GANTRY_TENSOR_LOAD("", "", "[%2]", ";", "r"(shared_address(to.barrier)), "l"(std::uint64_t{0}))
  }
#undef GANTRY_TENSOR_LOAD
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = to.destination,
                    .map = start.map,
                    .rank = Rank,
                    .coordinates = start.coordinates,
                    .barrier = to.barrier,
                    .multicast = Multicast,
                    .mask = to.mask,
                    .im2col = Mode == TensorMode::im2col,
                    .offsets = start.offsets},
                   site);
#endif
}

#if GANTRY_ON_DEVICE
// A store or a reduction: the instruction with or without a hint.
#define GANTRY_TENSOR_STORE(name, space_and_mode)                                                          \
  if constexpr (Hinted) {                                                                                  \
    GANTRY_TENSOR_TILED(name, space_and_mode ".bulk_group.L2::cache_hint [%1, ", "], [%0], %3;",           \
                        "r"(shared_address(source)), "l"(start.map), "r"(0), "l"(policy.bits))             \
  } else {                                                                                                 \
    GANTRY_TENSOR_TILED(name, space_and_mode ".bulk_group [%1, ", "], [%0];", "r"(shared_address(source)), \
                        "l"(start.map), "r"(0), "l"(std::uint64_t{0}))                                     \
  }
#endif

template <TensorMode Mode, int Rank, bool Hinted>
GANTRY_INLINE void tensor_store(const TensorStart& start, const void* source, [[maybe_unused]] CachePolicy policy,
                                [[maybe_unused]] Site site) {
#if GANTRY_ON_DEVICE
  if constexpr (Mode == TensorMode::tile) {
    GANTRY_TENSOR_STORE("cp.async.bulk.tensor", ".global.shared::cta.tile")
  } else {
    GANTRY_TENSOR_STORE("cp.async.bulk.tensor", ".global.shared::cta.im2col_no_offs")
  }
#else
  sim::tensor_copy({.kind = sim::CopyKind::store,
                    .shared = const_cast<void*>(source),
                    .map = start.map,
                    .rank = Rank,
                    .coordinates = start.coordinates,
                    .im2col = Mode == TensorMode::im2col},
                   site);
#endif
}

template <TensorMode Mode, ReduceOp Op, int Rank, bool Hinted>
GANTRY_INLINE void tensor_reduce(const TensorStart& start, const void* source, [[maybe_unused]] CachePolicy policy,
                                 [[maybe_unused]] Site site) {
#if GANTRY_ON_DEVICE
#define GANTRY_TENSOR_REDUCE(op)                                                                    \
  if constexpr (Mode == TensorMode::tile) {                                                         \
    GANTRY_TENSOR_STORE("cp.reduce.async.bulk.tensor", ".global.shared::cta." op ".tile")           \
  } else {                                                                                          \
    GANTRY_TENSOR_STORE("cp.reduce.async.bulk.tensor", ".global.shared::cta." op ".im2col_no_offs") \
  }
  GANTRY_EACH_REDUCTION(GANTRY_TENSOR_REDUCE)
#undef GANTRY_TENSOR_REDUCE
#else
  sim::tensor_copy({.kind = sim::CopyKind::reduce,
                    .shared = const_cast<void*>(source),
                    .map = start.map,
                    .rank = Rank,
                    .coordinates = start.coordinates,
                    .im2col = Mode == TensorMode::im2col,
                    .op = Op},
                   site);
#endif
}

template <TensorMode Mode, int Rank, bool Hinted>
GANTRY_INLINE void tensor_prefetch(const TensorStart& start, [[maybe_unused]] CachePolicy policy,
                                   [[maybe_unused]] Site site) {
#if GANTRY_ON_DEVICE
#define GANTRY_TENSOR_PREFETCH(hint, after)                                                                        \
  if constexpr (Mode == TensorMode::tile) {                                                                        \
    GANTRY_TENSOR_TILED("cp.async.bulk.prefetch.tensor", ".L2.global.tile" hint " [%1, ", "]" after, "r"(0),       \
                        "l"(start.map), "r"(0), "l"(policy.bits))                                                  \
  } else {                                                                                                         \
    GANTRY_TENSOR_IM2COL("cp.async.bulk.prefetch.tensor", ".L2.global.im2col" hint " [%1, ", "], ", after, "r"(0), \
                         "l"(start.map), "r"(0), "l"(policy.bits))                                                 \
  }
  if constexpr (Hinted) {
    GANTRY_TENSOR_PREFETCH(".L2::cache_hint", ", %3;")
  } else {
    GANTRY_TENSOR_PREFETCH("", ";")
  }
#undef GANTRY_TENSOR_PREFETCH
#else
  sim::tensor_copy({.kind = sim::CopyKind::prefetch,
                    .map = start.map,
                    .rank = Rank,
                    .coordinates = start.coordinates,
                    .im2col = Mode == TensorMode::im2col,
                    .offsets = start.offsets},
                   site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_TENSOR_STORE
#endif

}  // namespace gantry::arch::detail
