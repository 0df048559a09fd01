// A refusal offers the nearest value that works: it is accepted, and no accepted value is nearer. Of two as near it is
// the larger one, which holds all that was asked for. Size 0 computes nothing, and batches that are 0 apart share one
// matrix: neither is offered in place of something.
#include <algorithm>
#include <cstdint>
#include <functional>
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

using Check = std::function<ArgumentReasons(std::int64_t value)>;

// What a reason offers another value for.
struct Offer {
  std::vector<ArgumentRule> rules;
  bool columns = false, of_batches = false;

  bool is_in(const ArgumentReason& reason) const {
    const bool known = std::find(rules.begin(), rules.end(), reason.rule) != rules.end();
    return known && reason.columns == columns && reason.of_batches == of_batches;
  }
};

std::vector<std::int64_t> offers(const ArgumentReasons& reasons, const Offer& offer) {
  std::vector<std::int64_t> out;
  for (const ArgumentReason& reason : reasons) {
    if (offer.is_in(reason)) out.push_back(reason.nearest);
  }
  return out;
}

// Tries all values from `first` to `last`, each against every one that is nearer than what is offered.
void check_offers(const Check& check, const Offer& offer, std::int64_t first, std::int64_t last) {
  int offered = 0;
  for (std::int64_t value = first; value <= last; ++value) {
    SCOPED_TRACE("asked for " + std::to_string(value));
    for (const std::int64_t nearest : offers(check(value), offer)) {
      ++offered;
      const ArgumentReasons still = check(nearest);
      EXPECT_TRUE(still.ok()) << nearest << " is offered, and refused: " << describe(still[0]).c_str();
      const std::int64_t apart = nearest < value ? value - nearest : nearest - value;
      for (std::int64_t nearer = value - apart + 1; nearer < value + apart; ++nearer) {
        EXPECT_TRUE(nearer < 1 || !check(nearer).ok()) << nearer << " is nearer than " << nearest;
      }
      EXPECT_TRUE(nearest >= value || !check(value + apart).ok()) << "of two as near the larger one is offered";
    }
  }
  EXPECT_GT(offered, 0) << "nothing was refused";
}

const Offer kColumns{{ArgumentRule::ends_inside_chunk}}, kRows{{ArgumentRule::ends_inside_chunk}, true};
const Offer kStride{{ArgumentRule::stride_misaligned, ArgumentRule::stride_too_short}};
const Offer kBatchStride{{ArgumentRule::stride_misaligned}, false, true};

TEST(Nearest, ColumnsOfResults) {
  const auto plain = [](std::int64_t n) { return can_implement(arguments<Plain>({.m = 64, .n = n, .k = 64})); };
  check_offers(plain, kColumns, 1, 300);
  for (const bool turned : {false, true}) {
    const auto several = [turned](std::int64_t n) { return can_implement(with_outputs({64, n, 64}, turned)); };
    check_offers(several, kColumns, 1, 100);
  }
  const auto packed = [](std::int64_t n) { return can_implement(with_source({.m = 64, .n = n, .k = 64})); };
  check_offers(packed, kColumns, 1, 100);
}

TEST(Nearest, RowsOfResults) {
  const auto rows = [](std::int64_t m) { return can_implement(with_outputs({m, 64, 64}, true)); };
  check_offers(rows, kRows, 1, 100);
}

TEST(Nearest, Strides) {
  const auto of_a = [](std::int64_t stride) {
    GemmArguments<Plain> args = arguments<Plain>({.m = 64, .n = 64, .k = 90});
    args.a.stride = stride;
    args.b.stride = 96;
    return can_implement(args);
  };
  check_offers(of_a, kStride, 80, 200);
  const auto of_d = [](std::int64_t stride) {
    GemmArguments<Plain> args = arguments<Plain>({.m = 64, .n = 80, .k = 64});
    args.d.stride = stride;
    return can_implement(args);
  };
  check_offers(of_d, kStride, 70, 200);
  const auto of_c = [](std::int64_t stride) {
    GemmArguments<Packed> args = with_source({.m = 64, .n = 80, .k = 64});
    args.c.stride = stride;
    return can_implement(args);
  };
  check_offers(of_c, kStride, 80, 200);
}

TEST(Nearest, BatchStrides) {
  for (const std::int64_t stride : {8, 16, 40}) {  // others lie beside the rows of the first, or behind all of them
    const auto of_d = [stride](std::int64_t batch_stride) {
      GemmArguments<Plain> args = arguments<Plain>({.m = 8, .n = 8, .k = 8, .batch = 3});
      args.d.stride = stride;
      args.d.batch_stride = batch_stride;
      return can_implement(args);
    };
    check_offers(of_d, kBatchStride, 1, 400);
  }
}

// What is offered for one extent works beside the others.
TEST(Nearest, LargestSizes) {
  const Offer size{{ArgumentRule::size_too_large}};
  for (const GemmExtents& others : {GemmExtents{8, 8, 8, 1}, GemmExtents{1 << 20, 8, 1 << 18, 1},
                                    GemmExtents{1 << 12, 1 << 12, 1 << 12, 1 << 12}}) {
    for (const auto extent : {&GemmExtents::m, &GemmExtents::n, &GemmExtents::k, &GemmExtents::batch}) {
      const auto reasons = [&](std::int64_t value) {
        GemmExtents extents = others;
        extents.*extent = value;
        return can_implement(arguments<Plain>(extents));
      };
      for (const std::int64_t value : {std::int64_t{0x7fffff01}, std::int64_t{1} << 32, INT64_MAX}) {
        const std::vector<std::int64_t> offered = offers(reasons(value), size);
        ASSERT_EQ(offered.size(), 1u);
        EXPECT_TRUE(reasons(offered[0]).ok()) << offered[0] << ": " << describe(reasons(offered[0])[0]).c_str();
        EXPECT_FALSE(reasons(offered[0] + 1).ok()) << offered[0] << " is not the largest";
      }
    }
  }
}

TEST(Nearest, RowsWhereThereAreTooManyTiles) {
  const auto reasons = [](std::int64_t m) { return can_implement(arguments<Plain>({m, 1 << 20, 1 << 20})); };
  const std::vector<std::int64_t> offered = offers(reasons(1 << 20), {{ArgumentRule::too_many_tiles}});
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_TRUE(reasons(offered[0]).ok()) << describe(reasons(offered[0])[0]).c_str();
  EXPECT_FALSE(reasons(offered[0] + 1).ok()) << offered[0] << " is not the largest";
}

}  // namespace
}  // namespace gantry
