// Deterministic reductions count whole tiles: a kernel that stores one subtile by itself cannot have them.
// EXPECT: one subtile is stored by itself, and a reduction that is deterministic or has results of blocks takes whole tiles
#include <gantry/epilogue/collective.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

struct Sum {
  static constexpr gantry::EpiloguePolicy policy =
      gantry::CollectiveBuilder{.tile = {64, 64, 64}, .d = gantry::ElementType::bf16}.policy();
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = acc; s deterministic = reduce_add(acc)");
};
using Epilogue = gantry::CollectiveEpilogue<Sum>;

struct Accumulators {
  const float* data() const;
};
GANTRY_HD void second_subtile(const Epilogue::Params& params, Epilogue::TensorStorage& storage,
                              Epilogue::LoadPipeline& pipeline, Epilogue::StoreStates& states,
                              const Accumulators& acc) {
  Epilogue::store(params, storage, pipeline, states, {0, 0, 0}, acc, 0, 1, 1);
}
