#include "private_folder.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace gantry::runtime {

namespace {

namespace fs = std::filesystem;

constexpr off_t kMostBytes = off_t{1} << 30;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO, kOthersWrite = S_IWGRP | S_IWOTH;

// https://bford.info/cachedir: programs that copy or back up leave such a folder out.
constexpr const char* kTagName = "CACHEDIR.TAG";
constexpr std::string_view kTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Kernels that Gantry compiled; all of it may be deleted.\n";

std::string reason() { return std::strerror(errno); }

std::string octal(mode_t mode) {
  std::string out;
  for (int shift = 9; shift >= 0; shift -= 3) out += static_cast<char>('0' + (mode >> shift & 7U));
  return out;
}

Status not_written() { return failure_of(RuntimeRule::file_not_written, "no file could be written: " + reason()); }

// A new file with these bytes.
Status create(int folder, const std::string& name, std::string_view bytes) {
  const int file = openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return not_written();
  Status out = write_whole(file, bytes) ? Status() : not_written();
  if (close(file) != 0 && out) out = not_written();
  if (!out) unlinkat(folder, name.c_str(), 0);
  return out;
}

// Calls `visit` with each name in a folder.
template <class Visit>
void each_name(int folder, Visit visit) {
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = again < 0 ? nullptr : fdopendir(again);
  if (list == nullptr) {
    if (again >= 0) close(again);
    return;
  }
  while (const dirent* const entry = readdir(list)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") visit(name);
  }
  closedir(list);
}

// Makes a folder and those above it that are missing, closed to others whatever the mask of the process is. 0, or what
// errno has of the first that could not be made.
int make_closed(const fs::path& path) {
  if (mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return 0;
  const int error = errno;
  const fs::path parent = path.parent_path();
  if (error != ENOENT || parent.empty() || parent == path) return error;
  if (const int above = make_closed(parent); above != 0) return above;
  return mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST ? 0 : errno;
}

// The path without what would make a link be followed: a slash, or "/.", at its end.
std::string plain_path(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path()).string();
}

}  // namespace

const char* kind_of(mode_t mode) {
  return S_ISLNK(mode)    ? "is a symbolic link"
         : S_ISDIR(mode)  ? "is a folder"
         : S_ISFIFO(mode) ? "is a named pipe"
         : S_ISSOCK(mode) ? "is a socket"
                          : "is a device";
}

