// The subcommands of `gantry`. Each function adds one to the application; when the user asks for it, it runs and leaves
// its exit status in `status`: 0, or 1 where something the user gave could not be used.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace gantry::tool {

void add_bench_command(CLI::App& app, int& status);
void add_cache_command(CLI::App& app, int& status);
void add_doctor_command(CLI::App& app, int& status);
void add_eval_command(CLI::App& app, int& status);
void add_explain_command(CLI::App& app, int& status);
// Those of `explain` that have a file of their own.
void add_explain_epilogue(CLI::App& explain_command, int& status);
void add_explain_fusion(CLI::App& explain_command, int& status);
void add_gemm_command(CLI::App& app, int& status);
void add_layout_command(CLI::App& app, int& status);
void add_tour_command(CLI::App& app, int& status);
void add_tune_command(CLI::App& app, int& status);

// What the command `layout` prints for a text, or the reason why it cannot be read.
struct LayoutReport {
  std::string text;
  bool ok = true;
};
struct LayoutRequest {
  std::string text;
  std::string at = {};  // a coordinate, or empty
  bool python = false;
  bool json = false;
};
LayoutReport report_layout(const LayoutRequest& request);

}  // namespace gantry::tool
