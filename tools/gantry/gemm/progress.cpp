#include "gemm/progress.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "terminal.hpp"

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

void Progress::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (terminal_ && !ends_) std::fputs(kEraseLine, stderr);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
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
  const std::string rest = fmt::format(" ...{} {:.1f} s", bar, now() - begun_);
  // A line that wraps could not be erased.
  const std::size_t columns = terminal_columns(STDERR_FILENO, 80);
  const std::size_t room = columns > rest.size() + 1 ? columns - rest.size() - 1 : 0;
  fmt::print(stderr, "{}{}{}", kEraseLine, what_.substr(0, room), rest);
  std::fflush(stderr);
}

}  // namespace gantry::tool
