// Says on standard error what is being done, how much of it, and how long the rest will take.
//
// On a terminal this is one line, rewritten while it changes. Elsewhere a step that takes long and knows its share gets
// a line every few seconds, so that whoever reads a log sees that it goes on; and where it was asked for, every step a
// line when it begins.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gantry::tool {

// "simulating: 25 % in 12 s, about 36 s left". Without a share, from 0 to 1, that part is left out.
std::string progress_text(const std::string& what, double share, double seconds);

class Progress {
 public:
  // `every`: between lines where standard error is no terminal.
  explicit Progress(bool asked, std::chrono::milliseconds every = std::chrono::seconds(5));
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
  void show_on_terminal();
  void add_line();

  bool terminal_, asked_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::string what_;
  std::function<double()> share_;
  double begun_ = 0;
  std::thread thread_;
};

}  // namespace gantry::tool
