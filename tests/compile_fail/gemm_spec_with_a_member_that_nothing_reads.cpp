// A misspelt member of a specification would be ignored.
// EXPECT: the specification has a member option, which nothing reads; did you mean options?
#include <gantry/gemm/types.hpp>

struct Layer {
  static constexpr gantry::GemmOptions option{.tile = {64, 64}};
};
constexpr int stages = gantry::GemmTypes<Layer>::design.options.stages;
