// What `arch/mma.hpp` asks of the simulated SM.
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

namespace gantry::sim {

// One lane's part of an mma of 16 x 8 x k: its registers, in fragment order.
struct Mma {
  int k;
  arch::MmaType d, a, b;
  bool saturate = false;
  std::uint32_t a_registers[4] = {}, b_registers[2] = {}, c_registers[4] = {};
};
void mma(const Mma& mma, std::uint32_t (&result)[4], Site site);

}  // namespace gantry::sim
