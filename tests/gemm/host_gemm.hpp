// GEMMs in memory of the host, for tests of the host surface.
#pragma once

#include <cstdint>

#include <gantry/gemm.hpp>

namespace gantry::test {

struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 128, .n = 128}, .cluster = {1, 1}};
};
struct Reducing {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {2, 1}};
  // With a large negative bias, what lies outside would show in the sums, and in what is largest.
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + c + row(bias); d = relu(-z); top = reduce_max(z); sums deterministic = reduce_row_add(z)");
};

template <class Spec>
class HostGemm {
 public:
  HostGemm(int m, int n, int k) : a(count(m, k)), b(count(n, k)), c(count(m, n)), d(count(m, n)), args({m, n, k}) {
    // Small integers, so that sums are exact in any order.
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i * 7 % 5) - 2);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(i * 5 % 7) - 3);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = bf16(static_cast<float>(i % 9) - 4);
    args.a = a.data();
    args.b = b.data();
    args.d = d.data();
  }
  static std::size_t count(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  Buffer<bf16> a, b, c, d;
  GemmArguments<Spec> args;
};

// Of matrices that nobody looks at, far from each other.
inline GemmArguments<Plain> arguments(GemmExtents extents) {
  const auto far = [](int i) { return reinterpret_cast<bf16*>(std::uintptr_t{1} << (56 + i)); };  // NOLINT
  GemmArguments<Plain> args(extents);
  args.a = far(0);
  args.b = far(1);
  args.d = far(2);
  return args;
}

}  // namespace gantry::test
