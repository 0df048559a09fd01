// An entry of a fusion function that lacks a member is refused by its name.
//
// EXPECT: this fusion function has no range that takes as many ranges as define takes doubles
// EXPECT: softsign
#include <gantry/epilogue/fusion/functions/entry.hpp>

struct softsign {
  static constexpr const char* kInputs = "x";
  static constexpr const char* kMeaning = "x / (1 + |x|)";
  static constexpr const char* kSpecials = "";
  static constexpr gantry::fusion::ErrorBound kError{};
  static constexpr gantry::fusion::FunctionCost kCost{};
  static constexpr bool kPassesNan[] = {true};
  static float call(float x) { return x / (1.0f + (x < 0 ? -x : x)); }
  static double define(double x) { return x / (1 + (x < 0 ? -x : x)); }
};

static_assert(gantry::fusion::is_whole_entry<softsign>());
