#include "gemm/progress.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include <gantry/context.hpp>

#include "terminal.hpp"

namespace gantry::tool {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr std::chrono::milliseconds kBlink(100);  // between two looks of a terminal's line
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

std::string progress_text(const std::string& what, double share, double seconds) {
  const std::string part = share < 0 ? "" : fmt::format("{:.0f} % in ", 100 * share);
  const double left = RunProgress{share, seconds}.seconds_left();
  const std::string rest = left >= 0 && share < 1 ? fmt::format(", about {:.0f} s left", left) : "";
  return fmt::format("{}: {}{:.0f} s{}", what, part, seconds, rest);
}

Progress::Progress(bool asked, std::chrono::milliseconds every)
    : terminal_(isatty(STDERR_FILENO) != 0), asked_(asked), every_(every), thread_([this] { watch(); }) {}

Progress::~Progress() { end(); }

void Progress::step(const std::string& what, std::function<double()> share) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  share_ = std::move(share);
  begun_ = now();
  if (!terminal_ && asked_ && !ends_) fmt::print(stderr, "{} ...\n", what_);
  changed_.notify_all();
}

void Progress::end() {
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
  if (terminal_) std::fputs(kEraseLine, stderr);
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
    if (terminal_) show_on_terminal();
    const bool woken = changed_.wait_for(lock, terminal_ ? kBlink : every_) == std::cv_status::no_timeout;
    // A step that began now has nothing to tell yet.
    if (!woken && !terminal_ && !ends_) add_line();
  }
}

void Progress::show_on_terminal() {
  if (what_.empty()) return;
  const std::string text = progress_text(what_, share_ ? share_() : -1, now() - begun_);
  // A line that wraps could not be erased.
  const std::size_t columns = terminal_columns(STDERR_FILENO, 80);
  fmt::print(stderr, "{}{}", kEraseLine, text.substr(0, columns > 1 ? columns - 1 : 0));
  std::fflush(stderr);
}

void Progress::add_line() {
  if (!share_) return;
  fmt::print(stderr, "{}\n", progress_text(what_, share_(), now() - begun_));
  std::fflush(stderr);
}

}  // namespace gantry::tool
