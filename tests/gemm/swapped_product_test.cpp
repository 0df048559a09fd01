// GEMMs with swapped operands on the simulated SM: few rows, every kind of argument, majors and elements, batches,
// split tiles. The values are the reference's, of D = A B^T as it was asked for; nothing is found, and nothing is
// written beside the matrices.
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/loop_callbacks.hpp>
#include <gantry/gemm.hpp>
#include <gantry/numeric/element_access.hpp>

namespace gantry {
namespace {

struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 8, .n = 64}, .swapped = true};
};
// Compiled for its graph: with C, vectors both ways, a further output.
struct Everything {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = 16, .n = 64}, .cluster = {.m = 1, .n = 2}, .swapped = true};
  static constexpr fusion::Graph graph =
      fusion::graph("aux:f16 = alpha * acc + c + row(bias) + col(shift); d = gelu(aux)");
};
// Compiled for its graph: reductions both ways, and a mask.
struct Reduced {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {.m = 24, .n = 128}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph(
      "d = acc * load(m:u1); r = reduce_row_add(acc); s deterministic = reduce_col_add(acc); t = reduce_amax(d)");
};
// Any graph, at run time.
template <int m, int n>
struct Any : fusion::GraphAtRunTime<true, true, 32 * 1024, fusion::element_set(ElementType::f32, ElementType::bf16)> {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = m, .n = n}, .cluster = {1, 1}, .stages = 3, .swapped = true};
};
struct Transposed {
  static constexpr GemmOptions options{.a = ElementType::f16,
                                       .b = ElementType::f16,
                                       .d = ElementType::f16,
                                       .major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .layout_d = kColumnMajor,
                                       .tile = {.m = 8, .n = 64},
                                       .swapped = true};
};
struct Promoted {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .d = ElementType::bf16,
                                       .tile = {.m = 32, .n = 128},
                                       .promote = true,
                                       .swapped = true};
};
struct Tensor32 {
  static constexpr GemmOptions options{.a = ElementType::tf32,
                                       .b = ElementType::tf32,
                                       .d = ElementType::f32,
                                       .tile = {.m = 16, .n = 64},
                                       .schedule = GemmSchedule::pingpong,
                                       .swapped = true};
};
struct Integers {
  static constexpr GemmOptions options{
      .a = ElementType::s8, .b = ElementType::u8, .d = ElementType::f32, .tile = {.m = 48, .n = 64}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = scalar(scale) * acc + row(bias)");
};
struct ToFp8 {
  static constexpr GemmOptions options{.d = ElementType::e4m3, .tile = {.m = 8, .n = 128}, .swapped = true};
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(engine_); }

 private:
  std::mt19937 engine_;
};

// Small numbers that every element type has, between guards that nobody writes to. Rows begin at multiples of 16 bytes.
class Memory {
 public:
  Memory(ElementType element, std::int64_t contiguous, std::int64_t lines, std::int64_t batch, Random& random)
      : element_(element == ElementType::tf32 ? ElementType::f32 : element) {
    const std::int64_t chunk = 128 / element_bits(element_);
    stride_ = (contiguous + chunk - 1) / chunk * chunk + chunk * random.below(2);
    batch_stride_ = stride_ * lines + chunk * random.below(2);
    contiguous_ = contiguous;
    lines_ = lines;
    bytes_.resize(static_cast<std::size_t>(batch_stride_ * batch * element_bits(element_) / 8 + 16));
    if (element_bits(element_) < 8) {
      for (unsigned char& byte : bytes_) byte = static_cast<unsigned char>(random.below(256));
    } else {
      const double least = element_ == ElementType::u8 ? 0 : -2;
      for (std::int64_t i = 0; i < batch_stride_ * batch; ++i) {
        store_from_double(element_, bytes_.data(), i, least + static_cast<double>(random.below(5)));
      }
    }
    before_ = bytes_;
  }

  void* data() { return bytes_.data(); }
  std::int64_t stride() const { return stride_; }
  std::int64_t batch_stride() const { return batch_stride_; }
  template <class T>
  GemmMatrix<T> matrix() {
    return {reinterpret_cast<T*>(bytes_.data()), stride_, batch_stride_};
  }
  // Of elements of whole bytes.
  bool unchanged_between_lines() const {
    const auto size = static_cast<std::size_t>(element_bits(element_) / 8);
    for (std::size_t i = 0; size > 0 && i + 1 < bytes_.size() / size; ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) % batch_stride_;
      const bool inside = at < stride_ * lines_ && at % stride_ < contiguous_;
      if (!inside && std::memcmp(&bytes_[i * size], &before_[i * size], size) != 0) return false;
    }
    return true;
  }

 private:
  ElementType element_;
  std::int64_t contiguous_ = 0, lines_ = 0, stride_ = 0, batch_stride_ = 0;
  std::vector<unsigned char> bytes_, before_;
};

