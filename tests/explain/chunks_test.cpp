// The instructions and chunks of an explanation against the definition of a tile copy: shared element c is tile element
// c, and tile element c lies where the tiler says.
#include <ostream>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma/explain_chunks.hpp>

namespace gantry {
namespace {

struct Case {
  const char* name;
  TmaOp op;
  ElementType element;
  const char* gmem;
  const char* smem;  // its swizzle on bytes
  const char* tiler;
  std::uint32_t ctas;
  std::vector<std::int64_t> tile;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Case kCases[] = {
    {"rows",
     TmaOp::load,
     ElementType::bf16,
     "(4096,8192):(8192,_1)",
     "Sw<3,4,3> o (_128,_64):(_64,_1)",
     "(_128,_64)",
     1,
     {7, 40}},
    {"two_ctas",
     TmaOp::load_multicast,
     ElementType::bf16,
     "(4096,8192):(8192,_1)",
     "Sw<3,4,3> o (_128,_64):(_64,_1)",
     "(_128,_64)",
     2,
     {3, 5}},
    {"slabs",
     TmaOp::load_multicast,
     ElementType::f16,
     "(1000,4096):(4096,_1)",
     "Sw<3,4,3> o (_128,(_64,_4)):(_64,(_1,_8192))",
     "(_128,_256)",
     4,
     {7, 1}},
    {"columns",
     TmaOp::store,
     ElementType::f32,
     "(512,300):(_1,512)",
     "Sw<2,4,3> o (_16,_32):(_1,_16)",
     "(_16,_32)",
     1,
     {2, 9}},
    {"three_modes",
     TmaOp::load,
     ElementType::f32,
     "(64,64,16):(64,_1,4096)",
     "(_16,_8,_4):(_8,_1,_128)",
     "(_16,_8,_4)",
     1,
     {1, 2, 3}},
    {"bytes",
     TmaOp::reduce_add,
     ElementType::f16,
     "(96,96):(96,_1)",
     "Sw<1,4,3> o (_32,_16):(_16,_1)",
     "(_32,_16)",
     1,
     {2, 5}},
    {"one_mode", TmaOp::load, ElementType::f64, "4096:_1", "_32:_1", "_32", 1, {3}},
    {"hierarchical",
     TmaOp::load,
     ElementType::f16,
     "((_8,_16),(_64,_4)):((_64,_8192),(_1,_1024))",
     "(_8,_64):(_64,_1)",
     "(_8,_64)",
     1,
     {5, 2}},
};

TmaExplanation explain_case(const Case& c) {
  const ComposedLayout smem = parse_composed_layout(c.smem).value;
  TmaCopyRequest request{.op = c.op,
                         .gtensor = {.element = c.element, .layout = layout(c.gmem)},
                         .smem = ComposedLayout(smem.swizzle(), _0, smem.layout(), element_bits(c.element)),
                         .cta_tiler = tiler(c.tiler),
                         .num_multicast = c.ctas};
  IntTuple at;
  for (const std::int64_t t : c.tile) at.push_back(Int(t));
  return explain(make_tma_copy(request), {.tile = at});
}

std::vector<std::int64_t> extents_of(const char* text) {
  std::vector<std::int64_t> out;
  const IntTuple shape = tiler(text).shape();
  if (shape.is_leaf()) return {shape.leaf().value()};
  for (TupleView extent : TupleView(shape)) out.push_back(extent.leaf().value());
  return out;
}

class Chunks : public testing::TestWithParam<Case> {};

// Byte of the global tensor and of the shared tile for tile element `index`, by the definition.
struct Place {
  std::int64_t shared = 0;
  std::int64_t global = 0;
  bool inside = true;
};

Place place_of_element(const Case& c, const ComposedLayout& smem, std::int64_t index) {
  const std::vector<std::int64_t> extents = extents_of(c.tiler);
  const Layout gmem = layout(c.gmem);
  const std::int64_t bytes = element_bits(c.element) / 8;
  Place out;
  out.shared = smem.swizzle()(smem.layout()(index) * bytes);
  for (std::size_t m = 0; m < extents.size(); ++m) {
    const std::int64_t coordinate = c.tile[m] * extents[m] + index % extents[m];
    const Layout mode = gmem[static_cast<int>(m)];
    out.global += mode(coordinate) * bytes;
    out.inside = out.inside && coordinate < size(mode);
    index /= extents[m];
  }
  return out;
}

TEST_P(Chunks, LieWhereTheDefinitionPutsThem) {
  const TmaExplanation e = explain_case(GetParam());
  ASSERT_TRUE(e.ok());
  const std::vector<SharedChunk> chunks = shared_chunks(e);
  ASSERT_FALSE(chunks.empty());
  const std::int64_t elements = size(e.plan.cta_v_map);
  std::size_t seen = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    const Place place = place_of_element(GetParam(), e.plan.smem, i);
    if (place.shared % kSharedChunkBytes != 0) continue;
    const SharedChunk& chunk = chunks.at(static_cast<std::size_t>(place.shared / kSharedChunkBytes));
    ++seen;
    ASSERT_EQ(chunk.tile_index, i);
    ASSERT_EQ(chunk.inside, place.inside);
    ASSERT_NE(chunk.instruction, SharedChunk::kNone);
    ASSERT_TRUE(!place.inside || chunk.global_byte == place.global);
  }
  EXPECT_EQ(seen * kSharedChunkBytes, static_cast<std::size_t>(e.tile_bytes));
}

// Every chunk is where its instruction delivers it: box elements in order, from the instruction's shared offset on.
TEST_P(Chunks, AreDeliveredByTheirInstruction) {
  const TmaExplanation e = explain_case(GetParam());
  const std::vector<SharedChunk> chunks = shared_chunks(e);
  const TmaDescriptorParams& map = e.plan.descriptor;
  const std::int64_t bytes = element_bytes(map.data_type);
  std::vector<int> filled(chunks.size(), 0);
  std::int64_t inside = 0;
  for (std::size_t n = 0; n < e.instructions.size(); ++n) {
    const TmaInstructionText& at = e.instructions[n];
    EXPECT_EQ(at.bytes, static_cast<std::int64_t>(transaction_bytes(map)));
    for (std::int64_t byte = 0; byte < at.bytes; byte += kSharedChunkBytes) {
      const std::int64_t physical = e.plan.smem.swizzle()(at.shared_offset + byte);
      const auto slot = static_cast<std::size_t>(physical / kSharedChunkBytes);
      ++filled.at(slot);
      EXPECT_EQ(chunks[slot].instruction, static_cast<std::int32_t>(n));
      std::int64_t rest = byte / bytes;
      std::int64_t global = 0;
      bool in = true;
      for (int d = 0; d < clamped_rank(map); ++d) {
        const std::int64_t coordinate = at.coordinates[d] + rest % map.box[d];
        global += coordinate * (d == 0 ? bytes : static_cast<std::int64_t>(map.strides[d - 1]));
        in = in && coordinate < static_cast<std::int64_t>(map.dims[d]);
        rest /= map.box[d];
      }
      EXPECT_TRUE(!in || chunks[slot].global_byte == global);
      inside += in ? kSharedChunkBytes : 0;
    }
  }
  EXPECT_THAT(filled, testing::Each(1));
  std::int64_t counted = 0;
  for (const TmaInstructionText& at : e.instructions) counted += at.bytes_inside;
  EXPECT_EQ(counted, inside);
}

TEST_P(Chunks, FillThePictureOnce) {
  const TmaExplanation e = explain_case(GetParam());
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (const SharedChunk& c : shared_chunks(e)) {
    EXPECT_TRUE(places.emplace(c.row, c.column).second);
    EXPECT_LT(c.column, e.shared.row_chunks());
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Chunks, testing::ValuesIn(kCases), [](const auto& param) { return param.param.name; });

TEST(ChunksOfNothing, AreNone) {
  const GlobalTensor tensor{.element = ElementType::bf16, .layout = layout("(4096,8192):(8192,_1)")};
  EXPECT_TRUE(shared_chunks(explain(make_tma_copy(TmaOp::prefetch, tensor, layout("(_8,_64):(_64,_1)")))).empty());
  EXPECT_TRUE(shared_chunks(explain(make_tma_copy(TmaOp::load, tensor, layout("(_8,_64):(_1,_8)")))).empty());
}

TEST(ChunksWithGaps, BelongToNoInstruction) {
  const GlobalTensor tensor{.element = ElementType::bf16, .layout = layout("(4096,8192):(8192,_1)")};
  const TmaPlan plan =
      make_tma_copy(TmaOp::load, tensor, layout("(_8,(_64,_2)):(_64,(_1,_1024))"), make_tile(_8, _128));
  const std::vector<SharedChunk> chunks = shared_chunks(explain(plan));
  ASSERT_EQ(chunks.size(), (1024u + 512u) * 2 / 16);
  EXPECT_EQ(chunks[63].instruction, 0);
  EXPECT_EQ(chunks[64].instruction, SharedChunk::kNone);
  EXPECT_EQ(chunks[128].instruction, 1);
}

}  // namespace
}  // namespace gantry
