#include "private_folder.hpp"

#include <atomic>
#include <cerrno>
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

const char* kind_of(mode_t mode) {
  return S_ISLNK(mode)    ? "is a symbolic link"
         : S_ISDIR(mode)  ? "is a folder"
         : S_ISFIFO(mode) ? "is a named pipe"
         : S_ISSOCK(mode) ? "is a socket"
                          : "is a device";
}

// A new file with these bytes. Empty, or why there is none.
std::string create(int folder, const std::string& name, std::string_view bytes) {
  const int file = openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return reason();
  std::string problem = write_whole(file, bytes) ? "" : reason();
  if (close(file) != 0 && problem.empty()) problem = reason();
  if (!problem.empty()) unlinkat(folder, name.c_str(), 0);
  return problem;
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

// The path without what would make a link be followed: a slash, or "/.", at its end.
std::string plain_path(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path()).string();
}

}  // namespace

bool write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string why_not_trusted(const struct stat& facts, Trust trust) {
  const uid_t us = geteuid();
  if (facts.st_uid != us && !(trust == Trust::shipped && facts.st_uid == 0)) {
    return "belongs to user " + std::to_string(facts.st_uid) + ", and this program runs as user " + std::to_string(us);
  }
  if ((facts.st_mode & kOthersWrite) != 0) return "can be written by others, its mode being " + octal(facts.st_mode);
  return {};
}

bool remove_tree(int parent, const std::string& name) {
  if (unlinkat(parent, name.c_str(), 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  const int folder = openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  std::vector<std::string> names;
  each_name(folder, [&](const std::string& one) { names.push_back(one); });
  for (const std::string& one : names) remove_tree(folder, one);
  close(folder);
  return unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0;
}

PrivateFolder::PrivateFolder(const std::string& path, Trust trust) : path_(plain_path(path)), trust_(trust) {
  if (trust == Trust::own) {
    std::error_code error;
    const fs::path parent = fs::path(path_).parent_path();
    if (!parent.empty()) fs::create_directories(parent, error);
    if (mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      problem_ = "it cannot be made: " + (error ? error.message() : reason());
      return;
    }
  }
  struct stat facts = {};
  if (lstat(path_.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode)) {
    problem_ = S_ISREG(facts.st_mode) ? "it is no folder" : std::string("it ") + kind_of(facts.st_mode);
    return;
  }
  const int folder = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || fstat(folder, &facts) != 0) {
    problem_ = "it cannot be opened: " + reason();
    if (folder >= 0) close(folder);
    return;
  }
  hold(folder);
  const bool ours = facts.st_uid == geteuid();
  if (trust == Trust::own && ours && (facts.st_mode & kOthers) != 0) {
    // Made private where it is a cache or will be one, and not where it is somebody's home.
    const std::vector<FileFacts> inside = files();
    bool cache = inside.empty();
    for (const FileFacts& file : inside) cache = cache || file.name == kTagName;
    if (cache && fchmod(folder, S_IRWXU) == 0) facts.st_mode &= ~kOthers;
    if ((facts.st_mode & kOthers) != 0) {
      problem_ = "others can enter it, its mode being " + octal(facts.st_mode) + "; chmod 700 closes it";
    }
  }
  if (const std::string why = why_not_trusted(facts, trust); problem_.empty() && !why.empty()) problem_ = "it " + why;
  if (trust == Trust::own && problem_.empty() && faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
    problem_ = "it cannot be written: " + reason();
  if (!problem_.empty()) {
    descriptor_.reset();
  } else if (trust == Trust::own) {
    create(folder, kTagName, kTag);  // there already, or no room for it: it is only for others' programs
  }
}

PrivateFolder PrivateFolder::made_in(int parent, const std::string& name) {
  PrivateFolder out;
  out.path_ = name;
  const bool made = mkdirat(parent, name.c_str(), S_IRWXU) == 0;
  const int folder = made ? openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  struct stat facts = {};
  if (folder < 0 || fstat(folder, &facts) != 0) {
    out.problem_ = reason();
    if (folder >= 0) close(folder);
    return out;
  }
  out.hold(folder);
  out.problem_ = why_not_trusted(facts, Trust::own);
  if (!out.problem_.empty()) out.descriptor_.reset();
  return out;
}

void PrivateFolder::hold(int descriptor) {
  problem_.clear();
  descriptor_ = std::shared_ptr<const int>(new int(descriptor), [](const int* held) {
    close(*held);
    delete held;
  });
}

FileBytes PrivateFolder::read(const std::string& name) const {
  FileBytes out;
  // A pipe without a writer would keep us waiting, were it not for O_NONBLOCK.
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int file = openat(descriptor(), name.c_str(), flags);
  if (file < 0) {
    out.absent = errno == ENOENT;
    if (!out.absent) out.problem = name + (errno == ELOOP ? " is a symbolic link" : " cannot be opened: " + reason());
    return out;
  }
  struct stat facts = {};
  if (fstat(file, &facts) != 0) {
    out.problem = name + " cannot be read: " + reason();
  } else if (!S_ISREG(facts.st_mode)) {
    out.problem = name + " " + kind_of(facts.st_mode);
  } else if (const std::string why = why_not_trusted(facts, trust_); !why.empty()) {
    out.problem = name + " " + why;
  } else if (facts.st_size > kMostBytes) {
    out.problem = name + " is larger than 1 GiB";
  } else {
    out.bytes.resize(static_cast<std::size_t>(facts.st_size));
    std::size_t have = 0;
    while (have < out.bytes.size()) {
      const ssize_t bytes = ::read(file, out.bytes.data() + have, out.bytes.size() - have);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0) out.problem = name + " cannot be read: " + reason();
      if (bytes <= 0) break;
      have += static_cast<std::size_t>(bytes);
    }
    out.bytes.resize(have);
  }
  close(file);
  return out;
}

std::string PrivateFolder::write(const std::string& name, std::string_view bytes) const {
  static std::atomic<unsigned> serial = 0;
  const std::string first = "tmp-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + "-" + name;
  // One of this name is of a process that was killed and had our number.
  unlinkat(descriptor(), first.c_str(), 0);
  if (std::string problem = create(descriptor(), first, bytes); !problem.empty()) return problem;
  if (renameat(descriptor(), first.c_str(), descriptor(), name.c_str()) == 0) return {};
  std::string problem = reason();
  unlinkat(descriptor(), first.c_str(), 0);
  return problem;
}

std::string PrivateFolder::add(const std::string& name, std::string_view bytes) const {
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (mkdirat(descriptor(), name.substr(0, slash).c_str(), S_IRWXU) != 0 && errno != EEXIST) return reason();
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
