// One integer leaf of a shape, stride or coordinate.
//
// A leaf is fixed (known at compile time, printed `_8`), dynamic (a run-time value, printed `8`), or unknown (dynamic,
// its value not readable yet, printed `?`). It may be scaled by a basis element: `64@1` is 64 along mode 1, and `1@0@2`
// is 1 along mode 0 of mode 2, outermost mode printed last. `_` alone, "all of this mode", is a leaf too.
//
// Decisions about structure may look only at fixed leaves, so that the same structure comes out for every run-time
// value. Arithmetic keeps what can be known: `_0 * d` is `_0`, `d % _1` is `_0`, anything else with a dynamic operand
// is dynamic.
//
// Example:
//     using namespace gantry;
//     static_assert((_0 * Int(7)).is_fixed(0));
//     static_assert((_4 * Int::basis(1)).value() == 4);
#pragma once

#include <gantry/layout/fault.hpp>

namespace gantry {

// The nested mode that a basis element names: outermost mode first, e.g. {2, 0} for `@0@2`. Empty for a plain integer;
// BasisPath{} is empty.
class BasisPath {
 public:
  static constexpr int kMaxDepth = 5;
  static constexpr int kMaxIndex = 31;

  GANTRY_HD constexpr int depth() const { return static_cast<int>(bits_ >> kDepthShift); }
  GANTRY_HD constexpr bool empty() const { return bits_ == 0; }
  GANTRY_HD constexpr int operator[](int level) const {
    return static_cast<int>((bits_ >> (kIndexBits * level)) & kMaxIndex);
  }
  // The path one level further in. Refuses more than kMaxDepth levels and an index outside of [0, kMaxIndex].
  GANTRY_HD constexpr BasisPath then(int index) const {
    if (index < 0 || index > kMaxIndex) refuse({Rule::basis_index, index});
    if (depth() == kMaxDepth) refuse({Rule::basis_depth, kMaxDepth + 1, kMaxDepth});
    BasisPath out{};
    out.bits_ = (bits_ & kIndexMask) | (static_cast<std::uint32_t>(index) << (kIndexBits * depth())) |
                (static_cast<std::uint32_t>(depth() + 1) << kDepthShift);
    return out;
  }
  // The path without its outermost level. Requires a non-empty path.
  GANTRY_HD constexpr BasisPath inner() const {
    BasisPath out{};
    for (int i = 1; i < depth(); ++i) out = out.then((*this)[i]);
    return out;
  }
  GANTRY_HD friend constexpr bool operator==(BasisPath a, BasisPath b) { return a.bits_ == b.bits_; }

  // The path as 32 bits, 0 for the empty one.
  GANTRY_HD constexpr std::uint32_t bits() const { return bits_; }
  GANTRY_HD static constexpr BasisPath from_bits(std::uint32_t bits) {
    BasisPath out{};
    out.bits_ = bits;
    return out;
  }

 private:
  static constexpr int kIndexBits = 5;
  static constexpr int kDepthShift = kIndexBits * kMaxDepth;
  static constexpr std::uint32_t kIndexMask = (1U << kDepthShift) - 1;
  std::uint32_t bits_;
};

namespace detail {

__extension__ typedef __int128 wide_int;

// The range of a leaf is symmetric, so that every leaf can be negated.
GANTRY_HD constexpr bool fits_in_64_bits(wide_int v) { return v <= INT64_MAX && v >= -INT64_MAX; }

GANTRY_HD constexpr std::int64_t gcd_magnitude(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t r = b == -1 ? 0 : a % b;
    a = b;
    b = r;
  }
  return a < 0 ? -a : a;
}

}  // namespace detail

class Int;

namespace detail {

// Arithmetic on anything but two known integers.
GANTRY_HD constexpr Int general_product(Int a, Int b);
GANTRY_HD constexpr Int general_sum(Int a, Int b);
GANTRY_HD constexpr Int general_quotient(Int a, Int b);
GANTRY_HD constexpr Int general_ceil_div(Int a, Int b);
GANTRY_HD constexpr Int general_remainder(Int a, Int b);
GANTRY_HD constexpr Int general_min(Int a, Int b);

}  // namespace detail

class Int {
 public:
  enum class Kind : std::uint8_t { dynamic, fixed, unknown, all, faulty };

