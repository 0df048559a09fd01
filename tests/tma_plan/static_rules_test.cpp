// What static leaves decide is decided before a tensor is bound: the same rules, in the same words, as after.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma.hpp>

#include "random_copy.hpp"

namespace gantry::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

struct Asked {
  const char* gmem = "(?,?):(?,_1)";
  const char* smem = "(_64,_64):(_64,_1)";
  const char* tile = "_";
  TmaCopyRequest more{};
};

TmaCopyRequest request_of(const Asked& a) {
  TmaCopyRequest r = a.more;
  if (r.gtensor.element == ElementType::void_) r.gtensor.element = ElementType::bf16;
  r.gtensor.layout = parse_layout(a.gmem).value;
  const ComposedLayout smem = parse_composed_layout(a.smem).value;
  r.smem = ComposedLayout(smem.swizzle(), _0, smem.layout(), element_bits(r.gtensor.element));
  r.cta_tiler = parse_tiler(a.tile).value;
  return r;
}

// The rules that a plan breaks, by name; pitfalls left out.
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

TmaPlan structure_of(const Asked& a) {
  const TmaPlan plan = plan_structure(request_of(a));
  EXPECT_FALSE(plan.bound);
  EXPECT_EQ(plan.ok(), rules_of(plan).empty());
  return plan;
}

TEST(Structure, WithABoxThatNoMapHasIsRefusedBeforeItIsBound) {
  EXPECT_THAT(rules_of(structure_of({.smem = "(_320,_64):(_64,_1)"})), ElementsAre("box_extent_out_of_range"));
  EXPECT_THAT(rules_of(structure_of({.smem = "Sw<2,4,3> o (_8,_64):(_64,_1)"})),
              ElementsAre("inner_box_bytes_exceed_swizzle_span"));
  EXPECT_THAT(rules_of(structure_of({.smem = "(_16,_20):(_20,_1)"})),
              ElementsAre("inner_box_bytes_not_multiple_of_16"));
  EXPECT_THAT(rules_of(structure_of(
                  {.smem = "(_256,_256):(_256,_1)", .more = {.gtensor = {.element = ElementType::f64, .layout = {}}}})),
              ElementsAre("box_bytes_too_large"));
}

TEST(Structure, WhoseFormatsHopperDoesNotHaveIsRefusedBeforeItIsBound) {
  const TmaPlan packed =
      structure_of({.smem = "(_64,_128):(_128,_1)", .more = {.gtensor = {.element = ElementType::e2m1, .layout = {}}}});
  EXPECT_THAT(rules_of(packed), Contains("data_type_not_on_hopper"));
  EXPECT_THAT(rules_of(structure_of({.smem = "Sw<2,5,2> o (_8,_64):(_64,_1)"})), Contains("swizzle_not_on_hopper"));
  const TmaPlan reduced =
      structure_of({.more = {.op = TmaOp::reduce_min, .gtensor = {.element = ElementType::f32, .layout = {}}}});
  EXPECT_THAT(rules_of(reduced), ElementsAre("reduce_min_max_type"));
}

TEST(Structure, IsJudgedByItsStaticExtentsAndStrides) {
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,?):(_100,_1)"})), ElementsAre("stride_not_multiple"));
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,?):(_-128,_1)"})), ElementsAre("stride_negative"));
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,?):(?,_2)"})), ElementsAre("gmem_without_unit_stride"));
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,?):(_1,_64)"})), Contains("major_mismatch"));
  EXPECT_THAT(rules_of(structure_of({.gmem = "(_4294967297,?):(_128,_1)"})), ElementsAre("extent_out_of_range"));
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,?,(_3,?)):(?,_1,(_0,?))", .smem = "(_8,_64,_2):(_64,_1,_512)"})),
              Contains("mode_without_coordinate"));
}

