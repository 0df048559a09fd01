// One letter less, and an epilogue of one's own would be left out.
// EXPECT: the specification has a template Callback, which nothing reads; did you mean Callbacks?
#include <gantry/gemm/types.hpp>

struct Layer {
  template <class Config>
  struct Callback {};
};
constexpr int stages = gantry::GemmTypes<Layer>::design.options.stages;
