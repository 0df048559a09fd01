// How long it takes to plan a copy at run time, and whether planning allocates: `allocations` is per plan.
#include <benchmark/benchmark.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma.hpp>

std::int64_t allocations();

namespace gantry {
namespace {

struct Copy {
  const char* name;
  TmaOp op;
  const char* gmem;
  int swizzle_bits;
  const char* smem;
  const char* tile;
  std::uint32_t ctas;
};

constexpr Copy kCopies[] = {
    {"2d_swizzled", TmaOp::load, "(4096,8192):(8192,_1)", 3, "(_128,_64):(_64,_1)", "(_128,_64)", 1},
    {"3d_batched_multicast", TmaOp::load_multicast, "(4096,8192,16):(8192,_1,33554432)", 3,
     "((_8,_16),(_64,_1)):((_64,_512),(_1,_0))", "(_128,_64)", 4},
    {"store_in_slabs", TmaOp::store, "(4096,8192,16):(8192,_1,33554432)", 3,
     "((_8,_8),(_64,_4)):((_64,_512),(_1,_4096))", "(_64,_256)", 1},
    {"5d", TmaOp::load, "(64,32,8,8,16):(_1,64,2048,16384,131072)", 0, "(_64,_4,_2,_2,_2):(_1,_64,_256,_512,_1024)",
     "(_64,_4,_2,_2,_2)", 1},
    {"7_modes_grouped", TmaOp::load, "(64,2,32,2,32,2,2):(_1,64,128,4096,8208,262784,525584)", 0,
     "(_64,_1,_2,_1,_2,_1,_1):(_1,_64,_64,_128,_128,_256,_256)", "(_64,_1,_2,_1,_2,_1,_1)", 1},
};

TmaCopyRequest request_of(const Copy& c) {
  return {.op = c.op,
          .gtensor = {.address = 0x7f0000000000, .element = ElementType::bf16, .layout = layout(c.gmem)},
          .smem = ComposedLayout(Swizzle(c.swizzle_bits, 4, 3), _0, layout(c.smem), 16),
          .cta_tiler = tiler(c.tile),
          .num_multicast = c.ctas};
}

template <class F>
void measure(benchmark::State& state, const F& f) {
  const Copy& copy = kCopies[state.range(0)];
  const TmaCopyRequest request = request_of(copy);
  const TmaPlan plan = make_tma_copy(request);
  if (!plan.ok()) return state.SkipWithError("the plan is refused");
  const std::int64_t before = allocations();
  for (auto _ : state) f(request, plan);
  state.counters["allocations"] = static_cast<double>(allocations() - before) / static_cast<double>(state.iterations());
  state.SetLabel(copy.name);
}

void plan_copy(benchmark::State& state) {
  measure(state,
          [](const TmaCopyRequest& request, const TmaPlan&) { benchmark::DoNotOptimize(make_tma_copy(request)); });
}

void plan_with_steps(benchmark::State& state) {
  measure(state, [](const TmaCopyRequest& request, const TmaPlan&) {
    TmaPlanSteps steps;
    benchmark::DoNotOptimize(make_tma_copy(request, &steps));
  });
}

void bind_plan(benchmark::State& state) {
  measure(state, [](const TmaCopyRequest& request, const TmaPlan& plan) {
    benchmark::DoNotOptimize(bind(plan, request.gtensor));
  });
}

void list_instructions(benchmark::State& state) {
  measure(state, [](const TmaCopyRequest&, const TmaPlan& plan) {
    for_each_instruction(plan, {}, 0, [](const TmaInstruction& i) { benchmark::DoNotOptimize(i.shared_offset); });
  });
}

BENCHMARK(plan_copy)->DenseRange(0, 4);
BENCHMARK(plan_with_steps)->DenseRange(0, 4);
BENCHMARK(bind_plan)->DenseRange(0, 4);
BENCHMARK(list_instructions)->DenseRange(0, 4);

}  // namespace
}  // namespace gantry
