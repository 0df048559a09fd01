// Which configuration a product gets: what its options say, what the tuning file has, or what the model chooses.
#pragma once

#include <string>
#include <vector>

#include <gantry/gemm/choice.hpp>
#include <gantry/gemm/tuning.hpp>
#include <gantry/runtime/device.hpp>

#include "gemm/request.hpp"

namespace gantry::tool {

struct Chosen {
  GemmOptions options{};
  std::string why{};
  bool dependent = false;  // launches in a row gain where each may start before the one before has ended
};

GemmWorkload workload_of(const Product& product);

// Configurations for the GPU that are what the product's options say; those alone where they leave nothing open.
std::vector<GemmDesign> candidates_for(const Product& product);

// Among `candidates`, which compute the product. Without a device, for an H200.
Chosen choose_among(const Product& product, const std::vector<GemmDesign>& candidates, const runtime::Device& device);

// What cannot be read of a tuning file, however many lines that are: empty, or "3 lines; the first: line 7: ...".
std::string unread_lines(const TuningFile& tuning);

// GANTRY_TUNING, else XDG_CONFIG_HOME/gantry/tuning, else ~/.config/gantry/tuning; empty where there is no home.
std::string tuning_path();

}  // namespace gantry::tool
