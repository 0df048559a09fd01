// Members that nothing would read: a wrong letter, two letters swapped, another case, another word. Each is named.
// EXPECT: the specification has a member optionz, which nothing reads; did you mean options?
// EXPECT: the specification has a member grpah, which nothing reads; did you mean graph?
// EXPECT: the specification has a member Graph, which nothing reads; did you mean graph?
// EXPECT: the specification has a member gemm_options, which nothing reads; did you mean options?
// EXPECT: the specification has a member kOperation, which nothing reads; did you mean operation?
// EXPECT: the specification has a type Functoins, which nothing reads; did you mean Functions?
// MAX_LINES: 100
#include <gantry/gemm/spec_design.hpp>

using namespace gantry;

struct WrongLetter {
  static constexpr GemmOptions optionz{};
};
struct Swapped {
  static constexpr fusion::Graph grpah{};
};
struct Capital {
  static constexpr fusion::Graph Graph{};
};
struct Word {
  static constexpr GemmOptions gemm_options{};
};
struct Constant {
  static constexpr int kOperation = 0;
};
struct Type {
  using Functoins = fusion::UserFunctions<>;
};
template struct gantry::detail::SpecCheck<WrongLetter>;
template struct gantry::detail::SpecCheck<Swapped>;
template struct gantry::detail::SpecCheck<Capital>;
template struct gantry::detail::SpecCheck<Word>;
template struct gantry::detail::SpecCheck<Constant>;
template struct gantry::detail::SpecCheck<Type>;
