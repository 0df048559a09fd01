// What on_gpu.cu runs: every compilation of on_gpu_kinds.cu registers itself.
#pragma once

#include <string>
#include <vector>

namespace gantry_test {

// What was compared.
struct Tally {
  int passed = 0, failed = 0;

  void count(bool good) { ++(good ? passed : failed); }
};

struct Answer {
  Tally exact, special, vendor;
};

struct Entry {
  std::string types, majors;
  Answer (*check)();
};

inline std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

struct Registered {
  explicit Registered(const Entry& entry) { entries().push_back(entry); }
};

}  // namespace gantry_test
