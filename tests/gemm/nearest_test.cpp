// A refusal offers the nearest value that works: it is accepted, and no accepted value is nearer. Of two as near it is
// the larger one, which holds all that was asked for. Size 0 computes nothing, and batches that are 0 apart share one
// matrix: neither is offered in place of something.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/gemm.hpp>

namespace gantry {
namespace {

struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 128, .n = 128}, .cluster = {1, 1}};
};
// Chunks of 16 bytes are 8 elements of D, 16 of `coarse`; along M 8 of `turned`, and 4 where it is not given.
struct Outputs {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph =
      fusion::graph("d = relu(acc); coarse:e4m3 = acc; turned:f16 col optional = acc");
};
// D asks for multiples of 4, and where they are packed the columns of B and the rows of C for 8.
struct Packed {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .d = ElementType::f32,
                                       .major_b = Major::MN,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};

// Of matrices that nobody looks at, far from each other.
template <class T>
T* far(int i) {
  return reinterpret_cast<T*>(std::uintptr_t{1} << (56 + i));  // NOLINT(performance-no-int-to-ptr)
}

template <class Spec>
GemmArguments<Spec> arguments(const GemmExtents& extents) {
  GemmArguments<Spec> args(extents);
  args.a = far<const bf16>(0);
  args.b = far<const bf16>(1);
  args.d = far<typename GemmArguments<Spec>::D>(2);
  return args;
}
GemmArguments<Outputs> with_outputs(const GemmExtents& extents, bool turned) {
  GemmArguments<Outputs> args = arguments<Outputs>(extents);
  args.fusion["coarse"] = far<e4m3>(3);
  if (turned) args.fusion["turned"] = far<f16>(4);
  return args;
}
GemmArguments<Packed> with_source(const GemmExtents& extents) {
  GemmArguments<Packed> args = arguments<Packed>(extents);
  args.c = far<const bf16>(3);
  return args;
}

using Reasons = std::function<std::vector<std::string>(std::int64_t value)>;

// Every number that reasons offer after `words`.
std::vector<std::int64_t> offers(const std::vector<std::string>& reasons, const std::string& words) {
  std::vector<std::int64_t> out;
  for (const std::string& reason : reasons) {
    const std::size_t at = reason.find(words);
    if (at != std::string::npos) out.push_back(std::stoll(reason.substr(at + words.size())));
  }
  return out;
}

// Tries all values from `first` to `last`, each against every one that is nearer than what is offered.
void check_offers(const Reasons& reasons, const std::string& words, std::int64_t first, std::int64_t last) {
  int offered = 0;
  for (std::int64_t value = first; value <= last; ++value) {
    SCOPED_TRACE("asked for " + std::to_string(value));
    for (const std::int64_t nearest : offers(reasons(value), words)) {
      ++offered;
      const std::vector<std::string> still = reasons(nearest);
      EXPECT_TRUE(still.empty()) << nearest << " is offered, and refused: " << still.front();
      const std::int64_t apart = nearest < value ? value - nearest : nearest - value;
      for (std::int64_t nearer = value - apart + 1; nearer < value + apart; ++nearer) {
        EXPECT_TRUE(nearer < 1 || !reasons(nearer).empty()) << nearer << " is nearer than " << nearest;
      }
      EXPECT_TRUE(nearest >= value || !reasons(value + apart).empty()) << "of two as near the larger one is offered";
    }
  }
  EXPECT_GT(offered, 0) << "nothing was refused with \"" << words << "\"";
}

TEST(Nearest, ColumnsOfResults) {
  const auto plain = [](std::int64_t n) { return can_implement(arguments<Plain>({.m = 64, .n = n, .k = 64})); };
  check_offers(plain, "the nearest N that works is ", 1, 300);
  for (const bool turned : {false, true}) {
    const auto several = [turned](std::int64_t n) { return can_implement(with_outputs({64, n, 64}, turned)); };
    check_offers(several, "the nearest N that works is ", 1, 100);
  }
  const auto packed = [](std::int64_t n) { return can_implement(with_source({.m = 64, .n = n, .k = 64})); };
  check_offers(packed, "the nearest N that works is ", 1, 100);
}

