#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/printable.hpp>

#include "cache_entry.hpp"
#include "cache_lock.hpp"
#include "digest.hpp"
#include "private_folder.hpp"

namespace gantry::runtime {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEntry = ".kernel", kSource = ".cu", kLock = ".lock", kOnTheWay = "tmp-", kWork = "work-";
constexpr const char* kLimitName = "limit";
constexpr const char* kRefusal = "refusal";

// A file that another process writes is younger than this, unless that process is gone.
constexpr std::int64_t kLeftBehind = 3600LL * 1'000'000'000;

std::int64_t nanoseconds_now() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The same reasons, whose sentences may quote names that were given to files.
Status one_line_each(const Status& status) {
  Status out;
  for (StatusReason reason : status.reasons()) {
    reason.sentence = one_line(reason.sentence);
    reason.operand = one_line(reason.operand);
    out.add(std::move(reason));
  }
  return out;
}

// What an entry's file says of a request.
struct Found {
  std::optional<CachedKernel> kernel{};
  Status damaged{};      // why the file is replaced
  Status untouchable{};  // why it is neither used nor replaced

  const Status& problem() const { return untouchable ? damaged : untouchable; }
};

Found look(const PrivateFolder& folder, const std::string& name, const std::string& toolchain) {
  Found out;
  const Result<std::string> file = folder.read(name);
  if (!file && !has(file.error(), RuntimeRule::file_missing)) out.untouchable = file.error();
  if (!file) return out;
  Result<CacheRecord> record = unseal(name, *file);
  if (!record) out.damaged = with_words_before(name + ": ", record.error());
  if (record && !toolchain.empty() && record->toolchain != toolchain) {
    out.damaged = failure_of(RuntimeRule::entry_damaged, name + ": it is another compiler's", name);
  }
  if (!out.damaged) return out;
  CachedKernel& kernel = out.kernel.emplace();
  if (record->kind == kRefusal) {
    kernel.status = failure_of(RuntimeRule::configuration_refused, std::move(record->body));
  } else {
    kernel.image = std::move(record->body);
  }
  return out;
}

// Of a request's entries the first that cannot be used, for when no other can.
void note_problem(const PrivateFolder& folder, const Found& found, Status& first) {
  if (first.ok()) first = one_line_each(with_words_before(folder.path() + "/", found.problem()));
}

// The first usable entry of a request, whichever compiler made it; or why the first that there is cannot be used.
std::optional<CachedKernel> look_for_any(const PrivateFolder& folder, const std::string& key, Status& problem) {
  for (const FileFacts& file : folder.files()) {
    if (!file.name.starts_with(key + "-") || !file.name.ends_with(kEntry)) continue;
    Found found = look(folder, file.name, {});
    if (found.kernel && *found.kernel) return std::move(found.kernel);
    note_problem(folder, found, problem);
  }
  return {};
}

bool is_left_behind(const FileFacts& file, std::string_view stem, std::int64_t now) {
  if (!file.name.starts_with(kOnTheWay) && !file.name.starts_with(kWork)) return false;
  return (!stem.empty() && file.name.find(stem) != std::string::npos) || now - file.used > kLeftBehind;
}

bool is_kept(const FileFacts& file) {
  return file.plain && !file.name.starts_with(kOnTheWay) &&
         (file.name.ends_with(kEntry) || file.name.ends_with(kSource));
}

// Removes what processes that were killed left (those of `stem` are nobody's else, as its lock is ours), and then what
// was not used for longest, until the rest is within the limit. `newest` stays.
void tidy(const PrivateFolder& folder, const std::string& stem, unsigned long long limit, const std::string& newest) {
  std::vector<FileFacts> kept;
  unsigned long long bytes = 0;
  const std::int64_t now = nanoseconds_now();
  for (FileFacts& file : folder.files()) {
    if (is_left_behind(file, stem, now)) (void)folder.remove(file.name);  // the next process tries again
    if (!is_kept(file)) continue;
    bytes += file.bytes;
    kept.push_back(std::move(file));
  }
  std::sort(kept.begin(), kept.end(), [](const FileFacts& x, const FileFacts& y) { return x.used < y.used; });
  for (const FileFacts& file : kept) {
    if (bytes <= limit) return;
    if (file.name == newest || !folder.remove(file.name)) continue;
    bytes -= file.bytes;
  }
}

}  // namespace

