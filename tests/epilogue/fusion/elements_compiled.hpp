// Every element type in every place of a compiled fusion; GANTRY_PART chooses a third of the types.
#include "elements_sweep.hpp"

namespace gantry::test {
namespace {

template <ElementType e>
struct EveryPlace : Plain {
  static constexpr EpiloguePolicy policy = sweep_policy();
  static constexpr fusion::Graph graph = [] {
    using namespace fusion::names;
    const fusion::Expr z =
        fusion::scalar("s", {.element = e}) * acc + fusion::row("r", {.element = e}) + fusion::col("k", {.element = e});
    if (!fusion::element_fits(fusion::ArgumentKind::aux_in, e, fusion::Values::real)) {
      return fusion::expression(d = z);
    }
    return fusion::expression(d = z + fusion::load("x", {.element = e, .row_major = false}),
                              fusion::store("y", {.element = e}) = 2 * acc);
  }();
};

template <ElementType e>
void expect_right_in_every_place() {
  if constexpr (is_real(e) && static_cast<int>(e) % 3 == GANTRY_PART) {
    using Config = EveryPlace<e>;
    SCOPED_TRACE(info(e).name);
    Problem problem(Config::graph, options_for<Config>(sweep_options(1)));
    expect_right<Config>(problem, 1);
  }
}

}  // namespace
}  // namespace gantry::test
