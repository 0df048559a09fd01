// One group alone has nobody to take turns with: it would hand its turn to itself.
// EXPECT: two to eight groups take turns
#include <gantry/pipeline/ordered_sequence.hpp>

using Order = gantry::OrderedSequenceBarrier<2, 1>;
Order::SharedStorage storage;
