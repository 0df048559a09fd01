// The arithmetic that offsets are made of, against the layouts it was made from.
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include <gantry/tensor/static_layout.hpp>

namespace {

using namespace gantry;

std::int64_t below(std::mt19937_64& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

void push_random(Layout& out, std::mt19937_64& random, int depth) {
  if (depth == 0 || below(random, 3) == 0) {
    const std::int64_t steps[] = {0, 1, 2, 3, 4, 6, 8, 16, 24, 32};
    return out.push(Int::fixed(1 + below(random, 4)), Int::fixed(steps[below(random, 10)]));
  }
  const int at = out.open();
  for (std::int64_t n = 1 + below(random, 3); n > 0; --n) push_random(out, random, depth - 1);
  out.close(at);
}

// Of at most 512 elements.
Layout random_layout(std::mt19937_64& random) {
  while (true) {
    Layout out;
    out.clear();
    push_random(out, random, 3);
    out.seal();
    if (out.ok() && size(out) <= 512) return out;
  }
}

std::int64_t sum_of_terms(const detail::OffsetTerms& terms, std::int64_t i) {
  std::int64_t sum = 0;
  for (int k = 0; k < terms.count; ++k) {
    const detail::OffsetTerm& t = terms.term[k];
    std::int64_t c = i / t.divisor;
    if (t.modulus != 0) c %= t.modulus;
    sum += c * t.stride;
  }
  return sum;
}

TEST(Offsets, OfAnIntegerAreTheLayouts) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 20000; ++n) {
    const Layout l = random_layout(random);
    const detail::OffsetTerms terms = detail::offset_terms(l, 0);
    ASSERT_FALSE(terms.fault());
    for (std::int64_t i = 0; i < size(l); ++i) ASSERT_EQ(sum_of_terms(terms, i), l(i));
  }
}

TEST(Offsets, OfModesThatContinueOneAnotherAreOneTerm) {
  constexpr Layout l = make_layout(make_shape(_4, make_shape(_1, _8), _2), make_stride(_1, make_stride(_7, _4), _64));
  constexpr detail::OffsetTerms terms = detail::offset_terms(l, 0);
  static_assert(terms.count == 2 && terms.term[0].modulus == 32 && terms.term[1].divisor == 32);
}

TEST(Offsets, HaveNoBitsOutsideTheirMask) {
  std::mt19937_64 random(2);
  int narrow = 0;
  for (int n = 0; n < 20000; ++n) {
    const Layout l = random_layout(random);
    const std::int64_t mask = offset_bits(l);
    for (std::int64_t i = 0; i < size(l); ++i) ASSERT_EQ(l(i) & ~mask, 0) << i;
    narrow += (mask & (mask + 1)) != 0;
  }
  EXPECT_GT(narrow, 1000);
  static_assert(offset_bits(make_layout(make_shape(_8, _4), make_stride(_64, _2))) == (7 * 64 | 3 * 2));
  static_assert(offset_bits(make_layout(Int::unknown(), _4)) == -1);
}

struct Nested {
  static constexpr Layout value =
      make_layout(make_shape(_3, make_shape(_2, make_shape(_4, _5))),
                  make_stride(Int::fixed(40), make_stride(_1, make_stride(Int::fixed(200), _2))));
};

TEST(Offsets, TakeCoordinatesAsNestedAsTheLayoutOrFlatter) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 4; ++k) {
        for (int m = 0; m < 5; ++m) {
          const std::int64_t expected = Nested::value(i, make_coord(j, make_coord(k, m)));
          EXPECT_EQ((offset_of<Nested, int, 1>(coord(i, coord(j, coord(k, m)))).along[0]), expected);
          EXPECT_EQ((offset_of<Nested, int, 1>(coord(i, coord(j, k + 4 * m))).along[0]), expected);
          EXPECT_EQ((offset_of<Nested, int, 1>(coord(i, j + 2 * (k + 4 * m))).along[0]), expected);
          EXPECT_EQ((offset_of<Nested, int, 1>(i + 3 * (j + 2 * (k + 4 * m))).along[0]), expected);
        }
      }
    }
  }
  EXPECT_EQ((offset_of<Nested, int, 1>(coord(2, _)).along[0]), 80);
  static_assert(offset_of<Nested, int, 1>(coord(Constant<2>{}, coord(Constant<1>{}, Constant<5>{}))).along[0] == 283);
}

}  // namespace
