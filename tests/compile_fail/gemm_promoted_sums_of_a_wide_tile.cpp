// Accumulators of 8-bit floats that are promoted are held twice.
// EXPECT: 128 x 192; with promotion of 64 x 160
#include <gantry/gemm/types.hpp>

struct Wide {
  static constexpr gantry::GemmOptions options{.a = gantry::ElementType::e4m3,
                                               .b = gantry::ElementType::e4m3,
                                               .tile = {128, 256},
                                               .schedule = gantry::GemmSchedule::cooperative,
                                               .promote = true};
};
constexpr int step = gantry::GemmTypes<Wide>::design.options.tile.k;
