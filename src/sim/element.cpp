#include "element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <gantry/numeric/float_types.hpp>

namespace gantry::sim {
namespace {

// The NaN that floating-point arithmetic gives, whatever the NaNs it was given.
template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_same_v<T, float>) {
    return value == value ? value : std::bit_cast<float>(0x7FFFFFFFu);
  } else {
    return value == value ? value : T::from_bits(0x7FFF);
  }
}

// A number wins against a NaN, and minus zero is less than zero: as an H200 was seen to do it.
template <class T>
T lesser(T a, T b) {
  if (a != a || b != b) return canonical(a == a ? a : b);
  if (a == b) return std::signbit(static_cast<float>(a)) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  if (a != a || b != b) return canonical(a == a ? a : b);
  if (a == b) return std::signbit(static_cast<float>(a)) ? b : a;
  return a < b ? b : a;
}

template <class T>
T combine(AtomicOp op, T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case AtomicOp::add: {
        using Wraps = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Wraps>(old) + static_cast<Wraps>(value));
      }
      case AtomicOp::min:
        return std::min(old, value);
      case AtomicOp::max:
        return std::max(old, value);
      case AtomicOp::inc:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case AtomicOp::dec:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      case AtomicOp::and_:
        return old & value;
      case AtomicOp::or_:
        return old | value;
      case AtomicOp::xor_:
        return old ^ value;
      default:
        return value;
    }
  } else {
    switch (op) {
      case AtomicOp::add:
        return canonical(T(old + value));
      case AtomicOp::min:
        return lesser(old, value);
      case AtomicOp::max:
        return greater(old, value);
      default:
        return value;
    }
  }
}

template <class T>
void update(AtomicOp op, std::byte* target, const void* value, const void* compare) {
  T old, operand;
  std::memcpy(&old, target, sizeof old);
  std::memcpy(&operand, value, sizeof operand);
  T result = operand;
  if (op == AtomicOp::compare_exchange) {
    if (!std::equal(target, target + sizeof old, static_cast<const std::byte*>(compare))) result = old;
  } else if (op != AtomicOp::exchange) {
    result = combine(op, old, operand);
  }
  std::memcpy(target, &result, sizeof result);
}

}  // namespace

void update_element(AtomicOp op, Element element, std::byte* target, const void* value, const void* compare) {
  switch (element) {
    case Element::b8:
      return update<std::uint8_t>(op, target, value, compare);
    case Element::b16:
      return update<std::uint16_t>(op, target, value, compare);
    case Element::u32:
      return update<std::uint32_t>(op, target, value, compare);
    case Element::s32:
      return update<std::int32_t>(op, target, value, compare);
    case Element::u64:
      return update<std::uint64_t>(op, target, value, compare);
    case Element::s64:
      return update<std::int64_t>(op, target, value, compare);
    case Element::f16:
      return update<f16>(op, target, value, compare);
    case Element::bf16:
      return update<bf16>(op, target, value, compare);
    case Element::f32:
      return update<float>(op, target, value, compare);
    case Element::f64:
      return update<double>(op, target, value, compare);
  }
}

std::uint32_t element_size(Element element) {
  switch (element) {
    case Element::b8:
      return 1;
    case Element::b16:
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::u32:
    case Element::s32:
    case Element::f32:
      return 4;
    default:
      return 8;
  }
}

void reduce_element(ReduceOp op, Element element, std::byte* old, const std::byte* value) {
  // The reductions are the first eight atomic operations, in the same order.
  update_element(static_cast<AtomicOp>(op), element, old, value, nullptr);
}

}  // namespace gantry::sim
