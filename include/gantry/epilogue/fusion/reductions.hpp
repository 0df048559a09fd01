// Reductions of an epilogue: over the whole problem, over m (one result for each n) or over n (one for each m).
//
// A thread combines its own values, lanes combine by shuffles, warps in shared memory; then either atomics combine the
// tiles in whatever order they finish, or each tile leaves its part in workspace and the last one to arrive combines
// them in the order of the tiles, which gives the same bits on every run.
//
// Example:
//     using namespace gantry::fusion;
//     static_assert(combine<Reduction::amax>(-3.0f, 2.0f) == 3.0f && identity<Reduction::amax>() == 0.0f);
#pragma once

#include <gantry/arch/atomic.hpp>
#include <gantry/arch/math.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/fusion/detail/outputs.hpp>
#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/epilogue/fusion/params.hpp>

namespace gantry::fusion {

template <Reduction op>
GANTRY_HD constexpr float identity() {
  return identity(op);
}

inline constexpr float kLn2 = 0.6931471805599453f;

// log(exp(a) + exp(b)) without the exponential of the larger one.
GANTRY_INLINE float log_add_exp(float larger, float smaller) {
  if (larger == -__builtin_inff() || larger == __builtin_inff()) return larger;
  return larger + kLn2 * arch::lg2_approx(1.0f + arch::ex2_approx((smaller - larger) * arch::kLog2e));
}

// For the logarithm of a sum of exponentials whose largest exponent is `top`. Where that is infinite, as it is where
// there are no exponents, infinities add up as they are; a NaN among the exponents is the result.
class LogSumBase {
 public:
  GANTRY_INLINE explicit LogSumBase(float top) : top_(top == -__builtin_inff() || top == __builtin_inff() ? 0 : top) {}

  GANTRY_INLINE float exponential(float x) const { return arch::ex2_approx((x - top_) * arch::kLog2e); }
  GANTRY_INLINE float logarithm(float sum) const { return top_ + kLn2 * arch::lg2_approx(sum); }

