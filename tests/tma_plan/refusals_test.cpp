// Copies that cannot be: each is refused, with every reason and with numbers that the request has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma.hpp>
#include <gantry/tma/explain.hpp>

namespace gantry::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Asked {
  const char* gmem = "(4096,8192):(8192,_1)";
  const char* smem = "(_64,_64):(_64,_1)";
  const char* tile = "(_64,_64)";
  TmaCopyRequest more{};
};

TmaPlan plan_of(const Asked& a) {
  TmaCopyRequest r = a.more;
  if (r.gtensor.element == ElementType::void_) r.gtensor.element = ElementType::bf16;
  r.gtensor.layout = parse_layout(a.gmem).value;
  r.smem = ComposedLayout(Swizzle(), _0, parse_layout(a.smem).value, element_bits(r.gtensor.element));
  r.cta_tiler = parse_tiler(a.tile).value;
  return make_tma_copy(r);
}

// The names of the rules that a plan breaks, pitfalls left out.
std::vector<std::string> rules_of(const TmaPlan& plan) {
  std::vector<std::string> out;
  for (const TmaReason& r : plan.reasons) out.emplace_back(entry_of(r.rule).name);
  for (const TmaViolation& v : check_map(plan)) {
    if (verdict_of(v) != TmaVerdict::legal) out.emplace_back(entry_of(v.rule).name);
  }
  return out;
}

std::vector<std::string> sentences_of(const TmaPlan& plan) {
  std::vector<std::string> out;
  for (const TmaReason& r : plan.reasons) out.emplace_back(describe(r).c_str());
  for (const TmaViolation& v : check_map(plan)) out.emplace_back(describe(v).c_str());
  return out;
}

TEST(SharedLayouts, ThatOverlapAreRefusedWithTheStepThatIsMisaligned) {
  const TmaPlan plan = plan_of({.smem = "(_64,_64):(_32,_1)"});
  EXPECT_TRUE(plan.refused);
  EXPECT_THAT(rules_of(plan), UnorderedElementsAre("shared_overlaps", "shared_step_misaligned"));
  EXPECT_THAT(sentences_of(plan), Contains(HasSubstr("stride 32 of the shared layout steps inside the 64 elements that "
                                                     "other modes reach over")));
  EXPECT_THAT(sentences_of(plan), Contains(HasSubstr("one starts 64 bytes into the shared tile")));
}

TEST(SharedLayouts, OfStrideZeroAreRefusedWhereTheTensorHasOtherElements) {
  EXPECT_THAT(rules_of(plan_of({.smem = "(_64,_64):(_0,_1)"})), Contains("shared_overlaps"));
  EXPECT_THAT(rules_of(plan_of({.smem = "(_64,(_2,_32)):(_32,(_0,_1))"})), Contains("shared_overlaps"));
  const TmaPlan repeated =
      plan_of({.gmem = "(128,(_32,4)):(_1,(_0,128))", .smem = "(_64,_32):(_1,_0)", .tile = "(_64,_32)"});
  EXPECT_THAT(rules_of(repeated), IsEmpty());
}

TEST(SharedLayouts, ThatRunBackwardsAreRefused) {
  const TmaPlan plan = plan_of({.smem = "(_64,_64):(-64,_1)"});
  EXPECT_TRUE(plan.refused);
  EXPECT_THAT(rules_of(plan), Contains("shared_stride_negative"));
}

TEST(SharedLayouts, ThatLeaveGapsOrStandInAnyOrderAreTaken) {
  for (const char* smem : {"(_64,_64):(_64,_1)", "(_64,_64):(_128,_1)", "(_64,(_32,_2)):(_32,(_1,_2048))",
                           "((_8,_8),(_8,_8)):((_8,_512),(_1,_64))"}) {
    EXPECT_THAT(rules_of(plan_of({.smem = smem})), IsEmpty()) << smem;
  }
}

