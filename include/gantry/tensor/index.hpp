// Indices and coordinates as a kernel uses them: constants known to the compiler, loops over them, and nested tuples
// whose structure is a type and whose values are run-time integers.
//
// IntTuple is the same idea as one value, for planning; in device code it would live in local memory, so tensors are
// indexed with these.
//
// Example:
//     using namespace gantry;
//     int sum = 0;
//     for_each_index<4>([&](auto i) { sum += Constant<2 * i>::value; });  // i is a constant inside
//     auto c = coord(1, coord(_, sum));
//     static_assert(__is_same(decltype(c), Coord<int, Coord<Underscore, int>>));
#pragma once

#include <gantry/layout/int_tuple.hpp>

namespace gantry {

// An integer that the compiler knows.
template <int v>
struct Constant {
  static constexpr int value = v;
  GANTRY_HD constexpr operator int() const { return v; }
};

// ---- Compile-time loops

template <int... Is>
struct Sequence {};

namespace detail {

#if defined(__has_builtin) && __has_builtin(__make_integer_seq)
template <class, int... Is>
struct SequenceOf {
  using type = Sequence<Is...>;
};
template <int N>
using MakeSequence = typename __make_integer_seq<SequenceOf, int, N>::type;
#elif defined(__CUDACC_RTC__)
// By halves: NVRTC has neither of the builtins.
template <class, class>
struct Joined;
template <int... Is, int... Js>
struct Joined<Sequence<Is...>, Sequence<Js...>> {
  using type = Sequence<Is..., (static_cast<int>(sizeof...(Is)) + Js)...>;
};
template <int N>
struct SequenceOf : Joined<typename SequenceOf<N / 2>::type, typename SequenceOf<N - N / 2>::type> {};
template <>
struct SequenceOf<0> {
  using type = Sequence<>;
};
template <>
struct SequenceOf<1> {
  using type = Sequence<0>;
};
template <int N>
using MakeSequence = typename SequenceOf<N>::type;
#else
template <int N>
using MakeSequence = Sequence<__integer_pack(N)...>;
#endif

GANTRY_CALLS_ANY
template <class F, int... Is>
GANTRY_INLINE constexpr void for_each_in(F& f, Sequence<Is...>) {
  // In braces, since compilers limit how deep a fold over commas may nest.
  [[maybe_unused]] const bool done[] = {true, (static_cast<void>(f(Constant<Is>{})), true)...};
}

}  // namespace detail

// 0, 1, ..., N - 1.
template <int N>
using make_sequence = detail::MakeSequence<N>;

// f(Constant<0>{}), f(Constant<1>{}), ..., f(Constant<N-1>{}).
GANTRY_CALLS_ANY
template <int N, class F>
GANTRY_INLINE constexpr void for_each_index(F&& f) {
  detail::for_each_in(f, make_sequence<N>{});
}

// ---- Coordinates

namespace detail {

template <int I, class T>
struct CoordEntry {
  T value;
};

template <class Sequence, class... Modes>
struct CoordEntries;
template <int... Is, class... Modes>
struct CoordEntries<Sequence<Is...>, Modes...> : CoordEntry<Is, Modes>... {};

template <int I, class T>
GANTRY_INLINE constexpr const T& entry(const CoordEntry<I, T>& e) {
  return e.value;
}

// An integer of any type is an int; constants, `_` and nested coordinates keep their types.
template <class T>
struct CoordMode {
  using type = int;
};

}  // namespace detail

template <class... Modes>
struct Coord {
  detail::CoordEntries<make_sequence<sizeof...(Modes)>, Modes...> entries;
};

namespace detail {

template <int v>
struct CoordMode<Constant<v>> {
  using type = Constant<v>;
};
template <>
struct CoordMode<Underscore> {
  using type = Underscore;
};
template <class... Modes>
struct CoordMode<Coord<Modes...>> {
  using type = Coord<Modes...>;
};
template <class T>
struct CoordMode<const T> : CoordMode<T> {};

}  // namespace detail

// The coordinate (modes...), from integers, constants, `_` and coordinates. By value: a kernel cannot refer to `_`.
template <class... Modes>
GANTRY_INLINE constexpr auto coord(Modes... modes) {
  return Coord<typename detail::CoordMode<Modes>::type...>{
      {{static_cast<typename detail::CoordMode<Modes>::type>(modes)}...}};
}

// Mode I.
template <int I, class... Modes>
GANTRY_INLINE constexpr const auto& get(const Coord<Modes...>& c) {
  return detail::entry<I>(c.entries);
}

// ---- Coordinates as patterns: what is known from the type alone

namespace detail {

// The coordinate with every run-time integer as 0.
template <class T>
struct CoordPattern {
  GANTRY_HD static constexpr IntTuple tuple() { return IntTuple(Int::fixed(0)); }
  static constexpr bool has_underscore = false;
  static constexpr bool is_constant = false;
};
template <int v>
struct CoordPattern<Constant<v>> {
  GANTRY_HD static constexpr IntTuple tuple() { return IntTuple(Int::fixed(v)); }
  static constexpr bool has_underscore = false;
  static constexpr bool is_constant = true;
};
template <>
struct CoordPattern<Underscore> {
  GANTRY_HD static constexpr IntTuple tuple() { return IntTuple(Int::all()); }
  static constexpr bool has_underscore = true;
  static constexpr bool is_constant = true;
};
template <class... Modes>
struct CoordPattern<Coord<Modes...>> {
  GANTRY_HD static constexpr IntTuple tuple() {
    IntTuple out;
    (out.push_back(CoordPattern<Modes>::tuple()), ...);
    return out;
  }
  static constexpr bool has_underscore = (CoordPattern<Modes>::has_underscore || ...);
  static constexpr bool is_constant = (CoordPattern<Modes>::is_constant && ...);
};

}  // namespace detail

}  // namespace gantry
