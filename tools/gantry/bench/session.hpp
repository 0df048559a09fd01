// Results as they come: when a GEMM was measured, its row is printed and the record is written, so that whatever
// ends the run, what there is stays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/record.hpp"
#include "bench/stop.hpp"
#include "gemm/request.hpp"

namespace gantry::tool {

// Where results go. A path that is empty is none.
struct BenchOutputs {
  std::function<void(const std::string& text)> print;
  std::string json{}, plot{};
};

struct Measured {
  BenchResult result{};
  Status status{};  // why there is no result
};

// Measures one after the other until the first problem or until it should stop; what was measured stays either way. A
// result that was under way when it should stop is none. The exit status: 1 where something failed or is wrong.
int measure_all(const std::vector<AskedGemm>& asked_gemms, const std::function<Measured(const AskedGemm&)>& measure,
                BenchRecord record, const BenchOutputs& outputs, const Stop& stop);

// Prints and writes a record that is there. The exit status, as above.
int show(const BenchRecord& record, const BenchOutputs& outputs);

}  // namespace gantry::tool
