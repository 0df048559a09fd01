// The C++ compiler of this machine, g++ or clang++, for kernels of the simulated SM: from a source to a shared object.
//
// Looked for in this order: GANTRY_CXX (a path, or a name on the PATH), CXX (the same, and flags may follow it), g++
// and clang++ on the PATH. The first that the environment names counts, so that a wrong one is said and not passed
// over. It must be g++ 12, clang 14 or newer, which Gantry is tested with.
//
// It is run without a shell, in a private folder, and sees Gantry's embedded headers as <gantry/...>. Variables that
// would make it read other files (CPATH, COMPILER_PATH and their like) are taken from its environment, so that
// `identity` has all that decides what comes out. It ends when the program does.
//
// The macro GANTRY_HEADERS_DIGEST is the digest of the headers that a source is compiled against, as a string.
//
// Example:
//     using namespace gantry::runtime;
//     const HostCompiler compiler = HostCompiler::find();
//     if (!compiler.status()) throw compiler.status();  // host_compiler_missing: "there is no C++ compiler: ..."
//     const CompiledImage image = compiler.compile({.text = "extern \"C\" int answer() { return 42; }\n"});
//     if (!image) throw image.status;  // with what the compiler said
#pragma once

#include <string>
#include <vector>

#include <gantry/runtime/kernel_compiler.hpp>

namespace gantry::runtime {

// Where a compiler is looked for. Empty: not set.
struct HostCompilerSearch {
  std::string gantry_cxx{};  // GANTRY_CXX
  std::string cxx{};         // CXX
  std::string path{};        // PATH, folders between colons

  static HostCompilerSearch from_environment();
};

class HostCompiler : public KernelCompiler {
 public:
  static HostCompiler find(const HostCompilerSearch& search = HostCompilerSearch::from_environment());

  const Status& status() const override { return status_; }
  ImageKind kind() const override { return ImageKind::shared_object; }
  std::string identity() const override;
  CompiledImage compile(const CompileJob& job) const override;

  const std::string& version() const { return version_; }  // "g++ 12.2.0"
  // The program's path, and the flags that CXX has after its name.
  const std::vector<std::string>& command() const { return command_; }

 private:
  Status status_;
  std::vector<std::string> command_;
  std::string version_;
};

}  // namespace gantry::runtime
