// Complex values have arithmetic, and no activations.
// EXPECT: this function has no complex form
#include <gantry/epilogue/fusion/functions.hpp>

gantry::cf32 active(gantry::cf32 z) { return gantry::fusion::apply<gantry::fusion::Function::relu>(z); }
