#include "bench/stop.hpp"

#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

#include <fmt/format.h>

namespace gantry::tool {

namespace {

volatile std::sig_atomic_t came = 0;

void note(int signal) { came = signal; }

}  // namespace

Stop::Stop(std::optional<double> seconds) : seconds_(seconds) {
  came = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

Stop::~Stop() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

bool Stop::asked() const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun_;
  return came != 0 || (seconds_ && spent.count() >= *seconds_);
}

std::string Stop::why() const {
  if (came != 0) return came == SIGINT ? "interrupted" : "terminated";
  return fmt::format("the time limit of {} s was reached", seconds_.value_or(0));
}

int Stop::status() { return came == 0 ? 0 : 128 + came; }

bool finishes(const std::function<void()>& work, const Stop& stop) {
  constexpr std::chrono::milliseconds kLook(50);
  std::packaged_task<void()> task(work);
  std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  while (done.wait_for(kLook) != std::future_status::ready) {
    if (stop.asked()) return false;
  }
  done.get();  // throws what it threw
  return true;
}

void leave(int status) {
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(status);
}

}  // namespace gantry::tool