struct KernelCache::Folders {
  PrivateFolder own{};
  std::vector<PrivateFolder> shipped{};
  bool temporary = false;

  // Sentences say which directory cannot be used.
  Status use_own(const std::string& directory);
  // Makes a temporary one and names it. The end of a sentence: where kernels are kept instead.
  std::string use_temporary(std::string& directory);
};

Status KernelCache::Folders::use_own(const std::string& directory) {
  if (directory.empty()) {
    return failure_of(RuntimeRule::folder_missing, "the cache directory cannot be used (HOME is not set)", "HOME");
  }
  Result<PrivateFolder> folder = PrivateFolder::open(directory, Trust::own);
  if (folder) {
    own = std::move(*folder);
    return {};
  }
  return with_words_after(with_words_before(one_line(directory) + " cannot be used (", one_line_each(folder.error())),
                          ")");
}

std::string KernelCache::Folders::use_temporary(std::string& directory) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : folder) / "gantry-XXXXXX").string();
  directory.clear();
  const bool made = mkdtemp(name.data()) != nullptr;
  Result<PrivateFolder> opened = made ? PrivateFolder::open(name, Trust::own) : Result<PrivateFolder>(PrivateFolder());
  if (!opened || !*opened) return ", and no temporary directory could be made in its place: kernels are not kept";
  own = std::move(*opened);
  temporary = true;
  directory = name;
  return ": kernels are kept in " + one_line(name) +
         " until this program ends; set GANTRY_CACHE_DIR to a folder that is yours and can be written";
}

// What is to be compiled, by whom, and the names that it has in the cache.
struct KernelCache::Request {
  const KernelCompiler& compiler;
  const KernelSource& source;
  const DeviceHeaders& headers;
  std::string toolchain, stem, name;

  Request(const KernelCompiler& by, const KernelSource& what, const DeviceHeaders& with, const std::string& key)
      : compiler(by),
        source(what),
        headers(with),
        toolchain(by.identity()),
        stem(key + "-" + Digest().add(toolchain).text().substr(0, 16)),
        name(stem + std::string(kEntry)) {}

  // With its files on the way in this folder, or in TMPDIR where that is -1.
  CachedKernel compile(int folder) const {
    CachedKernel out;
    out.compiled = true;
    CompiledImage made = compiler.compile({.text = source.text,
                                           .flags = source.flags,
                                           .headers = &headers,
                                           .folder = folder,
                                           .folder_name = std::string(kWork) + stem});
    out.seconds = made.seconds;
    out.image = std::move(made.bytes);
    out.status = with_words_before("the kernel could not be compiled, ", made.status);
    return out;
  }
};

std::string origin_of(const CachedKernel& kernel) {
  if (!kernel.compiled) return "found in the cache";
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "compiled in %.1f s", kernel.seconds);
  if (!kernel.note) return std::string(seconds) + "; " + in_one_sentence(kernel.note);
  return std::string(seconds) + (kernel.repaired  ? ", in place of a damaged cache entry"
                                 : kernel.passing ? " and kept until this program ends"
                                                  : " and kept in the cache");
}

std::string KernelCache::default_directory() {
  const auto folder = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::string asked = folder("GANTRY_CACHE_DIR"); !asked.empty()) return asked;
  if (const std::string shared = folder("XDG_CACHE_HOME"); !shared.empty()) return shared + "/gantry/kernels";
  const std::string home = folder("HOME");
  return home.empty() ? "" : home + "/.cache/gantry/kernels";
}

KernelCache::KernelCache() : KernelCache(CacheOptions{.directory = default_directory()}) {}

