#include "compile_queue.hpp"

#include <system_error>
#include <utility>

#include <unistd.h>

namespace gantry::runtime {

CompileQueue::CompileQueue(int threads) : most_(threads), shared_(std::make_shared<Shared>()), process_(getpid()) {}

void CompileQueue::leave_parent() {
  const pid_t process = getpid();
  if (process_.load(std::memory_order_acquire) == process) return;
  const std::lock_guard<std::mutex> once(leaving_);
  if (process_.load(std::memory_order_relaxed) == process) return;
  auto own = std::make_shared<Shared>();
  // Nobody else unlocks it here. What was queued is still to be compiled; what was being compiled is lost.
  if (shared_->mutex.try_lock()) {
    own->jobs.swap(shared_->jobs);
    shared_->mutex.unlock();
  }
  // Neither can be destroyed: the threads are not there to be joined, and still count as waiting.
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
  new std::shared_ptr<Shared>(std::exchange(shared_, own));
  new std::vector<std::thread>(std::exchange(threads_, {}));
  process_.store(process, std::memory_order_release);
  // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)
}

CompileQueue::~CompileQueue() {
  leave_parent();
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->stop = true;
    dropped.swap(shared_->jobs);
  }
  shared_->changed.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

bool CompileQueue::add(std::function<void()> job) {
  leave_parent();
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->jobs.push_back(std::move(job));
    if (shared_->idle < static_cast<int>(shared_->jobs.size()) && static_cast<int>(threads_.size()) < most_) {
      try {
        threads_.emplace_back([shared = shared_] { work(shared); });
      } catch (const std::system_error&) {  // the threads that there are come to it
        if (threads_.empty()) {
          shared_->jobs.pop_back();
          return false;
        }
      }
    }
  }
  shared_->changed.notify_all();
  return true;
}

void CompileQueue::wait_until_idle() {
  leave_parent();
  const std::shared_ptr<Shared> shared = shared_;
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->stop || (shared->jobs.empty() && shared->running == 0); });
}

void CompileQueue::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock<std::mutex> lock(shared->mutex);
  for (;;) {
    ++shared->idle;
    shared->changed.wait(lock, [&] { return shared->stop || !shared->jobs.empty(); });
    --shared->idle;
    if (shared->stop) return;
    std::function<void()> job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    ++shared->running;
    lock.unlock();
    try {
      job();
    } catch (...) {  // whoever queued it says what went wrong
    }
    job = nullptr;  // what it holds may hold the queue
    lock.lock();
    if (--shared->running == 0 && shared->jobs.empty()) shared->changed.notify_all();
  }
}

}  // namespace gantry::runtime
