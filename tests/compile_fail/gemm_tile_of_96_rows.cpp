// Options of a GEMM that no kernel has are refused by the compiler, in the words that they are refused in at run
// time.
// EXPECT: a tile of one warpgroup has 64, 128 or 192, one that two share has 128 or 256
#include <gantry/gemm/types.hpp>

struct Product {
  static constexpr gantry::GemmOptions options{.tile = {.m = 96}};
};
constexpr int kStages = gantry::GemmTypes<Product>::design.options.stages;