TEST(Refusals, AreNotHiddenByAMulticastThatCannotBe) {
  const TmaPlan plan =
      plan_of({.gmem = "(4096,8191):(8191,_1)",
               .smem = "(_300,_20):(_20,_1)",
               .tile = "(_300,_20)",
               .more = {.op = TmaOp::store, .gtensor = {.address = 7, .layout = {}}, .num_multicast = 2}});
  EXPECT_THAT(rules_of(plan),
              UnorderedElementsAre("multicast_needs_operation", "address_misaligned", "stride_not_multiple",
                                   "inner_box_bytes_not_multiple_of_16", "box_extent_out_of_range"));
  EXPECT_THAT(sentences_of(plan), Contains(HasSubstr("2 CTAs share the copy")));
}

TEST(Refusals, AreNotHiddenByATileWithoutABox) {
  const TmaPlan plan = plan_of(
      {.gmem = "(4096,8191):(8191,_1)",
       .smem = "(_64,_32):(_32,_1)",
       .more = {.op = TmaOp::reduce_min, .gtensor = {.address = 7, .element = ElementType::f32, .layout = {}}}});
  EXPECT_EQ(plan.num_bits_per_tma, 0);
  EXPECT_THAT(rules_of(plan), UnorderedElementsAre("size_mismatch", "address_misaligned", "stride_not_multiple",
                                                   "reduce_min_max_type"));
  const TmaPlan negative = plan_of({.gmem = "(4096,8192):(-8192,_1)", .smem = "(_64,_32):(_32,_1)"});
  EXPECT_THAT(rules_of(negative), UnorderedElementsAre("size_mismatch", "stride_negative"));
  // A stride of 8 bytes, which is never a dimension's own: the modes are one.
  const TmaPlan merged = plan_of({.gmem = "((_8,_4),64):((_1,_8),32)",
                                  .smem = "(_64,_32):(_32,_1)",
                                  .tile = "(_32,_8)",
                                  .more = {.gtensor = {.element = ElementType::u8, .layout = {}}}});
  EXPECT_THAT(rules_of(merged), ElementsAre("size_mismatch"));
}

TEST(Refusals, OfAnElementWithoutFormatSayNothingOfWidthsThatItDoesNotHave) {
  const TmaPlan plan =
      plan_of({.gmem = "(1024,256):(_1,1024)",
               .smem = "(_8,_16):(_1,_8)",
               .tile = "(_8,_16)",
               .more = {.op = TmaOp::reduce_add, .gtensor = {.element = ElementType::cf64, .layout = {}}}});
  EXPECT_THAT(rules_of(plan), ElementsAre("element_without_format"));
}

TEST(Refusals, OfANegativeStrideOrAnotherMajorSayItOnce) {
  EXPECT_THAT(rules_of(plan_of({.gmem = "(4096,8192):(-8192,_1)"})), ElementsAre("stride_negative"));
  EXPECT_THAT(rules_of(plan_of({.gmem = "(4096,8192):(_1,4096)"})), ElementsAre("major_mismatch"));
}

TEST(Refusals, NameStridesThatWorkForTheRow) {
  TmaCopyRequest r;
  r.gtensor.element = ElementType::u8;
  r.tma_element = ElementType::u64;
  const TmaPlan plan =
      plan_of({.gmem = "(1024,256):(_1,1028)", .smem = "(_32,_8):(_1,_32)", .tile = "(_32,_8)", .more = r});
  EXPECT_THAT(sentences_of(plan), Contains(HasSubstr("the nearest value that works is 1040")));
  const TmaPlan next =
      plan_of({.gmem = "(1024,256):(_1,1040)", .smem = "(_32,_8):(_1,_32)", .tile = "(_32,_8)", .more = r});
  EXPECT_THAT(rules_of(next), IsEmpty());
}