// Every argument of a graph, with values.
std::vector<Memory> give(fusion::FusionArguments& arguments, const GemmExtents& e, Random& random) {
  const fusion::Graph graph = arguments.graph();
  std::vector<Memory> out;
  out.reserve(static_cast<std::size_t>(graph.argument_count));
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    auto slot = arguments[a.name.text];
    if (a.kind == fusion::ArgumentKind::scalar) {
      slot = static_cast<float>(random.below(4)) / 2;
      continue;
    }
    const bool tensor = fusion::is_tensor(a.kind), rows = a.row_major;
    const bool along_n = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool along_m = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    const std::int64_t vector = along_n ? e.n : along_m ? e.m : 1;
    out.emplace_back(a.element, tensor ? (rows ? e.n : e.m) : vector, tensor ? (rows ? e.m : e.n) : 1, e.batch, random);
    Memory& memory = out.back();
    slot.tensor(memory.data(), memory.stride(), memory.batch_stride());
  }
  return out;
}

template <class Spec>
void expect_right(GemmArguments<Spec> args, unsigned seed, int sms) {
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  const GemmExtents& e = args.extents;
  SCOPED_TRACE(testing::Message() << e.m << " x " << e.n << " x " << e.k << ", " << e.batch << " of them, seed " << seed
                                  << ", " << sms << " SMs");
  Random random(seed);
  using Args = GemmArguments<Spec>;
  constexpr bool a_along_k = o.major_a == Major::K, b_along_k = o.major_b == Major::K, rows = o.layout_d == kRowMajor;
  Memory a(o.a, a_along_k ? e.k : e.m, a_along_k ? e.m : e.k, e.batch, random);
  Memory b(o.b, b_along_k ? e.k : e.n, b_along_k ? e.n : e.k, e.batch, random);
  Memory c(o.d, rows ? e.n : e.m, rows ? e.m : e.n, e.batch, random);
  Memory d(o.d, rows ? e.n : e.m, rows ? e.m : e.n, e.batch, random);
  args.a = a.template matrix<const typename Args::A>();
  args.b = b.template matrix<const typename Args::B>();
  args.d = d.template matrix<typename Args::D>();
  if constexpr (o.c != ElementType::void_) args.c = c.template matrix<const typename Args::C>();
  const std::vector<Memory> given = give(args.fusion, e, random);
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), sms));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result =
      plan->run(Simulator({.seed = seed, .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct}));
  ASSERT_TRUE(result) << describe(result);
  ASSERT_EQ(first_mismatch(args), "") << plan->explain();
  ASSERT_TRUE(d.unchanged_between_lines());
  for (const Memory& memory : given) ASSERT_TRUE(memory.unchanged_between_lines());
  ASSERT_NE(plan->explain().find("operands are swapped"), std::string::npos);
}

// M from 1 to 64 and a little more.
template <class Spec>
void expect_random_sizes_right(const fusion::Graph* graph = nullptr, unsigned first_seed = 0) {
  const unsigned count = std::getenv("GANTRY_LONG_TESTS") ? 40 : 3;
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  constexpr bool columns = o.layout_d == kColumnMajor || o.major_a == Major::MN;
  bool stores_columns = false;  // TMA writes whole 16 bytes of each
  for (int i = 0; graph != nullptr && i < graph->argument_count; ++i) {
    const fusion::Argument& argument = graph->arguments[i];
    stores_columns = stores_columns || (argument.kind == fusion::ArgumentKind::aux_out && !argument.row_major);
  }
  const int chunk_m = columns ? 8 : stores_columns ? 4 : 1, chunk_n = o.d == ElementType::e4m3 ? 16 : 8;
  for (unsigned seed = first_seed; seed < first_seed + count && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed + 100);
    const GemmExtents e{.m = (1 + random.below(72 / chunk_m)) * chunk_m,
                        .n = (1 + random.below(280 / chunk_n)) * chunk_n,
                        .k = random.below(300),
                        .batch = 1 + random.below(2)};
    const int sms = static_cast<int>(1 + random.below(8));
    if constexpr (detail::kRunTimeGraph<Spec>) {
      expect_right<Spec>({e, *graph}, seed, sms);
    } else {
      expect_right<Spec>(e, seed, sms);
    }
  }
}

