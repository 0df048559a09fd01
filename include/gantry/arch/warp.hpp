// Lanes of a warp talking to each other: shuffles, votes, reductions, and `syncwarp`, which alone orders memory.
//
// Every lane of `mask` calls the same function with the same mask.
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

enum class Shuffle : std::uint8_t { index, exclusive_or, down, up };
inline constexpr const char* kShuffleNames[] = {"shfl.sync.idx", "shfl.sync.bfly", "shfl.sync.down", "shfl.sync.up"};

// The value that the chosen lane brought, or the own one where that lane did not come.
template <class T>
T shuffled(Shuffle how, std::uint32_t mask, T value, int offset, Site site) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const Gathered all(mask, bits, kShuffleNames[static_cast<int>(how)], site);
  const int lane = static_cast<int>(all.lane);
  int source = how == Shuffle::index          ? offset & 31
               : how == Shuffle::exclusive_or ? lane ^ offset
               : how == Shuffle::up           ? lane - offset
                                              : lane + offset;
  if (source < 0 || source > 31 || (all.came >> source & 1) == 0) source = lane;
  std::memcpy(&value, &all.values[source], sizeof value);
  return value;
}

}  // namespace detail
#endif

namespace detail {
template <class T>
inline constexpr bool kShuffles = sizeof(T) == 4 || sizeof(T) == 8;
}

// The value of lane `source`.
template <class T>
GANTRY_INLINE T shfl_sync(std::uint32_t mask, T value, int source, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_sync(mask, value, source);
#else
  return detail::shuffled(detail::Shuffle::index, mask, value, source, site);
#endif
}

// The value of lane (own ^ bits).
template <class T>
GANTRY_INLINE T shfl_xor_sync(std::uint32_t mask, T value, int bits, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_xor_sync(mask, value, bits);
#else
  return detail::shuffled(detail::Shuffle::exclusive_or, mask, value, bits, site);
#endif
}

// The value of lane own + `delta`, or the own one beyond the end.
template <class T>
GANTRY_INLINE T shfl_down_sync(std::uint32_t mask, T value, int delta, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_down_sync(mask, value, static_cast<unsigned>(delta));
#else
  return detail::shuffled(detail::Shuffle::down, mask, value, delta, site);
#endif
}

// The value of lane own - `delta`, or the own one before the start.
template <class T>
GANTRY_INLINE T shfl_up_sync(std::uint32_t mask, T value, int delta, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kShuffles<T>, "a shuffle moves 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  return __shfl_up_sync(mask, value, static_cast<unsigned>(delta));
#else
  return detail::shuffled(detail::Shuffle::up, mask, value, delta, site);
#endif
}

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
