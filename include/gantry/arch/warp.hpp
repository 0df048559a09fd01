// Operations among the lanes of a warp: shuffles, votes, matches, reductions, and `syncwarp`, the only one that orders
// memory.
//
// Every lane of `mask` calls the same function with the same mask. Shuffles stay within groups of `width` lanes, a
// power of two up to the 32 of the whole warp; `shfl_sync_idx` and its kin take the clamp and segment mask of the
// instruction.
//
// Example at namespace scope:
//     GANTRY_HD inline float sum_of_warp(float x) {
//       using namespace gantry::arch;
//       for (int step = 16; step > 0; step /= 2) x += shfl_xor_sync(kFullWarp, x, step);
//       return x;
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <cstring>

#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

inline constexpr std::uint32_t kFullWarp = 0xffffffffu;

GANTRY_INLINE void syncwarp(std::uint32_t mask = kFullWarp, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  __syncwarp(mask);
#else
  std::uint64_t values[32];
  sim::warp_exchange({.mask = mask, .ordered = true, .operation = "syncwarp"}, values, site);
#endif
}

#if !GANTRY_ON_DEVICE
namespace detail {

struct Gathered {
  std::uint64_t values[32] = {};
  std::uint32_t lane;
  std::uint32_t came;  // lanes of the mask that took part

  Gathered(std::uint32_t mask, std::uint64_t value, const char* operation, Site site)
      : lane(sim::identity().thread_rank % 32) {
    values[lane] = value;
    came = sim::warp_exchange({.mask = mask, .value = value, .operation = operation}, values, site);
  }
};

// Lanes whose value has the same bits as the own one.
template <class T>
std::uint32_t matching(std::uint32_t mask, T value, const char* operation, Site site) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const Gathered all(mask, bits, operation, site);
  std::uint32_t same = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if ((all.came >> i & 1) != 0 && all.values[i] == bits) same |= 1u << i;
  }
  return same;
}

enum class Shuffle : std::uint8_t { index, exclusive_or, down, up };
inline constexpr const char* kShuffleNames[] = {"shfl.sync.idx", "shfl.sync.bfly", "shfl.sync.down", "shfl.sync.up"};

// Which lanes one reads from, as the instruction is told: c[4:0] clamps the lane, c[12:8] are the bits that no lane
// may leave.
struct Reach {
  std::uint32_t offset, clamp_segmask, mask;
};

// The value that the chosen lane brought, or the own one where that lane did not come or is out of reach.
template <class T>
T shuffled(Shuffle how, T value, bool& in_reach, const Reach& reach, Site site) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const Gathered all(reach.mask, bits, kShuffleNames[static_cast<int>(how)], site);
  const std::uint32_t offset = reach.offset & 31, segment = reach.clamp_segmask >> 8 & 31;
  const std::uint32_t last = (all.lane & segment) | (reach.clamp_segmask & 31 & ~segment);
  std::uint32_t source = all.lane;
  switch (how) {
    case Shuffle::index:
      source = (all.lane & segment) | (offset & ~segment & 31);
      in_reach = source <= last;
      break;
    case Shuffle::exclusive_or:
      source = all.lane ^ offset;
      in_reach = source <= last;
      break;
    case Shuffle::down:
      source = all.lane + offset;
      in_reach = source <= last;
      break;
    case Shuffle::up:
      source = all.lane - offset;
      in_reach = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(last);
      break;
  }
  if (!in_reach || (all.came >> source & 1) == 0) source = all.lane;
  std::memcpy(&value, &all.values[source], sizeof value);
  return value;
}

// Within groups of `width` lanes.
template <class T>
T shuffled_in_group(Shuffle how, std::uint32_t mask, T value, int offset, int width, Site site) {
  bool in_reach;
  const std::uint32_t clamp = sim::shuffle_segments(width, site) | (how == Shuffle::up ? 0 : 31);
  return shuffled(how, value, in_reach, {static_cast<std::uint32_t>(offset), clamp, mask}, site);
}

}  // namespace detail
#endif

namespace detail {
template <class T>
inline constexpr bool kShuffles = sizeof(T) == 4 || sizeof(T) == 8;
}

