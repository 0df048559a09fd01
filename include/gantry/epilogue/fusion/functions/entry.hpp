// What an entry of the fusion functions has: one struct for each function, in arithmetic.hpp, activations.hpp and
// derivatives.hpp beside this file. The name of the struct is the name of the function: in text, in C++ expressions and
// as an enumerator of `Function` (function.hpp), which is made from the lists of entries. Nothing else names a function
// by hand, so that a function is added by adding its struct and its name in the list above it.
//
//   kInputs       the names of its inputs, as documentation shows them: "x, slope"
//   kMeaning      its definition, for documentation
//   kSpecials     what it gives for NaN, infinities and zeros where that is not plain; may be ""
//   call          what both machines compute, of one to three floats; a template where complex numbers may be given
//   define        what it means, in double. It decides how many inputs there are
//   kError        how far `call` may be from `define`
//   range         the image of intervals, which holds whatever either machine computes (interval.hpp)
//   kPassesNan    by input: whether a NaN there is what comes out, whatever the other inputs are
//   kCost         what it takes of a kernel, for each element
// Where they apply:
//   kParameters   of an activation: the inputs after the first, with the values that they have when left out
//   of            of a derivative d_f(g, x) = g · f'(x): the entry of f
//   of_half       the function of 2 h: cheaper than `call` where the caller has half of the input
//   complex_range the image of complex intervals, of a function whose `call` takes complex numbers
// A struct without one of the members that every entry has does not compile, and the message names struct and member.
//
// Example at namespace scope:
//     struct half {
//       static constexpr const char* kInputs = "x";
//       static constexpr const char* kMeaning = "x / 2";
//       static constexpr const char* kSpecials = "";
//       static constexpr gantry::fusion::ErrorBound kError{.absolute = 0x1p-149};
//       static constexpr gantry::fusion::FunctionCost kCost{.instructions = 1};
//       static constexpr bool kPassesNan[] = {true};
//       static float call(float x) { return 0.5f * x; }
//       static double define(double x) { return 0.5 * x; }
//       static gantry::fusion::Range range(const gantry::fusion::Range& x) {
//         return gantry::fusion::detail::rounded(gantry::fusion::detail::corners(define, x));
//       }
//     };
//     static_assert(gantry::fusion::is_whole_entry<half>() && gantry::fusion::kArityOf<half> == 1);
#pragma once

#include <gantry/epilogue/fusion/functions/interval.hpp>

namespace gantry::fusion {

// Per element, as ptxas counts them for sm_90a. Approximate: choices are made from them, results are not.
struct FunctionCost {
  int special = 0;       // instructions of the special-function unit: ex2, lg2, rcp, rsqrt, tanh
  int instructions = 0;  // the others
  int registers = 0;     // held beside the inputs and the result: the terms of a polynomial

  // True if a pingpong schedule pays: the tensor cores work for one warpgroup while another computes it.
  GANTRY_HD constexpr bool is_heavy() const { return special > 0 || instructions >= 16; }

  friend constexpr bool operator==(const FunctionCost&, const FunctionCost&) = default;
};

struct FunctionParameter {
  const char* name = "";
  float value = 0;  // where it is left out
};

namespace detail {

template <class F>
struct InputsOfDefinition;
template <class... Inputs>
struct InputsOfDefinition<double (*)(Inputs...)> {
  static constexpr int value = sizeof...(Inputs);
};

// Requires `define`.
template <class E>
GANTRY_HD constexpr bool has_call() {
  constexpr int n = InputsOfDefinition<decltype(&E::define)>::value;
  if constexpr (n == 1) return requires(float x) {
      E::call(x);
    };
  if constexpr (n == 2) return requires(float x) {
      E::call(x, x);
    };
  return requires(float x) { E::call(x, x, x); };
}
template <class E>
constexpr bool has_range() {
  constexpr int n = InputsOfDefinition<decltype(&E::define)>::value;
  if constexpr (n == 1) return requires(Range r) {
      E::range(r);
    };
  if constexpr (n == 2) return requires(Range r) {
      E::range(r, r);
    };
  return requires(Range r) { E::range(r, r, r); };
}

}  // namespace detail

// How many inputs a function has.
template <class E>
inline constexpr int kArityOf = detail::InputsOfDefinition<decltype(&E::define)>::value;

// True, or the build stops with the name of the struct and of what it lacks.
template <class E>
constexpr bool is_whole_entry() {
  static_assert(
      requires { &E::define; }, "gantry: this fusion function has no define: what it means, in double");
  if constexpr (requires { &E::define; }) {
    static_assert(detail::has_call<E>(),
                  "gantry: this fusion function has no call that takes as many floats as define takes doubles");
    static_assert(detail::has_range<E>(),
                  "gantry: this fusion function has no range that takes as many ranges as define takes doubles");
    if constexpr (requires { E::kPassesNan; }) {
      static_assert(sizeof(E::kPassesNan) / sizeof(bool) == kArityOf<E>,
                    "gantry: kPassesNan of this fusion function has one entry for each input");
    }
  }
  static_assert(
      requires { E::kPassesNan; }, "gantry: this fusion function has no kPassesNan: which inputs pass a NaN on");
  static_assert(
      requires { ErrorBound(E::kError); }, "gantry: this fusion function has no kError: how far call may be off");
  static_assert(
      requires { FunctionCost(E::kCost); }, "gantry: this fusion function has no kCost: what it takes of a kernel");
  static_assert(
      requires { E::kInputs[0]; }, "gantry: this fusion function has no kInputs: the names of its inputs");
  static_assert(
      requires { E::kMeaning[0]; }, "gantry: this fusion function has no kMeaning: its definition in words");
  static_assert(
      requires { E::kSpecials[0]; }, "gantry: this fusion function has no kSpecials: NaN, infinities and zeros");
  return true;
}

}  // namespace gantry::fusion
