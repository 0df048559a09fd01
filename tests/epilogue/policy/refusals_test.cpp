// Each rule is broken once: its sentence names what was asked, the actual value and one that works, and that one works.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/builder.hpp>

namespace gantry {
namespace {

struct Broken {
  EpilogueRule rule;
  CollectiveBuilder asked;
  std::string sentence;
  std::function<void(CollectiveBuilder&, std::int64_t nearest)> mend = nullptr;
};

constexpr CollectiveBuilder kBase{.schedule = EpilogueSchedule::tma_warp_specialized,
                                  .tile = {128, 128, 64},
                                  .c = ElementType::f16,
                                  .d = ElementType::f16};

template <class F>
CollectiveBuilder with(const F& change) {
  CollectiveBuilder b = kBase;
  change(b);
  return b;
}

std::vector<Broken> broken_rules() {
  using B = CollectiveBuilder;
  constexpr auto kCompatible = PolicyFlavour::cutlass_compatible;
  return {
      {EpilogueRule::cta_tile_extent, with([](B& b) { b.tile.n = -8; }),
       "the CTA tile has extent -8 along N: extents are at least 1 and at most 1024; the nearest value that works is "
       "1"},
      {EpilogueRule::cta_tile_extent, with([](B& b) { b.tile.m = 2048; }),
       "the CTA tile has extent 2048 along M: extents are at least 1 and at most 1024; the nearest value that works is "
       "1024",
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::mma_rows, with([](B& b) { b.tile.m = 100; }),
       "the CTA tile has 100 rows: whole MMAs of 64 rows fill it, for each warpgroup that shares it, so its rows are "
       "a "
       "multiple of 64; the nearest value that works is 128",
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::warpgroups, with([](B& b) {
         b.tile.m = 256;
         b.warpgroups = 9;
       }),
       "9 warpgroups share a CTA tile: there are 1 to 4; the nearest number that works is 4",
       [](B& b, std::int64_t v) { b.warpgroups = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_rows, with([](B& b) {
         b.flavour = kCompatible;
         b.epi_tile = {128, 32};
       }),
       "the epilogue tile has 128 rows: under TmaWarpSpecialized it has 64; the nearest value that works is 64",
       [](B& b, std::int64_t v) { b.epi_tile.m = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_mma_rows, with([](B& b) {
         b.epi_tile = {32, 32};
       }),
       "the epilogue tile has 32 rows: whole MMAs of 64 rows fill it, for each warpgroup that shares it, so its rows "
       "are a multiple of 64; the nearest value that works is 64",
       [](B& b, std::int64_t v) { b.epi_tile.m = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_columns, with([](B& b) {
         b.flavour = kCompatible;
         b.epi_tile = {64, 24};
       }),
       "the epilogue tile has 24 columns: a tile that is chosen has a multiple of 16; the nearest value that works is "
       "16",
       [](B& b, std::int64_t v) { b.epi_tile.n = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_divides, with([](B& b) {
         b.epi_tile = {64, 48};
       }),
       "the epilogue tile has extent 48 along N and the CTA tile 128: whole epilogue tiles fill the CTA tile; the "
       "nearest value that works is 32",
       [](B& b, std::int64_t v) { b.epi_tile.n = static_cast<int>(v); }},
      {EpilogueRule::accumulator_columns, with([](B& b) { b.tile.n = 20; }),
       "the epilogue tile has 20 columns: accumulators come in matrices of 8 columns, so the columns are a multiple of "
       "8; the nearest value that works is 24",
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::fragment_size, with([](B& b) { b.fragment_size = 7; }),
       "FragmentSize is 7: it divides the 32 values that a thread has of an epilogue tile; the nearest value that "
       "works "
       "is 8",
       [](B& b, std::int64_t v) { b.fragment_size = static_cast<int>(v); }},
      {EpilogueRule::smem_row, with([](B& b) {
         b.d = ElementType::e4m3;
         b.tile.n = 72;
       }),
       "the epilogue tile has 8 elements of e4m3 along N, where D is contiguous: rows in shared memory are whole 16 "
       "bytes, 16 elements; the nearest value that works is 16",
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::smem_element, with([](B& b) { b.c = ElementType::e3m2; }),
       "C has elements of e3m2, 6 bits: shared memory holds elements whose width divides 128 bits; the nearest type "
       "that works is u8",
       [](B& b, std::int64_t v) { b.c = static_cast<ElementType>(v); }},
      {EpilogueRule::alignment, with([](B& b) { b.align_c = 1; }),
       "C is aligned to 1 element of f16, which is 2 bytes: TMA takes rows of whole 16 bytes; the nearest alignment "
       "that works is 8",
       [](B& b, std::int64_t v) { b.align_c = static_cast<int>(v); }},
      {EpilogueRule::alignment, with([](B& b) {
         b.d = ElementType::f32;
         b.align_d = 6;
       }),
       "D is aligned to 6 elements of f32, which is 24 bytes: TMA takes rows of whole 16 bytes; the nearest alignment "
       "that works is 4",
       [](B& b, std::int64_t v) { b.align_d = static_cast<int>(v); }},
      {EpilogueRule::d_without_element, with([](B& b) { b.d = ElementType::void_; }),
       "D is void and no auxiliary output gives its element: the tile in shared memory must have one; the nearest type "
       "that works is f32",
       [](B& b, std::int64_t v) { b.aux = static_cast<ElementType>(v); }},
      {EpilogueRule::element_missing, with([](B& b) { b.compute = ElementType::void_; }),
       "the compute element is void: values are computed in a type; the nearest type that works is f32",
       [](B& b, std::int64_t v) { b.compute = static_cast<ElementType>(v); }},
      {EpilogueRule::stages, with([](B& b) { b.stages_d = -1; }),
       "D has -1 stages: there are 1 to 32; the nearest number that works is 1",
       [](B& b, std::int64_t v) { b.stages_d = static_cast<int>(v); }},
      {EpilogueRule::reuse_needs_both, with([](B& b) {
         b.c = ElementType::void_;
         b.reuse_smem_c = Choice::yes;
       }),
       "D is to reuse the buffers of C, and C is void: both must exist; without reuse this works",
       [](B& b, std::int64_t) { b.reuse_smem_c = Choice::no; }},
      {EpilogueRule::reuse_stages, with([](B& b) {
         b.stages_c = 2;
         b.stages_d = 3;
         b.reuse_smem_c = Choice::yes;
       }),
       "D is to reuse the 2 buffers of C for 3 stages of its own: StagesD is at most StagesC; the nearest StagesD that "
       "works is 2",
       [](B& b, std::int64_t v) { b.stages_d = static_cast<int>(v); }},
      {EpilogueRule::reuse_space, with([](B& b) {
         b.d = ElementType::f32;
         b.reuse_smem_c = Choice::yes;
       }),
       "D is to reuse the buffers of C, and elements of D have 32 bits and those of C 16: a tile of each must take the "
       "same space; without reuse this works",
       [](B& b, std::int64_t) { b.reuse_smem_c = Choice::no; }},
      {EpilogueRule::deadlock, with([](B& b) {
         b.stages_c = b.stages_d = 2;
         b.reuse_smem_c = b.delay_tma_store = Choice::yes;
       }),
       "stores are delayed and D reuses the buffers of C, with StagesC = 2 and StagesD = 2: the load warp would wait "
       "for "
       "a buffer that is released only after a store that waits for this load, so StagesC must be greater than "
       "StagesD; "
       "the nearest StagesC that works is 3",
       [](B& b, std::int64_t v) { b.stages_c = static_cast<int>(v); }},
      {EpilogueRule::per_group_strides, with([](B& b) { b.layout_d = per_group(kRowMajor); }),
       "D has strides for every group, and TmaWarpSpecialized takes one tensor; the nearest schedule that works is "
       "PtrArrayTmaWarpSpecialized",
       [](B& b, std::int64_t v) { b.schedule = static_cast<EpilogueSchedule>(v); }},
      {EpilogueRule::per_group_im2col, with([](B& b) {
         b.schedule = EpilogueSchedule::ptr_array_tma_warp_specialized;
         b.layout_c = per_group(kTensorNHWC);
       }),
       "C is the tensor of a convolution with strides for every group: pointer arrays hold matrices; without '*' this "
       "works",
       [](B& b, std::int64_t) { b.layout_c = kTensorNHWC; }},
      {EpilogueRule::im2col_needs_tma, with([](B& b) {
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
         b.layout_d = kTensorNWC;
       }),
       "D is the tensor of a convolution, and NoSmemWarpSpecialized writes matrices; the nearest schedule that works "
       "is "
       "TmaWarpSpecialized",
       [](B& b, std::int64_t v) { b.schedule = static_cast<EpilogueSchedule>(v); }},
      {EpilogueRule::fusion_storage, with([](B& b) { b.fusion = {.bytes = 64, .alignment = 24}; }),
       "the fusion asks for 64 bytes of shared memory aligned to 24: sizes are not negative and alignments are powers "
       "of "
       "two; the nearest alignment that works is 16",
       [](B& b, std::int64_t v) { b.fusion.alignment = static_cast<int>(v); }},
      {EpilogueRule::shared_memory, with([](B& b) {
         b.tile.n = 256;
         b.epi_tile = {64, 256};
         b.stages_c = 8;
       }),
       "the epilogue takes 262272 bytes of shared memory: a block has at most 232448, which is room for 7 of its "
       "buffers; fewer stages or a smaller epilogue tile fit",
       [](B& b, std::int64_t v) { b.stages_c = static_cast<int>(v); }},
  };
}

TEST(EpilogueRefusals, EachRuleSaysWhatWasAskedWhyNotAndWhatWorks) {
  for (const Broken& broken : broken_rules()) {
    const EpiloguePolicy p = broken.asked.policy();
    ASSERT_EQ(p.reasons.size(), 1) << broken.sentence;
    EXPECT_FALSE(p.ok());
    EXPECT_EQ(p.reasons[0].rule, broken.rule) << broken.sentence;
    EXPECT_EQ(std::string(describe(p.reasons[0]).c_str()), broken.sentence);
  }
}

TEST(EpilogueRefusals, TheValueThatIsNamedWorks) {
  for (const Broken& broken : broken_rules()) {
    if (!broken.mend) continue;
    CollectiveBuilder mended = broken.asked;
    broken.mend(mended, broken.asked.policy().reasons[0].nearest);
    const EpiloguePolicy p = mended.policy();
    EXPECT_TRUE(p.ok()) << broken.sentence << "\nand then: " << (p.ok() ? "" : describe(p.reasons[0]).c_str());
  }
}

TEST(EpilogueRefusals, EveryReasonIsGiven) {
  const EpiloguePolicy p = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                             .tile = {100, 64, 64},
                                             .c = ElementType::f16,
                                             .d = ElementType::f16,
                                             .layout_c = per_group(kRowMajor),
                                             .align_c = 1,
                                             .align_d = 3,
                                             .acc = ElementType::void_,
                                             .stages_c = 2,
                                             .stages_d = 2,
                                             .reuse_smem_c = Choice::yes,
                                             .delay_tma_store = Choice::yes}
                               .policy();
  for (const EpilogueRule rule : {EpilogueRule::element_missing, EpilogueRule::per_group_strides,
                                  EpilogueRule::mma_rows, EpilogueRule::alignment, EpilogueRule::deadlock}) {
    EXPECT_TRUE(p.reasons.has(rule)) << entry_of(rule).name;
  }
  EXPECT_EQ(p.reasons.size(), 6);  // alignments of both
}

TEST(EpilogueRefusals, TheDeadlockIsBuiltWhereItIsToBeShown) {
  CollectiveBuilder b = kBase;
  b.stages_c = b.stages_d = 2;
  b.reuse_smem_c = b.delay_tma_store = Choice::yes;
  EXPECT_FALSE(b.policy().ok());
  b.deadlock = DeadlockCheck::bypassed_for_demonstration;
  const EpiloguePolicy p = b.policy();
  EXPECT_TRUE(p.ok());
  EXPECT_TRUE(p.deadlock_bypassed && p.reuse_smem_c && p.delay_tma_store && p.stages_c <= p.stages_d);
  b.stages_c = 3;
  EXPECT_FALSE(b.policy().deadlock_bypassed);
}

TEST(EpilogueRefusals, VoidTensorsNeedNoAlignment) {
  CollectiveBuilder b = kBase;
  b.c = ElementType::void_;
  b.align_c = 1;
  EXPECT_TRUE(b.policy().ok());
}

TEST(EpilogueRefusals, WhatDoesNotFitStillHasItsValues) {
  CollectiveBuilder b = kBase;
  b.tile = {64, 256, 64};
  b.epi_tile = {64, 256};
  b.stages_c = 8;
  const EpiloguePolicy p = b.policy();
  EXPECT_FALSE(p.ok());
  EXPECT_FALSE(p.refused());
  EXPECT_EQ(p.storage.collective_bytes, 8 * 64 * 256 * 2);
}

}  // namespace
}  // namespace gantry
