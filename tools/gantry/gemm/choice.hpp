// Which configuration a GEMM gets: what its options say, what the tuning file has, or what the model chooses.
#pragma once

#include <string>
#include <vector>

#include <gantry/runtime/chooser.hpp>
#include <gantry/runtime/device.hpp>

#include "gemm/request.hpp"

namespace gantry::tool {

using runtime::tuning_path;
using runtime::unread_lines;

struct Chosen {
  GemmOptions options{};
  std::string why{};
  bool dependent = false;  // launches in a row gain where each may start before the one before has ended
};

// The sizes of its groups, which the host knows here.
ExpectedGroups expected_of(const AskedGemm& asked);

GemmWorkload workload_of(const AskedGemm& asked);

// The GPU configurations that agree with the given options; only those if they leave nothing open.
std::vector<GemmDesign> candidates_for(const AskedGemm& asked);

// Among `candidates`, which compute the GEMM. Without a device, for an H200.
Chosen choose_among(const AskedGemm& asked, const std::vector<GemmDesign>& candidates, const runtime::Device& device);

}  // namespace gantry::tool
