// The GEMMs of one pair of element types and majors on a GPU, in both kernels and every cluster: exact for every
// residue and for large shapes; special values; 24 random shapes as cuBLASLt has them. Compiled once for each, with
//   -DGANTRY_A=e4m3 -DGANTRY_B=e5m2 -DGANTRY_MAJOR_A=K -DGANTRY_MAJOR_B=K -DGANTRY_PROMOTE=true
// and linked with on_gpu.cu.
#include <cmath>
#include <random>
#include <string>

#include "gpu_vendor.cuh"
#include "on_gpu.hpp"

namespace gantry_test {
namespace {

constexpr Kind kLike{.a = ElementType::GANTRY_A,
                     .b = ElementType::GANTRY_B,
                     .major_a = Major::GANTRY_MAJOR_A,
                     .major_b = Major::GANTRY_MAJOR_B,
                     .promote = GANTRY_PROMOTE,
                     .stages = 4};
constexpr EveryKernel kEvery = EveryKernel::of(kLike);
constexpr int kStep = GemmShape<DesignOf<kLike>>::kTileK;
using Sum = element_t<GemmShape<DesignOf<kLike>>::kAccumulator>;
using A = GpuOperand<kLike.a>;
using B = GpuOperand<kLike.b>;

// f(Constant<i>{}) for every kernel.
template <class F>
void for_each_kernel(const F& f) {
  for_each_index<EveryKernel::kCount>(f);
}

// Poisons D, so that what is not written shows.
template <Kind kind>
void run(const Extents& e, const A& a, const B& b, const Buffer<Sum>& d) {
  check(cudaMemset(d.data(), 0xC5, d.bytes()), "clearing");
  GpuProduct<kind>::run(e, a, b, d.data());
}

void check_exact(Tally& tally, Extent extent) {
  const Extents all[] = {
      {.m = 129, .n = 128, .k = 2 * kStep + 1, .batch = 2, .padded = true, .shared_b = true},
      {.m = 3, .n = 251, .k = kStep - 1},
      {.m = 248, .n = 264, .k = 5 * kStep},
      {.m = 256, .n = 1, .k = 1, .batch = 3, .padded = true},
      {.m = 529, .n = 9, .k = 3 * kStep - 8},
      {.m = 1000, .n = 1001, .k = 999, .batch = 5, .padded = true},
      {.m = 300, .n = 70, .k = 0, .batch = 2},
      {.m = 4096, .n = 4104, .k = 4096},
      {.m = 128, .n = 8192, .k = 8192},
      {.m = 20000, .n = 136, .k = 256, .batch = 2},
  };
  unsigned seed = 1;
  for (const Extents& e : all) {
    if (extent == Extent::small && std::int64_t{e.m} * e.n > 200'000) continue;
    A a(kLike.major_a, e.m, e.k, e.batch, e.padded);
    B b(kLike.major_b, e.n, e.k, e.shared_b ? 1 : e.batch, e.padded);
    a.fill_with(seed++, true);
    b.fill_with(seed++, true);
    const Buffer<Sum> ours(static_cast<std::size_t>(e.m) * e.n * e.batch), theirs(ours.size());
    const dim3 grid((e.n + 15) / 16, (e.m + 15) / 16, e.batch);
    add_up<<<grid, dim3(16, 16)>>>(theirs.data(), a.data(), b.data(), e.m, e.n, e.k, a.layout(false),
                                   b.layout(e.shared_b));
    check(cudaGetLastError(), "adding up");
    for_each_kernel([&](auto i) {
      run<kEvery.kinds[i]>(e, a, b, ours);
      tally.count(same_sums("exact ones", kEvery.kinds[i], e, ours, theirs, 0));
    });
  }
}

// ---- On the host

struct HostOperands {
  Operand<kLike.a> a;
  Operand<kLike.b> b;
};

// Every sum of `kernel`, compared by f(i, j, sum).
template <class F>
void check_on_host(Tally& tally, const char* what, const Extents& e, const HostOperands& x, const F& f) {
  const A a(kLike.major_a, e.m, e.k, x.a);
  const B b(kLike.major_b, e.n, e.k, x.b);
  const Buffer<Sum> d(static_cast<std::size_t>(e.m) * e.n);
  for_each_kernel([&](auto kernel) {
    run<kEvery.kinds[kernel]>(e, a, b, d);
    const std::vector<Sum> sums = d.host();
    bool good = true;
    for (int i = 0; i < e.m; ++i) {
      for (int j = 0; j < e.n; ++j) {
        const Sum sum = sums[static_cast<std::size_t>(i) * e.n + j];
        if (f(i, j, sum)) continue;
        if (good) std::printf("  %s: D(%d, %d) of kernel %d is %g\n", what, i, j, int{kernel}, double(sum));
        good = false;
      }
    }
    tally.count(good);
  });
}

void check_special_values(Tally& tally) {
  constexpr int k = 3 * kStep - 2;
  const Extents e{.m = 16, .n = 4, .k = k};
  HostOperands x{{kLike.major_a, e.m, k, 1, false}, {kLike.major_b, e.n, k, 1, false}};
  fill_with_special_values(x, k);
  check_on_host(tally, "special values", e, x, [&](int i, int j, Sum sum) {
    double expected = 0;
    for (int l = 0; l < k; ++l) expected += x.a.get(i, l, 0) * x.b.get(j, l, 0);
    const float y = static_cast<float>(expected);
    return std::isnan(y) ? sum != sum : bit_cast<unsigned>(y) == bit_cast<unsigned>(sum);
  });
}

// 2^16 and 383 ones: beside the large term the tensor core loses the ones, promoted those of the first 128 alone.
void check_promotion(Tally& tally) {
  const Extents e{.m = 1, .n = 1, .k = 384};
  HostOperands x{{kLike.major_a, 1, e.k, 1, false}, {kLike.major_b, 1, e.k, 1, false}};
  for (int k = 0; k < e.k; ++k) {
    x.a.set(0, k, 0, k == 0 ? 256 : 1);
    x.b.set(0, k, 0, k == 0 ? 256 : 1);
  }
  check_on_host(tally, "promotion", e, x, [](int, int, Sum sum) { return sum == (kLike.promote ? 65792 : 65536); });
}

// ---- cuBLASLt

// Half of the shapes with small integers, which must agree in every bit; half with numbers in [-1, 1), whose sums grow
// as the root of K and may lose a unit of the accumulator in every instruction.
void check_against_vendor(Tally& tally) {
  constexpr int kShapes = 24;
  constexpr int chunk = 16 * 8 / element_bits(kLike.a);
  Vendor vendor;
  std::mt19937 random(kLike.a == kLike.b ? 5 : 6);
  const auto extent = [&](int most) {
    return chunk * (1 + static_cast<int>(random() % static_cast<unsigned>(most / chunk)));
  };
  for (int shape = 0; shape < kShapes; ++shape) {
    const Extents e{.m = extent(3000), .n = extent(3000), .k = extent(shape < 4 ? 128 : 5000)};
    const bool integers = shape % 2 == 0 || kLike.a == ElementType::s8;
    A a(Major::K, e.m, e.k, 1, false);
    B b(Major::K, e.n, e.k, 1, false);
    a.fill_with(random(), integers);
    b.fill_with(random(), integers);
    const Buffer<Sum> ours(static_cast<std::size_t>(e.m) * e.n), theirs(ours.size());
    if (!vendor.run(kLike, e, a.data(), b.data(), theirs.data())) {
      std::printf("  cuBLASLt has no product of M %d, N %d, K %d\n", e.m, e.n, e.k);
      tally.count(false);
      continue;
    }
    const bool bytes = element_bits(kLike.a) == 8;
    const double unit = bytes ? 0x1p-13 : 0x1p-23, steps = 1 + e.k / static_cast<double>(kStep / 4);
    const auto tolerance = static_cast<float>(integers ? 0 : 2 * unit * steps * std::sqrt(e.k));
    for_each_kernel([&](auto i) {
      if (i % 4 != shape % 4) return;
      run<kEvery.kinds[i]>(e, a, b, ours);
      tally.count(same_sums("cuBLASLt's", kEvery.kinds[i], e, ours, theirs, tolerance));
    });
  }
}

Answer check_all(Extent extent) {
  Answer answer;
  check_exact(answer.exact, extent);
  if constexpr (!__is_same(Sum, std::int32_t)) check_special_values(answer.special);
  if constexpr (arch::is_fp8(detail::MmaTypeOf<A::T>::value)) check_promotion(answer.special);
  if constexpr (vendor_has(kLike)) {
    if (extent == Extent::all) check_against_vendor(answer.vendor);
  }
  return answer;
}

const Registered registered({.types = info(kLike.a).name + std::string(" x ") + info(kLike.b).name,
                             .majors = std::string(kLike.major_a == Major::K ? "K" : "M") + "," +
                                       (kLike.major_b == Major::K ? "K" : "N") + (kLike.promote ? ", promoted" : ""),
                             .check = check_all});

}  // namespace
}  // namespace gantry_test
