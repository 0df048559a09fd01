#include "bench/session.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

int complain(const std::string& problem) {
  print_complaint(problem);
  return 1;
}

// Texts of a record may be bytes that are no UTF-8.
std::string json_text(const BenchRecord& record) {
  return to_json(record).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int write(const std::string& path, const std::string& text, const char* what) {
  if (path.empty()) return 0;
  const Status written = replace_text(path, text);
  if (written) return 0;
  return complain(fmt::format("the {} could not be written to {}: {}", what, path, written.describe()));
}

bool all_right(const BenchRecord& record) {
  return std::none_of(record.results.begin(), record.results.end(),
                      [](const BenchResult& r) { return r.verified.empty(); });
}

}  // namespace

int measure_all(const std::vector<AskedGemm>& asked_gemms, const std::function<Measured(const AskedGemm&)>& measure,
                BenchRecord record, const BenchOutputs& outputs, const Stop& stop) {
  outputs.print(table_head(record));
  std::string heading;
  int status = 0;
  for (const AskedGemm& asked : asked_gemms) {
    if (stop.asked()) break;
    const Measured measured = measure(asked);
    if (stop.asked()) break;
    if (!measured.status) {
      status = complain(measured.status.describe());
      break;
    }
    outputs.print(table_row(measured.result, heading));
    record.results.push_back(measured.result);
    status |= write(outputs.json, json_text(record), "record");
  }
  if (!record.results.empty()) status |= write(outputs.plot, plot(record), "plot");
  if (!all_right(record)) status = 1;
  if (!stop.asked() || record.results.size() == asked_gemms.size()) return status;
  fmt::print(stderr, "gantry: {}; {} of {} GEMMs were measured\n", stop.why(), record.results.size(),
             asked_gemms.size());
  return status != 0 ? status : Stop::status();
}

int show(const BenchRecord& record, const BenchOutputs& outputs) {
  outputs.print(table(record));
  int status = all_right(record) ? 0 : 1;
  status |= write(outputs.json, json_text(record), "record");
  status |= write(outputs.plot, plot(record), "plot");
  return status;
}

}  // namespace gantry::tool
