// Runs a lambda as a kernel on the simulated machine. What it captures by reference is global memory.
#pragma once

#include <utility>

#include "gantry/arch.hpp"
#include "gantry/arch/simulator.hpp"

namespace gantry::test {

template <class Body>
Report simulate(const LaunchConfig& config, Body body, SimulatorOptions options = {}) {
  return Simulator(std::move(options))
      .run(
          config, [](const void* params, SharedMemory shared) { (*static_cast<const Body*>(params))(shared); }, &body);
}

}  // namespace gantry::test
