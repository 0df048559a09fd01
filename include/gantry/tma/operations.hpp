// What a bulk tensor copy does: load, multicast load, store, reduce, prefetch, tiled or im2col; which maps and element
// types each takes; and the names CuTe gives them.
//
// Example:
//     constexpr auto op = gantry::TmaOp::reduce_min;
//     static_assert(gantry::reduce_allows(op, gantry::TmaDataType::bf16));
//     constexpr auto problems = gantry::check_operation(op, {.data_type = gantry::TmaDataType::f32});
//     static_assert(gantry::describe(problems[0]) ==
//                   "data_type is 7 (f32): a TMA reduction by min or max takes u32, s32, u64, s64, f16 and bf16; "
//                   "the nearest value that works is 6 (f16)");
#pragma once

#include <gantry/tma/rules.hpp>

// X(id, CuTe's name). The names of reductions other than add, and of prefetches, follow CuTe's pattern.
#define GANTRY_TMA_OPERATIONS(X)                             \
  X(load, "SM90_TMA_LOAD")                                   \
  X(load_multicast, "SM90_TMA_LOAD_MULTICAST")               \
  X(load_im2col, "SM90_TMA_LOAD_IM2COL")                     \
  X(load_im2col_multicast, "SM90_TMA_LOAD_IM2COL_MULTICAST") \
  X(store, "SM90_TMA_STORE")                                 \
  X(store_im2col, "SM90_TMA_STORE_IM2COL")                   \
  X(reduce_add, "SM90_TMA_REDUCE_ADD")                       \
  X(reduce_min, "SM90_TMA_REDUCE_MIN")                       \
  X(reduce_max, "SM90_TMA_REDUCE_MAX")                       \
  X(reduce_inc, "SM90_TMA_REDUCE_INC")                       \
  X(reduce_dec, "SM90_TMA_REDUCE_DEC")                       \
  X(reduce_and, "SM90_TMA_REDUCE_AND")                       \
  X(reduce_or, "SM90_TMA_REDUCE_OR")                         \
  X(reduce_xor, "SM90_TMA_REDUCE_XOR")                       \
  X(prefetch, "SM90_TMA_LOAD::PREFETCH")                     \
  X(prefetch_im2col, "SM90_TMA_LOAD_IM2COL::PREFETCH")

namespace gantry {

enum class TmaOp : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_TMA_OPERATIONS(GANTRY_X)
#undef GANTRY_X
};

inline constexpr int kTmaOpCount = 0
#define GANTRY_X(...) +1
    GANTRY_TMA_OPERATIONS(GANTRY_X);
#undef GANTRY_X

GANTRY_HD constexpr const char* to_text(TmaOp op) noexcept {
  switch (op) {
#define GANTRY_X(id, ...) \
  case TmaOp::id:         \
    return #id;
    GANTRY_TMA_OPERATIONS(GANTRY_X)
#undef GANTRY_X
  }
  return "unknown";
}

GANTRY_HD constexpr const char* cute_name(TmaOp op) noexcept {
  switch (op) {
#define GANTRY_X(id, name) \
  case TmaOp::id:          \
    return name;
    GANTRY_TMA_OPERATIONS(GANTRY_X)
#undef GANTRY_X
  }
  return "unknown";
}

