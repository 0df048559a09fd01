// What `gantry bench gemm` measured: written as JSON, read back, shown as a table and as a plot. No GPU is needed for
// any of this.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <gantry/runtime/status.hpp>

namespace gantry::tool {

// Of one contestant. Times are seconds of a call; 0: not measured.
struct Timing {
  double burst = 0;      // many calls in a row for some milliseconds, after a rest
  double cold = 0;       // one call, after L2 was filled with something else
  double sustained = 0;  // calls for seconds, contestants taking turns
  double burst_megahertz = 0, sustained_megahertz = 0;
  double sustained_watts = 0;
};

struct BenchResult {
  long long m = 0, n = 0, k = 0, batch = 1;
  std::string groups{};  // in words, with rows that an index names; empty where there are none
  std::string epilogue;
  std::string kernel;      // ours
  bool dependent = false;  // ours was launched so that a run may start before the one before has ended
  std::string opponent;    // what the other one computes, or why there is nobody
  double flops = 0, bytes = 0;
  std::string verified{};  // what was compared with the reference; empty: it was wrong
  Timing ours{}, theirs{};
};

struct BenchRecord {
  std::string device;
  std::string driver, vendor;  // versions
  std::string elements = "bf16";
  std::string inputs;
  double sustained_seconds = 0;  // of each contestant
  double peak_flops = 0;         // of the tensor cores, at the highest clock
  double peak_bytes = 0;         // of the memory, a second
  std::vector<BenchResult> results{};
};

nlohmann::ordered_json to_json(const BenchRecord& record);

Result<BenchRecord> read_record(const std::string& text);

// Lines of text: times, rates, and the other's time over ours in each regime. A row opens with what is computed where
// that is not `heading`, which it changes.
std::string table_head(const BenchRecord& record);
std::string table_row(const BenchResult& result, std::string& heading);
std::string table(const BenchRecord& record);

// A picture in SVG: operations a second over operations for each byte, both in powers, with the two lines that nothing
// can pass.
std::string plot(const BenchRecord& record);

}  // namespace gantry::tool
