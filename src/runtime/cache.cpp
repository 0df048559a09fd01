#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <gantry/runtime/cache.hpp>

#include "digest.hpp"
#include "headers.hpp"

namespace gantry::runtime {

namespace {

namespace fs = std::filesystem;

// What follows the bytes of a shared object; loaders look only at what its header speaks of.
constexpr std::string_view kMark = "gantry kernel ";
constexpr std::size_t kTrailer = kMark.size() + 32;

std::string trailer_of(std::string_view bytes) { return std::string(kMark) + Digest().add(bytes).text(); }

std::string sealed(const std::string& bytes) { return bytes + trailer_of(bytes); }

// What was sealed; nothing where the file is not there, or not whole.
std::optional<std::string> unsealed(const std::string& path) {
  std::string bytes = read_file(path);
  if (bytes.size() < kTrailer) return {};
  const std::size_t body = bytes.size() - kTrailer;
  if (std::string_view(bytes).substr(body) != trailer_of(std::string_view(bytes).substr(0, body))) return {};
  bytes.resize(body);
  return bytes;
}

// As compilers quote the text of a static assertion.
bool is_refusal(const std::string& problem) { return problem.find("\"gantry: ") != std::string::npos; }

// Empty, or why a folder cannot be written.
std::string cannot_write(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return "it cannot be made: " + error.message();
  if (!fs::is_directory(folder, error)) return "it is no folder";
  return access(folder.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

// Held by one process at a time; gone when the process is.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ < 0) return;
    while (flock(file_, LOCK_EX) != 0) {
      if (errno != EINTR) return;
    }
    held_ = true;
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) close(file_);
  }
  explicit operator bool() const { return held_; }

 private:
  int file_;
  bool held_ = false;
};

// Under another name first, then in one step under its own.
bool write_at_once(const std::string& path, std::string_view text, const std::string& temporary) {
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.flush()) return false;
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  return !error;
}

// One entry, by its digest. `build` is called with the lock held.
class Entry {
 public:
  Entry(const std::string& directory, const std::string& key)
      : directory_(directory), key_(key), base_(directory + "/" + key) {}

  std::string object() const { return base_ + ".so"; }
  std::string refusal() const { return base_ + ".refused"; }
  std::string lock() const { return base_ + ".lock"; }

  // What an earlier compilation left, if that can be relied on.
  std::optional<CachedKernel> found() const {
    CachedKernel out;
    out.path = object();
    if (unsealed(out.path)) return out;
    const std::optional<std::string> problem = unsealed(refusal());
    if (!problem) return {};
    out.refused = true;
    out.problem = *problem;
    return out;
  }

  CachedKernel build(const Compiler& compiler, const KernelSource& source, const std::string& include_dir) const {
    remove_leftovers();
    CachedKernel out;
    out.path = object();
    out.compiled = true;
    const std::string text = base_ + ".cu", compiled = temporary("o.so");
    const auto fail = [&](const std::string& problem) {
      remove_leftovers();
      out.problem = problem;
      return out;
    };
    if (!write_at_once(text, source.text, temporary("cu"))) return fail(no_room());
    CompileCommand command{.source = text, .output = compiled, .flags = kernel_flags()};
    command.flags.push_back("-I" + include_dir);
    command.flags.insert(command.flags.end(), source.flags.begin(), source.flags.end());
    const Compilation done = compiler.compile(command);
    out.seconds = done.seconds;
    if (!done) {
      const std::string problem = "the kernel could not be compiled, " + done.problem + "\nIts source is " + text;
      out.refused = is_refusal(problem);
      if (out.refused) write_at_once(refusal(), sealed(problem), temporary("refused"));
      return fail(problem);
    }
    if (!write_at_once(object(), sealed(read_file(compiled)), temporary("so"))) return fail(no_room());
    remove_leftovers();
    return out;
  }

