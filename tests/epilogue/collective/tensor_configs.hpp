// Configurations with auxiliary tensors and masks.
#pragma once

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

constexpr fusion::ProblemShape kResidue{.m = 88, .n = 80, .batch = 1};
constexpr fusion::ProblemShape kBatches{.m = 72, .n = 40, .batch = 3};

constexpr EpiloguePolicy bf16_policy(E c = E::bf16, E d = E::bf16, Choice reuse = Choice::automatic,
                                     Choice delay = Choice::automatic, E aux = E::void_) {
  return CollectiveBuilder{.schedule = S::tma_warp_specialized,
                           .tile = {64, 64, 64},
                           .epi_tile = {64, 32},
                           .c = c,
                           .d = d,
                           .aux = aux,
                           .stages_c = 3,
                           .stages_d = 2,
                           .reuse_smem_c = reuse,
                           .delay_tma_store = delay}
      .policy();
}

template <Choice reuse, Choice delay>
struct TensorsInAndOut : Plain {
  static constexpr EpiloguePolicy policy = bf16_policy(E::bf16, E::bf16, reuse, delay);
  static constexpr fusion::Graph graph =
      fusion::graph("let z = acc + c * load(x:f32 col); d = relu(z) + load(y:e4m3); pre:f16 col = z; post = z + z");
};

template <bool rows, int kEpiM, int kEpiN>
struct Masks : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized,
                                                             .tile = {128, 64, 64},
                                                             .epi_tile = {kEpiM, kEpiN},
                                                             .c = E::void_,
                                                             .d = E::bf16,
                                                             .layout_d = rows ? kColumnMajor : kRowMajor}
                                               .policy();
  static constexpr fusion::Graph graph = rows ? fusion::graph("d = acc * load(in:u1); out:u1 = 0.5 > acc")
                                              : fusion::graph("d = acc * load(in:u1 col); out:u1 col = 0.5 > acc");
};

}  // namespace
}  // namespace gantry::test
