#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <gantry/runtime/compiler.hpp>

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

std::string on_path(const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size() && !path.empty();) {
    const std::size_t colon = path.find(':', begin);
    const std::size_t end = colon == std::string::npos ? path.size() : colon;
    const fs::path program = fs::path(path.substr(begin, end - begin)) / "nvcc";
    if (end > begin && can_run(program)) return program.string();
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
    if (can_run(search.nvcc)) return {search.nvcc, {}};
    return {{}, "GANTRY_NVCC names " + search.nvcc + ", which is no program that can be run"};
  }
  if (!search.cuda_home.empty()) {
    const fs::path program = fs::path(search.cuda_home) / "bin" / "nvcc";
    if (can_run(program)) return {program.string(), {}};
    return {{}, "CUDA_HOME is " + search.cuda_home + ", and there is no " + program.string()};
  }
  if (std::string program = on_path(search.path); !program.empty()) return {std::move(program), {}};
  const fs::path program = fs::path(search.otherwise) / "bin" / "nvcc";
  if (can_run(program)) return {program.string(), {}};
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

// The last lines say what stopped the compiler; the first say where.
std::string shortened(const std::string& said) {
  constexpr std::size_t kMost = 8000;
  if (said.size() <= kMost) return said;
  return said.substr(0, kMost / 2) + "\n...\n" + said.substr(said.size() - kMost / 2);
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
  const ProcessResult asked = run_process({out.path_, "--version"});
  out.version_ = version_in(asked.output);
  if (!asked.started || asked.status != 0 || out.version_.empty()) {
    out.problem_ = out.path_ + " does not tell its version when asked with --version, so it is not taken for nvcc";
  } else if (is_old(out.version_)) {
    out.problem_ = out.path_ + " is version " + out.version_ + "; kernels for Hopper need 12.4 or newer";
  }
  return out;
}

std::string Compiler::toolkit() const {
  std::error_code error;
  const fs::path real = fs::canonical(path_, error);
  return (error ? fs::path(path_) : real).parent_path().parent_path().string();
}

Compilation Compiler::compile(const CompileCommand& command) const {
  std::vector<std::string> words{path_};
  words.insert(words.end(), command.flags.begin(), command.flags.end());
  words.insert(words.end(), {command.source, "-o", command.output});
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult ran = run_process(words);
  Compilation out;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.said = ran.output;
  if (!ran.started) {
    out.problem = path_ + " could not be started";
  } else if (ran.status != 0) {
    out.problem = "nvcc ended with status " + std::to_string(ran.status) + " and said:\n" + shortened(ran.output);
  }
  if (!out) {
    std::error_code error;
    fs::remove(command.output, error);
  }
  return out;
}

}  // namespace gantry::runtime
