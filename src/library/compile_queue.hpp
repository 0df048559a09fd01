// Threads that compile in the background. What is queued when the queue is destroyed is dropped; what is being compiled
// then is waited for.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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

 private:
  // What the threads use: they may outlive the queue by a moment.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> jobs;
    int idle = 0;
    bool stop = false;
  };

  static void work(const std::shared_ptr<Shared>& shared);

  const int most_;
  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

}  // namespace gantry::runtime
