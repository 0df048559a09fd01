// Operands and arguments of a GEMM in host memory, with room between rows that nobody writes to; a run on the simulated
// SM, compared with the reference.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/gemm.hpp>
#include <gantry/gemm/check.hpp>
#include <gantry/numeric/element_access.hpp>

namespace gantry_test {

using namespace gantry;

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
inline std::vector<Memory> give(fusion::FusionArguments& arguments, const GemmExtents& e, Random& random) {
  const fusion::Graph graph = arguments.graph();
  std::vector<Memory> out;
  out.reserve(static_cast<std::size_t>(graph.argument_count));
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    auto slot = arguments[a.name.text];
    if (a.kind == fusion::ArgumentKind::scalar) {
      slot = static_cast<float>(random.below(4)) / (graph.is_seed(i) ? 1.0f : 2.0f);
      continue;
    }
    const bool tensor = fusion::is_matrix(a), rows = a.row_major;
    const bool along_n = a.kind == fusion::ArgumentKind::row || a.extent == fusion::Extent::row;
    const bool along_m = a.kind == fusion::ArgumentKind::column || a.extent == fusion::Extent::column;
    const std::int64_t vector = along_n ? e.n : along_m ? e.m : 1;
    const fusion::MatrixExtents of = fusion::extents_of(a, e.m, e.n);
    out.emplace_back(a.element, tensor ? (rows ? of.columns : of.rows) : vector,
                     tensor ? (rows ? of.rows : of.columns) : 1, e.batch, random);
    Memory& memory = out.back();
    slot.tensor(memory.data(), memory.stride(), memory.batch_stride());
  }
  return out;
}

template <class Spec>
void run_and_compare(GemmArguments<Spec> args, unsigned seed, int sms, std::string& explained) {
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  const GemmExtents& e = args.extents;
  SCOPED_TRACE(testing::Message() << e.m << " x " << e.n << " x " << e.k << ", " << e.batch << " of them, seed " << seed
                                  << ", " << sms << " SMs");
  Random random(seed);
  using Args = GemmArguments<Spec>;
  constexpr bool a_along_k = o.major_a == Major::K, b_along_k = o.major_b == Major::K, rows = o.layout_d == kRowMajor;
  Memory a(o.a, a_along_k ? e.k : e.m, a_along_k ? e.m : e.k, e.batch, random);
  Memory b(o.b, b_along_k ? e.k : e.n, b_along_k ? e.n : e.k, e.batch, random);
  const GemmExtents of_d = detail::extents_of_d(Gemm<Spec>::kDesign, e);
  Memory c(o.d, rows ? of_d.n : e.m, rows ? e.m : of_d.n, e.batch, random);
  Memory d(o.d, rows ? of_d.n : e.m, rows ? e.m : of_d.n, e.batch, random);
  args.a = a.template matrix<const typename Args::A>();
  args.b = b.template matrix<const typename Args::B>();
  args.d = d.template matrix<typename Args::D>();
  if constexpr (o.c != ElementType::void_) args.c = c.template matrix<const typename Args::C>();
  const std::vector<Memory> given = give(args.fusion, of_d, random);
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), sms));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result =
      plan->run(Simulator({.seed = seed, .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct}));
  ASSERT_TRUE(result) << describe(result);
  ASSERT_EQ(first_mismatch(args), "") << plan->explain();
  ASSERT_TRUE(d.unchanged_between_lines());
  for (const Memory& memory : given) ASSERT_TRUE(memory.unchanged_between_lines());
  explained = plan->explain();
}

// Runs it on the simulated SM and compares with the reference; what the plan says of itself.
template <class Spec>
std::string expect_right(GemmArguments<Spec> args, unsigned seed, int sms) {
  std::string explained;
  run_and_compare(args, seed, sms, explained);
  return explained;
}

}  // namespace gantry_test