  // As with int, `Int{}` is 0 and `Int v;` has no value: arrays of leaves cost nothing until they are filled.
  Int() = default;
  // A run-time integer. One that does not fit is faulty.
  template <Integer T>
  GANTRY_HD constexpr Int(T v) : Int(static_cast<std::int64_t>(v), std::uint64_t{0}) {
    const bool is_negative = v < T{};
    if (value_ == INT64_MIN || is_negative != (value_ < 0)) *this = faulty(Rule::overflow);
  }

  GANTRY_HD static constexpr Int fixed(std::int64_t v) {
    return v == INT64_MIN ? faulty(Rule::overflow) : Int(v, kFixed);
  }
  // Fixed or dynamic. Requires v != INT64_MIN.
  GANTRY_HD static constexpr Int known(std::int64_t v, bool is_fixed) {
    return Int(v, static_cast<std::uint64_t>(is_fixed));
  }
  GANTRY_HD static constexpr Int unknown() { return Int(0, Kind::unknown); }
  GANTRY_HD static constexpr Int all() { return Int(0, Kind::all); }
  // A leaf that could not be computed, and why. `wanted` has 48 bits of room; one that needs more is kNumberTooLarge.
  GANTRY_HD static constexpr Int faulty(const Fault& fault) {
    const bool fits = fault.wanted < kWantedLimit && fault.wanted > -kWantedLimit;
    const auto wanted = static_cast<std::uint64_t>(fits ? fault.wanted : -kWantedLimit);
    return Int(fault.actual, static_cast<std::uint64_t>(Kind::faulty) |
                                 static_cast<std::uint64_t>(fault.rule) << kRuleShift | wanted << kWantedShift);
  }
  GANTRY_HD static constexpr Int faulty(Rule rule, std::int64_t actual = 0) { return faulty(Fault{rule, actual}); }
  // The static unit along the nested mode `indices`, outermost first: basis(2, 0) prints `_1@0@2`.
  template <class... Indices>
  GANTRY_HD static constexpr Int basis(Indices... indices) {
    static_assert(sizeof...(Indices) <= BasisPath::kMaxDepth,
                  "gantry: a basis element names at most five nested modes");
    BasisPath path{};
    Int out = fixed(1);
    const auto descend = [&](std::int64_t index) {
      if (index < 0 || index > BasisPath::kMaxIndex) {
        if (!out.is_faulty()) out = faulty(Rule::basis_index, index);
      } else {
        path = path.then(static_cast<int>(index));
      }
    };
    (descend(static_cast<std::int64_t>(indices)), ...);
    return out.is_faulty() ? out : out.with_path(path);
  }

  GANTRY_HD constexpr Kind kind() const { return static_cast<Kind>(traits_ & kKindMask); }
  GANTRY_HD constexpr bool is_fixed() const { return (traits_ & kKindMask) == kFixed; }
  // A fixed plain integer of this value. The only comparison that may decide about structure.
  GANTRY_HD constexpr bool is_fixed(std::int64_t v) const {
    return value_ == v && (traits_ == kFixed || (v == 0 && is_fixed()));
  }
  GANTRY_HD constexpr bool is_number() const { return kind() <= Kind::unknown; }
  GANTRY_HD constexpr bool is_known() const { return (traits_ & kKindMask) <= kFixed; }
  GANTRY_HD constexpr bool is_all() const { return kind() == Kind::all; }
  GANTRY_HD constexpr bool is_basis() const { return (traits_ >> kPathShift) != 0 && !is_faulty(); }
  GANTRY_HD constexpr bool is_plain() const { return is_number() && !is_basis(); }
  // Neither unknown nor a basis element nor rational: what arithmetic can do without looking further.
  GANTRY_HD constexpr bool is_known_integer() const { return traits_ <= kFixed; }
  GANTRY_HD constexpr bool is_faulty() const { return kind() == Kind::faulty; }
  GANTRY_HD constexpr Rule rule() const {
    return is_faulty() ? static_cast<Rule>(traits_ >> kRuleShift & 0xff) : Rule::none;
  }
  GANTRY_HD constexpr Fault fault() const {
    if (!is_faulty()) return {};
    const auto wanted = static_cast<std::int64_t>(traits_) >> kWantedShift;
    return {rule(), value_, wanted == -kWantedLimit ? kNumberTooLarge : wanted};
  }

