// One sentence of each table, as people read it; other tests look at rules.
#include <gtest/gtest.h>

#include <gantry/arch/launch_check.hpp>
#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/gemm/option_rules.hpp>
#include <gantry/layout/fault.hpp>
#include <gantry/tma/plan_rules.hpp>
#include <gantry/tma/violation.hpp>

namespace gantry::test {
namespace {

TEST(Sentences, OfLayouts) {
  EXPECT_STREQ(describe(Fault{Rule::composition_stride, 6, 4}).c_str(),
               "composition: stride 6 of the right layout meets extent 4 of a left mode: one must divide the other");
  EXPECT_STREQ(describe(Fault{Rule::basis_product}).c_str(), "two basis elements cannot be multiplied");
}

TEST(Sentences, OfPlans) {
  EXPECT_STREQ(describe(TmaReason{.rule = TmaPlanRule::gmem_invalid, .fault = {Rule::extent_below_one, -3, 1}}).c_str(),
               "the global tensor has no valid layout; an extent is -3: extents must be at least 1");
  EXPECT_STREQ(describe(TmaReason{.rule = TmaPlanRule::element_without_format,
                                  .actual = static_cast<std::int64_t>(ElementType::cf32),
                                  .nearest = static_cast<std::int64_t>(ElementType::u64)})
                   .c_str(),
               "the elements are of type cf32: a tensor map has no format for them; they can travel as TMA elements of "
               "type u64");
}

TEST(Sentences, OfTensorMapsWriteValuesAsTheirFieldIsRead) {
  EXPECT_STREQ(
      describe(
          TmaViolation{
              .rule = TmaRule::address_misaligned, .field = TmaField::address, .actual = 0xabc8, .nearest = 0xabc0})
          .c_str(),
      "address is 0xabc8: the global address is a multiple of 16 bytes, of 32 with 32-byte interleave; the "
      "nearest value that works is 0xabc0");
  EXPECT_STREQ(
      describe(
          TmaViolation{.rule = TmaRule::swizzle_not_on_hopper, .field = TmaField::swizzle, .actual = 4, .nearest = 3})
          .c_str(),
      "swizzle is 4 (128B (32B atoms)): Hopper swizzles by none (0), 32B (1), 64B (2) or 128B (3); "
      "the nearest value that works is 3 (128B)");
  EXPECT_STREQ(
      describe(TmaViolation{.rule = TmaRule::corner_out_of_range,
                            .field = TmaField::lower_corner,
                            .index = 0,
                            .actual = static_cast<std::uint64_t>(std::int64_t{-200}),
                            .nearest = static_cast<std::uint64_t>(std::int64_t{-128}),
                            .first = -128,
                            .second = 127})
          .c_str(),
      "lower_corner[0] is -200, and with this rank a corner is -128 to 127: the corners of a pixel box are signed "
      "numbers of 16 bits with rank 3, of 8 with rank 4 and of 5 with rank 5; the nearest value that works is "
      "-128");
}

TEST(Sentences, OfGraphs) {
  using fusion::GraphReason;
  using fusion::GraphRule;
  EXPECT_STREQ(
      describe(GraphReason{.rule = GraphRule::input_missing, .subject = 3, .word = "select", .actual = 1, .wanted = 3})
          .c_str(),
      "node 3 (select) has 1 input and takes 3: a node has as many inputs as its function takes");
  EXPECT_STREQ(
      describe(GraphReason{.rule = GraphRule::element_not_staged,
                           .subject = 1,
                           .word = "aux",
                           .element = ElementType::s4,
                           .nearest_element = ElementType::s8})
          .c_str(),
      "argument 1 ('aux') is a tensor of s4: TMA stages elements of whole bytes that a tensor map has a format "
      "for, and threads those of u1; the nearest type that works is s8");
}

TEST(Sentences, OfArguments) {
  EXPECT_STREQ(
      describe(ArgumentReason{.rule = ArgumentRule::ends_inside_chunk,
                              .operand = "aux",
                              .columns = true,
                              .actual = 106,
                              .nearest = 104,
                              .first = 4,
                              .second = 112})
          .c_str(),
      "M is 106, and columns of aux end 4 bytes into 16: TMA writes whole 16 bytes; the nearest M that works is "
      "104, the next larger one 112, or any with an alignment of 1 (align_d, align_aux)");
  EXPECT_STREQ(describe(ArgumentReason{.rule = ArgumentRule::stride_misaligned,
                                       .operand = "B",
                                       .of_batches = true,
                                       .element = ElementType::bf16,
                                       .actual = 4,
                                       .nearest = 8,
                                       .first = 8})
                   .c_str(),
               "B has a batch stride of 4 elements of bf16, which is 8 bytes: TMA takes strides of whole 16 bytes; the "
               "nearest batch stride that works is 8, or any with an alignment of 1 (align_c, align_d, align_aux)");
  EXPECT_STREQ(
      describe(ArgumentReason{.rule = ArgumentRule::read_while_written, .operand = "D", .other = "A", .actual = 64})
          .c_str(),
      "D begins 64 bytes into A: what one tile writes no other tile reads; A is read while D is written: give D memory "
      "of its own");
  EXPECT_STREQ(
      describe(ArgumentReason{.rule = ArgumentRule::in_place_of_another,
                              .operand = "C",
                              .other = "D",
                              .other_written = true,
                              .actual = 16})
          .c_str(),
      "C begins 16 bytes into D: an output takes the place of an input element for element; D may take the place of C "
      "with the same address, strides and major, and elements as wide");
  EXPECT_STREQ(
      describe(ArgumentReason{
                   .rule = ArgumentRule::unknown_name, .operand = "bais", .other = "bias", .words = "alpha, bias"})
          .c_str(),
      "there is no argument bais: arguments are given by the names that the fusion has; did you mean bias? The "
      "arguments are alpha, bias");
  EXPECT_STREQ(describe(ArgumentReason{.rule = ArgumentRule::unknown_name, .operand = "bais"}).c_str(),
               "there is no argument bais: arguments are given by the names that the fusion has; the fusion has none");
}

TEST(Sentences, OfLaunches) {
  EXPECT_STREQ(
      describe(
          LaunchReason{
              .rule = LaunchRule::cluster_divides_grid, .kernel = "gemm", .actual = 131, .nearest = 132, .first = 2})
          .c_str(),
      "gemm: the grid has 131 blocks along x and clusters of 2: clusters divide the grid; the next number that "
      "works is 132");
  EXPECT_STREQ(
      describe(LaunchReason{.rule = LaunchRule::other_machine, .simulated = true}).c_str(),
      "the plan was made for a GPU and is run on the simulated SM: a plan runs on the machine that it was made "
      "for; make another with device_of that machine");
}

TEST(Sentences, OfGemms) {
  EXPECT_STREQ(describe(GemmReason{.rule = GemmRule::tile_rows, .actual = 200, .nearest = 256}).c_str(),
               "the tile has 200 rows: a tile of one warpgroup has 64, 128 or 192, one that two share has 128 or 256; "
               "the nearest value that works is 256");
  EXPECT_STREQ(describe(GemmReason{.rule = GemmRule::cluster, .operand = 'M', .actual = 1, .nearest = 2}).c_str(),
               "the cluster has 1 CTA along M: 1, 2, 4 or 8 CTAs share their tiles by multicast; the nearest value "
               "that works is "
               "2");
  EXPECT_STREQ(
      describe(GemmReason{
                   .rule = GemmRule::element, .operand = 'B', .element = ElementType::f64, .other = ElementType::tf32})
          .c_str(),
      "B has elements of f64: wgmma multiplies f16, bf16, tf32, e4m3, e5m2, s8 and u8; the nearest type that "
      "works is tf32");
  EXPECT_STREQ(
      describe(GemmReason{.rule = GemmRule::builder, .first = static_cast<std::int64_t>(BuilderField::compute)})
          .c_str(),
      "the builder of the epilogue sets compute, and epilogues of GEMMs compute in what their graph says: compute "
      "bf16; d = "
      "acc: a GEMM has no such option; "
      "left at its default this works");
}

}  // namespace
}  // namespace gantry::test
