// What an explanation says: steps, fields, instructions, objections.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma/explain.hpp>

namespace gantry {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

ComposedLayout shared(const char* text, int bits = 16) {
  const ComposedLayout read = parse_composed_layout(text).value;
  return ComposedLayout(read.swizzle(), _0, read.layout(), bits);
}

TmaCopyRequest rows_request() {
  return {.op = TmaOp::load,
          .gtensor = {.element = ElementType::bf16, .layout = layout("(4096,8192):(8192,_1)")},
          .smem = shared("Sw<3,4,3> o (_128,_64):(_64,_1)"),
          .cta_tiler = tiler("(_128,_64)")};
}

std::string step(const TmaExplanation& e, const std::string& name) {
  for (const TmaStepText& s : e.steps) {
    if (s.name == name) return s.value;
  }
  return "no such step";
}

std::string field(const TmaExplanation& e, const std::string& name) {
  for (const TmaFieldText& f : e.fields) {
    if (f.name == name) return f.value;
  }
  return "no such field";
}

// A row-major matrix and a K-major tile of it: the standard operand of a GEMM, worked out by hand.
TEST(Explain, StepsOfARowMajorTile) {
  const TmaExplanation e = explain(make_tma_copy(rows_request()));
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(step(e, "cta_v_map"), "(_128,_64):(_1@0,_1@1)");
  EXPECT_EQ(step(e, "inv_smem_layout"), "(_64,_128):(_128,_1)");
  EXPECT_EQ(step(e, "sidx2gmode_full"), "(_64,_128):(_1@1,_1@0)");
  EXPECT_EQ(step(e, "tile_gstride"), "(_64,_128):(_1,8192)");
  EXPECT_EQ(step(e, "tma_gbasis"), "(_64,_128):(_1@1,_1@0)");
  EXPECT_EQ(step(e, "box"), "(64, 128)");
  EXPECT_EQ(step(e, "tma_tensor_stride"), "(_1@1,_1@0)");
  EXPECT_EQ(e.steps.front().name, "cta_v_map");
  EXPECT_EQ(e.steps.back().name, "tma_tensor_stride");
}

TEST(Explain, FieldsAreTheEncodersArguments) {
  const TmaExplanation e = explain(make_tma_copy(rows_request()));
  EXPECT_EQ(field(e, "data_type"), "bf16");
  EXPECT_EQ(field(e, "rank"), "2");
  EXPECT_EQ(field(e, "dims"), "(8192, 4096)");
  EXPECT_EQ(field(e, "strides"), "(16384)");
  EXPECT_EQ(field(e, "box"), "(64, 128)");
  EXPECT_EQ(field(e, "swizzle"), "128B");
  EXPECT_EQ(e.ptx, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
}

TEST(Explain, TheInstructionOfATileStartsAtTheTile) {
  const TmaExplanation e = explain(make_tma_copy(rows_request()), {.tile = make_coord(3, 5)});
  ASSERT_EQ(e.instructions.size(), 1u);
  EXPECT_EQ(e.instructions[0].coordinates[0], 5 * 64);
  EXPECT_EQ(e.instructions[0].coordinates[1], 3 * 128);
  EXPECT_EQ(e.instructions[0].bytes, 128 * 64 * 2);
  EXPECT_EQ(e.instructions[0].cta_mask, 0);
  EXPECT_EQ(e.tile_bytes, 16384);
  EXPECT_EQ(e.alignment, 1024);
}

TEST(Explain, AMulticastGivesEveryCtaItsPartAndAMaskOfAll) {
  TmaCopyRequest request = rows_request();
  request.op = TmaOp::load_multicast;
  request.num_multicast = 4;
  const TmaExplanation e = explain(make_tma_copy(request));
  ASSERT_EQ(e.instructions.size(), 4u);
  EXPECT_EQ(e.instruction_count, 4);
  for (int cta = 0; cta < 4; ++cta) {
    const TmaInstructionText& at = e.instructions[static_cast<std::size_t>(cta)];
    EXPECT_EQ(at.cta, cta);
    EXPECT_EQ(at.coordinates[1], 32 * cta);
    EXPECT_EQ(at.shared_offset, 4096 * cta);
    EXPECT_EQ(at.bytes, 4096);
    EXPECT_EQ(at.cta_mask, 0b1111);
  }
}

TEST(Explain, WhatLiesOutsideIsCounted) {
  TmaCopyRequest request = rows_request();
  request.gtensor.layout = layout("(200,96):(96,_1)");
  const TmaExplanation e = explain(make_tma_copy(request), {.tile = make_coord(1, 1)});
  ASSERT_EQ(e.instructions.size(), 1u);
  EXPECT_EQ(e.instructions[0].bytes_inside, (200 - 128) * (96 - 64) * 2);
}

TEST(Explain, AStructureSaysWhatIsKnownBeforeATensorIsBound) {
  TmaCopyRequest request = rows_request();
  request.gtensor.layout = layout("(?,?):(?,_1)");
  const TmaExplanation e = explain(plan_structure(request));
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(field(e, "dims"), "?");
  EXPECT_EQ(field(e, "box"), "(64, 128)");
  ASSERT_EQ(e.instructions.size(), 1u);
  EXPECT_EQ(e.instructions[0].bytes, 16384);
}

TEST(Explain, AStructureShowsTheExtentsAndStridesThatStaticLeavesGive) {
  TmaCopyRequest request = rows_request();
  request.gtensor.layout = layout("(?,_64,?):(_72,_1,?)");
  request.cta_tiler = tiler("(_128,_64)");
  const TmaExplanation e = explain(plan_structure(request));
  EXPECT_EQ(field(e, "dims"), "(64, ?, ?)");
  EXPECT_EQ(field(e, "strides"), "(144, ?)");
}

TEST(Explain, ARefusedPlanListsEveryReasonWithTheNearestValue) {
  TmaCopyRequest request = rows_request();
  request.gtensor.layout = layout("(4096,8196):(8196,_1)");
  request.smem = shared("Sw<3,4,3> o (_512,_128):(_128,_1)");
  request.cta_tiler = tiler("(_512,_128)");
  const TmaExplanation e = explain(make_tma_copy(request));
  EXPECT_FALSE(e.ok());
  const auto objection = [](const char* rule, const char* nearest) {
    return AllOf(Field(&TmaObjection::rule, rule),
                 Field(&TmaObjection::sentence, HasSubstr(std::string("the nearest value that works is ") + nearest)));
  };
  EXPECT_THAT(e.objections, ElementsAre(objection("stride_not_multiple", "8200"),
                                        objection("inner_box_bytes_exceed_swizzle_span", "64"),
                                        objection("box_extent_out_of_range", "256")));
  EXPECT_EQ(step(e, "box"), "(128, 512)");
  EXPECT_EQ(field(e, "strides"), "(16392)");
  EXPECT_THAT(e.instructions, IsEmpty());
  EXPECT_THAT(e.advice, IsEmpty());
}

TEST(Explain, ARefusedPlanListsEveryReasonAlsoWhenItHasNoMulticastOrNoBox) {
  TmaCopyRequest request = rows_request();
  request.op = TmaOp::store;
  request.num_multicast = 2;
  request.gtensor.address = 7;
  request.gtensor.layout = layout("(4096,8191):(8191,_1)");
  request.smem = shared("(_300,_20):(_20,_1)");
  request.cta_tiler = tiler("(_300,_20)");
  const auto rule = [](const char* name) { return Field(&TmaObjection::rule, name); };
  EXPECT_THAT(explain(make_tma_copy(request)).objections,
              ElementsAre(rule("multicast_needs_operation"), rule("address_misaligned"), rule("stride_not_multiple"),
                          rule("inner_box_bytes_not_multiple_of_16"), rule("box_extent_out_of_range")));
  request.cta_tiler = tiler("(_300,_40)");
  EXPECT_THAT(explain(make_tma_copy(request)).objections,
              ElementsAre(rule("multicast_needs_operation"), rule("size_mismatch"), rule("address_misaligned"),
                          rule("stride_not_multiple")));
}

TEST(Explain, APlanThatStopsEarlyShowsTheStepsThatItDid) {
  TmaCopyRequest request = rows_request();
  request.cta_tiler = tiler("(_128,_32)");
  const TmaExplanation mismatch = explain(make_tma_copy(request));
  EXPECT_THAT(mismatch.objections, ElementsAre(Field(&TmaObjection::rule, "size_mismatch")));
  EXPECT_THAT(mismatch.steps, ElementsAre(Field(&TmaStepText::name, "cta_v_map")));
  EXPECT_THAT(mismatch.fields, IsEmpty());

  request = rows_request();
  request.num_multicast = 2;
  const TmaExplanation shared_load = explain(make_tma_copy(request));
  EXPECT_THAT(shared_load.objections, ElementsAre(Field(&TmaObjection::rule, "multicast_needs_operation")));
  EXPECT_EQ(shared_load.steps.back().name, "tma_tensor_stride");
}

TEST(Explain, WhatOnlyHopperRefusesIsMarkedAndStillExplained) {
  TmaCopyRequest request = rows_request();
  request.smem = shared("Sw<3,4,3> o (_128,_32):(_32,_1)");  // 64-byte rows under a 128-byte swizzle
  request.cta_tiler = tiler("(_128,_32)");
  const TmaExplanation e = explain(make_tma_copy(request));
  EXPECT_FALSE(e.ok());
  EXPECT_THAT(e.objections,
              Contains(AllOf(Field(&TmaObjection::rule, "rows_padded"), Field(&TmaObjection::on_hopper_only, true))));
  EXPECT_EQ(e.instructions.size(), 1u);
}

TEST(Explain, EveryOperationHasItsInstruction) {
  EXPECT_EQ(ptx_name(TmaOp::load_multicast, 3),
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster");
  EXPECT_EQ(ptx_name(TmaOp::load_im2col, 4),
            "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes");
  EXPECT_EQ(ptx_name(TmaOp::store, 1), "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group");
  EXPECT_EQ(ptx_name(TmaOp::store_im2col, 5), "cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group");
  EXPECT_EQ(ptx_name(TmaOp::reduce_xor, 2), "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group");
  EXPECT_EQ(ptx_name(TmaOp::prefetch, 2), "cp.async.bulk.prefetch.tensor.2d.L2.global.tile");
  EXPECT_EQ(ptx_name(TmaOp::prefetch_im2col, 4), "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col");
}

TEST(Explain, AListOfInstructionsMayBeCutShort) {
  TmaCopyRequest request = rows_request();
  request.smem = shared("Sw<3,4,3> o (_128,(_64,_4)):(_64,(_1,_8192))");
  request.cta_tiler = tiler("(_128,_256)");
  const TmaExplanation e = explain(make_tma_copy(request), {.most_instructions = 3});
  EXPECT_EQ(e.instructions.size(), 3u);
  EXPECT_EQ(e.instruction_count, 4);
}

}  // namespace
}  // namespace gantry