  // The number, or the coefficient of the basis element. 0 where it is unknown.
  GANTRY_HD constexpr std::int64_t value() const { return value_; }
  // Coefficients of recast coordinates may be rational: value() / denominator(). 1 everywhere else.
  GANTRY_HD constexpr int denominator() const {
    return static_cast<int>((traits_ & kDenominatorMask) >> kDenominatorShift) + 1;
  }
  GANTRY_HD constexpr BasisPath path() const {
    return BasisPath::from_bits(is_faulty() ? 0 : static_cast<std::uint32_t>(traits_ >> kPathShift));
  }

  GANTRY_HD constexpr Int with_path(BasisPath path) const {
    constexpr std::uint64_t others = (std::uint64_t{1} << kPathShift) - 1;
    if (is_faulty()) return *this;
    return Int(value_, (traits_ & others) | (static_cast<std::uint64_t>(path.bits()) << kPathShift));
  }
  // The coefficient alone.
  GANTRY_HD constexpr Int coefficient() const { return with_path({}); }
  // The same value as a run-time one, and as a compile-time one.
  GANTRY_HD constexpr Int as_dynamic() const { return is_known() ? with_kind(Kind::dynamic) : *this; }
  GANTRY_HD constexpr Int as_fixed() const { return is_known() ? with_kind(Kind::fixed) : *this; }
  // The value over a denominator from 1 to 65536, in lowest terms.
  GANTRY_HD constexpr Int over(std::int64_t denominator) const {
    if (is_faulty()) return *this;
    if (denominator < 1) return faulty(Rule::division_by_zero);
    const auto common = detail::gcd_magnitude(value_, denominator);
    const auto lowest = denominator / common;
    if (lowest > kMaxDenominator) return faulty(Rule::overflow);
    return Int(value_ / common,
               (traits_ & ~kDenominatorMask) | (static_cast<std::uint64_t>(lowest - 1) << kDenominatorShift));
  }

  GANTRY_HD friend constexpr bool operator==(Int a, Int b) { return a.value_ == b.value_ && a.traits_ == b.traits_; }

  // Products may have one basis operand, whose path the result keeps.
  GANTRY_HD friend constexpr Int operator*(Int a, Int b) {
    if ((a.traits_ | b.traits_) > kFixed) return detail::general_product(a, b);
    const auto v = static_cast<detail::wide_int>(a.value_) * b.value_;
    if (v > INT64_MAX || v < -INT64_MAX) return faulty(Rule::overflow);
    const bool fixed_zero = v == 0 && (a.is_fixed(0) || b.is_fixed(0));
    return Int(static_cast<std::int64_t>(v), fixed_zero ? kFixed : a.traits_ & b.traits_);
  }

  // Sums of plain integers, or of elements along the same basis mode. Sums across modes are tuples (coordinate.hpp).
  GANTRY_HD friend constexpr Int operator+(Int a, Int b) {
    if ((a.traits_ | b.traits_) > kFixed) return detail::general_sum(a, b);
    const auto v = static_cast<detail::wide_int>(a.value_) + b.value_;
    if (!detail::fits_in_64_bits(v)) return faulty(Rule::overflow);
    return Int(static_cast<std::int64_t>(v), a.traits_ & b.traits_);
  }

  // Division truncates toward zero, as C++ does. A basis element may be divided by an integer.
  GANTRY_HD friend constexpr Int operator/(Int a, Int b) {
    if ((a.traits_ | b.traits_) > kFixed || b.value_ == 0) return detail::general_quotient(a, b);
    return Int(a.value_ / b.value_, a.is_fixed(0) ? kFixed : a.traits_ & b.traits_);
  }
  GANTRY_HD friend constexpr Int operator%(Int a, Int b) {
    if ((a.traits_ | b.traits_) > kFixed || b.value_ == 0) return detail::general_remainder(a, b);
    return Int(a.value_ % b.value_, a.is_fixed(0) || b.is_fixed(1) ? kFixed : a.traits_ & b.traits_);
  }
  // ceil(a / b) for a >= 0 and b > 0.
  GANTRY_HD friend constexpr Int ceil_div(Int a, Int b) {
    if (b.is_fixed(1)) return a;
    if ((a.traits_ | b.traits_) > kFixed || b.value_ == 0) return detail::general_ceil_div(a, b);
    return Int(a.value_ / b.value_ + (a.value_ % b.value_ > 0 ? 1 : 0), a.traits_ & b.traits_);
  }
  GANTRY_HD friend constexpr Int min(Int a, Int b) {
    if ((a.traits_ | b.traits_) > kFixed) return detail::general_min(a, b);
    return Int(a.value_ < b.value_ ? a.value_ : b.value_, a.traits_ & b.traits_);
  }

