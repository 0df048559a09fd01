// Whether a long run should come to its end: somebody pressed Ctrl-C or asked with SIGTERM, or its time is over.
//
// While one lives, the first of these signals is only noted, so that the run ends with what it has; the second ends the
// program as it would without this.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>

namespace gantry::tool {

class Stop {
 public:
  // Without a limit only signals stop.
  explicit Stop(std::optional<double> seconds = {});
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop();

  bool asked() const;
  // Why, as a clause: "the time limit of 10 s is over".
  std::string why() const;
  // What the program ends with: 128 + the signal's number as shells have it, 0 for a time that is over.
  static int status();

 private:
  std::optional<double> seconds_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  struct sigaction interrupt_ = {}, terminate_ = {};
};

// Runs something that cannot be interrupted, such as a compilation, in a thread of its own until it is done or should
// stop. False: it still runs, with all that it refers to, and the program must end by leave().
bool finishes(const std::function<void()>& work, const Stop& stop);

// Ends the program without waiting for its threads; compilers that they started end with it.
[[noreturn]] void leave(int status);

}  // namespace gantry::tool
