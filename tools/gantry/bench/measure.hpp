// Times contestants on the GPU, taking turns: bursts, single calls with L2 emptied, and seconds on end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gantry/runtime/device.hpp>

#include "bench/record.hpp"
#include "bench/stop.hpp"
#include "gemm/progress.hpp"

namespace gantry::tool {

struct Contestant {
  std::string name;
  std::function<Status()> run;  // launches one call
  Timing timing{};
};

struct RaceOptions {
  double sustained = 3;  // seconds of each contestant; 0: none
  int rounds = 7;
  const Stop* stop = nullptr;  // ends the race early, with times that are worth nothing
};

Status race(const runtime::Device& device, std::vector<Contestant>& contestants, const RaceOptions& options,
            Progress& progress);

// Seconds of one call, the median of bursts.
Result<double> burst_time(const runtime::Device& device, const Contestant& contestant, int rounds);

}  // namespace gantry::tool
