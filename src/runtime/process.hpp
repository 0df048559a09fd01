// Runs a program and waits for it. No shell is involved: arguments arrive as they are.
#pragma once

#include <string>
#include <vector>

namespace gantry::runtime {

struct ProcessResult {
  bool started = false;
  int status = -1;     // as the program returned it; 128 + the signal's number where one ended it
  std::string output;  // standard output and standard error, as they came
};

ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace gantry::runtime