TEST(Nearest, RowsOfResults) {
  const auto rows = [](std::int64_t m) { return can_implement(with_outputs({m, 64, 64}, true)); };
  check_offers(rows, "the nearest M that works is ", 1, 100);
}

TEST(Nearest, Strides) {
  const auto of_a = [](std::int64_t stride) {
    GemmArguments<Plain> args = arguments<Plain>({.m = 64, .n = 64, .k = 90});
    args.a.stride = stride;
    args.b.stride = 96;
    return can_implement(args);
  };
  check_offers(of_a, "the nearest stride that works is ", 80, 200);
  const auto of_d = [](std::int64_t stride) {
    GemmArguments<Plain> args = arguments<Plain>({.m = 64, .n = 80, .k = 64});
    args.d.stride = stride;
    return can_implement(args);
  };
  check_offers(of_d, "the nearest stride that works is ", 70, 200);
  const auto of_c = [](std::int64_t stride) {
    GemmArguments<Packed> args = with_source({.m = 64, .n = 80, .k = 64});
    args.c.stride = stride;
    return can_implement(args);
  };
  check_offers(of_c, "the nearest stride that works is ", 80, 200);
}

TEST(Nearest, BatchStrides) {
  const auto of_b = [](std::int64_t stride) {
    GemmArguments<Plain> args = arguments<Plain>({.m = 8, .n = 8, .k = 8, .batch = 3});
    args.b.batch_stride = stride;
    return can_implement(args);
  };
  check_offers(of_b, "the nearest batch stride that works is ", 1, 200);
  for (const std::int64_t stride : {8, 16, 40}) {  // others lie beside the rows of the first, or behind all of them
    const auto of_d = [stride](std::int64_t batch_stride) {
      GemmArguments<Plain> args = arguments<Plain>({.m = 8, .n = 8, .k = 8, .batch = 3});
      args.d.stride = stride;
      args.d.batch_stride = batch_stride;
      return can_implement(args);
    };
    check_offers(of_d, "the nearest batch stride that works is ", 1, 400);
  }
}

// What is offered for one extent works beside the others.
TEST(Nearest, LargestSizes) {
  const std::string words = "the nearest value that works is ";
  for (const GemmExtents& others : {GemmExtents{8, 8, 8, 1}, GemmExtents{1 << 20, 8, 1 << 18, 1},
                                    GemmExtents{1 << 12, 1 << 12, 1 << 12, 1 << 12}}) {
    for (const auto extent : {&GemmExtents::m, &GemmExtents::n, &GemmExtents::k, &GemmExtents::batch}) {
      const auto reasons = [&](std::int64_t value) {
        GemmExtents extents = others;
        extents.*extent = value;
        return can_implement(arguments<Plain>(extents));
      };
      for (const std::int64_t value : {std::int64_t{0x7fffff01}, std::int64_t{1} << 32, INT64_MAX}) {
        const std::vector<std::int64_t> offered = offers(reasons(value), words);
        ASSERT_EQ(offered.size(), 1u);
        EXPECT_TRUE(reasons(offered[0]).empty()) << offered[0] << ": " << reasons(offered[0]).front();
        EXPECT_FALSE(reasons(offered[0] + 1).empty()) << offered[0] << " is not the largest";
      }
    }
  }
}

TEST(Nearest, RowsWhereThereAreTooManyTiles) {
  const auto reasons = [](std::int64_t m) { return can_implement(arguments<Plain>({m, 1 << 20, 1 << 20})); };
  const std::vector<std::int64_t> offered = offers(reasons(1 << 20), "with M = ");
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_TRUE(reasons(offered[0]).empty()) << reasons(offered[0]).front();
  EXPECT_FALSE(reasons(offered[0] + 1).empty()) << offered[0] << " is not the largest";
}

}  // namespace
}  // namespace gantry
