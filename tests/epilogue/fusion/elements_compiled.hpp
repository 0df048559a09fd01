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

// C and D of one type, by TMA and by threads.
template <ElementType e, EpilogueSchedule schedule>
struct SourceAndResult : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = schedule, .tile = {64, 32, 64}, .c = e, .d = e}.policy();
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};

template <ElementType e, EpilogueSchedule schedule>
void expect_right_or_refused() {
  using Config = SourceAndResult<e, schedule>;
  SCOPED_TRACE(info(e).name);
  EXPECT_EQ(Config::policy.ok(), is_real(e) && info(e).bits >= 8);
  if constexpr (Config::policy.ok()) {
    Problem problem(Config::graph, options_for<Config>(sweep_options(2)));
    expect_right<Config>(problem, 2);
  } else {
    const EpilogueReasons& reasons = Config::policy.reasons;
    EXPECT_TRUE(reasons.has(EpilogueRule::packed_element) || reasons.has(EpilogueRule::smem_element) ||
                reasons.has(EpilogueRule::complex_operand) || reasons.has(EpilogueRule::wide_element))
        << describe(reasons[0]).c_str();
  }
}

template <ElementType e>
void expect_right_or_refused_as_c_and_d() {
  if constexpr (e != ElementType::void_ && static_cast<int>(e) % 3 == GANTRY_PART) {
    expect_right_or_refused<e, EpilogueSchedule::tma_warp_specialized>();
    expect_right_or_refused<e, EpilogueSchedule::no_smem_warp_specialized>();
  }
}

}  // namespace
}  // namespace gantry::test
