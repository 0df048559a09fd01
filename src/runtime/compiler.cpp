#include <chrono>
#include <filesystem>

#include <gantry/runtime/compiler.hpp>
#include <gantry/runtime/printable.hpp>

#include "cuda_version.hpp"
#include "process.hpp"
#include "program_search.hpp"

namespace gantry::runtime {

namespace {

namespace fs = std::filesystem;

constexpr int kOldestMajor = 12, kOldestMinor = 4;

NamedProgram look(const CompilerSearch& search) {
  if (!search.nvcc.empty()) return named_program("GANTRY_NVCC", search.nvcc, search.path);
  if (!search.cuda_home.empty()) {
    const std::string program = (fs::path(search.cuda_home) / "bin" / "nvcc").string();
    if (can_run(program)) return {whole_path(program), {}};
    return {{},
            failure_of(RuntimeRule::named_compiler_missing,
                       "CUDA_HOME is " + one_line(search.cuda_home) + ", and there is no " + one_line(program),
                       "CUDA_HOME")};
  }
  if (std::string program = on_path(search.path, "nvcc"); !program.empty()) return {std::move(program), {}};
  const std::string program = (fs::path(search.otherwise) / "bin" / "nvcc").string();
  if (can_run(program)) return {whole_path(program), {}};
  return {{},
          failure_of(RuntimeRule::nvcc_missing,
                     "there is no nvcc: neither on the PATH nor in " + search.otherwise +
                         "/bin; install the CUDA toolkit 12.4 or newer, or set GANTRY_NVCC or CUDA_HOME")};
}

// "13.0.48" of "Cuda compilation tools, release 13.0, V13.0.48".
std::string version_in(const std::string& text) {
  const std::size_t release = text.find(", V");
  if (release == std::string::npos) return {};
  const std::size_t begin = release + 3;
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

bool is_old(const std::string& text) {
  const CudaVersion version = CudaVersion::of_text(text);
  return version.major < kOldestMajor || (version.major == kOldestMajor && version.minor < kOldestMinor);
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
  const NamedProgram found = look(search);
  out.status_ = found.status;
  if (!out) return out;
  out.path_ = found.path;
  const Result<ProcessEnd> asked =
      run_process({.arguments = {out.path_, "--version"}, .limit = std::chrono::seconds(20)});
  if (!asked) {
    out.status_ = with_words_before(one_line(out.path_) + " could not be asked for its version: ", asked.error());
    return out;
  }
  if (asked->status == 0) out.version_ = version_in(asked->output);
  if (out.version_.empty()) {
    out.status_ = failure_of(
        RuntimeRule::compiler_unusable,
        one_line(out.path_) + " does not tell its version when asked with --version, so it is not taken for nvcc");
  } else if (is_old(out.version_)) {
    out.status_ = failure_of(RuntimeRule::compiler_too_old, one_line(out.path_) + " is version " + out.version_ +
                                                                "; kernels for Hopper need 12.4 or newer");
  }
  return out;
}

std::string Compiler::toolkit() const {
  std::error_code error;
  const fs::path real = fs::canonical(path_, error);
  return (error ? fs::path(path_) : real).parent_path().parent_path().string();
}

}  // namespace gantry::runtime
