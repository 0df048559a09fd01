// What each function means, in double, and how far its float form may be from that, for functions known at run time.
//
// Example:
//     using namespace gantry::fusion;
//     const double y = define(Function::sigmoid, 0.5);
//     const double off = error_of(Function::sigmoid).relative * y;  // how far apply<Function::sigmoid>(0.5f) may be off
#pragma once

#include <gantry/epilogue/fusion/functions.hpp>

namespace gantry::fusion {

namespace detail {

template <Function f>
double define_as(double a, double b, double c) {
  if constexpr (f == Function::round || f == Function::user) {
    return NAN;
  } else if constexpr (arity(f) == 1) {
    return FunctionBody<f>::define(a);
  } else if constexpr (arity(f) == 2) {
    return FunctionBody<f>::define(a, b);
  } else {
    return FunctionBody<f>::define(a, b, c);
  }
}

template <Function f>
constexpr ErrorBound error_as() {
  if constexpr (f == Function::round || f == Function::user) {
    return {};
  } else {
    return FunctionBody<f>::kError;
  }
}

}  // namespace detail

// Rounding and user functions have no definition here: NaN.
inline double define(Function f, double a, double b = 0, double c = 0) {
  switch (f) {
#define GANTRY_X(id, n) \
  case Function::id:    \
    return detail::define_as<Function::id>(a, b, c);
    GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
  }
  return NAN;
}

// Rounding to an element type has no error beside the rounding that it is; a user function has its own.
constexpr ErrorBound error_of(Function f) {
  switch (f) {
#define GANTRY_X(id, n) \
  case Function::id:    \
    return detail::error_as<Function::id>();
    GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
  }
  return {};
}

}  // namespace gantry::fusion
