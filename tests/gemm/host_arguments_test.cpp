// The host surface of a GEMM: arguments that are refused, each by its rule.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/gemm.hpp>

#include "../rules/rule_names.hpp"
#include "host_gemm.hpp"

namespace gantry {
namespace {

using test::arguments;
using test::HostGemm;
using test::name_of;
using test::names_of;
using test::Plain;
using test::Reducing;
using test::sentences_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(GemmArguments, RefuseSizesThatCannotBe) {
  const ArgumentReasons reasons = can_implement(arguments({.m = -1, .n = 8, .k = 1LL << 40}));
  ASSERT_THAT(names_of(reasons), ElementsAre("size_negative M", "size_too_large K"));
  EXPECT_EQ(reasons[0].actual, -1);
  EXPECT_EQ(reasons[1].actual, 1LL << 40);
  EXPECT_EQ(reasons[1].nearest, 2147483392);
  EXPECT_THAT(names_of(can_implement(arguments({.m = 8, .n = 8, .k = 8, .batch = -3}))),
              ElementsAre("size_negative batch"));
  const ArgumentReasons many = can_implement(arguments({.m = 1 << 20, .n = 1 << 20, .k = 1 << 20}));
  ASSERT_THAT(names_of(many), ElementsAre("too_many_tiles"));
  EXPECT_EQ(many[0].actual, 1099578736640);
  EXPECT_EQ(many[0].nearest, 896);
}

TEST(GemmArguments, RefuseOperandsWhoseRowsOverlapOrThatBeginInsideAnElement) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 100});
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty()) << "rows of 200 bytes are packed";
  args.a.stride = args.b.stride = 104;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
  args.a.stride = 96;
  ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("stride_too_short A"));
  EXPECT_EQ(reasons[0].first, 100);
  EXPECT_EQ(reasons[0].nearest, 100);
  EXPECT_THAT(sentences_of(reasons), HasSubstr("A has rows of 100 elements and a stride of 96"));
  args.a.stride = 104;
  args.b.stride = 96;
  EXPECT_THAT(sentences_of(can_implement(args)), HasSubstr("B has rows of 100 elements and a stride of 96"));
  args = arguments({.m = 256, .n = 256, .k = 64});
  args.a.data += 1;
  args.b.data = nullptr;
  ASSERT_THAT(names_of(can_implement(args)), ElementsAre("matrix_missing B"));
  args.a.data = reinterpret_cast<const bf16*>(reinterpret_cast<std::uintptr_t>(args.a.data) + 1);  // NOLINT
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("element_misaligned A", "matrix_missing B"));
  EXPECT_EQ(reasons[0].actual, 1);
  EXPECT_EQ(reasons[0].nearest, 1);
  EXPECT_EQ(reasons[0].first, 2);
  args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  args.b.batch_stride = -4;
  args.d.batch_stride = 0;
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("batch_stride_negative B", "batches_overlap D"));
  EXPECT_EQ(reasons[0].actual, -4);
  EXPECT_EQ(reasons[1].first, 1);
  EXPECT_EQ(reasons[1].nearest, 65536);
  args.b.batch_stride = 0;  // batches may share what is read
  args.d.batch_stride = kPacked;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
  args.d.stride = 256;
  args.d.batch_stride = 4;  // both multiples of 8 next to it lie in the first matrix
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("batch_stride_misaligned D"));
  EXPECT_EQ(reasons[0].nearest, 65536);
}

// TMA has strides of less than 2^40 bytes; beyond, numbers must not wrap around to ones that work.
TEST(GemmArguments, RefuseStridesThatAreTooLong) {
  for (const std::int64_t stride : {std::int64_t{1} << 39, std::int64_t{1} << 60, INT64_MAX - 7, INT64_MAX}) {
    GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
    args.a.stride = args.d.stride = stride;
    const ArgumentReasons reasons = can_implement(args);
    ASSERT_THAT(names_of(reasons), ElementsAre("stride_too_long A", "stride_too_long D"));
    EXPECT_EQ(reasons[0].actual, stride);
    EXPECT_EQ(reasons[0].nearest, 549755813880);
    EXPECT_FALSE(reasons[0].of_batches);
  }
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  args.b.stride = 549755813880;  // of one matrix; the other would lie 256 times as far
  const ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("stride_too_long B"));
  EXPECT_TRUE(reasons[0].of_batches);
  EXPECT_EQ(reasons[0].actual, 140737488353280);
  args.b.batch_stride = 64;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
}

