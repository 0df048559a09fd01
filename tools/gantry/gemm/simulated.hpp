// Products that are compiled into the program for the simulated machine. Their graph comes at run time, so one serves
// every epilogue of its elements.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>
#include <gantry/gemm/design.hpp>

#include "gemm/operands.hpp"

namespace gantry::tool {

// Parts of tiles whose epilogue has ended, for whoever watches.
struct TileCount {
  std::atomic<std::int64_t> done{0};
  std::atomic<std::int64_t> all{0};
};

struct SimulatedRun {
  std::vector<std::string> problems;  // why there was no run
  std::string plan{};
  Report report{};
};

struct SimulatedProduct {
  GemmDesign design;  // C may be left out
  SimulatedRun (*run)(const Product& product, Operands& operands, const SimulatorOptions& options, TileCount& count);
};

const std::vector<SimulatedProduct>& simulated_products();

// Those that are what `wanted` asks for.
std::vector<SimulatedProduct> simulated_for(const GemmOptions& wanted);
// A sentence that names those there are.
std::string not_simulated(const GemmOptions& wanted);

// Each in a translation unit of its own.
extern const SimulatedProduct kSimulatedBf16, kSimulatedBf16Pingpong, kSimulatedF16, kSimulatedE4m3;

}  // namespace gantry::tool
