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

// The nested mode that a basis element names: outermost mode first, e.g. {2, 0} for `@0@2`. Empty for a plain integer.
class BasisPath {
 public:
  static constexpr int kMaxDepth = 5;
  static constexpr int kMaxIndex = 31;

  GANTRY_HD constexpr int depth() const { return static_cast<int>(bits_ >> kDepthShift); }
  GANTRY_HD constexpr bool empty() const { return bits_ == 0; }
  GANTRY_HD constexpr int operator[](int level) const {
    return static_cast<int>((bits_ >> (kIndexBits * level)) & kMaxIndex);
  }
  // The path one level further in. Requires depth() < kMaxDepth and 0 <= index <= kMaxIndex.
  GANTRY_HD constexpr BasisPath then(int index) const {
    BasisPath out;
    out.bits_ = (bits_ & kIndexMask) | (static_cast<std::uint32_t>(index) << (kIndexBits * depth())) |
                (static_cast<std::uint32_t>(depth() + 1) << kDepthShift);
    return out;
  }
  // The path without its outermost level. Requires a non-empty path.
  GANTRY_HD constexpr BasisPath inner() const {
    BasisPath out;
    for (int i = 1; i < depth(); ++i) out = out.then((*this)[i]);
    return out;
  }
  GANTRY_HD friend constexpr bool operator==(BasisPath a, BasisPath b) { return a.bits_ == b.bits_; }

 private:
  static constexpr int kIndexBits = 5;
  static constexpr int kDepthShift = kIndexBits * kMaxDepth;
  static constexpr std::uint32_t kIndexMask = (1U << kDepthShift) - 1;
  std::uint32_t bits_ = 0;
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

class Int {
 public:
  enum class Kind : std::uint8_t { dynamic, fixed, unknown, all, faulty };

  GANTRY_HD constexpr Int() : Int(0, Kind::dynamic) {}
  GANTRY_HD constexpr Int(std::int64_t v)
      : Int(v == INT64_MIN ? static_cast<std::int64_t>(Rule::overflow) : v,
            v == INT64_MIN ? Kind::faulty : Kind::dynamic) {}
  GANTRY_HD constexpr Int(int v) : Int(v, Kind::dynamic) {}

  GANTRY_HD static constexpr Int fixed(std::int64_t v) { return Int(v).as_fixed(); }
  GANTRY_HD static constexpr Int unknown() { return Int(0, Kind::unknown); }
  GANTRY_HD static constexpr Int all() { return Int(0, Kind::all); }
  GANTRY_HD static constexpr Int faulty(Rule rule) { return Int(static_cast<std::int64_t>(rule), Kind::faulty); }
  // The static unit along the nested mode `indices`, outermost first: basis(2, 0) prints `_1@0@2`.
  template <class... Indices>
  GANTRY_HD static constexpr Int basis(Indices... indices) {
    static_assert(sizeof...(Indices) <= BasisPath::kMaxDepth,
                  "gantry: a basis element names at most five nested modes");
    Int out = fixed(1);
    ((out.path_ = out.path_.then(static_cast<int>(indices))), ...);
    return out;
  }

  GANTRY_HD constexpr Kind kind() const { return kind_; }
  GANTRY_HD constexpr bool is_fixed() const { return kind_ == Kind::fixed; }
  // A fixed plain integer of this value. The only comparison that may decide about structure.
  GANTRY_HD constexpr bool is_fixed(std::int64_t v) const {
    return kind_ == Kind::fixed && value_ == v && denominator_ == 1 && (path_.empty() || v == 0);
  }
  GANTRY_HD constexpr bool is_number() const { return kind_ <= Kind::unknown; }
  GANTRY_HD constexpr bool is_known() const { return kind_ <= Kind::fixed; }
  GANTRY_HD constexpr bool is_all() const { return kind_ == Kind::all; }
  GANTRY_HD constexpr bool is_basis() const { return !path_.empty(); }
  GANTRY_HD constexpr bool is_plain() const { return is_number() && path_.empty(); }
  GANTRY_HD constexpr Rule rule() const { return kind_ == Kind::faulty ? static_cast<Rule>(value_) : Rule::none; }

  // The number, or the coefficient of the basis element. 0 where it is unknown.
  GANTRY_HD constexpr std::int64_t value() const { return value_; }
  // Coefficients of recast coordinates may be rational: value() / denominator(). 1 everywhere else.
  GANTRY_HD constexpr int denominator() const { return denominator_; }
  GANTRY_HD constexpr BasisPath path() const { return path_; }

  GANTRY_HD constexpr Int with_path(BasisPath path) const {
    Int out = *this;
    out.path_ = path;
    return out;
  }
  // The coefficient alone.
  GANTRY_HD constexpr Int coefficient() const { return with_path({}); }
  // The same value as a run-time one, and as a compile-time one.
  GANTRY_HD constexpr Int as_dynamic() const { return is_known() ? with_kind(Kind::dynamic) : *this; }
  GANTRY_HD constexpr Int as_fixed() const { return is_known() ? with_kind(Kind::fixed) : *this; }
  GANTRY_HD constexpr Int over(int denominator) const {
    Int out = *this;
    const auto common = detail::gcd_magnitude(value_, denominator);
    out.value_ = common == 0 ? 0 : value_ / common;
    out.denominator_ = static_cast<std::uint16_t>(common == 0 ? 1 : denominator / common);
    return out;
  }

  GANTRY_HD friend constexpr bool operator==(const Int& a, const Int& b) {
    return a.kind_ == b.kind_ && a.value_ == b.value_ && a.path_ == b.path_ && a.denominator_ == b.denominator_;
  }