TEST(Refusals, OfNumbersOfCtasThatNoClusterHas) {
  const GlobalTensor g{.element = ElementType::bf16, .layout = parse_layout("(4096,8192):(8192,_1)").value};
  const Layout smem = parse_layout("(_64,_64):(_64,_1)").value;
  const auto plan = [&](const Int& ctas) { return make_tma_copy(TmaOp::load_multicast, g, smem, _, ctas); };
  EXPECT_TRUE(plan(Int(4)).ok());
  EXPECT_THAT(rules_of(plan(Int((std::int64_t{1} << 32) + 1))), ElementsAre("multicast_count"));
  EXPECT_THAT(rules_of(plan(Int(0))), ElementsAre("multicast_count"));
  EXPECT_THAT(rules_of(plan(Int::unknown())), ElementsAre("multicast_count"));
}

// CuTe's grouping of the fifth dimension does not take a mode that is a group itself.
TEST(Refusals, OfMergedModesInTheLastDimension) {
  const TmaPlan plan = plan_of({.gmem = "(_32,4,4,4,(_2,_4)):(_1,32,128,512,(_2048,_4096))",
                                .smem = "(_32,_2,_2,_2,(_2,_4)):(_1,_32,_64,_128,(_256,_512))",
                                .tile = "(_32,_2,_2,_2,(_2,_4))"});
  EXPECT_THAT(rules_of(plan), Contains("merged_in_last_dimension"));
}

TEST(GemmForms, ShareNothingWithoutAClusterAndRefuseOtherRanks) {
  TmaGemmRequest r{
      .gtensor = {.address = 4096, .element = ElementType::bf16, .layout = parse_layout("(512,1024):(1024,_1)").value},
      .smem = parse_layout("(_128,_64):(_64,_1)").value,
      .tile_mnk = make_shape(_128, _128, _64)};
  EXPECT_THAT(rules_of(make_tma_copy_A_sm90(r)), IsEmpty());
  EXPECT_THAT(rules_of(make_tma_copy_B_sm90(r)), IsEmpty());
  r.cluster_mnk = make_shape(_2, _1);
  EXPECT_THAT(rules_of(make_tma_copy_A_sm90(r)), ElementsAre("operand_rank"));
  r.cluster_mnk = make_shape(_2, _1, _1);
  r.tile_mnk = make_shape(_128, _64);
  EXPECT_THAT(rules_of(make_tma_copy_C_sm90(r)), ElementsAre("operand_rank"));
  EXPECT_TRUE(make_tma_copy_C_sm90(r).refused);
}

TEST(MakeTmaAtom, TakesItsOperandsInOrderAsTheCopyDoes) {
  const GlobalTensor g{
      .address = 4096, .element = ElementType::f32, .layout = parse_layout("(1024,256):(256,_1)").value};
  const TmaPlan atom = make_tma_atom(TmaOp::load_multicast, g, parse_layout("(_32,_32):(_32,_1)").value,
                                     make_tile(_32, _32), make_shape(_2, _2));
  EXPECT_TRUE(atom.ok());
  EXPECT_EQ(atom.num_multicast, 4U);
  EXPECT_EQ(atom.descriptor.box[1], 8U);
}

TEST(MulticastMask, OfMoreCtasThanAClusterHasIsEmptyAtOnce) {
  EXPECT_EQ(create_tma_multicast_mask(make_layout(Int(std::int64_t{1} << 62)), _), 0);
}

// 18 global modes of a negative stride: a reason for each.
TEST(Reasons, OfAPlanThatWereLeftOutAreSaid) {
  std::string shape = "64", stride = "_1";
  for (int i = 0; i < 18; ++i) shape += ",2", stride += ",-128";
  const TmaPlan plan = plan_of({.gmem = ("(" + shape + "):(" + stride + ")").c_str(), .smem = "_64:_1", .tile = "_64"});
  EXPECT_TRUE(plan.refused);
  EXPECT_GE(plan.reasons.size() + plan.reasons.left_out(), 18);
  EXPECT_GT(plan.reasons.left_out(), 0);
  std::vector<std::string> rules;
  for (const TmaObjection& o : explain(plan).objections) rules.push_back(o.rule);
  EXPECT_THAT(rules, Contains("more_reasons"));
}

}  // namespace
}  // namespace gantry::test
