// Tunes many GEMMs in one run. What was tuned is kept when it was measured, so that a run that is stopped goes on where
// it ended: GEMMs that the file has already for this GPU are passed over.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/stop.hpp"
#include "gemm/request.hpp"

namespace gantry::tool {

// The fastest configuration of a GEMM.
struct Tuned {
  std::string configuration{};
  double seconds = 0;
  int candidates = 0;  // that were measured
  Status status{};     // why there is none
};

struct TuningRun {
  std::string path{};    // of the tuning file
  std::string device{};  // the GPU's name
  bool again = false;    // measure what the file has already
  bool dry_run = false;  // keep nothing
  std::function<void(const std::string&)> print{};
};

// Whether the fastest could be kept, which is asked before anything is measured.
Status check_keeps(const std::string& path);

// The file is read again right before it is written, so that what others added in between stays.
Status keep_tuned(const TuningRun& run, const AskedGemm& asked, const Tuned& tuned);

// A row for each, and one line at the end. The status is 1 where a GEMM could not be tuned or kept; the others are.
int tune_all(const std::vector<AskedGemm>& asked_gemms, const std::function<Tuned(const AskedGemm&)>& tune,
             const TuningRun& run, const Stop& stop);

}  // namespace gantry::tool
