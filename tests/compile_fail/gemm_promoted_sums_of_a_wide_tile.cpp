// Sums of 8-bit floats that are promoted are held twice.
// EXPECT: promoted sums are held twice: a warpgroup has registers for those of 64 x 160
#include <gantry/gemm/config.hpp>

struct Wide : gantry::CooperativeConfig {
  static constexpr gantry::ElementType kA = gantry::ElementType::e4m3, kB = gantry::ElementType::e4m3;
  static constexpr bool kPromote = true;
};
constexpr int step = gantry::GemmShape<Wide>::kTileK;