 private:
  GANTRY_HD constexpr Int(std::int64_t v, Kind kind) : value_(v), kind_(kind) {}
  GANTRY_HD constexpr Int with_kind(Kind kind) const {
    Int out = *this;
    out.kind_ = kind;
    return out;
  }

  std::int64_t value_;
  BasisPath path_;
  std::uint16_t denominator_ = 1;
  Kind kind_;
};
static_assert(sizeof(Int) == 16);

// Equal as numbers, whether fixed or dynamic.
GANTRY_HD constexpr bool same_value(const Int& a, const Int& b) {
  return a.is_known() && b.is_known() && a.value() == b.value() && a.denominator() == b.denominator() &&
         (a.path() == b.path() || a.value() == 0);
}

namespace detail {

// The leaf for an exact result of an operation on a and b, both numbers: fixed only if both are.
GANTRY_HD constexpr Int exact(wide_int v, const Int& a, const Int& b) {
  if (!a.is_known() || !b.is_known()) return Int::unknown();
  if (!fits_in_64_bits(v)) return Int::faulty(Rule::overflow);
  const auto r = static_cast<std::int64_t>(v);
  return a.is_fixed() && b.is_fixed() ? Int::fixed(r) : Int(r);
}

// The fault that forbids an operation on a and b, if any.
GANTRY_HD constexpr Rule operand_rule(const Int& a, const Int& b) {
  if (a.kind() == Int::Kind::faulty) return a.rule();
  if (b.kind() == Int::Kind::faulty) return b.rule();
  return a.is_all() || b.is_all() ? Rule::not_an_integer : Rule::none;
}

}  // namespace detail

// Products may have one basis operand, whose path the result keeps.
GANTRY_HD constexpr Int operator*(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
  if (a.is_fixed(0) || b.is_fixed(0)) return Int::fixed(0);
  if (a.is_basis() && b.is_basis()) return Int::faulty(Rule::basis_product);
  const int denominator = a.denominator() * b.denominator();
  const auto numerator = static_cast<detail::wide_int>(a.value()) * b.value();
  const BasisPath path = a.is_basis() ? a.path() : b.path();
  if (denominator == 1) return detail::exact(numerator, a, b).with_path(path);
  const Int whole = detail::exact(numerator, a, b);
  if (whole.is_fixed()) return whole.over(denominator).with_path(path);
  return whole.is_known() ? Int(whole.value() / denominator).with_path(path) : whole.with_path(path);
}

// Sums of plain integers, or of elements along the same basis mode. Sums across modes are tuples (see arithmetic.hpp).
GANTRY_HD constexpr Int operator+(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
  if (a.is_fixed(0)) return b;
  if (b.is_fixed(0)) return a;
  if (!(a.path() == b.path())) return Int::faulty(Rule::mixed_basis);
  if (a.denominator() == 1 && b.denominator() == 1) {
    return detail::exact(static_cast<detail::wide_int>(a.value()) + b.value(), a, b).with_path(a.path());
  }
  const auto numerator = static_cast<detail::wide_int>(a.value()) * b.denominator() +
                         static_cast<detail::wide_int>(b.value()) * a.denominator();
  const Int whole = detail::exact(numerator, a, b);
  const int denominator = a.denominator() * b.denominator();
  return (whole.is_fixed() ? whole.over(denominator) : Int(whole.value() / denominator)).with_path(a.path());
}

GANTRY_HD constexpr Int operator-(const Int& a) { return Int::fixed(-1) * a; }
GANTRY_HD constexpr Int operator-(const Int& a, const Int& b) { return a + -b; }

// Division truncates toward zero, as C++ does. A basis element may be divided by an integer.
GANTRY_HD constexpr Int operator/(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
  if (b.is_basis()) return Int::faulty(Rule::basis_product);
  if (b.is_known() && b.value() == 0) return Int::faulty(Rule::division_by_zero);
  if (a.is_fixed(0)) return Int::fixed(0);
  if (b.is_fixed(1)) return a;
  if (!b.is_known()) return Int::unknown().with_path(a.path());
  return detail::exact(static_cast<detail::wide_int>(a.value()) / b.value(), a, b).with_path(a.path());
}

GANTRY_HD constexpr Int operator%(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
  if (a.is_basis() || b.is_basis()) return Int::faulty(Rule::basis_product);
  if (b.is_known() && b.value() == 0) return Int::faulty(Rule::division_by_zero);
  if (a.is_fixed(0) || b.is_fixed(1)) return Int::fixed(0);
  if (!b.is_known()) return Int::unknown();
  return detail::exact(static_cast<detail::wide_int>(a.value()) % b.value(), a, b);
}

// ceil(a / b) for b > 0.
GANTRY_HD constexpr Int ceil_div(const Int& a, const Int& b) {
  if (b.is_fixed(1)) return a;
  return (a + b - Int::fixed(1)) / b;
}

GANTRY_HD constexpr Int abs(const Int& a) { return a.is_known() && a.value() < 0 ? -a : a; }

GANTRY_HD constexpr Int signum(const Int& a) {
  if (!a.is_known()) return Int::unknown();
  const Int s(a.value() > 0 ? 1 : a.value() < 0 ? -1 : 0);
  return a.is_fixed() ? s.as_fixed() : s;
}

GANTRY_HD constexpr Int min(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
  return detail::exact(a.value() < b.value() ? a.value() : b.value(), a, b);
}

GANTRY_HD constexpr Int max(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
  return detail::exact(a.value() < b.value() ? b.value() : a.value(), a, b);
}

GANTRY_HD constexpr Int gcd(const Int& a, const Int& b) {
  if (const Rule r = detail::operand_rule(a, b); r != Rule::none) return Int::faulty(r);
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
