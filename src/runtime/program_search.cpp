#include "program_search.hpp"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <gantry/runtime/printable.hpp>

namespace gantry::runtime {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

bool can_run(const std::string& program) {
  std::error_code error;
  return fs::is_regular_file(program, error) && access(program.c_str(), X_OK) == 0;
}

std::string whole_path(const std::string& program) {
  std::error_code error;
  const fs::path whole = fs::absolute(program, error);
  return error ? program : whole.string();
}

std::string on_path(const std::string& path, const std::string& name) {
  for (std::size_t begin = 0; begin <= path.size() && !path.empty();) {
    const std::size_t colon = path.find(':', begin);
    const std::size_t end = colon == std::string::npos ? path.size() : colon;
    const std::string program = (fs::path(path.substr(begin, end - begin)) / name).string();
    if (end > begin && can_run(program)) return whole_path(program);
    begin = end + 1;
  }
  return {};
}

NamedProgram named_program(const char* variable, const std::string& value, const std::string& path) {
  const bool is_name = value.find('/') == std::string::npos;
  std::string program = is_name ? on_path(path, value) : can_run(value) ? whole_path(value) : "";
  if (!program.empty()) return {std::move(program), {}};
  const char* const missing = is_name ? ", which is on no folder of the PATH" : ", which is no program that can be run";
  return {{},
          failure_of(RuntimeRule::named_compiler_missing, std::string(variable) + " names " + one_line(value) + missing,
                     variable)};
}

}  // namespace gantry::runtime
