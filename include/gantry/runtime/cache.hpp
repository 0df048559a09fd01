// Kernels compiled at run time, kept on disk: what was compiled once is loaded ever after.
//
// An entry is named after a digest of its request (source, flags, kind of image) and of Gantry's headers, and of the
// compiler with its flags and environment. Where there is a compiler, an entry of another one is not used; where there
// is none, any entry of the request is. An entry is opened once, and the bytes that were verified are the bytes that
// are handed out: nothing is loaded by its path. It appears in one step, so whoever finds it finds all of it; one that
// was altered or cut off is compiled anew.
//
// The folder is ours alone (mode 0700). A folder or a file that is somebody else's, a link, or no plain file is not
// used, and `note` says so. Processes that want the same entry at once wait for the first to compile it; behind one
// that is stopped they compile for themselves after 10 s. A source that Gantry's headers refuse (a static assertion
// that begins with "gantry: ") is refused whenever it is asked for, so that is kept too; any other failure may be the
// machine's, and is tried again. When the entries outgrow the limit, those that were not used for longest go.
//
// The folder is GANTRY_CACHE_DIR, else XDG_CACHE_HOME/gantry/kernels, else ~/.cache/gantry/kernels. Where it cannot be
// used, a temporary one takes its place.
//
// Example:
//     using namespace gantry::runtime;
//     const KernelCache cache;
//     const NvccCompiler compiler(Compiler::find(), ImageKind::shared_object);
//     const CachedKernel kernel = cache.get(compiler, {.text = "extern \"C\" int answer() { return 42; }\n"});
//     if (!kernel) throw kernel.status;
//     const bool was_there = !kernel.compiled;
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gantry/runtime/kernel_compiler.hpp>

namespace gantry::runtime {

// Gantry's headers are found as <gantry/...>.
struct KernelSource {
  std::string text;
  std::vector<std::string> flags{};  // besides the compiler's own, after them
  std::string title{};               // in words, for whoever lists the cache; no part of the request
};

struct [[nodiscard]] CachedKernel {
  std::string image{};    // verified bytes
  bool compiled = false;  // now; otherwise it was there
  bool repaired = false;  // there was an entry, and it was damaged
  bool passing = false;   // the cache goes when this program ends
  double seconds = 0;     // that the compiler took
  Status status{};        // why there is no image
  Status note{};          // why the cache was not used, or could not keep the kernel

  explicit operator bool() const { return status.ok(); }
  // By Gantry's own rules, which the status quotes.
  bool refused() const { return has(status, RuntimeRule::configuration_refused); }
};

// How a kernel was come by: "compiled in 2.3 s and kept in the cache". Its image may be gone.
std::string origin_of(const CachedKernel& kernel);

struct CacheOptions {
  std::string directory;                      // see KernelCache::default_directory
  std::vector<std::string> shipped{};         // folders of entries that came with a program: read, never written
  const DeviceHeaders* headers = nullptr;     // null: those that are embedded
  std::chrono::milliseconds patience{10000};  // with another process that has the lock and shows no life
};

class KernelCache {
 public:
  static constexpr unsigned long long kUsualLimit = 1ULL << 30;

  static std::string default_directory();

  KernelCache();
  explicit KernelCache(CacheOptions options);
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;
  ~KernelCache();

  const std::string& directory() const { return options_.directory; }
  // Why a directory that was asked for is not used, a reason for each.
  const Status& note() const { return note_; }

  // The image of a source. Where it is not there yet, `compiler` makes it. May be called by many threads at once.
  CachedKernel get(const KernelCompiler& compiler, const KernelSource& source) const;
  // The same in place of an image that cannot be loaded: an entry with other bytes, or one that is compiled anew and
  // replaces what is kept. Requires a compiler whose status is ok.
  CachedKernel get_instead_of(const std::string& image, const KernelCompiler& compiler,
                              const KernelSource& source) const;
  // As get() where it is there already; nothing is compiled. Where there are entries and none of them can be used, a
  // kernel whose status says why of the first.
  std::optional<CachedKernel> find(const KernelCompiler& compiler, const KernelSource& source) const;

  // How many kernels are kept, and how large they are together; refusals are not counted.
  struct Contents {
    int kernels = 0;
    unsigned long long bytes = 0;
  };
  Contents contents() const;

  struct Entry {
    std::string name;  // of its file
    unsigned long long bytes = 0;
    std::int64_t used = 0;  // last, in seconds since 1970
    std::string kind{}, toolchain{}, title{};
    Status problem{};  // why it would not be used
  };
  // Every entry, the one that was used last first. Each is opened and verified.
  std::vector<Entry> entries() const;

  // Removes every entry and what was left behind; how many entries and bytes.
  Contents clear() const;

  // Bytes that entries may take together. set_limit keeps it in the directory and removes what is too much.
  unsigned long long limit() const;
  Status set_limit(unsigned long long bytes) const;

 private:
  struct Folders;
  struct Request;

  const DeviceHeaders& headers() const;
  // The request's part of an entry's name.
  std::string key_of(const KernelCompiler& compiler, const KernelSource& source) const;
  // Of any compiler, in the shipped folders, or in the own one where there is no compiler.
  // `problem`: why the first of its entries cannot be used, where none can.
  std::optional<CachedKernel> find_any(const KernelCompiler& compiler, const std::string& key, Status& problem) const;
  // Compiles and keeps. Requires that the lock of the entry is held.
  CachedKernel make(const Request& request) const;

  CacheOptions options_;
  Status note_;
  std::unique_ptr<Folders> folders_;
};

}  // namespace gantry::runtime
