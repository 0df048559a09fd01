// Runs a program and waits for it. No shell is involved: arguments arrive as they are.
//
// A program that is run here does not outlive its caller. A process of ours stands between the two: it holds one end of
// a pipe whose other end only the caller has, and kills the program with all that it started when that end closes,
// however the caller ended. (PR_SET_PDEATHSIG alone would reach the program and not the programs that it starts, as
// nvcc does, and would fire when a thread of the caller ends.)
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

struct ProcessCommand {
  std::vector<std::string> arguments;  // the first is the program's path, with a slash in it
  // "NAME=value", in place of or beside what this process has; "NAME" alone is taken away.
  std::vector<std::string> environment{};
  int folder = -1;  // descriptor of the folder that it works in; -1: this process's
  std::chrono::milliseconds limit = std::chrono::minutes(10);
};

struct ProcessEnd {
  int status = 0;        // as the program returned it; 128 + the signal's number where one ended it
  std::string output{};  // standard output and standard error, as they came, up to some MiB
};

// Or why it did not start, or did not come to its end; sentences begin with "it".
Result<ProcessEnd> run_process(const ProcessCommand& command);

}  // namespace gantry::runtime
