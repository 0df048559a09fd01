// nvcc as it is found on this machine, or a sentence that says what is missing.
//
// Looked for in this order: GANTRY_NVCC (the program: a path, or a name on the PATH), CUDA_HOME (its bin/nvcc), PATH,
// /usr/local/cuda. The first that is named by the environment counts, so that a wrong GANTRY_NVCC is said and not
// passed over.
//
// Example:
//     using namespace gantry::runtime;
//     const Compiler compiler = Compiler::find();
//     if (!compiler) throw compiler.status();  // nvcc_missing: "there is no nvcc: ..."
//     const std::string version = compiler.version();
#pragma once

#include <string>

#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

// Where a compiler is looked for. Empty: not set.
struct CompilerSearch {
  std::string nvcc;       // GANTRY_NVCC
  std::string cuda_home;  // CUDA_HOME
  std::string path;       // PATH, folders between colons
  std::string otherwise = "/usr/local/cuda";

  static CompilerSearch from_environment();
};

class Compiler {
 public:
  static Compiler find(const CompilerSearch& search = CompilerSearch::from_environment());

  explicit operator bool() const { return status_.ok(); }
  const Status& status() const { return status_; }
  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }  // "13.0.48"
  // The toolkit's folder, with include/ and lib64/.
  std::string toolkit() const;

 private:
  Status status_;
  std::string path_, version_;
};

}  // namespace gantry::runtime
