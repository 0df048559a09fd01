// An operation is asked for by a name that one has.
// EXPECT: there_is_no_operation_of_this_name
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/callbacks_builder.hpp>
#include <gantry/epilogue/fusion/operations.hpp>

struct Bias {
  static constexpr gantry::EpiloguePolicy policy =
      gantry::CollectiveBuilder{.tile = {64, 64, 64}, .d = gantry::ElementType::bf16}.policy();
  static constexpr gantry::fusion::NamedOperation operation{.name = "LinCombPerRowBais"};
};
static_assert(gantry::fusion::CallbacksBuilder<Bias>::graph.argument_count == 3);
