// How far a function computed in float may be from its definition.
#pragma once

namespace gantry::fusion {

// |apply(x...) - define(x...)| <= relative · |define(x...)| + absolute + scaled · scale(x...) for floats x..., where
// the last of them may first be moved by `input` times itself. `scale` is |g| for the derivatives d_f(g, x), |a · b|
// for multiply_add, |x| for gelu_tanh, else 0. Holds where neither side is infinite or NaN.
struct ErrorBound {
  double relative = 0;
  double absolute = 0;
  double scaled = 0;
  double input = 0;
};

namespace detail {

// Half a unit in the last place of a float, and its smallest step.
inline constexpr double kHalfUlp = 0x1p-24;
inline constexpr double kSmallestStep = 0x1p-149;

}  // namespace detail

}  // namespace gantry::fusion
