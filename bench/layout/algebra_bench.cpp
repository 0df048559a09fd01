// What the layout algebra costs at run time, on layouts of rank 4 whose leaves are known to the program only then.
// Budgets: composition, right_inverse and logical_divide under 300 ns, coalesce under 50 ns.
#include <benchmark/benchmark.h>

#include <gantry/layout.hpp>

namespace {

using namespace gantry;

// Values that the compiler cannot see through.
Layout hidden(Layout l) {
  benchmark::DoNotOptimize(l);
  return l;
}

Layout fixed_rank_4() { return hidden(layout("(_8,_16,_4,_2):(_16,_1,_128,_512)")); }
Layout dynamic_rank_4() { return hidden(layout("(8,16,4,2):(16,_1,128,512)")); }
Layout contiguous_rank_4() { return hidden(layout("(_8,_16,_4,_2):(_1,_8,_128,_512)")); }
Layout tile_rank_4() { return hidden(layout("(_4,_8,_2,_2):(_2,_16,_8,_256)")); }

void coalesce_without_merging(benchmark::State& state) {
  const Layout a = fixed_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(coalesce(a));
}
BENCHMARK(coalesce_without_merging);

void coalesce_to_one_mode(benchmark::State& state) {
  const Layout a = contiguous_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(coalesce(a));
}
BENCHMARK(coalesce_to_one_mode);

void coalesce_dynamic(benchmark::State& state) {
  const Layout a = dynamic_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(coalesce(a));
}
BENCHMARK(coalesce_dynamic);

void compose_fixed(benchmark::State& state) {
  const Layout a = fixed_rank_4();
  const Layout b = tile_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(composition(a, b));
}
BENCHMARK(compose_fixed);

void compose_dynamic(benchmark::State& state) {
  const Layout a = dynamic_rank_4();
  const Layout b = tile_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(composition(a, b));
}
BENCHMARK(compose_dynamic);

void compose_by_mode(benchmark::State& state) {
  const Layout a = dynamic_rank_4();
  const Tiler tile = make_tile(_4, _8, _2, _1);
  for (auto _ : state) benchmark::DoNotOptimize(composition(a, tile));
}
BENCHMARK(compose_by_mode);

void complement_fixed(benchmark::State& state) {
  const Layout b = tile_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(complement(b, _1024));
}
BENCHMARK(complement_fixed);

void right_inverse_fixed(benchmark::State& state) {
  const Layout a = fixed_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(right_inverse(a));
}
BENCHMARK(right_inverse_fixed);

void left_inverse_fixed(benchmark::State& state) {
  const Layout a = fixed_rank_4();
  for (auto _ : state) benchmark::DoNotOptimize(left_inverse(a));
}
BENCHMARK(left_inverse_fixed);

void logical_divide_by_layout(benchmark::State& state) {
  const Layout a = fixed_rank_4();
  const Layout tile = hidden(layout("(_4,_8):(_2,_16)"));
  for (auto _ : state) benchmark::DoNotOptimize(logical_divide(a, tile));
}
BENCHMARK(logical_divide_by_layout);

void logical_divide_by_mode(benchmark::State& state) {
  const Layout a = dynamic_rank_4();
  const Tiler tile = make_tile(_4, _8, _2, _1);
  for (auto _ : state) benchmark::DoNotOptimize(logical_divide(a, tile));
}
BENCHMARK(logical_divide_by_mode);

void zipped_divide_by_mode(benchmark::State& state) {
  const Layout a = dynamic_rank_4();
  const Tiler tile = make_tile(_4, _8, _2, _1);
  for (auto _ : state) benchmark::DoNotOptimize(zipped_divide(a, tile));
}
BENCHMARK(zipped_divide_by_mode);

void blocked_product_fixed(benchmark::State& state) {
  const Layout block = hidden(layout("(_8,_64):(_64,_1)"));
  const Layout tiler = hidden(layout("(_16,_2):(_1,_16)"));
  for (auto _ : state) benchmark::DoNotOptimize(blocked_product(block, tiler));
}
BENCHMARK(blocked_product_fixed);

void evaluate_at_an_index(benchmark::State& state) {
  const Layout a = dynamic_rank_4();
  std::int64_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(a(i++ & 1023));
}
BENCHMARK(evaluate_at_an_index);

}  // namespace
