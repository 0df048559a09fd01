#include "cache_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gantry::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenTries(10);

}  // namespace

CacheLock::CacheLock(PrivateFolder folder, std::string name, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), name_(std::move(name)) {
  Clock::time_point last_sign = Clock::now();
  timespec sign = {};
  for (;;) {
    const Try tried = try_once();
    if (tried == Try::failed) return;
    if (tried == Try::held) break;
    if (tried == Try::gone) continue;
    struct stat facts = {};
    fstat(file_, &facts);
    if (facts.st_mtim.tv_sec != sign.tv_sec || facts.st_mtim.tv_nsec != sign.tv_nsec) last_sign = Clock::now();
    sign = facts.st_mtim;
    if (Clock::now() - last_sign > patience) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
      status_ = failure_of(RuntimeRule::lock_held,
                           "another process has " + name_ + " and has not moved for " + std::to_string(seconds) + " s");
      return;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  held_ = true;
  try {
    thread_ = std::thread([this, every = std::max(patience / 10, std::chrono::milliseconds(1))] { show_life(every); });
  } catch (const std::system_error&) {  // the lock holds without it; who waits loses patience, and compiles too
  }
}

CacheLock::~CacheLock() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  if (held_) {
    // While it is held: whoever opened it and waits sees that it is gone, and makes a new one.
    unlinkat(folder_.descriptor(), name_.c_str(), 0);
  }
  if (file_ >= 0) close(file_);
}

CacheLock::Try CacheLock::try_once() {
  if (file_ < 0) {
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    file_ = openat(folder_.descriptor(), name_.c_str(), flags, 0600);
    struct stat facts = {};
    if (file_ < 0 && errno == ELOOP) {
      status_ = failure_of(RuntimeRule::file_not_plain, name_ + " is a symbolic link", name_);
    } else if (file_ < 0) {
      status_ = failure_of(RuntimeRule::lock_not_taken, name_ + " cannot be made: " + strerror(errno), name_);
    } else if (fstat(file_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      status_ = failure_of(RuntimeRule::file_not_plain, name_ + " is no plain file", name_);
    } else {
      status_ = with_words_before(name_ + " ", check_trust(facts, Trust::own));
    }
    if (!status_) return Try::failed;
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return Try::busy;
    status_ = failure_of(RuntimeRule::lock_not_taken, name_ + " cannot be locked: " + strerror(errno), name_);
    return Try::failed;
  }
  struct stat held = {}, named = {};
  const bool same = fstat(file_, &held) == 0 &&
                    fstatat(folder_.descriptor(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  if (same) return Try::held;
  close(file_);
  file_ = -1;
  return Try::gone;
}

void CacheLock::show_life(std::chrono::milliseconds every) {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    futimens(file_, nullptr);
    changed_.wait_for(lock, every);
  }
}

}  // namespace gantry::runtime
