// What `gantry explain epilogue` is asked, from the texts of its options to a builder; or every reason why there is
// none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <gantry/epilogue/policy_print.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::tool {

// Empty: as the builder's default.
struct EpilogueTexts {
  std::string policy = {};
  std::string schedule = {};
  std::string tile = {};
  std::string epi_tile = {};
  std::string c = {};
  std::string d = {};
  std::string aux = {};
  std::string c_layout = {};
  std::string d_layout = {};
  std::string acc = {};
  std::string compute = {};
  std::string round = {};
  std::string c_align = {};
  std::string d_align = {};
  std::string warpgroups = {};
  std::string stages_c = {};
  std::string stages_d = {};
  std::string fragment = {};
  std::string reuse = {};
  std::string delay = {};
  std::string epilogue = {};
};

struct EpilogueQuestion {
  CollectiveBuilder builder;
  std::optional<fusion::Graph> graph;  // where an expression was given
  Status status{};                     // what is wrong with the options; then there is no builder

  bool ok() const { return status.ok(); }
};

EpilogueQuestion read_question(const EpilogueTexts& texts);

EpilogueExplanation answer(const EpilogueQuestion& question);

nlohmann::ordered_json to_json(const EpilogueExplanation& e);

}  // namespace gantry::tool