 private:
  static constexpr std::uint64_t kKindMask = 0xff;
  static constexpr std::uint64_t kFixed = static_cast<std::uint64_t>(Kind::fixed);
  static constexpr int kRuleShift = 8;
  static constexpr int kWantedShift = 16;
  static constexpr std::int64_t kWantedLimit = std::int64_t{1} << (63 - kWantedShift);
  static constexpr int kDenominatorShift = 16;
  static constexpr std::uint64_t kDenominatorMask = 0xffff0000;
  static constexpr std::int64_t kMaxDenominator = 0x10000;
  static constexpr int kPathShift = 32;

  GANTRY_HD constexpr Int(std::int64_t v, std::uint64_t traits) : value_(v), traits_(traits) {}
  GANTRY_HD constexpr Int(std::int64_t v, Kind kind) : Int(v, static_cast<std::uint64_t>(kind)) {}
  GANTRY_HD constexpr Int with_kind(Kind kind) const {
    return Int(value_, (traits_ & ~kKindMask) | static_cast<std::uint64_t>(kind));
  }

  std::int64_t value_;
  // Kind, denominator less 1, path: all bits 0 for a plain run-time integer. Of a faulty one: kind, rule, what was
  // wanted.
  std::uint64_t traits_;
};
static_assert(sizeof(Int) == 16);
GANTRY_HD constexpr Int ceil_div(Int a, Int b);
GANTRY_HD constexpr Int min(Int a, Int b);

// Equal as numbers, whether fixed or dynamic.
GANTRY_HD constexpr bool same_value(Int a, Int b) {
  return a.is_known() && b.is_known() && a.value() == b.value() && a.denominator() == b.denominator() &&
         (a.path() == b.path() || a.value() == 0);
}

namespace detail {

GANTRY_HD constexpr bool are_fixed(Int a, Int b) { return a.is_fixed() && b.is_fixed(); }

// The leaf for an exact result of an operation on a and b, both numbers: fixed only if both are.
GANTRY_HD constexpr Int exact(wide_int v, Int a, Int b) {
  if (!a.is_known() || !b.is_known()) return Int::unknown();
  if (!fits_in_64_bits(v)) return Int::faulty(Rule::overflow);
  return Int::known(static_cast<std::int64_t>(v), are_fixed(a, b));
}

// The fault that forbids an operation on a and b, if any.
GANTRY_HD constexpr Fault operand_fault(Int a, Int b) {
  if (a.is_faulty()) return a.fault();
  if (b.is_faulty()) return b.fault();
  return {a.is_all() || b.is_all() ? Rule::not_an_integer : Rule::none};
}

// The same for operations that have a meaning for integers alone.
GANTRY_HD constexpr Fault integer_fault(Int a, Int b) {
  if (const Fault f = operand_fault(a, b)) return f;
  if (a.is_basis() || b.is_basis()) return {Rule::basis_product};
  return {a.denominator() == 1 && b.denominator() == 1 ? Rule::none : Rule::not_an_integer};
}

GANTRY_HD constexpr Int general_product(Int a, Int b) {
  if (const Fault f = operand_fault(a, b)) return Int::faulty(f);
  if (a.is_fixed(0) || b.is_fixed(0)) return Int::fixed(0);
  if (a.is_basis() && b.is_basis()) return Int::faulty(Rule::basis_product);
  const Int whole = exact(static_cast<wide_int>(a.value()) * b.value(), a, b);
  const std::int64_t denominator = static_cast<std::int64_t>(a.denominator()) * b.denominator();
  const BasisPath path = a.is_basis() ? a.path() : b.path();
  if (denominator == 1) return whole.with_path(path);
  if (whole.is_fixed()) return whole.over(denominator).with_path(path);
  return whole.is_known() ? Int(whole.value() / denominator).with_path(path) : whole.with_path(path);
}

GANTRY_HD constexpr Int general_sum(Int a, Int b) {
  if (const Fault f = operand_fault(a, b)) return Int::faulty(f);
  if (a.is_fixed(0)) return b;
  if (b.is_fixed(0)) return a;
  if (!(a.path() == b.path())) return Int::faulty(Rule::mixed_basis);
  const auto numerator =
      static_cast<wide_int>(a.value()) * b.denominator() + static_cast<wide_int>(b.value()) * a.denominator();
  const std::int64_t denominator = static_cast<std::int64_t>(a.denominator()) * b.denominator();
  const Int whole = exact(numerator, a, b);
  if (denominator == 1 || !whole.is_known()) return whole.with_path(a.path());
  return (whole.is_fixed() ? whole.over(denominator) : Int(whole.value() / denominator)).with_path(a.path());
}

GANTRY_HD constexpr Int general_quotient(Int a, Int b) {
  if (const Fault f = integer_fault(a.coefficient(), b)) return Int::faulty(f);
  if (b.is_known() && b.value() == 0) return Int::faulty(Rule::division_by_zero);
  if (a.is_fixed(0)) return Int::fixed(0);
  if (!a.is_known() || !b.is_known()) return b.is_fixed(1) ? a : Int::unknown().with_path(a.path());
  return Int::known(a.value() / b.value(), are_fixed(a, b)).with_path(a.path());
}

GANTRY_HD constexpr Int general_ceil_div(Int a, Int b) { return general_quotient(a + b + Int::fixed(-1), b); }

GANTRY_HD constexpr Int general_min(Int a, Int b) {
  if (const Fault f = integer_fault(a, b)) return Int::faulty(f);
  return exact(a.value() < b.value() ? a.value() : b.value(), a, b);
}

GANTRY_HD constexpr Int general_remainder(Int a, Int b) {
  if (const Fault f = integer_fault(a, b)) return Int::faulty(f);
  if (b.is_known() && b.value() == 0) return Int::faulty(Rule::division_by_zero);
  return a.is_fixed(0) || b.is_fixed(1) ? Int::fixed(0) : Int::unknown();
}

}  // namespace detail

