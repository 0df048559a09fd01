// What tests of gathered rows share: random indices, some of which name no row, and exact results.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>

#include "grouped_exact.hpp"

namespace gantry_test {

// Guarded memory: a read beyond it is a finding.
template <class T>
Buffer<T> guarded(const std::vector<T>& values) {
  Buffer<T> out(values.size());
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

inline std::vector<std::int32_t> random_index(std::mt19937& random, std::size_t count, int rows) {
  std::vector<std::int32_t> out(count);
  // One in eight names no row: before the first, after the last, or far away.
  for (std::int32_t& x : out) {
    x = static_cast<std::int32_t>(random() % static_cast<unsigned>(rows));
    const std::int32_t none[] = {-1, rows, INT32_MIN, INT32_MAX};
    if (random() % 8 == 0) x = none[random() % 4];
  }
  return out;
}

template <class Element, class ElementD>
struct Problem {
  std::vector<Element> a, b;
  std::vector<std::int32_t> index;
  int rows = 0, n = 0, k = 0, stride = 0;

  // Of row `line` of the GEMM, with the weights of `group`.
  float dot(std::size_t line, int group, int column) const {
    const std::int32_t row = index[line];
    if (row < 0 || row >= rows) return 0;
    float out = 0;
    for (int x = 0; x < k; ++x) {
      out += float(a[static_cast<std::size_t>(row) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(x)]) *
             float(b[static_cast<std::size_t>((group * n + column) * k + x)]);
    }
    return out;
  }
};

template <class Spec>
struct Check {
  using Gemm = gantry::Gemm<Spec>;
  using Element = element_t<Spec::options.a>;
  using D = element_t<Spec::options.d>;

  // `padding`: elements between rows of A.
  static void expect_exact(const GemmExtents& e, int rows, std::uint64_t seed, int padding = 0,
                           const std::vector<int>& sizes = {}) {
    std::mt19937 random(static_cast<unsigned>(seed) + 17);
    const auto groups = static_cast<std::size_t>(e.batch);
    const bool grouped = !sizes.empty();
    const std::size_t matrices = grouped ? 1 : groups;
    Problem<Element, D> p;
    p.rows = rows;
    p.n = static_cast<int>(e.n);
    p.k = static_cast<int>(e.k);
    p.stride = p.k + padding;
    const auto all = static_cast<std::size_t>(e.m) * matrices;
    p.index = random_index(random, all, rows);
    p.a = numbers<Element>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(p.stride), 1);
    p.b = numbers<Element>(groups * static_cast<std::size_t>(e.n * e.k), 2);
    const Buffer<Element> a = guarded(p.a), b = guarded(p.b);
    const Buffer<std::int32_t> index = guarded(p.index);
    Offsets offsets = offsets_of(sizes);
    const Buffer<std::int32_t> begins = guarded(offsets);
    Buffer<D> d(all * static_cast<std::size_t>(e.n));
    std::fill(d.begin(), d.end(), D(kUntouched));
    typename Gemm::Arguments args(e);
    args.a = {a.data(), p.stride, 0};  // batches share it
    args.b = b.data();
    args.d = d.data();
    args.gather = {index.data(), rows};
    const Buffer<Element> c = guarded(std::vector<Element>(all * static_cast<std::size_t>(e.n), Element(0.0f)));
    if constexpr (Spec::options.c != ElementType::void_) args.c = c.data();
    if (grouped) args.groups.offsets = begins.data();
    const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
    ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
    const LaunchResult result = plan->run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << describe(result);
    for (std::size_t line = 0; line < all; ++line) {
      int group = static_cast<int>(line / static_cast<std::size_t>(e.m));
      if (grouped) {
        group = static_cast<int>(std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int32_t>(line)) -
                                 offsets.begin()) -
                1;
        if (line >= static_cast<std::size_t>(offsets.back())) continue;
      }
      for (int j = 0; j < p.n; ++j) {
        const float expected = float(D(p.dot(line, group, j)));
        ASSERT_EQ(float(d[line * static_cast<std::size_t>(e.n) + static_cast<std::size_t>(j)]), expected)
            << "row " << line << " (" << p.index[line] << " of " << rows << "), column " << j;
      }
    }
  }
};

template <GemmSchedule schedule, int tile_m, int tile_n, int cluster_m = 1, int stages = 0,
          ElementType element = ElementType::bf16, GemmGrouping groups = GemmGrouping::none>
struct Gathered {
  static constexpr GemmOptions options{.a = element,
                                       .b = element,
                                       .d = ElementType::bf16,
                                       .tile = {tile_m, tile_n},
                                       .cluster = {cluster_m, 1},
                                       .stages = stages,
                                       .schedule = schedule,
                                       .groups = groups,
                                       .gather_a = true};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

// Four warps copy, less those that load for the epilogue or find tiles: as many as divide the rows of a tile evenly.
template <GemmGrouping groups, bool loads, GemmSchedule schedule = GemmSchedule::cooperative, int tile_m = 128>
struct Roles {
  static constexpr GemmOptions options{.c = loads ? ElementType::bf16 : ElementType::void_,
                                       .d = ElementType::bf16,
                                       .tile = {tile_m, 64},
                                       .schedule = schedule,
                                       .groups = groups,
                                       .gather_a = true};
  static constexpr fusion::Graph graph = loads ? fusion::graph("d = acc + c") : fusion::graph("d = acc");
  static constexpr int kWarps = gantry::GemmDesignOf<Roles>::design.roles.copy_warps;
};

}  // namespace gantry_test
