#include "progress_watch.hpp"

#include <algorithm>
#include <system_error>

namespace gantry {

ProgressWatch::ProgressWatch(const SimulatedMachineOptions& options) : options_(options) {
  if (!options_.progress) return;
  tell(0);
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // the beginning and the end are told
  }
}

ProgressWatch::~ProgressWatch() { stop(); }

void ProgressWatch::complete() {
  stop();
  if (options_.progress) tell(1);
}

void ProgressWatch::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProgressWatch::watch() {
  // A wait of 0 would keep a processor busy, and the clock cannot count years.
  const std::chrono::duration<double> every(std::clamp(options_.progress_seconds, 0.001, 86400.0));
  const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(every);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, pause, [this] { return ends_; })) tell(share());
}

void ProgressWatch::tell(double share) const {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun_;
  options_.progress({share, seconds.count()});
}

double ProgressWatch::share() const {
  constexpr double kNearly = 0.99;  // after the last load come the last tiles' epilogues
  const std::int64_t all = count_.all;
  return all == 0 ? 0 : std::min(kNearly, static_cast<double>(count_.done) / static_cast<double>(all));
}

}  // namespace gantry
