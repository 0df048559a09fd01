// Registers come in steps of 8, from 24 to 256.
// EXPECT: setmaxnreg takes a multiple of 8 from 24 to 256
#include <gantry/arch.hpp>

GANTRY_HD inline void divide() { gantry::arch::setmaxnreg_dec<20>(); }
