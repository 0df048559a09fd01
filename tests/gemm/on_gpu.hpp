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

// What is to be compared: everything, or small shapes alone, without cuBLASLt, for tools that slow a GPU down.
enum class Extent { all, small };

struct Entry {
  std::string types, majors;
  Answer (*check)(Extent);
};

inline std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

struct Registered {
  explicit Registered(const Entry& entry) { entries().push_back(entry); }
};

}  // namespace gantry_test
