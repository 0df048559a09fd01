// A configuration says what is fused.
// EXPECT: a configuration of an epilogue says what is fused: a graph, an operation, or Callbacks
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/callbacks_builder.hpp>

struct Nothing {
  static constexpr gantry::EpiloguePolicy policy =
      gantry::CollectiveBuilder{.tile = {64, 64, 64}, .d = gantry::ElementType::bf16}.policy();
};
static_assert(gantry::fusion::CallbacksBuilder<Nothing>::graph.argument_count == 0);
