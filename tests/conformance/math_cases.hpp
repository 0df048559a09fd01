// Approximations: what the two machines compute differs by at most the bounds that both keep, one of each.
#pragma once

#include <cstring>

#include <gantry/arch.hpp>

#include "suite.hpp"

namespace gantry::conformance {

enum class Approximation { ex2, lg2, tanh, rcp, rsqrt };

template <Approximation Function>
struct Approximates {
  static constexpr int kThreads = 128;
  static constexpr std::uint32_t kValues = 4096;

  struct Params {
    const float* in;
    float* out;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    for (std::uint32_t i = arch::thread_rank(); i < kValues; i += kThreads) {
      arch::st(arch::space_global, p.out + i, apply(arch::ld(arch::space_global, p.in + i)));
    }
  }

 private:
  GANTRY_HD static float apply(float x) {
    if constexpr (Function == Approximation::ex2) return arch::ex2_approx(x);
    if constexpr (Function == Approximation::lg2) return arch::lg2_approx(x);
    if constexpr (Function == Approximation::tanh) return arch::tanh_approx(x);
    if constexpr (Function == Approximation::rcp) return arch::rcp_approx(x);
    if constexpr (Function == Approximation::rsqrt) return arch::rsqrt_approx(x);
  }
};

// `largest` is the largest value of the function between `low` and `high`: errors are relative to it.
struct ApproximationRange {
  float low, high;
  double largest, error;
};

template <Approximation Function, class Machine>
void add_approximation(Cases<Machine>& cases, const char* name, const ApproximationRange& range) {
  using Kernel = Approximates<Function>;
  const auto body = [range](Machine& m) {
    Bytes in(4 * Kernel::kValues);
    for (std::uint32_t i = 0; i < Kernel::kValues; ++i) {
      const float x = range.low + (range.high - range.low) * static_cast<float>(i) / float{Kernel::kValues};
      std::memcpy(&in[4 * i], &x, 4);
    }
    typename Kernel::Params params{};
    params.in = reinterpret_cast<const float*>(m.buffer(in));
    params.out = reinterpret_cast<float*>(m.buffer(Bytes(in.size())));
    m.template launch<Kernel>({.block = {static_cast<std::uint32_t>(Kernel::kThreads)}, .name = "approximates"},
                              params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), in.size());
  };
  cases.push_back({name, body, {Agreement::Kind::f32_within, 2 * range.error * range.largest}, {}});
}

template <class Machine>
void add_approximations(Cases<Machine>& cases) {
  add_approximation<Approximation::ex2>(cases, "approximation of 2^x", {-8, 0, 1, 0x1p-22});
  add_approximation<Approximation::lg2>(cases, "approximation of log2 x", {0.5, 2, 1, 0x1p-22});
  add_approximation<Approximation::tanh>(cases, "approximation of tanh x", {-4, 4, 1, 0x1p-11});
  add_approximation<Approximation::rcp>(cases, "approximation of 1 / x", {1, 32, 1, 0x1p-23});
  add_approximation<Approximation::rsqrt>(cases, "approximation of 1 / sqrt x", {1, 32, 1, 1.3e-7});
}

}  // namespace gantry::conformance
