// An argument is set by an address of its own element type.
// EXPECT: this address is of another element type than the argument of this name
#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

struct Bias {
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = acc + row(bias:bf16)");
};

void set(float* bias) {
  gantry::fusion::ArgumentsFor<Bias> args;
  args.set<"bias">(bias);
}