TEST(SwappedGemm, IsRightForFewRows) {
  expect_random_sizes_right<Plain>();
  for (const int m : {1, 2, 7, 8, 9}) expect_right<Plain>(GemmExtents{.m = m, .n = 136, .k = 192}, 7, 3);
  expect_right<Plain>(GemmExtents{.m = 3, .n = 72, .k = 0}, 8, 2);
}
TEST(SwappedGemm, IsRightWhereTilesAreSplit) {
  expect_right<Plain>(GemmExtents{.m = 5, .n = 128, .k = 2560}, 1, 8);
  expect_right<Plain>(GemmExtents{.m = 8, .n = 320, .k = 1984, .batch = 2}, 2, 30);
  expect_right<Everything>(GemmExtents{.m = 11, .n = 128, .k = 2560}, 3, 12);
}
TEST(SwappedGemm, IsRightWithEveryKindOfOperand) { expect_random_sizes_right<Everything>(); }
TEST(SwappedGemm, IsRightWithReductionsAndMasks) { expect_random_sizes_right<Reduced>(); }
TEST(SwappedGemm, IsRightForTransposedMatricesOfF16) { expect_random_sizes_right<Transposed>(); }
TEST(SwappedGemm, IsRightForPromotedAccumulatorsOfFp8) { expect_random_sizes_right<Promoted>(); }
TEST(SwappedGemm, IsRightForTf32) { expect_random_sizes_right<Tensor32>(); }
TEST(SwappedGemm, IsRightForIntegers) { expect_random_sizes_right<Integers>(); }
TEST(SwappedGemm, IsRightForResultsOfFp8) { expect_random_sizes_right<ToFp8>(); }

constexpr const char* kExpressions[] = {
    "d = acc",
    "d = acc + row(bias)",
    "d = acc * col(scale:bf16) + beta * c",
    "d = acc + load(x:bf16) - load(y:f32 col)",
    "d = relu(acc); y:bf16 = acc; z:f32 col = 2 * acc",
    "d = acc; r = reduce_row_add(acc)",
    "d = acc; r = reduce_col_add(acc); s = reduce_col_max(acc)",
    "d = acc + c; r deterministic = reduce_row_add(d); s deterministic = reduce_add(acc)",
    "d = acc * load(m:u1) + load(l:u1 col); n:u1 = acc > 0; o:u1 col = acc > 1",
};

template <class Spec>
void expect_every_expression_right() {
  unsigned seed = 0;
  for (const char* expression : kExpressions) {
    SCOPED_TRACE(expression);
    const fusion::Graph graph = fusion::graph(expression);
    expect_random_sizes_right<Spec>(&graph, 10 * ++seed);
  }
}
TEST(SwappedGemm, IsRightForEveryExpressionWithATileOf8Rows) { expect_every_expression_right<Any<8, 64>>(); }
TEST(SwappedGemm, IsRightForEveryExpressionWithATileOf32RowsThatTwoWarpgroupsShare) {
  expect_every_expression_right<Any<32, 128>>();
}

struct Straight : Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};

// The user's words, not the kernel's.
TEST(SwappedGemm, RefusesArgumentsInTermsOfTheGemmThatWasAskedFor) {
  alignas(16) static bf16 memory[4096];
  GemmArguments<Everything> args({.m = 3, .n = 100, .k = 60});
  args.a = memory;
  args.b = memory;
  args.d = memory + 1024;
  const ArgumentReasons reasons = can_implement(args);
  std::string all;
  for (const ArgumentReason& r : reasons) all += std::string(describe(r).c_str()) + "\n";
  GemmArguments<Straight> same({.m = 3, .n = 100, .k = 60});
  same.a = memory;
  same.b = memory;
  same.d = memory + 1024;
  std::string expected;
  for (const ArgumentReason& r : can_implement(same)) expected += std::string(describe(r).c_str()) + "\n";
  EXPECT_EQ(all, expected);
  EXPECT_NE(all.find("A"), std::string::npos);
}

}  // namespace
}  // namespace gantry
