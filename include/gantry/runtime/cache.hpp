// Kernels compiled at run time, kept on disk by content: what was compiled once is loaded ever after.
//
// An entry is named after a digest of its source, of Gantry's headers, of the compiler's version and of the flags, so
// that none is ever out of date. It ends with a digest of its own bytes and appears under its name in one step: whoever
// finds it finds all of it, and a damaged one is built anew. Processes that want the same entry at once wait for the
// first to compile it. A source that Gantry's headers refuse (a static assertion that begins with "gantry: ") is
// refused whenever it is asked for, so that is kept too; any other failure may be the machine's, and is tried again.
//
// The directory is GANTRY_CACHE_DIR, else XDG_CACHE_HOME/gantry, else ~/.cache/gantry. Where it cannot be written, a
// temporary one takes its place and `note` says so.
//
// Example:
//     using namespace gantry::runtime;
//     KernelCache cache;
//     const CachedKernel kernel = cache.get(Compiler::find(), {.text = "extern \"C\" int answer() { return 42; }\n"});
//     if (!kernel) throw kernel.problem;
//     const bool was_there = !kernel.compiled;
#pragma once

#include <string>
#include <vector>

#include <gantry/runtime/compiler.hpp>

namespace gantry::runtime {

// A source for nvcc, made into a shared object. Gantry's headers are found as <gantry/...>.
struct KernelSource {
  std::string text;
  std::vector<std::string> flags{};  // besides kernel_flags(), after them
};

// How every kernel is compiled: for sm_90a, position independent, symbols hidden unless marked.
std::vector<std::string> kernel_flags();

// Where <gantry/...> is: GANTRY_INCLUDE_DIR, else include/ beside the folder of the program that runs, else the source
// tree that this was built from. Empty where none of them has Gantry's headers.
std::string include_directory();

struct CachedKernel {
  std::string path;       // of the shared object
  bool compiled = false;  // now; otherwise it was there
  bool repaired = false;  // there was an entry, and it was damaged
  bool refused = false;   // by Gantry's own rules, which `problem` quotes
  double seconds = 0;     // that the compiler took
  std::string problem{};  // empty: the shared object is there

  explicit operator bool() const { return problem.empty(); }
};

class KernelCache {
 public:
  static std::string default_directory();

  explicit KernelCache(std::string directory = default_directory());
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;
  ~KernelCache();

  const std::string& directory() const { return directory_; }
  // Empty, or why the directory that was asked for is not the one that is used.
  const std::string& note() const { return note_; }

  // The shared object of a source. Where it is not there yet, `compiler` makes it.
  CachedKernel get(const Compiler& compiler, const KernelSource& source) const;

  // How many kernels are kept, and how large they are together; refusals are not counted.
  struct Contents {
    int kernels = 0;
    unsigned long long bytes = 0;
  };
  Contents contents() const;

 private:
  std::string directory_, note_;
  bool temporary_ = false;
};

}  // namespace gantry::runtime
