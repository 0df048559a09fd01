// Configurations by what C and D hold and how they lie.
#pragma once

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

constexpr fusion::ProblemShape kResidue{.m = 80, .n = 112, .batch = 1};

struct Operands {
  E c, d;
  bool c_rows = true, d_rows = true;
  Choice reuse = Choice::automatic;
  E acc = E::f32, compute = E::f32;
};

template <Operands o>
struct Elements : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .epi_tile = {64, 32},
                                                             .c = o.c,
                                                             .d = o.d,
                                                             .layout_c = o.c_rows ? kRowMajor : kColumnMajor,
                                                             .layout_d = o.d_rows ? kRowMajor : kColumnMajor,
                                                             .acc = o.acc,
                                                             .compute = o.compute,
                                                             .reuse_smem_c = o.reuse}
                                               .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph =
      o.c == E::void_ ? fusion::graph("d = alpha * acc") : fusion::graph("d = alpha * acc + beta * c");
};

template <Operands o>
void expect_agreement_of(std::uint64_t seed) {
  expect_agreement<Elements<o>>({.shape = kResidue, .seed = seed});
}

}  // namespace
}  // namespace gantry::test