TEST(GemmArguments, CountTilesOfTheLargestSizes) {
  constexpr int most = 0x7fffff00;
  constexpr GemmDesign largest = make_gemm_design({.tile = {256, 128}, .cluster = {2, 2}}, fusion::graph("d = acc"));
  static_assert(largest.clusters_along_m(most) == (1LL << 31) / 512);
  static_assert(largest.clusters_along_n(most) == (1LL << 31) / 256 - 1);
  EXPECT_TRUE(can_implement(arguments({.m = most, .n = most, .k = most, .batch = most}))
                  .has(ArgumentRule::too_many_tiles_for_any_m));
}

// Matrices may lie one after the other, or side by side, each with its part of every row; never in each other.
TEST(GemmArguments, RefuseBatchesThatAreWrittenIntoEachOther) {
  struct Case {
    std::int64_t batches, stride, batch_stride, first;  // batch that overlaps batch 0, or 0
  };
  for (const Case& c : {Case{2, 256, 65536, 0}, Case{2, 256, 65528, 1}, Case{2, 256, 8, 1}, Case{2, 512, 256, 0},
                        Case{3, 512, 256, 2}, Case{3, 768, 256, 0}, Case{2, 768, 65536, 0}, Case{2, 768, 65528, 1}}) {
    SCOPED_TRACE(testing::Message() << c.batches << " batches, " << c.stride << ", " << c.batch_stride);
    GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = c.batches});
    args.d.stride = c.stride;
    args.d.batch_stride = c.batch_stride;
    const ArgumentReasons reasons = can_implement(args);
    if (c.first == 0) {
      EXPECT_THAT(names_of(reasons), IsEmpty());
    } else {
      ASSERT_THAT(names_of(reasons), ElementsAre("batches_overlap D"));
      EXPECT_EQ(reasons[0].first, c.first);
    }
  }
}

// Threads write masks and results of blocks of columns: lines of 256 bits, and of 4 elements.
struct WithMask {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("d = acc; bits:u1 = acc > 0; tops = across_max(acc, 64)");
};
TEST(GemmArguments, RefuseBatchesOfMasksAndBlocksThatAreWrittenIntoEachOther) {
  const auto reasons_with = [](std::int64_t bits, std::int64_t tops) {
    alignas(16) static bf16 a[8], b[8], d[8];
    static std::uint8_t mask[8];
    static float blocks[8];
    GemmArguments<WithMask> args({.m = 128, .n = 256, .k = 64, .batch = 2});
    args.a = a;
    args.b = b;
    args.d = d;
    args.fusion["bits"].tensor(mask, 256, bits);
    args.fusion["tops"].tensor(blocks, 4, tops);
    ArgumentReasons out;
    for (const ArgumentReason& reason : can_implement(args)) {
      if (reason.operand == "bits" || reason.operand == "tops") out.add(reason);
    }
    return out;
  };
  EXPECT_FALSE(reasons_with(256 * 128, 4 * 128).has(ArgumentRule::batches_overlap));
  EXPECT_THAT(names_of(reasons_with(256, 4 * 128 + 4)), Contains("batches_overlap bits"));
  EXPECT_THAT(names_of(reasons_with(256 * 128, 4)), Contains("batches_overlap tops"));
  EXPECT_THAT(names_of(reasons_with(-8, 4 * 128)), Contains("batch_stride_negative bits"));
  EXPECT_THAT(names_of(reasons_with(256 * 128, -4)), Contains("batch_stride_negative tops"));
}

// One row has no neighbour to be apart from.
TEST(GemmArguments, TakeASingleRowOfAnyLength) {
  GemmArguments<Plain> args = arguments({.m = 1, .n = 1, .k = 13});
  const ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_EQ(reasons[0].nearest, 8);
  args = arguments({.m = 1, .n = 8, .k = 16});
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty());
}

struct WithAux {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .layout_d = kColumnMajor, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("aux:f16 = acc + c; d = relu(aux)");
};

