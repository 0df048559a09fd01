// The arithmetic of a warpgroup's product: operands gathered, multiplied, and delivered as fragments.
#pragma once

#include "cta.hpp"
#include "warpgroup.hpp"

namespace gantry::sim {

// Adds the product to its accumulators. Results of bytes that nothing has written are poison.
void execute(Cta& cta, const Product& product);

}  // namespace gantry::sim
