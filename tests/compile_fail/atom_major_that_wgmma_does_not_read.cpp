// Only 16-bit operands may be MN-major.
// EXPECT: wgmma reads MN-major operands only of 16-bit elements
#include <gantry/atom.hpp>

using Operation = gantry::SM90_GMMA<64, float, gantry::e4m3, gantry::e4m3, gantry::Major::MN>;
constexpr int n = Operation::kN;
