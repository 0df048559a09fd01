// The element functions of a fusion graph, computed: `apply<f>(a, b, c)`, the same on both machines up to the error
// of each function's entry (functions/). docs/reference/fusion.md has them as a table.
//
// A user function is a type with a name and a `call` of one to three floats. UserFunctions<...> goes with the graph;
// Node::user is the position in it.
//
// Example at namespace scope:
//     struct Softsign {
//       static constexpr const char* name = "softsign";
//       GANTRY_INLINE static float call(float x) { return x / (1.0f + gantry::arch::fabsf(x)); }
//     };
//     inline float example(float x) {
//       using namespace gantry::fusion;
//       return apply<Function::relu>(x) + apply_user<0, UserFunctions<Softsign>>(x);
//     }
#pragma once

#include <gantry/arch/convert.hpp>
#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/numeric/convert.hpp>

namespace gantry::fusion {

// x as the element type would hold it. Complex values are rounded part by part.
template <ElementType e, class T>
GANTRY_INLINE T round_to(T x) {
  if constexpr (__is_same(T, cf32)) {
    return {round_to<e>(x.real), round_to<e>(x.imag)};
  } else if constexpr (e == ElementType::f32 || e == ElementType::cf32 || e == ElementType::f64) {
    return x;
  } else if constexpr (e == ElementType::bf16) {
    return bit_cast<float>(arch::cvt_rn_bf16x2(x, 0.0f) & 0xffff0000u);
  } else if constexpr (e == ElementType::f16) {
    return static_cast<float>(f16::from_bits(static_cast<std::uint16_t>(arch::cvt_rn_f16x2(0.0f, x))));
  } else if constexpr (e == ElementType::e4m3) {
    return static_cast<float>(e4m3::from_bits(static_cast<std::uint8_t>(arch::cvt_rn_satfinite_e4m3x2(0.0f, x))));
  } else if constexpr (e == ElementType::e5m2) {
    return static_cast<float>(e5m2::from_bits(static_cast<std::uint8_t>(arch::cvt_rn_satfinite_e5m2x2(0.0f, x))));
  } else {
    static_assert(e != ElementType::void_, "gantry: round needs an element type to round to, and was given void");
    return convert<float>(convert<element_t<e>>(x));
  }
}

// f(a), f(a, b) or f(a, b, c), as many as it takes. T is float or cf32.
template <Function f, class T>
GANTRY_INLINE T apply(T a, T b = {}, T c = {}) {
  static_assert(f != Function::user, "gantry: a user function is called by apply_user");
  static_assert(f != Function::round, "gantry: rounding needs an element type: round_to<element>(x)");
  static_assert(f != Function::rotate, "gantry: rotation needs the other column of a pair");
  constexpr bool kTakes = requires { FunctionEntry<f>::call(a); }
  || requires { FunctionEntry<f>::call(a, b); }
  || requires { FunctionEntry<f>::call(a, b, c); };
  static_assert(kTakes, "gantry: this function has no complex form: add, subtract, multiply, fma and neg do");
  if constexpr (arity(f) == 1) {
    return FunctionEntry<f>::call(a);
  } else if constexpr (arity(f) == 2) {
    return FunctionEntry<f>::call(a, b);
  } else {
    return FunctionEntry<f>::call(a, b, c);
  }
}

namespace detail {

template <class F>
GANTRY_HD constexpr int arity_of_user() {
  if constexpr (requires { F::call(0.0f); }) {
    return 1;
  } else if constexpr (requires { F::call(0.0f, 0.0f); }) {
    return 2;
  } else {
    static_assert(
        requires { F::call(0.0f, 0.0f, 0.0f); },
        "gantry: a user function has `static float call` with one, two or three floats");
    return 3;
  }
}

template <int i, class... Fs>
struct NthFunction;
template <int i, class F, class... Rest>
struct NthFunction<i, F, Rest...> : NthFunction<i - 1, Rest...> {};
template <class F, class... Rest>
struct NthFunction<0, F, Rest...> {
  using type = F;
};

}  // namespace detail

template <class... Fs>
struct UserFunctions {
  static constexpr int kCount = sizeof...(Fs);

  template <int i>
  using At = typename detail::NthFunction<i, Fs...>::type;

  GANTRY_HD static constexpr const char* name(int i) {
    constexpr const char* kNames[] = {Fs::name..., ""};
    return kNames[i];
  }
  GANTRY_HD static constexpr int arity(int i) {
    constexpr int kArities[] = {detail::arity_of_user<Fs>()..., 0};
    return kArities[i];
  }
};

// The user function at position i of `Users`.
template <int i, class Users>
GANTRY_INLINE float apply_user(float a, float b = 0, float c = 0) {
  static_assert(i >= 0 && i < Users::kCount,
                "gantry: the graph names a user function that UserFunctions does not have");
  using F = typename Users::template At<i>;
  if constexpr (detail::arity_of_user<F>() == 1) {
    return F::call(a);
  } else if constexpr (detail::arity_of_user<F>() == 2) {
    return F::call(a, b);
  } else {
    return F::call(a, b, c);
  }
}

}  // namespace gantry::fusion
