// nvcc as it is found on this machine, or a sentence that says what is missing.
//
// Looked for in this order: GANTRY_NVCC (the program), CUDA_HOME (its bin/nvcc), PATH, /usr/local/cuda. The first that
// is named by the environment counts, so that a wrong GANTRY_NVCC is said and not passed over.
//
// Example:
//     using namespace gantry::runtime;
//     const Compiler compiler = Compiler::find();
//     if (!compiler) throw compiler.problem();  // "there is no nvcc: ..."
//     const Compilation done = compiler.compile({.source = "kernel.cu", .output = "kernel.so", .flags = {"-O3"}});
//     if (!done) throw done.problem;  // with what nvcc said
#pragma once

#include <string>
#include <vector>

namespace gantry::runtime {

// Where a compiler is looked for. Empty: not set.
struct CompilerSearch {
  std::string nvcc;       // GANTRY_NVCC
  std::string cuda_home;  // CUDA_HOME
  std::string path;       // PATH, folders between colons
  std::string otherwise = "/usr/local/cuda";

  static CompilerSearch from_environment();
};

struct CompileCommand {
  std::string source;
  std::string output;
  std::vector<std::string> flags{};
};

struct Compilation {
  std::string problem;  // empty: the output is there
  std::string said;     // what the compiler printed, warnings for example
  double seconds = 0;

  explicit operator bool() const { return problem.empty(); }
};

class Compiler {
 public:
  static Compiler find(const CompilerSearch& search = CompilerSearch::from_environment());

  explicit operator bool() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }  // "13.0.48"
  // The toolkit's folder, with include/ and lib64/.
  std::string toolkit() const;

  // Requires that there is a compiler. Runs it; nothing is left at `output` where it fails.
  Compilation compile(const CompileCommand& command) const;

 private:
  std::string path_, version_, problem_;
};

}  // namespace gantry::runtime
