#include "gemm/progress.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace gantry::tool {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress(bool asked) : terminal_(isatty(STDERR_FILENO) != 0), asked_(asked) {
  if (terminal_) thread_ = std::thread([this] { watch(); });
}

Progress::~Progress() { end(); }

void Progress::step(const std::string& what, std::function<double()> share) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  share_ = std::move(share);
  begun_ = now();
  if (!terminal_ && asked_) fmt::print(stderr, "{} ...\n", what_);
  changed_.notify_all();
}

void Progress::end() {
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    ends_ = true;
    changed_.notify_all();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  std::fputs(kEraseLine, stderr);
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    show();
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

void Progress::show() {
  if (what_.empty()) return;
  const double share = share_ ? share_() : -1;
  const std::string bar = share < 0 ? "" : fmt::format(" {:3.0f} %", 100 * share);
  fmt::print(stderr, "{}{} ...{} {:.1f} s", kEraseLine, what_, bar, now() - begun_);
  std::fflush(stderr);
}

}  // namespace gantry::tool