// Said once, with sizes of the GEMM that work.
TEST(GemmArguments, RefuseResultsThatWouldBeWrittenBesideTheMatrix) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 100, .k = 64});
  ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_EQ(reasons[0].actual, 100);
  EXPECT_EQ(reasons[0].first, 8) << "bytes";
  EXPECT_EQ(reasons[0].nearest, 104);
  EXPECT_EQ(reasons[0].second, 0) << "104 is larger already";
  args.d.stride = 104;
  EXPECT_THAT(names_of(can_implement(args)), ElementsAre("ends_inside_chunk D"));
  args.d.stride = 106;
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D", "stride_misaligned D"));
  EXPECT_EQ(reasons[1].nearest, 104);
  args = arguments({.m = 256, .n = 106, .k = 64});
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_EQ(reasons[0].nearest, 104);
  EXPECT_EQ(reasons[0].second, 112) << "which holds all of it";
  HostGemm<WithAux> x(101, 100, 64);
  Buffer<f16> aux(x.d.size());
  x.args.c = x.c.data();
  x.args.fusion["aux"] = aux.data();
  reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("stride_misaligned C", "ends_inside_chunk D", "ends_inside_chunk aux"));
  EXPECT_TRUE(reasons[1].columns) << "M is refused";
  EXPECT_EQ(reasons[1].nearest, 104);
  EXPECT_FALSE(reasons[2].columns) << "N is refused";
  EXPECT_EQ(reasons[2].nearest, 104);
}

// Tiles come in any order: what is written is nobody else's. But C may make room for D, tile by tile.
TEST(GemmArguments, RefuseResultsThatLieInSomethingElse) {
  GemmArguments<Plain> args = arguments({.m = 256, .n = 256, .k = 64, .batch = 2});
  bf16* const a = const_cast<bf16*>(args.a.data);  // NOLINT
  args.d = a;
  ArgumentReasons reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("read_while_written D"));
  EXPECT_EQ(reasons[0].other, "A");
  EXPECT_FALSE(reasons[0].other_written);
  EXPECT_EQ(reasons[0].actual, 0);
  args.a.stride = 128;  // room for a second matrix of 64 columns beside A, which D is not: it is wider
  args.d = {a + 256 * 128 + 64, 512};
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty()) << "between the rows of the second A";
  args.d.data += 64;
  reasons = can_implement(args);
  ASSERT_THAT(names_of(reasons), ElementsAre("read_while_written D"));
  EXPECT_EQ(reasons[0].actual, 65792);
  args.b = args.d.data + 512;
  args.d = {a + 64, 128, 256 * 128};
  args.extents.n = 64;
  EXPECT_THAT(names_of(can_implement(args)), IsEmpty()) << "side by side";
  args.d.data = const_cast<bf16*>(args.b.data) - 256;  // NOLINT
  reasons = can_implement(args);
  ASSERT_TRUE(reasons.has(ArgumentRule::read_while_written));
  EXPECT_EQ(name_of(reasons[reasons.size() - 1]), "read_while_written B");
  EXPECT_TRUE(reasons[reasons.size() - 1].other_written) << "D is";

  HostGemm<Reducing> x(64, 64, 64);
  std::vector<float> bias(64), sums(64);
  x.args.c = x.c.data();
  x.args.fusion["bias"] = bias.data();
  x.args.fusion["sums"] = sums.data();
  x.args.fusion["top"] = &sums[3];
  reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("written_twice top"));
  EXPECT_EQ(reasons[0].other, "sums");
  EXPECT_EQ(reasons[0].actual, 12);
  x.args.fusion["top"] = &bias[63];
  EXPECT_THAT(names_of(can_implement(x.args)), ElementsAre("read_while_written top"));
  float top = 0;
  x.args.fusion["top"] = &top;
  x.args.d = x.c.data();
  EXPECT_THAT(names_of(can_implement(x.args)), IsEmpty()) << "D takes the place of C";
  x.args.d = x.c.data() + 8;
  reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("in_place_of_another D"));
  EXPECT_EQ(reasons[0].other, "C");
  EXPECT_EQ(reasons[0].actual, 16);
}

TEST(GemmArguments, QuoteWhatTheEpilogueRefuses) {
  HostGemm<Reducing> x(64, 64, 64);
  x.args.fusion["bais"] = x.d.data();
  const ArgumentReasons reasons = can_implement(x.args);
  ASSERT_THAT(names_of(reasons), ElementsAre("unknown_name bais", "argument_missing bias", "argument_missing top",
                                             "argument_missing sums", "source_missing C"));
  EXPECT_EQ(reasons[0].other, "bias");
  EXPECT_EQ(reasons[0].words, "bias, top, sums");
}

}  // namespace
}  // namespace gantry
