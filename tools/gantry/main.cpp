// gantry: the command line. Runs and measures GEMMs, explains TMA copies and epilogues, evaluates the library's
// functions.
#include <cstdio>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gantry/runtime/printable.hpp>

#include "commands/commands.hpp"
#include "option_text.hpp"
#include "terminal.hpp"

namespace {

constexpr int kUsageError = 2;

std::vector<std::string> names_of_commands(const CLI::App& command) {
  std::vector<std::string> out;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(one->get_name());
  return out;
}

// `text` is no option of a command: with the nearest that is.
std::string no_option(const std::string& text, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const bool named = text.starts_with('-');
  return fmt::format("{} is no option here{}", gantry::tool::in_quotes(text),
                     named ? gantry::tool::with_nearest_name(text.substr(0, text.find('=')), names) : "");
}

// What CLI11 says, as a sentence of ours where it has none. `command` is the one that was being read, `name` its whole
// name.
std::string sentence(const CLI::ParseError& error, const CLI::App& command, const std::string& name) {
  std::string said = error.what();
  if (command.get_require_subcommand_min() > 0 && command.get_subcommands().empty()) {
    const std::vector<std::string> words = command.remaining();
    const std::vector<std::string> commands = names_of_commands(command);
    const std::string there = fmt::format("{}", fmt::join(commands, ", "));
    if (words.empty()) return fmt::format("{} takes a command: {}", name, there);
    if (words.front().starts_with('-')) return no_option(words.front(), command);
    return fmt::format("{} is no command of {}, which has {}{}", gantry::tool::in_quotes(words.front()), name, there,
                       gantry::tool::with_nearest_name(words.front(), commands));
  }
  constexpr std::string_view kConversion = "Could not convert: ";
  const std::size_t equals = said.find(" = ");
  if (said.starts_with(kConversion) && equals != std::string::npos) {
    return fmt::format("{} takes a number, and not {}", said.substr(kConversion.size(), equals - kConversion.size()),
                       gantry::tool::in_quotes(said.substr(equals + 3)));
  }
  constexpr std::string_view kValueOfFlag = " was given a disallowed flag override";
  if (said.ends_with(kValueOfFlag))
    return fmt::format("--{} takes no value: it is given or left out",
                       said.substr(0, said.size() - kValueOfFlag.size()));
  const std::size_t colon = said.find(": ");
  if (colon == std::string::npos) return said;
  std::string option = said.substr(0, colon), rest = said.substr(colon + 2);
  const auto is = [&error](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::ExtrasError)) {
    const bool several = option.find("arguments") != std::string::npos;  // the last is named first
    const std::string first = several ? rest.substr(rest.rfind(' ') + 1) : rest;
    return no_option(first, command);
  }
  if (rest.starts_with(option + " ")) return rest;  // a check's own sentence
  if (!is(CLI::ExitCodes::ArgumentMismatch)) return said;
  return option + (rest.starts_with("At Most ") ? " is given more than once" : " is given without its value");
}

// Tells a wrong use: what is wrong with it, and where help is.
int refuse(const CLI::ParseError& error, const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  gantry::tool::print_complaint(sentence(error, *command, name));
  fmt::print(stderr, "Run '{} --help' for the options.\n", name);
  return kUsageError;
}

// Empty, or why an argument is taken by no option: it would change the terminal that it is quoted on, or the source
// that it is compiled into. Line ends and tabs may stand in an expression.
std::string control_characters(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    for (const char* c = argv[i]; *c != '\0'; ++c) {
      const auto byte = static_cast<unsigned char>(*c);
      if ((byte >= ' ' && byte != 0x7F) || *c == '\n' || *c == '\t') continue;
      return fmt::format("argument {}, {}, has the control character 0x{:02x} at column {}, which no option takes", i,
                         gantry::tool::in_quotes(argv[i]), byte, c - argv[i] + 1);
    }
  }
  return {};
}

int run(int argc, char** argv) {
  if (const std::string problem = control_characters(argc, argv); !problem.empty()) {
    gantry::tool::print_complaint(problem);
    return kUsageError;
  }
  CLI::App app(
      "GEMMs with fused epilogues for NVIDIA Hopper, on a GPU or on a simulated SM; explanations of TMA copies, "
      "epilogues and layouts.\n"
      "Layouts are written as in CuTe: \"((_2,_4),3):((_1,_2),_8)\", \"(8,8)\" (compact), "
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
  gantry::tool::add_cache_command(app, status);
  gantry::tool::add_layout_command(app, status);
  gantry::tool::add_eval_command(app, status);
  gantry::tool::add_explain_command(app, status);
  gantry::tool::add_tour_command(app, status);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", gantry::tool::wrapped(app.help(), gantry::tool::output_columns()));
    return 0;
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return refuse(e, app);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    gantry::tool::print_complaint("the output could not be written");
    return 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("gantry: the host's memory has run out\n", stderr);
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gantry: unexpected error: %s\n", gantry::runtime::printable(e.what()).c_str());
    return 1;
  }
}