KernelCache::KernelCache(CacheOptions options) : options_(std::move(options)), folders_(std::make_unique<Folders>()) {
  for (const std::string& path : options_.shipped) {
    Result<PrivateFolder> folder = PrivateFolder::open(path, Trust::shipped);
    if (folder) {
      folders_->shipped.push_back(std::move(*folder));
    } else {
      note_ = with_reasons_of(note_,
                              with_words_before(one_line(path) + " cannot be used: ", one_line_each(folder.error())));
    }
  }
  const Status refused = folders_->use_own(options_.directory);
  if (!refused) {
    note_ = with_reasons_of(note_, with_words_after(refused, folders_->use_temporary(options_.directory)));
  }
}

KernelCache::~KernelCache() {
  if (folders_->temporary) (void)remove_tree(AT_FDCWD, options_.directory);  // nobody is left to tell
}

const DeviceHeaders& KernelCache::headers() const {
  return options_.headers == nullptr ? DeviceHeaders::embedded() : *options_.headers;
}

std::string KernelCache::key_of(const KernelCompiler& compiler, const KernelSource& source) const {
  Digest digest;
  digest.add_part(to_text(compiler.kind())).add_part(source.text).add_part(headers().digest);
  for (const std::string& flag : source.flags) digest.add_part(flag);
  return digest.text();
}

std::optional<CachedKernel> KernelCache::find_any(const KernelCompiler& compiler, const std::string& key,
                                                  Status& problem) const {
  for (const PrivateFolder& folder : folders_->shipped) {
    if (auto found = look_for_any(folder, key, problem)) return found;
  }
  const bool any = !compiler.status() && folders_->own;
  return any ? look_for_any(folders_->own, key, problem) : std::nullopt;
}

std::optional<CachedKernel> KernelCache::find(const KernelCompiler& compiler, const KernelSource& source) const {
  const std::string key = key_of(compiler, source);
  Status problem;
  if (auto found = find_any(compiler, key, problem)) return found;
  if (compiler.status() && folders_->own) {
    const Request request{compiler, source, headers(), key};
    Found found = look(folders_->own, request.name, request.toolchain);
    if (found.kernel) folders_->own.touch(request.name);
    if (found.kernel) return found.kernel;
    note_problem(folders_->own, found, problem);
  }
  if (problem.ok()) return std::nullopt;
  CachedKernel out;
  out.status = std::move(problem);
  return out;
}

CachedKernel KernelCache::get(const KernelCompiler& compiler, const KernelSource& source) const {
  const PrivateFolder& own = folders_->own;
  const std::string key = key_of(compiler, source);
  Status problem;
  if (auto found = find_any(compiler, key, problem)) return *found;
  if (!compiler.status()) {
    CachedKernel out;
    out.status = with_reasons_of(with_words_before("the kernel is not compiled in, and ", compiler.status()), problem);
    return out;
  }
  const Request request{compiler, source, headers(), key};
  if (!own) return request.compile(-1);
  const auto without_the_cache = [&](const Status& why) {
    CachedKernel out = request.compile(-1);
    out.note = with_words_before("the kernel was compiled without the cache " + one_line(directory()) + ": ", why);
    return out;
  };
  Found found = look(own, request.name, request.toolchain);
  if (found.kernel) own.touch(request.name);
  if (found.kernel) return *found.kernel;
  if (!found.untouchable) return without_the_cache(found.untouchable);
  const CacheLock lock(own, request.stem + std::string(kLock), options_.patience);
  if (!lock.status()) return without_the_cache(lock.status());
  // Somebody else may have compiled it while we waited.
  found = look(own, request.name, request.toolchain);
  if (found.kernel) return *found.kernel;
  CachedKernel out = make(request);
  out.repaired = !found.damaged && out;
  return out;
}

CachedKernel KernelCache::get_instead_of(const std::string& image, const KernelCompiler& compiler,
                                         const KernelSource& source) const {
  const PrivateFolder& own = folders_->own;
  const Request request{compiler, source, headers(), key_of(compiler, source)};
  if (!own) return request.compile(-1);
  const CacheLock lock(own, request.stem + std::string(kLock), options_.patience);
  if (!lock.status()) return request.compile(-1);
  const Found found = look(own, request.name, request.toolchain);
  if (found.kernel && found.kernel->image != image) return *found.kernel;
  if (!found.untouchable) return request.compile(-1);
  CachedKernel out = make(request);
  out.repaired = found.kernel && out;
  return out;
}