 private:
  float top_;
};

// What a reduction has of some of its values: a number, or a sum of exponentials and the largest exponent, which it is
// relative to. Kept as floats_of(op) floats.
struct ExponentialSum {
  float top, sum;
};
template <Reduction op>
struct StateOf {
  using type = float;
};
template <>
struct StateOf<Reduction::sumexp> {
  using type = ExponentialSum;
};
template <Reduction op>
using State = typename StateOf<op>::type;

// Of no values.
template <Reduction op>
GANTRY_HD constexpr State<op> initial() {
  if constexpr (op == Reduction::sumexp) {
    return {-__builtin_inff(), 0.0f};
  } else {
    return identity(op);
  }
}
GANTRY_HD constexpr float result_of(float state) { return state; }
GANTRY_HD constexpr float result_of(const ExponentialSum& state) { return state.sum; }

// State `i` among floats.
template <Reduction op>
GANTRY_HD constexpr State<op> state_at(const float* floats, int i) {
  if constexpr (op == Reduction::sumexp) {
    return {floats[2 * i], floats[2 * i + 1]};
  } else {
    return floats[i];
  }
}
template <Reduction op>
GANTRY_HD constexpr void set_state(float* floats, int i, const State<op>& state) {
  if constexpr (op == Reduction::sumexp) {
    floats[2 * i] = state.top;
    floats[2 * i + 1] = state.sum;
  } else {
    floats[i] = state;
  }
}
// The same in memory of a space.
template <Reduction op, class Space>
GANTRY_INLINE void store_state(Space space, float* floats, std::int64_t i, const State<op>& state) {
  if constexpr (op == Reduction::sumexp) {
    arch::st(space, floats + 2 * i, state.top);
    arch::st(space, floats + 2 * i + 1, state.sum);
  } else {
    arch::st(space, floats + i, state);
  }
}
template <Reduction op>
GANTRY_INLINE State<op> load_shared_state(const float* floats, int i) {
  if constexpr (op == Reduction::sumexp) {
    return {arch::ld(arch::space_shared, floats + 2 * i), arch::ld(arch::space_shared, floats + 2 * i + 1)};
  } else {
    return arch::ld(arch::space_shared, floats + i);
  }
}
template <Reduction op>
GANTRY_INLINE State<op> load_global_state(const float* floats, std::int64_t i) {
  const auto load = [&](std::int64_t at) { return arch::ld(arch::space_global, floats + at, arch::cache_global); };
  if constexpr (op == Reduction::sumexp) {
    return {load(2 * i), load(2 * i + 1)};
  } else {
    return load(i);
  }
}

// A NaN in either operand is the result.
template <Reduction op>
GANTRY_INLINE State<op> combine(const State<op>& a, const State<op>& b) requires(op == Reduction::sumexp) {
  const float top = a.top > b.top ? a.top : b.top;
  const LogSumBase base(top);
  return {top, a.sum * base.exponential(a.top) + b.sum * base.exponential(b.top)};
}
template <Reduction op>
GANTRY_HD constexpr float combine(float a, float b) requires(op != Reduction::sumexp) {
  if constexpr (op == Reduction::add) {
    return a + b;
  } else if constexpr (op == Reduction::mul) {
    return a * b;
  } else if constexpr (op == Reduction::min) {
    return a < b || a != a ? a : b;
  } else if constexpr (op == Reduction::lse) {
    const bool first = a > b || a != a;
    return log_add_exp(first ? a : b, first ? b : a);
  } else {
    if constexpr (op == Reduction::amax) {
      a = a < 0 ? -a : a;
      b = b < 0 ? -b : b;
    }
    return a > b || a != a ? a : b;
  }
}

GANTRY_INLINE float from_lane(float x, int bits) { return arch::shfl_xor_sync(arch::kFullWarp, x, bits); }
GANTRY_INLINE ExponentialSum from_lane(const ExponentialSum& x, int bits) {
  return {from_lane(x.top, bits), from_lane(x.sum, bits)};
}

// Over the lanes whose numbers differ in the bits of `lanes`; every lane has the result.
template <Reduction op, int lanes>
GANTRY_INLINE State<op> combine_lanes(State<op> x) {
  GANTRY_UNROLL
  for (int bit = 16; bit > 0; bit /= 2) {
    if ((lanes & bit) != 0) x = combine<op>(x, from_lane(x, bit));
  }
  return x;
}

// Combines with what other tiles bring, in the order they come. The bits of floats of one sign are ordered as integers:
// for max, NaN (made positive) is above all of them, for min (made negative) below. Others look and swap.
template <Reduction op>
GANTRY_INLINE void combine_in_memory(float* result, float x) {
  constexpr bool is_min = op == Reduction::min;
  if constexpr (op == Reduction::add) {
    arch::red(arch::op_add, arch::space_global, result, x);
  } else if constexpr (op == Reduction::mul || op == Reduction::lse) {
    auto* words = reinterpret_cast<std::uint32_t*>(result);
    std::uint32_t seen = __builtin_bit_cast(std::uint32_t, identity(op)), before = 0;
    do {
      before = seen;
      const float both = combine<op>(__builtin_bit_cast(float, before), x);
      seen = arch::atom_cas(arch::space_global, words, before, __builtin_bit_cast(std::uint32_t, both));
    } while (seen != before);
  } else {
    if (x != x) x = is_min ? -__builtin_nanf("") : __builtin_nanf("");
    const auto bits = __builtin_bit_cast(std::int32_t, x);
    auto* as_signed = reinterpret_cast<std::int32_t*>(result);
    auto* as_unsigned = reinterpret_cast<std::uint32_t*>(result);
    const auto unsigned_bits = static_cast<std::uint32_t>(bits);
    if constexpr (is_min) {
      bits >= 0 ? arch::red(arch::op_min, arch::space_global, as_signed, bits)
                : arch::red(arch::op_max, arch::space_global, as_unsigned, unsigned_bits);
    } else {
      bits >= 0 ? arch::red(arch::op_max, arch::space_global, as_signed, bits)
                : arch::red(arch::op_min, arch::space_global, as_unsigned, unsigned_bits);
    }
  }
}

// What one reduction of one tile knows about where its result goes.
struct ReductionTarget {
  void* result;              // of this tile's first element
  ElementType element;       // of the results; f32 by atomics
  float* partials;           // null: atomics
  std::int64_t part_stride;  // between the parts of neighbouring tiles, in states
  std::int64_t part;         // this tile's number among those that are combined
  std::int64_t parts;
};

// How the results of a reduction lie in memory: `length` of them, of which a tile has those from `first` on; and which
// of the `parts` of one batch the tile brings.
struct ReductionPart {
  std::int64_t length, first, part, parts;
};

// The target of one batch of `batches`. Without a batch stride all batches share one result, and their parts follow
// each other.
template <Reduction op>
GANTRY_INLINE ReductionTarget reduction_target(const Operand& operand, int batch, int batches,
                                               const ReductionPart& of) {
  constexpr int floats = floats_of(op);
  const bool by_batch = operand.batch_stride != 0;
  const std::int64_t before = batch * of.parts;
  const std::int64_t first = (batch * operand.batch_stride + of.first) * (element_bits(operand.element) / 8);
  ReductionTarget to{.result = static_cast<unsigned char*>(operand.pointer) + first,
                     .element = operand.element,
                     .partials = operand.partials,
                     .part_stride = of.length,
                     .part = of.part,
                     .parts = of.parts};
  if (to.partials != nullptr) to.partials += floats * ((by_batch ? before * of.length : 0) + of.first);
  if (!by_batch) {
    to.part += before;
    to.parts *= batches;
  }
  return to;
}

// Where results go, and how they are rounded there.
struct ResultStore {
  void* results;
  ElementType element;
  Rounding rounding;
};

// One result, as elements of its type have it.
GANTRY_INLINE void store_result(const ResultStore& to, std::int64_t i, float x) {
  const auto put = [&](auto value) {
    arch::st(arch::space_global, static_cast<decltype(value)*>(to.results) + i, value);
  };
  switch (to.element) {
    case ElementType::bf16:
      return put(as_output<bf16>(x, to.rounding));
    case ElementType::f16:
      return put(as_output<f16>(x, to.rounding));
    case ElementType::s32:
      return put(as_output<std::int32_t>(x, to.rounding));
    default:
      return put(x);
  }
}

// One result of a tile.
template <Reduction op>
GANTRY_INLINE void leave(const ReductionTarget& to, int i, const State<op>& x) {
  if (to.partials != nullptr) {
    store_state<op>(arch::space_global, to.partials, to.part * to.part_stride + i, x);
  } else if constexpr (op != Reduction::sumexp) {  // which atomics do not combine
    combine_in_memory<op>(static_cast<float*>(to.result) + i, x);
  }
}

// The parts of every tile, in their order.
template <Reduction op>
GANTRY_INLINE void finish(const ReductionTarget& to, Rounding rounding, int i) {
  State<op> x = initial<op>();
  for (std::int64_t part = 0; part < to.parts; ++part) {
    x = combine<op>(x, load_global_state<op>(to.partials, part * to.part_stride + i));
  }
  store_result({to.result, to.element, rounding}, i, result_of(x));
}

// How results are written: rounded so, and where `block` rows or columns have one each, those of one block are
// neighbours or a stride apart. 0: there are no blocks, and tiles are combined.
struct ResultForm {
  int block = 0;
  bool neighbours = true;
  Rounding rounding = Rounding::nearest_even;
};
GANTRY_HD constexpr ResultForm result_form(const Graph& graph, int argument) {
  const Argument& a = graph.arguments[argument];
  return {is_partial(a) ? a.block : 0, (a.extent == Extent::row) == a.row_major, graph.rounding};
}

// Result `i` of block `part`.
GANTRY_INLINE void leave_block(const Operand& operand, int batch, const ResultForm& form, std::int64_t part,
                               std::int64_t i, float x) {
  const std::int64_t at = form.neighbours ? part * operand.stride + i : i * operand.stride + part;
  store_result({operand.pointer, operand.element, form.rounding}, batch * operand.batch_stride + at, x);
}

}  // namespace gantry::fusion
