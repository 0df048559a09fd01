// Where programs are: the environment's variables and the folders of PATH.
#pragma once

#include <string>

#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

// Of this process; empty: not set, or this program has more rights than its user (setuid).
std::string variable(const char* name);

// A plain file that this user may run.
bool can_run(const std::string& program);

// It is run from another folder.
std::string whole_path(const std::string& program);

// The first program of this name in the folders of `path`, which stand between colons. An empty folder would mean the
// current one, and is none. Empty: there is none.
std::string on_path(const std::string& path, const std::string& name);

struct NamedProgram {
  std::string path{};
  Status status{};
};

// A program that `variable` names by a path, or by a name on the PATH.
NamedProgram named_program(const char* variable, const std::string& value, const std::string& path);

}  // namespace gantry::runtime