GANTRY_HD constexpr Int operator-(const Int& a) { return Int::fixed(-1) * a; }
GANTRY_HD constexpr Int operator-(Int a, Int b) { return a + -b; }

GANTRY_HD constexpr Int abs(const Int& a) { return a.is_known() && a.value() < 0 ? -a : a; }

GANTRY_HD constexpr Int signum(const Int& a) {
  if (!a.is_known()) return a.is_number() ? Int::unknown() : Int::faulty(detail::operand_fault(a, a));
  return Int::known(a.value() > 0 ? 1 : a.value() < 0 ? -1 : 0, a.is_fixed());
}

GANTRY_HD constexpr Int max(Int a, Int b) {
  if (const Fault f = detail::integer_fault(a, b)) return Int::faulty(f);
  return detail::exact(a.value() < b.value() ? b.value() : a.value(), a, b);
}

GANTRY_HD constexpr Int gcd(Int a, Int b) {
  if (const Fault f = detail::integer_fault(a, b)) return Int::faulty(f);
  if (a.is_fixed(1) || b.is_fixed(1)) return Int::fixed(1);
  return detail::exact(detail::gcd_magnitude(a.value(), b.value()), a, b);
}

// `_`: all of a mode. A type of its own, so that a call with it is a slice.
struct Underscore {
  GANTRY_HD constexpr operator Int() const { return Int::all(); }
};
inline constexpr Underscore _{};

// Compile-time integers as CuTe's users write them.
inline constexpr Int _0 = Int::fixed(0);
inline constexpr Int _1 = Int::fixed(1);
inline constexpr Int _2 = Int::fixed(2);
inline constexpr Int _3 = Int::fixed(3);
inline constexpr Int _4 = Int::fixed(4);
inline constexpr Int _5 = Int::fixed(5);
inline constexpr Int _6 = Int::fixed(6);
inline constexpr Int _7 = Int::fixed(7);
inline constexpr Int _8 = Int::fixed(8);
inline constexpr Int _10 = Int::fixed(10);
inline constexpr Int _12 = Int::fixed(12);
inline constexpr Int _16 = Int::fixed(16);
inline constexpr Int _32 = Int::fixed(32);
inline constexpr Int _64 = Int::fixed(64);
inline constexpr Int _96 = Int::fixed(96);
inline constexpr Int _128 = Int::fixed(128);
inline constexpr Int _192 = Int::fixed(192);
inline constexpr Int _256 = Int::fixed(256);
inline constexpr Int _512 = Int::fixed(512);
inline constexpr Int _1024 = Int::fixed(1024);
inline constexpr Int _2048 = Int::fixed(2048);
inline constexpr Int _4096 = Int::fixed(4096);
inline constexpr Int _8192 = Int::fixed(8192);

}  // namespace gantry
