// Tiles, stages, reuse and delay: whatever the buffers, the results are the same.
#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

constexpr fusion::ProblemShape kResidue{.m = 200, .n = 144, .batch = 1};

template <int kStagesC, int kStagesD, bool kReuse, bool kDelay, int kWarpgroups = 1>
struct Stages : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = kWarpgroups == 2 ? S::tma_warp_specialized_cooperative : S::tma_warp_specialized,
                        .tile = {64 * kWarpgroups, 128, 64},
                        .epi_tile = {64 * kWarpgroups, 32},
                        .c = E::bf16,
                        .d = E::bf16,
                        .stages_c = kStagesC,
                        .stages_d = kStagesD,
                        .reuse_smem_c = kReuse ? Choice::yes : Choice::no,
                        .delay_tma_store = kDelay ? Choice::yes : Choice::no}
          .policy();
  static_assert(policy.ok() && policy.reuse_smem_c == kReuse && policy.delay_tma_store == kDelay);
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};

TEST(EpilogueStages, OneBufferEachIsEnough) { expect_agreement<Stages<1, 1, false, false>>({.shape = kResidue}); }
TEST(EpilogueStages, ManyBuffersEach) { expect_agreement<Stages<4, 3, false, false>>({.shape = kResidue, .seed = 1}); }
TEST(EpilogueStages, DelayedStores) { expect_agreement<Stages<2, 2, false, true>>({.shape = kResidue, .seed = 2}); }
TEST(EpilogueStages, OneBufferWithDelay) {
  expect_agreement<Stages<1, 1, false, true>>({.shape = kResidue, .seed = 2});
}
TEST(EpilogueStages, DTakesThePlaceOfC) { expect_agreement<Stages<3, 2, true, false>>({.shape = kResidue, .seed = 3}); }
TEST(EpilogueStages, DTakesThePlaceOfCWithOneStage) {
  expect_agreement<Stages<1, 1, true, false>>({.shape = kResidue, .seed = 3});
}
TEST(EpilogueStages, ReuseWithAsManyStoresAsLoads) {
  expect_agreement<Stages<2, 2, true, false>>({.shape = kResidue, .seed = 4});
}
TEST(EpilogueStages, ReuseAndDelay) { expect_agreement<Stages<3, 2, true, true>>({.shape = kResidue, .seed = 5}); }
TEST(EpilogueStages, ReuseAndDelayOfTwoWarpgroups) {
  expect_agreement<Stages<4, 2, true, true, 2>>({.shape = kResidue, .seed = 6});
}

}  // namespace
}  // namespace gantry::test