CachedKernel KernelCache::make(const Request& request) const {
  const PrivateFolder& own = folders_->own;
  tidy(own, request.stem, limit(), {});
  CachedKernel out = request.compile(own.descriptor());
  if (!out && !out.refused()) {
    // For whoever wants to see what was compiled.
    if (const std::string name = request.stem + std::string(kSource); own.write(name, request.source.text))
      out.status = with_words_after(out.status, "\nIts source is " + one_line(directory()) + "/" + name);
    return out;
  }
  const std::string sealed = seal(request.name, {.kind = out.refused() ? kRefusal : to_text(request.compiler.kind()),
                                                 .toolchain = request.toolchain,
                                                 .title = one_line(request.source.title),
                                                 .body = out.refused() ? out.status.describe() : out.image});
  out.note = with_words_before("the kernel could not be kept in " + one_line(directory()) + ": ",
                               own.write(request.name, sealed));
  tidy(own, request.stem, limit(), request.name);
  out.passing = folders_->temporary;
  return out;
}

std::vector<KernelCache::Entry> KernelCache::entries() const {
  std::vector<Entry> out;
  for (const FileFacts& file : folders_->own ? folders_->own.files() : std::vector<FileFacts>()) {
    if (!file.name.ends_with(kEntry) || file.name.starts_with(kOnTheWay)) continue;
    Entry& entry =
        out.emplace_back(Entry{.name = one_line(file.name), .bytes = file.bytes, .used = file.used / 1'000'000'000});
    const Result<std::string> read = folders_->own.read(file.name);
    const Result<CacheRecord> record = read ? unseal(file.name, *read) : unexpected(read.error());
    if (!record) {
      entry.problem = one_line_each(record.error());
      continue;
    }
    entry.kind = one_line(record->kind);
    entry.toolchain = one_line(record->toolchain);
    entry.title = one_line(record->title);
  }
  std::sort(out.begin(), out.end(), [](const Entry& x, const Entry& y) { return x.used > y.used; });
  return out;
}

KernelCache::Contents KernelCache::contents() const {
  Contents out;
  for (const Entry& entry : entries()) {
    if (!entry.problem || entry.kind == kRefusal) continue;
    ++out.kernels;
    out.bytes += entry.bytes;
  }
  return out;
}

KernelCache::Contents KernelCache::clear() const {
  Contents out;
  for (const FileFacts& file : folders_->own ? folders_->own.files() : std::vector<FileFacts>()) {
    const bool ours = is_kept(file) || file.name.ends_with(kEntry) || file.name.ends_with(kLock) ||
                      is_left_behind(file, {}, nanoseconds_now());
    if (!ours || !folders_->own.remove(file.name) || !file.name.ends_with(kEntry)) continue;
    ++out.kernels;
    out.bytes += file.bytes;
  }
  return out;
}

unsigned long long KernelCache::limit() const {
  if (!folders_->own) return kUsualLimit;
  const Result<std::string> file = folders_->own.read(kLimitName);
  if (!file) return kUsualLimit;
  unsigned long long bytes = 0;
  const char* const end = file->data() + file->size();
  const auto [last, error] = std::from_chars(file->data(), end, bytes);
  return error == std::errc() && (last == end || *last == '\n') ? bytes : kUsualLimit;
}

Status KernelCache::set_limit(unsigned long long bytes) const {
  if (!folders_->own)
    return failure_of(RuntimeRule::folder_missing, "there is no cache: the limit is kept in its folder");
  if (Status written = folders_->own.write(kLimitName, std::to_string(bytes) + "\n"); !written) return written;
  tidy(folders_->own, {}, bytes, {});
  return {};
}

}  // namespace gantry::runtime
