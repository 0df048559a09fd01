// A type where a value is read.
// EXPECT: the specification has a type Operation, which nothing reads; did you mean operation?
#include <gantry/gemm/types.hpp>

struct Layer {
  struct Operation {};
};
constexpr int stages = gantry::GemmTypes<Layer>::design.options.stages;
