// Swapping operands is a function from value to value: applied twice it gives what it was given, and a design that is
// made of a swapped request is the design of the swapped GEMM, seen from the other side.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>

namespace gantry {
namespace {

GemmOptions random_options(std::mt19937& random) {
  const auto one_of = [&](auto... values) {
    using T = std::common_type_t<decltype(values)...>;
    const T all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  GemmOptions o;
  o.a = one_of(ElementType::bf16, ElementType::f16, ElementType::e4m3, ElementType::s8);
  o.b = one_of(ElementType::bf16, ElementType::f16, ElementType::e5m2, ElementType::u8);
  o.c = one_of(ElementType::void_, ElementType::bf16, ElementType::f32);
  o.d = one_of(ElementType::bf16, ElementType::f32, ElementType::e4m3);
  o.major_a = one_of(Major::K, Major::MN);
  o.major_b = one_of(Major::K, Major::MN);
  o.layout_c = one_of(kRowMajor, kColumnMajor, kTensorNHWC);
  o.layout_d = one_of(kRowMajor, kColumnMajor);
  o.tile = {one_of(0, 8, 16, 64, 128), one_of(0, 32, 64, 128, 256), one_of(0, 64)};
  o.cluster = {one_of(0, 1, 2), one_of(0, 1, 2)};
  o.stages = one_of(0, 2, 7);
  o.schedule = one_of(GemmSchedule::automatic, GemmSchedule::cooperative, GemmSchedule::pingpong);
  o.warpgroups = one_of(0, 1, 2, 3);
  o.epilogue = {one_of(0, 16, 64), one_of(0, 2), one_of(0, 1), one_of(Choice::automatic, Choice::yes), one_of(0, 64)};
  o.promote = one_of(false, true);
  o.split = one_of(SplitMode::automatic, SplitMode::none, SplitMode::reduce_add);
  o.swapped = one_of(false, true);
  return o;
}

TEST(Swapped, OptionsTwiceAreTheOptions) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const GemmOptions o = random_options(random);
    EXPECT_EQ(swapped(swapped(o)), o);
    EXPECT_NE(swapped(o), o) << "one of them says that it is swapped";
  }
}

constexpr const char* kExpressions[] = {
    "d = acc",
    "d = gelu(alpha * acc + beta * c + row(bias) + col(shift:bf16))",
    "d = acc * load(x:bf16) + load(y:f32 col); z:f16 = d; m:u1 col = acc > 0",
    "d = acc; r = reduce_row_add(acc); s deterministic = reduce_col_max(acc); t = reduce_amax(d)",
};

TEST(Swapped, GraphsTwiceAreTheGraph) {
  for (const char* expression : kExpressions) {
    const fusion::Graph graph = fusion::graph(expression);
    EXPECT_EQ(fusion::swapped(fusion::swapped(graph)), graph) << expression;
  }
}

TEST(Swapped, GraphsHaveRowsInThePlaceOfColumns) {
  using fusion::graph, fusion::swapped;
  EXPECT_EQ(swapped(graph("d = acc + row(v) + scalar(s)")), graph("d = acc + col(v) + scalar(s)"));
  EXPECT_EQ(swapped(graph("d = load(x:bf16); y:u1 col = d")), graph("d = load(x:bf16 col); y:u1 = d"));
  EXPECT_EQ(swapped(graph("d = acc; r = reduce_row_add(acc); s = reduce_max(acc)")),
            graph("d = acc; r = reduce_col_add(acc); s = reduce_max(acc)"));
}

void expect_same(const GemmDesign& x, const GemmDesign& y) {
  EXPECT_EQ(x.options, y.options);
  EXPECT_EQ(x.roles, y.roles);
  EXPECT_EQ(x.store, y.store);
  EXPECT_EQ(x.shared, y.shared);
  EXPECT_EQ(x.params, y.params);
  EXPECT_EQ(x.swizzle_a, y.swizzle_a);
  EXPECT_EQ(x.swizzle_b, y.swizzle_b);
  EXPECT_TRUE(x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d);
  EXPECT_EQ(x.part.cta_tile.m, y.part.cta_tile.m);
  EXPECT_EQ(x.part.cta_tile.n, y.part.cta_tile.n);
  EXPECT_EQ(x.part.epi_tile, y.part.epi_tile);
  EXPECT_TRUE(x.part.d.box == y.part.d.box && x.part.d.layout == y.part.d.layout);
  EXPECT_EQ(x.reasons.size(), y.reasons.size());
}

// Every tile for few rows, with elements of each width.
template <class F>
void for_narrow_tiles(const F& f) {
  for (const char* expression : kExpressions) {
    for (const int m : {8, 16, 24, 32, 48, 64}) {
      for (const int n : {64, 128, 256}) {
        for (const ElementType d : {ElementType::bf16, ElementType::f32, ElementType::e4m3}) {
          SCOPED_TRACE(testing::Message() << m << " x " << n << " " << to_text(d) << " " << expression);
          f(GemmOptions{.d = d, .tile = {.m = m, .n = n}, .swapped = true}, fusion::graph(expression));
        }
      }
    }
  }
}

TEST(Swapped, DesignsTwiceAreTheDesignAndOnceThatOfTheSwappedGemm) {
  for_narrow_tiles([](const GemmOptions& o, const fusion::Graph& graph) {
    const GemmDesign design = make_gemm_design(o, graph);
    EXPECT_TRUE(design.options.swapped);
    if (!design.ok()) {
      EXPECT_TRUE(design.reasons.has(GemmRule::no_room)) << describe(design.reasons[0]).c_str();
      EXPECT_FALSE(make_gemm_design(swapped(o), fusion::swapped(graph)).ok());
      return;
    }
    expect_same(swapped(swapped(design)), design);
    GemmOptions kernel = swapped(design.options);
    EXPECT_FALSE(kernel.swapped);
    expect_same(swapped(design), make_gemm_design(kernel, fusion::swapped(graph)));
    expect_same(make_gemm_design(design.options, graph), design);
  });
}

// The maps that a host binds for A, B, C and D are those that the kernel has.
TEST(Swapped, DesignsDescribeTheSameMemory) {
  const GemmDesign design = make_gemm_design({.c = ElementType::bf16, .tile = {.m = 16, .n = 64}, .swapped = true},
                                             fusion::graph("d = acc + c"));
  const GemmDesign kernel = swapped(design);
  alignas(16) static bf16 memory[8];
  const MatrixInMemory of_d{reinterpret_cast<std::uint64_t>(memory), 5, 200, 3, 208, 2000};
  MatrixInMemory turned = of_d;
  std::swap(turned.first, turned.second);
  EXPECT_TRUE(bind(design.d, of_d) == bind(kernel.d, turned));
  EXPECT_TRUE(bind(design.c, of_d) == bind(kernel.c, turned));
  EXPECT_EQ(design.a.map.box[1], 16U);
  EXPECT_EQ(design.b.map.box[1], 64U);
  EXPECT_EQ(kernel.params.b, design.params.a);
}

TEST(Swapped, RequestsThatCannotBeAreRefusedInTermsOfTheSwappedGemm) {
  const GemmReasons reasons = problems({.tile = {.m = 16, .n = 96}, .swapped = true});
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_STREQ(describe(reasons[0]).c_str(),
               "with operands swapped, where the kernel computes D^T = B A^T: the tile has 96 rows: a tile of one "
               "warpgroup has 64, 128 or 192, one that two share has 128 or 256; the nearest value that works is 64");
  EXPECT_TRUE(problems({.tile = {.m = 16, .n = 64}}).has(GemmRule::few_rows)) << "only swapped tiles have 16 rows";
  EXPECT_TRUE(problems({.tile = {.m = 64, .n = 16}, .swapped = true}).has(GemmRule::tile_rows)) << "of its columns";
}

TEST(Swapped, NamesSayIt) {
  const GemmDesign design = make_gemm_design({.tile = {.m = 16, .n = 64}, .swapped = true}, fusion::graph("d = acc"));
  EXPECT_STREQ(to_text(design.options).c_str(), "16x64x64 cooperative 1x1 bf16 swapped");
}

TEST(Swapped, RequestsThatLeaveTheTileOpenGetOneForFewRows) {
  const GemmDesign design = make_gemm_design({.swapped = true}, fusion::graph("d = acc"));
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(design.options.tile, (GemmTile{32, 64, 64}));
}

TEST(Swapped, CostIsThatOfTheSwappedGemm) {
  GemmWorkload w;
  w.m = 16;
  w.n = w.k = 8192;
  const GemmDesign design = make_gemm_design({.tile = {.m = 16, .n = 64}, .swapped = true}, fusion::graph("d = acc"));
  const GemmCost cost = estimate(w, design, {}, kH200);
  EXPECT_EQ(cost.schedule.m, 128);
  EXPECT_EQ(cost.schedule.n, 1);
  EXPECT_EQ(cost.memory, estimate(swapped(w), swapped(design), {}, kH200).memory);
}

}  // namespace
}  // namespace gantry