// The value of lane `source` of the own group.
template <class T>
GANTRY_INLINE T shfl_sync(std::uint32_t mask, T value, int source, int width,
                          [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_sync(mask, value, source, width);
#else
  return detail::shuffled_in_group(detail::Shuffle::index, mask, value, source, width, site);
#endif
}

template <class T>
GANTRY_INLINE T shfl_sync(std::uint32_t mask, T value, int source, Site site = Site::here()) {
  return shfl_sync(mask, value, source, 32, site);
}

// The value of lane (own ^ bits), or the own one where that lies in a later group.
template <class T>
GANTRY_INLINE T shfl_xor_sync(std::uint32_t mask, T value, int bits, int width,
                              [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_xor_sync(mask, value, bits, width);
#else
  return detail::shuffled_in_group(detail::Shuffle::exclusive_or, mask, value, bits, width, site);
#endif
}

template <class T>
GANTRY_INLINE T shfl_xor_sync(std::uint32_t mask, T value, int bits, Site site = Site::here()) {
  return shfl_xor_sync(mask, value, bits, 32, site);
}

// The value of lane own + `delta`, or the own one beyond the end of the group.
template <class T>
GANTRY_INLINE T shfl_down_sync(std::uint32_t mask, T value, int delta, int width,
                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_down_sync(mask, value, static_cast<unsigned>(delta), width);
#else
  return detail::shuffled_in_group(detail::Shuffle::down, mask, value, delta, width, site);
#endif
}

template <class T>
GANTRY_INLINE T shfl_down_sync(std::uint32_t mask, T value, int delta, Site site = Site::here()) {
  return shfl_down_sync(mask, value, delta, 32, site);
}

// The value of lane own - `delta`, or the own one before the start of the group.
template <class T>
GANTRY_INLINE T shfl_up_sync(std::uint32_t mask, T value, int delta, int width,
                             [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_up_sync(mask, value, static_cast<unsigned>(delta), width);
#else
  return detail::shuffled_in_group(detail::Shuffle::up, mask, value, delta, width, site);
#endif
}

template <class T>
GANTRY_INLINE T shfl_up_sync(std::uint32_t mask, T value, int delta, Site site = Site::here()) {
  return shfl_up_sync(mask, value, delta, 32, site);
}

#if GANTRY_ON_DEVICE
#define GANTRY_SHUFFLE_BODY(text, how)                                                              \
  std::uint32_t result, reached;                                                                    \
  asm volatile(                                                                                     \
      "{\n"                                                                                         \
      ".reg .pred p;\n"                                                                             \
      "shfl.sync." text                                                                             \
      ".b32 %0|p, %2, %3, %4, %5;\n"                                                                \
      "selp.u32 %1, 1, 0, p;\n"                                                                     \
      "}\n"                                                                                         \
      : "=r"(result), "=r"(reached)                                                                 \
      : "r"(__builtin_bit_cast(std::uint32_t, value)), "r"(offset), "r"(clamp_segmask), "r"(mask)); \
  in_reach = reached != 0;                                                                          \
  return __builtin_bit_cast(T, result)
#else
#define GANTRY_SHUFFLE_BODY(text, how) \
  return detail::shuffled(detail::Shuffle::how, value, in_reach, {offset, clamp_segmask, mask}, site)
#endif

// The instructions as they are: of 4 bytes, with clamp and segment mask, telling whether the lane was in reach.
template <class T>
GANTRY_INLINE T shfl_sync_idx(T value, bool& in_reach, std::uint32_t offset, std::uint32_t clamp_segmask,
                              std::uint32_t mask, [[maybe_unused]] Site site = Site::here()) {
  static_assert(sizeof(T) == 4, "shfl.sync moves 4 bytes");
  GANTRY_SHUFFLE_BODY("idx", index);
}
template <class T>
GANTRY_INLINE T shfl_sync_bfly(T value, bool& in_reach, std::uint32_t offset, std::uint32_t clamp_segmask,
                               std::uint32_t mask, [[maybe_unused]] Site site = Site::here()) {
  static_assert(sizeof(T) == 4, "shfl.sync moves 4 bytes");
  GANTRY_SHUFFLE_BODY("bfly", exclusive_or);
}
template <class T>
GANTRY_INLINE T shfl_sync_down(T value, bool& in_reach, std::uint32_t offset, std::uint32_t clamp_segmask,
                               std::uint32_t mask, [[maybe_unused]] Site site = Site::here()) {
  static_assert(sizeof(T) == 4, "shfl.sync moves 4 bytes");
  GANTRY_SHUFFLE_BODY("down", down);
}
template <class T>
GANTRY_INLINE T shfl_sync_up(T value, bool& in_reach, std::uint32_t offset, std::uint32_t clamp_segmask,
                             std::uint32_t mask, [[maybe_unused]] Site site = Site::here()) {
  static_assert(sizeof(T) == 4, "shfl.sync moves 4 bytes");
  GANTRY_SHUFFLE_BODY("up", up);
}
#undef GANTRY_SHUFFLE_BODY

// One bit for each lane of the mask in which `value` is true.
GANTRY_INLINE std::uint32_t ballot_sync(std::uint32_t mask, bool value, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  return __ballot_sync(mask, value);
#else
  const detail::Gathered all(mask, value ? 1 : 0, "vote.sync", site);
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) {
    if ((all.came >> i & 1) != 0) bits |= static_cast<std::uint32_t>(all.values[i]) << i;
  }
  return bits;
#endif
}

GANTRY_INLINE bool any_sync(std::uint32_t mask, bool value, Site site = Site::here()) {
  return ballot_sync(mask, value, site) != 0;
}

GANTRY_INLINE bool all_sync(std::uint32_t mask, bool value, Site site = Site::here()) {
  return ballot_sync(mask, value, site) == mask;
}

// The lanes of the mask that bring the same 4 or 8 bytes as this one: match.any.
template <class T>
GANTRY_INLINE std::uint32_t match_any_sync(std::uint32_t mask, T value, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a match compares 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  if constexpr (sizeof(T) == 4) return __match_any_sync(mask, __builtin_bit_cast(unsigned, value));
  if constexpr (sizeof(T) == 8) return __match_any_sync(mask, __builtin_bit_cast(unsigned long long, value));
#else
  return detail::matching(mask, value, "match.any.sync", site);
#endif
}

// The mask, and true in `all`, where every lane of it brings the same bytes; 0 and false otherwise: match.all.
template <class T>
GANTRY_INLINE std::uint32_t match_all_sync(std::uint32_t mask, T value, bool& all,
                                           [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a match compares 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  int same;
  std::uint32_t lanes;
  if constexpr (sizeof(T) == 4) lanes = __match_all_sync(mask, __builtin_bit_cast(unsigned, value), &same);
  if constexpr (sizeof(T) == 8) lanes = __match_all_sync(mask, __builtin_bit_cast(unsigned long long, value), &same);
  all = same != 0;
  return lanes;
#else
  const std::uint32_t same = detail::matching(mask, value, "match.all.sync", site);
  all = same == mask;
  return all ? mask : 0;
#endif
}

// The sum, minimum, maximum, and, or, xor of a 32-bit integer over the mask: redux.sync.
template <ReduceOp Op, class T>
GANTRY_INLINE T redux_sync(OpTag<Op>, std::uint32_t mask, T value, [[maybe_unused]] Site site = Site::here()) {
  static_assert(sizeof(T) == 4 && Op != ReduceOp::inc && Op != ReduceOp::dec,
                "redux reduces 32-bit integers by add, min, max, and, or, xor");
#if GANTRY_ON_DEVICE
  if constexpr (Op == ReduceOp::add) return __reduce_add_sync(mask, value);
  if constexpr (Op == ReduceOp::min) return __reduce_min_sync(mask, value);
  if constexpr (Op == ReduceOp::max) return __reduce_max_sync(mask, value);
  if constexpr (Op == ReduceOp::and_) return __reduce_and_sync(mask, static_cast<unsigned>(value));
  if constexpr (Op == ReduceOp::or_) return __reduce_or_sync(mask, static_cast<unsigned>(value));
  if constexpr (Op == ReduceOp::xor_) return __reduce_xor_sync(mask, static_cast<unsigned>(value));
#else
  const detail::Gathered all(mask, static_cast<std::uint32_t>(value), "redux.sync", site);
  T result = value;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if ((all.came >> i & 1) == 0 || i == all.lane) continue;
    const T other = static_cast<T>(static_cast<std::uint32_t>(all.values[i]));
    if constexpr (Op == ReduceOp::add) {
      result = static_cast<T>(static_cast<std::uint32_t>(result) + static_cast<std::uint32_t>(other));
    } else if constexpr (Op == ReduceOp::min) {
      result = other < result ? other : result;
    } else if constexpr (Op == ReduceOp::max) {
      result = result < other ? other : result;
    } else if constexpr (Op == ReduceOp::and_) {
      result = result & other;
    } else if constexpr (Op == ReduceOp::or_) {
      result = result | other;
    } else {
      result = result ^ other;
    }
  }
  return result;
#endif
}

}  // namespace gantry::arch
