// An element type that an argument cannot have is refused where the epilogue is compiled.
//
// EXPECT: a reduction gives f32, bf16, f16 or s32
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/collective.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

struct Config {
  using Functions = gantry::fusion::UserFunctions<>;
  static constexpr gantry::EpiloguePolicy policy =
      gantry::CollectiveBuilder{.tile = {64, 64, 64}, .d = gantry::ElementType::bf16}.policy();
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = acc; s:e4m3 = reduce_col_add(acc)");
};

constexpr int kBytes = gantry::CollectiveEpilogue<Config>::Fusion::kSharedBytes;