TEST(Structure, IsNotJudgedByValuesThatBindMayReplace) {
  // 100 elements are 200 bytes, and a run-time value: another tensor may have another one.
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,?):(100,_1)"})), IsEmpty());
  EXPECT_THAT(rules_of(structure_of({.gmem = "(?,-1):(?,_1)"})), Not(Contains("extent_out_of_range")));
  const TmaPlan store = structure_of({.more = {.op = TmaOp::store}});
  for (const TmaViolation& v : check_map(store)) ADD_FAILURE() << describe(v).c_str();
  const TmaPlan odd_address = structure_of({.more = {.gtensor = {.address = 7, .layout = {}}}});
  EXPECT_TRUE(odd_address.ok());
}

TEST(Structure, OfATileThatSharedMemoryDoesNotHoldDoesNotRun) {
  const Asked two_mebibytes{.gmem = "(?,?):(?,_1)",
                            .smem = "Sw<3,4,3> o ((_256,_4),(_64,_16)):((_64,_262144),(_1,_16384))",
                            .tile = "(_1024,_1024)"};
  const TmaPlan plan = structure_of(two_mebibytes);
  EXPECT_FALSE(plan.ok());
  EXPECT_FALSE(plan.refused);
  EXPECT_THAT(rules_of(plan), ElementsAre("tile_exceeds_shared_memory"));
  Asked prefetched = two_mebibytes;
  prefetched.more.op = TmaOp::prefetch;
  EXPECT_THAT(rules_of(structure_of(prefetched)), IsEmpty());
  // 227 KiB are there: seven boxes of 32 KiB fit, eight do not.
  EXPECT_TRUE(structure_of({.smem = "Sw<3,4,3> o (_256,(_64,_7)):(_64,(_1,_16384))", .tile = "(_256,_448)"}).ok());
  EXPECT_FALSE(structure_of({.smem = "Sw<3,4,3> o (_256,(_64,_8)):(_64,(_1,_16384))", .tile = "(_256,_512)"}).ok());
}

Layout with_unknown(const Layout& l) {
  const auto unknown = [](const Int& v) { return v.is_fixed() ? v : Int::unknown(); };
  return Layout(transform_leaf(l.shape(), unknown), transform_leaf(l.stride(), unknown));
}

// Copies with a box, a swizzle or a static stride spoilt: what is said before bind is said after it, word for word, and
// whatever is known from a box alone is said before.
TEST(RandomStructures, SayBeforeBindWhatTheySayAfter) {
  RandomCopy random(29);
  int refused = 0, structures = 0;
  for (int k = 0; k < 4000; ++k) {
    TmaCopyRequest r = random.make({TmaOp::load, TmaOp::store, TmaOp::reduce_add}).request;
    if (random.chance(50)) r.smem = ComposedLayout(Swizzle(1, 4, 3), _0, r.smem.layout(), r.smem.element_bits());
    if (random.chance(30)) {
      // Each static stride but 1 is no multiple of 16 bytes any more.
      const auto odd = [](const Int& v) { return v.is_fixed() && v.value() > 1 ? Int::fixed(v.value() + 1) : v; };
      r.gtensor.layout = Layout(r.gtensor.layout.shape(), transform_leaf(r.gtensor.layout.stride(), odd));
    }
    TmaCopyRequest blind = r;
    blind.gtensor.layout = with_unknown(r.gtensor.layout);
    const TmaPlan structure = plan_structure(blind);
    if (structure.num_bits_per_tma == 0 || structure.bound) continue;
    ++structures;
    const TmaPlan bound = bind(structure, r.gtensor);
    const std::vector<std::string> after = sentences_of(bound);
    for (const std::string& said : sentences_of(structure)) EXPECT_THAT(after, Contains(said));
    for (const TmaViolation& v : check_map(bound)) {
      if (v.field != TmaField::box) continue;
      EXPECT_THAT(sentences_of(structure), Contains(std::string(describe(v).c_str())));
    }
    EXPECT_TRUE(structure.ok() || !bound.ok());
    refused += structure.ok() ? 0 : 1;
  }
  EXPECT_GT(structures, 2000);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace gantry::test
