// What a thread brings to products of its warp. The operands outlive the call: the other lanes read them after it.
#pragma once

#include <cstdint>

#include <gantry/arch/detail/machine_mma.hpp>

namespace gantry::sim {

struct MmaOperands {
  Mma of_product[2]{};
  std::uint64_t products = 0;
};

}  // namespace gantry::sim
