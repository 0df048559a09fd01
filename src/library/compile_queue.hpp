// Threads that compile in the background. What is queued when the queue is destroyed is dropped; what is being compiled
// then is waited for. A process that was forked has none of its parent's threads, and starts its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace gantry::runtime {

class CompileQueue {
 public:
  explicit CompileQueue(int threads);
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;
  // May be destroyed by one of its own jobs.
  ~CompileQueue();

  // False where there is no thread for it, and none can be started: the job is dropped. A job that throws ends nothing.
  [[nodiscard]] bool add(std::function<void()> job);
  // Until nothing is queued, and nothing compiled. Not by a job.
  void wait_until_idle();

 private:
  // What the threads use: they may outlive the queue by a moment.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> jobs;
    int idle = 0;
    int running = 0;  // jobs
    bool stop = false;
  };

  static void work(const std::shared_ptr<Shared>& shared);
  // In a forked process: gives up the parent's threads, and whatever they had locked.
  void leave_parent();

  const int most_;
  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
  std::atomic<pid_t> process_;  // that the threads are of
  std::mutex leaving_;
};

}  // namespace gantry::runtime
