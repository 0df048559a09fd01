// What simulator.hpp declares and the host needs without the simulated SM: compiled into gantry::planning, or inline
// where nothing is linked.
#pragma once

#include <utility>

#include <gantry/arch/simulator.hpp>

namespace gantry {

GANTRY_LINKAGE Simulator::Simulator(SimulatorOptions options) : options_(std::move(options)) {}

GANTRY_LINKAGE Simulator& Simulator::allow_global(const void* data, std::size_t bytes, std::string name) {
  options_.global.push_back({data, bytes, std::move(name)});
  return *this;
}

}  // namespace gantry
