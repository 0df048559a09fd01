// How a GEMM of simulated.hpp runs. Included by the translation units that compile one.
#pragma once

#include <gantry/epilogue/fusion/loop_callbacks.hpp>
#include <gantry/gemm/gemm.hpp>

#include "gemm/simulated.hpp"
#include "option_rules.hpp"

namespace gantry::tool {

// What the kernel that runs now counts for. Kernels are functions of their parameters and have no other way to tell.
inline thread_local runtime::SimulatedProgress* tile_count = nullptr;

// Of auxiliary tensors: the fewer, the faster this compiles.
inline constexpr std::uint32_t kAuxElements = fusion::element_set(ElementType::f32, ElementType::bf16);

// The walk of a graph in a loop, and a count of the tiles that are done.
template <class Config, int kBytes>
struct CountingCallbacks : fusion::LoopCallbacks<Config, kBytes, kAuxElements> {
  using Base = fusion::LoopCallbacks<Config, kBytes, kAuxElements>;

  class Store : public Base::Store {
   public:
    Store(const typename Base::Params& params, unsigned char* shared, const fusion::TileContext& context)
        : Base::Store(params, shared, context), counts_(context.thread == 0) {}

    template <class Sync>
    void end(const Sync& sync) {
      Base::Store::end(sync);
      if (counts_ && tile_count != nullptr) tile_count->done.fetch_add(1, std::memory_order_relaxed);
    }

   private:
    bool counts_;
  };
};

// Derive and add `options`, with C of D's elements.
template <int kBytes>
struct AnyGraph : fusion::GraphAtRunTime<true, true, kBytes, kAuxElements> {
  template <class Config>
  using Callbacks = CountingCallbacks<Config, kBytes>;
};

template <class Spec>
GemmArguments<Spec> arguments_of(const AskedGemm& asked, Operands& operands) {
  const std::vector<void*> addresses = operands.host_addresses();
  GemmArguments<Spec> args({asked.m, asked.n, asked.k, asked.batch}, asked.graph);
  hand_over(operands, addresses, args);
  return args;
}

// Whether the kernel has the elements and the room that a graph needs.
template <class Spec>
bool takes(const fusion::Graph& graph) {
  return graph.d >= 0 && graph.gated() == Gemm<Spec>::kDesign.gated() &&
         GemmTypes<Spec>::Epilogue::Collective::Fusion::problems(graph).empty();
}

template <class Spec>
SimulatedRun simulate(const AskedGemm& asked, Operands& operands, const SimulatorOptions& options,
                      runtime::SimulatedProgress& count) {
  using Gemm = gantry::Gemm<Spec>;
  constexpr GemmOptions o = Gemm::kDesign.options;
  const auto args = arguments_of<Spec>(asked, operands);
  const auto plan = Gemm::plan(args, device_of(Simulator(), kSimulatedSms));
  SimulatedRun out;
  if (!plan) {
    for (const ArgumentReason& reason : plan.error()) refuse(out.status, {}, reason);
    return out;
  }
  out.plan = plan->explain();
  // Tiles that lie beyond the edge are visited too: clusters are whole.
  const auto along = [](std::int64_t extent, int tile, int cluster) {
    return (extent + tile * cluster - 1) / (tile * cluster) * cluster;
  };
  const int parts = o.schedule == GemmSchedule::pingpong ? 1 : 2;
  count.all = along(asked.m, o.tile.m, o.cluster.m) * along(asked.n, o.tile.n, o.cluster.n) * asked.batch * parts;
  tile_count = &count;
  const LaunchResult result = plan->run(Simulator(options));
  tile_count = nullptr;
  take_result(result, out);
  return out;
}

}  // namespace gantry::tool
