// gantry: runs and measures products, explains copies and epilogues, and evaluates the library's functions, from the
// command line.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "option_text.hpp"

namespace {

constexpr int kUsageError = 2;

// What CLI11 says, as a sentence of ours where it has none.
std::string sentence(const CLI::ParseError& error) {
  std::string said = error.what();
  const auto rest_after = [&said](const std::string& prefix) {
    return said.starts_with(prefix) ? said.substr(prefix.size()) : std::string();
  };
  if (const std::string rest = rest_after("Could not convert: "); rest.find(" = ") != std::string::npos) {
    const std::size_t equals = rest.find(" = ");
    return fmt::format("{} takes a number, and not {}", rest.substr(0, equals),
                       gantry::tool::in_quotes(rest.substr(equals + 3)));
  }
  if (const std::string rest = rest_after("The following argument was not expected: "); !rest.empty())
    return fmt::format("{} is no option here", gantry::tool::in_quotes(rest));
  return said;
}

// "gantry bench gemm": the command that was being read.
std::string command_of(const CLI::App& app) {
  std::string out = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    out += " " + at->get_name();
  }
  return out;
}

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
    fmt::print(stderr, "gantry: {}\nRun '{} --help' for what can be asked.\n", sentence(e), command_of(app));
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
