// gantry: runs and measures products, explains copies and epilogues, and evaluates the library's functions, from the
// command line.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/commands.hpp"

namespace {

constexpr int kUsageError = 2;

int run(int argc, char** argv) {
  CLI::App app(
      "Matrix products with fused epilogues for NVIDIA Hopper, on a GPU or on a simulated SM; TMA copies, epilogues "
      "and\n"
      "layouts explained.\n"
      "A layout is written as CuTe writes it: \"((_2,_4),3):((_1,_2),_8)\", \"(8,8)\" (compact), "
      "\"Sw<3,4,3> o (8,64):(64,1)\".");
  app.name("gantry");
  app.set_version_flag("--version", "gantry " GANTRY_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  int status = 0;
  gantry::tool::add_gemm_command(app, status);
  gantry::tool::add_bench_command(app, status);
  gantry::tool::add_tune_command(app, status);
  gantry::tool::add_doctor_command(app, status);
  gantry::tool::add_layout_command(app, status);
  gantry::tool::add_eval_command(app, status);
  gantry::tool::add_explain_command(app, status);
  gantry::tool::add_tour_command(app, status);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    const auto is_meant = [&](const CLI::App* command) { return command->check_name(argv[1]); };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_meant).empty()) {
      fmt::print(stderr, "gantry: '{}' is no command.\nRun 'gantry --help' for those there are.\n", argv[1]);
      return kUsageError;
    }
    fmt::print(stderr, "gantry: {}\nRun 'gantry --help' for what can be asked.\n", e.what());
    return kUsageError;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "gantry: the output could not be written\n");
    return 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gantry: this cannot go on: %s\n", e.what());
    return 1;
  }
}
