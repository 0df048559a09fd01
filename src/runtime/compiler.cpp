#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <gantry/runtime/compiler.hpp>
#include <gantry/runtime/printable.hpp>

#include "process.hpp"

namespace gantry::runtime {

namespace {

namespace fs = std::filesystem;

constexpr int kOldestMajor = 12, kOldestMinor = 4;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool can_run(const fs::path& program) {
  std::error_code error;
  return fs::is_regular_file(program, error) && access(program.c_str(), X_OK) == 0;
}

// It is run from another folder.
std::string whole_path(const fs::path& program) {
  std::error_code error;
  const fs::path whole = fs::absolute(program, error);
  return (error ? program : whole).string();
}

// The first program of this name in the folders of PATH. An empty folder would mean the current one, and is none.
std::string on_path(const std::string& path, const std::string& name) {
  for (std::size_t begin = 0; begin <= path.size() && !path.empty();) {
    const std::size_t colon = path.find(':', begin);
    const std::size_t end = colon == std::string::npos ? path.size() : colon;
    const fs::path program = fs::path(path.substr(begin, end - begin)) / name;
    if (end > begin && can_run(program)) return whole_path(program);
    begin = end + 1;
  }
  return {};
}

struct Found {
  std::string path;
  std::string problem;
};

Found look(const CompilerSearch& search) {
  if (!search.nvcc.empty()) {
    const bool is_name = search.nvcc.find('/') == std::string::npos;
    if (is_name) {
      if (std::string program = on_path(search.path, search.nvcc); !program.empty()) return {std::move(program), {}};
    } else if (can_run(search.nvcc)) {
      return {whole_path(search.nvcc), {}};
    }
    const char* const missing =
        is_name ? ", which is on no folder of the PATH" : ", which is no program that can be run";
    return {{}, "GANTRY_NVCC names " + one_line(search.nvcc) + missing};
  }
  if (!search.cuda_home.empty()) {
    const fs::path program = fs::path(search.cuda_home) / "bin" / "nvcc";
    if (can_run(program)) return {whole_path(program), {}};
    return {{}, "CUDA_HOME is " + one_line(search.cuda_home) + ", and there is no " + one_line(program.string())};
  }
  if (std::string program = on_path(search.path, "nvcc"); !program.empty()) return {std::move(program), {}};
  const fs::path program = fs::path(search.otherwise) / "bin" / "nvcc";
  if (can_run(program)) return {whole_path(program), {}};
  return {{},
          "there is no nvcc: neither on the PATH nor in " + search.otherwise +
              "/bin; install the CUDA toolkit 12.4 or newer, or set GANTRY_NVCC or CUDA_HOME"};
}

// "13.0.48" of "Cuda compilation tools, release 13.0, V13.0.48".
std::string version_in(const std::string& text) {
  const std::size_t release = text.find(", V");
  if (release == std::string::npos) return {};
  const std::size_t begin = release + 3;
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

bool is_old(const std::string& version) {
  char* end = nullptr;
  const long major = std::strtol(version.c_str(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  return major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor);
}

}  // namespace

CompilerSearch CompilerSearch::from_environment() {
  CompilerSearch search;
  search.nvcc = variable("GANTRY_NVCC");
  search.cuda_home = variable("CUDA_HOME");
  search.path = variable("PATH");
  return search;
}

Compiler Compiler::find(const CompilerSearch& search) {
  Compiler out;
  const Found found = look(search);
  out.problem_ = found.problem;
  if (!out) return out;
  out.path_ = found.path;
  const ProcessResult asked = run_process({.arguments = {out.path_, "--version"}, .limit = std::chrono::seconds(20)});
  out.version_ = version_in(asked.output);
  if (!asked.started || asked.status != 0 || out.version_.empty()) {
    out.problem_ =
        one_line(out.path_) + " does not tell its version when asked with --version, so it is not taken for nvcc";
  } else if (is_old(out.version_)) {
    out.problem_ = one_line(out.path_) + " is version " + out.version_ + "; kernels for Hopper need 12.4 or newer";
  }
  return out;
}

std::string Compiler::toolkit() const {
  std::error_code error;
  const fs::path real = fs::canonical(path_, error);
  return (error ? fs::path(path_) : real).parent_path().parent_path().string();
}

}  // namespace gantry::runtime