namespace tma_detail {

GANTRY_HD constexpr bool same_name(const char* a, const char* b) noexcept {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace tma_detail

// Reads either name of an operation. Guarantees: false, and `op` untouched, for any other text.
[[nodiscard]] GANTRY_HD constexpr bool parse_tma_op(const char* text, TmaOp& op) noexcept {
  for (int i = 0; i < kTmaOpCount; ++i) {
    const auto candidate = static_cast<TmaOp>(i);
    if (tma_detail::same_name(text, cute_name(candidate)) || tma_detail::same_name(text, to_text(candidate))) {
      op = candidate;
      return true;
    }
  }
  return false;
}

GANTRY_HD constexpr bool is_load(TmaOp op) noexcept { return op <= TmaOp::load_im2col_multicast; }
GANTRY_HD constexpr bool is_multicast(TmaOp op) noexcept {
  return op == TmaOp::load_multicast || op == TmaOp::load_im2col_multicast;
}
GANTRY_HD constexpr bool is_store(TmaOp op) noexcept { return op == TmaOp::store || op == TmaOp::store_im2col; }
GANTRY_HD constexpr bool is_reduce(TmaOp op) noexcept { return op >= TmaOp::reduce_add && op <= TmaOp::reduce_xor; }
GANTRY_HD constexpr bool is_prefetch(TmaOp op) noexcept { return op >= TmaOp::prefetch; }
GANTRY_HD constexpr bool is_im2col(TmaOp op) noexcept {
  return op == TmaOp::load_im2col || op == TmaOp::load_im2col_multicast || op == TmaOp::store_im2col ||
         op == TmaOp::prefetch_im2col;
}

// Shared memory is the source, global memory the destination, and a bulk group tells the completion.
GANTRY_HD constexpr bool writes_global(TmaOp op) noexcept { return is_store(op) || is_reduce(op); }

namespace tma_detail {

struct ReduceTypes {
  TmaRule rule;
  std::uint32_t mask;  // bit t: element type t is allowed
};

template <class... Types>
GANTRY_HD constexpr std::uint32_t type_mask(Types... types) noexcept {
  return (0u | ... | (1u << static_cast<unsigned>(types)));
}

// Requires a reduction.
GANTRY_HD constexpr ReduceTypes reduce_types(TmaOp op) noexcept {
  using enum TmaDataType;
  switch (op) {
    case TmaOp::reduce_add:
      return {TmaRule::reduce_add_type, type_mask(u32, s32, u64, f16, f32, f64, bf16)};
    case TmaOp::reduce_min:
    case TmaOp::reduce_max:
      return {TmaRule::reduce_min_max_type, type_mask(u32, s32, u64, s64, f16, bf16)};
    case TmaOp::reduce_inc:
    case TmaOp::reduce_dec:
      return {TmaRule::reduce_inc_dec_type, type_mask(u32)};
    default:
      return {TmaRule::reduce_bitwise_type, type_mask(u32, s32, u64)};
  }
}

// The allowed type most like `type`: the same kind of number first, then the closest width.
GANTRY_HD constexpr TmaDataType nearest_type(TmaDataType type, std::uint32_t mask) noexcept {
  TmaDataType best = TmaDataType::u32;
  int best_distance = 1 << 20;
  for (int i = 0; i < kTmaDataTypeCount; ++i) {
    const auto candidate = static_cast<TmaDataType>(i);
    if ((mask >> i & 1u) == 0) continue;
    const int wider = element_bits(candidate) - element_bits(type);
    const int distance = (wider < 0 ? -wider : wider) + (is_floating(candidate) == is_floating(type) ? 0 : 1 << 10);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace tma_detail

// Whether a reduction has a form for the element type. Requires `is_reduce(op)`.
GANTRY_HD constexpr bool reduce_allows(TmaOp op, TmaDataType type) noexcept {
  return (tma_detail::reduce_types(op).mask >> static_cast<unsigned>(type) & 1u) != 0;
}

// What keeps an operation from using a map that is legal in itself.
GANTRY_COLD GANTRY_HD constexpr TmaViolations check_operation(TmaOp op, const TmaDescriptorParams& params) noexcept {
  TmaViolations found;
  const TmaMode wanted = is_im2col(op) ? TmaMode::im2col : TmaMode::tiled;
  if (params.mode != wanted) {
    found.add({.rule = TmaRule::map_kind_mismatch,
               .field = TmaField::mode,
               .actual = static_cast<std::uint64_t>(params.mode),
               .nearest = static_cast<std::uint64_t>(wanted)});
  }
  if (is_reduce(op) && hopper_has(params.data_type) && !reduce_allows(op, params.data_type)) {
    const tma_detail::ReduceTypes types = tma_detail::reduce_types(op);
    found.add({.rule = types.rule,
               .field = TmaField::data_type,
               .actual = static_cast<std::uint64_t>(params.data_type),
               .nearest = static_cast<std::uint64_t>(tma_detail::nearest_type(params.data_type, types.mask))});
  }
  if (writes_global(op) && params.interleave == TmaInterleave::none) {
    const std::uint64_t bytes = params.dims[0] * static_cast<std::uint64_t>(element_bytes(params.data_type));
    const std::uint64_t past = bytes % kTmaChunkBytes;
    if (past != 0) {
      found.add(
          {.rule = TmaRule::store_ends_inside_chunk,
           .field = TmaField::dims,
           .index = 0,
           .actual = params.dims[0],
           .nearest = (bytes - past + kTmaChunkBytes) / static_cast<std::uint64_t>(element_bytes(params.data_type)),
           .first = static_cast<std::int64_t>(past)});
    }
  }
  if (!is_store(op) || params.mode != TmaMode::tiled) return found;
  for (int i = 1; i < clamped_rank(params); ++i) {
    const bool one_slice = params.interleave != TmaInterleave::none && i == channel_dimension(params);
    if (params.strides[i - 1] == 0 && params.dims[i] > 1 && box_positions(params, i) > 1 && !one_slice) {
      found.add({.rule = TmaRule::store_overlaps_itself,
                 .field = TmaField::box,
                 .index = static_cast<std::int16_t>(i),
                 .actual = params.box[i],
                 .nearest = 1});
    }
  }
  return found;
}

}  // namespace gantry
