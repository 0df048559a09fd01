// A GEMM on the simulated SM of the installed package, against its reference. Built twice: with planning inline, and
// with the library that has it.
#include <cstdio>
#include <string>

#include <gantry/gemm.hpp>

struct Layer {
  static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = relu(acc + row(bias))");
};

int main() {
  gantry::Buffer<gantry::bf16> a(64 * 32), b(64 * 32), d(64 * 64);
  gantry::Buffer<float> bias(64);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = gantry::bf16(static_cast<float>(i % 5) - 2);
    b[i] = gantry::bf16(static_cast<float>(i % 3) - 1);
  }
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i);
  gantry::Gemm<Layer>::Arguments args({.m = 64, .n = 64, .k = 32});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.fusion["bias"] = bias.data();
  const auto plan = gantry::Gemm<Layer>::plan(args);
  if (!plan) return std::puts(describe(plan.error()[0]).c_str()), 1;
  if (!plan->run(gantry::ThisMachine())) return std::puts(plan->explain().c_str()), 1;
  const std::string wrong = gantry::first_mismatch(args);
  return std::puts(wrong.c_str()), wrong.empty() ? 0 : 1;
}