namespace {

// A write beyond the process's limit on files raises a signal that ends the program. Held off, the write fails with
// EFBIG, which is said like any other failure; the signal is then of this thread, and taken.
class NoSignalOfLargeFiles {
 public:
  NoSignalOfLargeFiles() {
    sigset_t pending;
    sigemptyset(&only_);
    sigaddset(&only_, SIGXFSZ);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  NoSignalOfLargeFiles(const NoSignalOfLargeFiles&) = delete;
  NoSignalOfLargeFiles& operator=(const NoSignalOfLargeFiles&) = delete;
  ~NoSignalOfLargeFiles() {
    const int error = errno;
    const timespec now = {};
    while (!was_pending_ && sigtimedwait(&only_, nullptr, &now) == SIGXFSZ) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t only_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace

bool write_whole(int file, std::string_view bytes) {
  const NoSignalOfLargeFiles guard;
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Status check_trust(const struct stat& facts, Trust trust) {
  const uid_t us = geteuid();
  if (facts.st_uid != us && !(trust == Trust::shipped && facts.st_uid == 0)) {
    return failure_of(RuntimeRule::owned_by_another, "belongs to user " + std::to_string(facts.st_uid) +
                                                         ", and this program runs as user " + std::to_string(us));
  }
  if ((facts.st_mode & kOthersWrite) != 0) {
    return failure_of(RuntimeRule::writable_by_others,
                      "can be written by others, its mode being " + octal(facts.st_mode));
  }
  return {};
}

bool remove_tree(int parent, const std::string& name) {
  if (unlinkat(parent, name.c_str(), 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  const int folder = openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  std::vector<std::string> names;
  each_name(folder, [&](const std::string& one) { names.push_back(one); });
  for (const std::string& one : names) (void)remove_tree(folder, one);  // what stays fails the last line
  close(folder);
  return unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0;
}

Result<PrivateFolder> PrivateFolder::open(const std::string& path, Trust trust) {
  PrivateFolder out;
  out.path_ = plain_path(path);
  out.trust_ = trust;
  const auto refused = [&](RuntimeRule rule, std::string sentence) {
    return unexpected(failure_of(rule, std::move(sentence), out.path_));
  };
  if (trust == Trust::own) {
    if (const int error = make_closed(out.path_); error != 0) {
      return refused(RuntimeRule::folder_not_made, std::string("it cannot be made: ") + std::strerror(error));
    }
  }
  struct stat facts = {};
  if (lstat(out.path_.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode)) {
    return refused(RuntimeRule::folder_not_plain,
                   S_ISREG(facts.st_mode) ? "it is no folder" : std::string("it ") + kind_of(facts.st_mode));
  }
  const int folder = ::open(out.path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || fstat(folder, &facts) != 0) {
    const std::string why = reason();
    if (folder >= 0) close(folder);
    return refused(RuntimeRule::folder_not_opened, "it cannot be opened: " + why);
  }
  out.hold(folder);
  if (Status checked = out.check(facts); !checked) return unexpected(std::move(checked));
  // There already, or no room for it: it is only for others' programs.
  if (trust == Trust::own) (void)create(folder, kTagName, kTag);
  return out;
}

// A folder that users share has the sticky bit, or one that gives files its group; a home has other files. The tag is
// proof where nobody else can have put it there.
bool PrivateFolder::is_caches_alone(const struct stat& facts) const {
  if ((facts.st_mode & (S_ISVTX | S_ISGID | S_ISUID)) != 0) return false;
  const Result<std::string> tag = read(kTagName);
  return tag ? *tag == kTag : files().empty();
}

Status PrivateFolder::check(struct stat facts) const {
  const bool ours = facts.st_uid == geteuid();
  if (trust_ == Trust::own && ours && (facts.st_mode & kOthers) != 0) {
    const bool closable = is_caches_alone(facts);
    if (closable && fchmod(descriptor(), S_IRWXU) == 0) facts.st_mode &= ~kOthers;
    if ((facts.st_mode & kOthers) != 0) {
      const char* const advice =
          closable ? "; chmod 700 closes it" : ", and it is not the cache's alone; name another folder";
      return failure_of(RuntimeRule::open_to_others,
                        "others can enter it, its mode being " + octal(facts.st_mode) + advice, path_);
    }
  }
  if (const Status trusted = check_trust(facts, trust_); !trusted) return with_words_before("it ", trusted);
  if (trust_ == Trust::own && faccessat(descriptor(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    return failure_of(RuntimeRule::folder_not_writable, "it cannot be written: " + reason(), path_);
  return {};
}

Result<PrivateFolder> PrivateFolder::made_in(int parent, const std::string& name) {
  PrivateFolder out;
  out.path_ = name;
  const bool made = mkdirat(parent, name.c_str(), S_IRWXU) == 0;
  const int folder = made ? openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  struct stat facts = {};
  if (folder < 0 || fstat(folder, &facts) != 0) {
    const std::string why = reason();
    if (folder >= 0) close(folder);
    return unexpected(failure_of(RuntimeRule::folder_not_made, "no folder could be made: " + why));
  }
  out.hold(folder);
  if (const Status trusted = check_trust(facts, Trust::own); !trusted) {
    return unexpected(with_words_before("the folder that was made ", trusted));
  }
  return out;
}

void PrivateFolder::hold(int descriptor) {
  descriptor_ = std::shared_ptr<const int>(new int(descriptor), [](const int* held) {
    close(*held);
    delete held;
  });
}

Result<std::string> PrivateFolder::read(const std::string& name) const {
  const auto refused = [&name](RuntimeRule rule, const std::string& why) {
    return unexpected(failure_of(rule, name + why, name));
  };
  // A pipe without a writer would keep us waiting, were it not for O_NONBLOCK.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int file = openat(descriptor(), name.c_str(), flags);
  if (file < 0 && errno == ENOENT) return refused(RuntimeRule::file_missing, " is not there");
  if (file < 0 && errno == ELOOP) return refused(RuntimeRule::file_not_plain, " is a symbolic link");
  if (file < 0) return refused(RuntimeRule::file_not_read, " cannot be opened: " + reason());
  const auto closed = std::shared_ptr<void>(nullptr, [file](void*) { close(file); });
  struct stat facts = {};
  if (fstat(file, &facts) != 0) return refused(RuntimeRule::file_not_read, " cannot be read: " + reason());
  if (!S_ISREG(facts.st_mode)) {
    return refused(RuntimeRule::file_not_plain, std::string(" ") + kind_of(facts.st_mode));
  }
  if (const Status trusted = check_trust(facts, trust_); !trusted) {
    return unexpected(with_words_before(name + " ", trusted));
  }
  if (facts.st_size > kMostBytes) return refused(RuntimeRule::file_too_large, " is larger than 1 GiB");
  std::string out(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t bytes = ::read(file, out.data() + have, out.size() - have);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return refused(RuntimeRule::file_not_read, " cannot be read: " + reason());
    if (bytes == 0) break;
    have += static_cast<std::size_t>(bytes);
  }
  out.resize(have);
  return out;
}

Status PrivateFolder::write(const std::string& name, std::string_view bytes) const {
  static std::atomic<unsigned> serial = 0;
  const std::string first = "tmp-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + "-" + name;
  // One of this name is of a process that was killed and had our number.
  unlinkat(descriptor(), first.c_str(), 0);
  if (Status created = create(descriptor(), first, bytes); !created) return created;
  if (renameat(descriptor(), first.c_str(), descriptor(), name.c_str()) == 0) return {};
  Status out = not_written();
  unlinkat(descriptor(), first.c_str(), 0);
  return out;
}

Status PrivateFolder::add(const std::string& name, std::string_view bytes) const {
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (mkdirat(descriptor(), name.substr(0, slash).c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return failure_of(RuntimeRule::folder_not_made, "no folder could be made: " + reason());
    }
  }
  return create(descriptor(), name, bytes);
}

void PrivateFolder::touch(const std::string& name) const {
  utimensat(descriptor(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<FileFacts> PrivateFolder::files() const {
  std::vector<FileFacts> out;
  each_name(descriptor(), [&](const std::string& name) {
    struct stat facts = {};
    if (fstatat(descriptor(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
    const std::int64_t used = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
    out.push_back({name, S_ISREG(facts.st_mode), static_cast<unsigned long long>(facts.st_size), used});
  });
  return out;
}

bool PrivateFolder::remove(const std::string& name) const { return remove_tree(descriptor(), name); }

}  // namespace gantry::runtime
