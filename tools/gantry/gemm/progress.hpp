// A line on standard error that says what is being done, rewritten while it is. Only for people: where standard error
// is no terminal, nothing is printed unless asked for, and then one line for each step.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gantry::tool {

class Progress {
 public:
  explicit Progress(bool asked);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // From now on this is done; `share` says how much of it, from 0 to 1, or is empty where nobody knows.
  void step(const std::string& what, std::function<double()> share = {});
  void end();
  // Prints on standard output, past the line.
  void print(const std::string& text);

 private:
  void watch();
  void show();

  bool terminal_, asked_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::string what_;
  std::function<double()> share_;
  double begun_ = 0;
  std::thread thread_;
};

}  // namespace gantry::tool