 private:
  std::string temporary(const std::string& suffix) const {
    return base_ + "." + std::to_string(getpid()) + ".tmp." + suffix;
  }
  std::string no_room() const {
    return "the kernel could not be written to " + directory_ + ": " + std::strerror(errno != 0 ? errno : EIO);
  }
  // What we, or a process that was killed, did not finish. The lock is ours, so nobody is at it.
  void remove_leftovers() const {
    std::error_code error;
    for (fs::directory_iterator i(directory_, error), end; !error && i != end; i.increment(error)) {
      const std::string name = i->path().filename().string();
      std::error_code ignored;
      if (name.starts_with(key_) && name.find(".tmp.") != std::string::npos) fs::remove(i->path(), ignored);
    }
  }

  std::string directory_, key_, base_;
};

}  // namespace

std::vector<std::string> kernel_flags() {
  // -O is for the host's part, which only plans and launches; ptxas does its best without it.
  return {"-std=c++20", "-O1",   "-gencode",   "arch=compute_90a,code=sm_90a", "-shared",
          "-Xcompiler", "-fPIC", "-Xcompiler", "-fvisibility=hidden"};
}

std::string KernelCache::default_directory() {
  const auto folder = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::string asked = folder("GANTRY_CACHE_DIR"); !asked.empty()) return asked;
  if (const std::string shared = folder("XDG_CACHE_HOME"); !shared.empty()) return shared + "/gantry";
  const std::string home = folder("HOME");
  return home.empty() ? "" : home + "/.cache/gantry";
}

KernelCache::KernelCache(std::string directory) : directory_(std::move(directory)) {
  const std::string reason = directory_.empty() ? "HOME is not set" : cannot_write(directory_);
  if (reason.empty()) return;
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : folder) / "gantry-XXXXXX").string();
  const std::string asked = directory_.empty() ? "the cache directory" : directory_;
  if (mkdtemp(name.data()) == nullptr) {
    note_ = asked + " cannot be used (" + reason + "), and no temporary directory could be made in its place";
    return;
  }
  directory_ = name;
  temporary_ = true;
  note_ = asked + " cannot be used (" + reason + "): kernels are kept in " + directory_ +
          " until this program ends; set GANTRY_CACHE_DIR to a folder that can be written";
}

KernelCache::~KernelCache() {
  std::error_code error;
  if (temporary_) fs::remove_all(directory_, error);
}

CachedKernel KernelCache::get(const Compiler& compiler, const KernelSource& source) const {
  CachedKernel out;
  const std::string include_dir = include_directory();
  if (include_dir.empty()) {
    out.problem = missing_headers();
    return out;
  }
  if (!compiler) {
    out.problem = "the kernel is not compiled in, and " + compiler.problem();
    return out;
  }
  Digest digest;
  digest.add_part(source.text).add_part(headers_digest(include_dir)).add_part(compiler.version());
  for (const std::string& flag : kernel_flags()) digest.add_part(flag);
  for (const std::string& flag : source.flags) digest.add_part(flag);
  const Entry entry(directory_, digest.text());
  if (const auto found = entry.found()) return *found;
  const Lock lock(entry.lock());
  if (!lock) {
    out.problem = "the cache could not be locked: " + entry.lock() + ": " + std::strerror(errno);
    return out;
  }
  // Somebody else may have compiled it while we waited.
  if (const auto found = entry.found()) return *found;
  std::error_code error;
  const bool damaged = fs::exists(entry.object(), error);
  out = entry.build(compiler, source, include_dir);
  out.repaired = damaged && out;
  return out;
}

KernelCache::Contents KernelCache::contents() const {
  Contents out;
  std::error_code error;
  for (fs::directory_iterator i(directory_, error), end; !error && i != end; i.increment(error)) {
    if (i->path().extension() != ".so") continue;
    ++out.kernels;
    std::error_code ignored;
    out.bytes += i->file_size(ignored);
  }
  return out;
}

}  // namespace gantry::runtime
