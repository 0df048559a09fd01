// An argument is set by a name that the fusion has.
// EXPECT: the fusion has no argument of this name
#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

struct Bias {
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = acc + row(bias)");
};

void set(float* bias) {
  gantry::fusion::ArgumentsFor<Bias> args;
  args.set<"bais">(bias);
}
