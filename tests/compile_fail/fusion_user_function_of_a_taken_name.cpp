// Text would call the library's function: one name, one function.
//
// EXPECT: a user function has the name of a function of the library
#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

struct Mish {
  static constexpr const char* name = "mish";
  GANTRY_INLINE static float call(float x) { return x; }
};

constexpr gantry::fusion::Graph fusion = gantry::fusion::graph("d = mish(acc)", gantry::fusion::UserFunctions<Mish>{});
