// One process, or one thread, at a time makes an entry of the cache; the others wait for it.
//
// Whoever holds the lock shows that it lives: the lock file's time changes all the while. Behind a holder that shows
// nothing for as long as the patience lasts (stopped, or on a machine that sleeps) one goes on without the lock. The
// lock is let go of when its holder ends, however it ends, and its file is removed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "private_folder.hpp"

namespace gantry::runtime {

class CacheLock {
 public:
  CacheLock(PrivateFolder folder, std::string name, std::chrono::milliseconds patience);
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;
  ~CacheLock();

  // Why it is not held.
  const Status& status() const { return status_; }

 private:
  enum class Try { held, busy, gone, failed };

  Try try_once();
  void show_life(std::chrono::milliseconds every);

  PrivateFolder folder_;
  std::string name_;
  Status status_;
  int file_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false, ends_ = false;
  std::thread thread_;
};

}  // namespace gantry::runtime
