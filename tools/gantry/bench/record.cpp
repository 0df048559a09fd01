#include "bench/record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/runtime/printable.hpp>

#include "run_rules.hpp"

namespace gantry::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json json_of(const Timing& t) {
  return {{"burst_us", t.burst * 1e6},
          {"cold_us", t.cold * 1e6},
          {"sustained_us", t.sustained * 1e6},
          {"burst_mhz", t.burst_megahertz},
          {"sustained_mhz", t.sustained_megahertz},
          {"sustained_watts", t.sustained_watts}};
}

Timing timing_of(const Json& j) {
  Timing t;
  t.burst = j.at("burst_us").get<double>() / 1e6;
  t.cold = j.at("cold_us").get<double>() / 1e6;
  t.sustained = j.at("sustained_us").get<double>() / 1e6;
  t.burst_megahertz = j.at("burst_mhz").get<double>();
  t.sustained_megahertz = j.at("sustained_mhz").get<double>();
  t.sustained_watts = j.at("sustained_watts").get<double>();
  return t;
}

Json json_of(const BenchResult& r) {
  return {{"m", r.m},
          {"n", r.n},
          {"k", r.k},
          {"batch", r.batch},
          {"groups", r.groups},
          {"epilogue", r.epilogue},
          {"kernel", r.kernel},
          {"dependent", r.dependent},
          {"opponent", r.opponent},
          {"flops", r.flops},
          {"bytes", r.bytes},
          {"verified", r.verified},
          {"ours", json_of(r.ours)},
          {"theirs", json_of(r.theirs)}};
}

// Fit for a terminal, whoever wrote the record.
std::string text_of(const Json& j) { return runtime::one_line(j.get<std::string>()); }

BenchResult result_of(const Json& j) {
  BenchResult r;
  r.m = j.at("m").get<long long>();
  r.n = j.at("n").get<long long>();
  r.k = j.at("k").get<long long>();
  r.batch = j.value("batch", 1LL);
  if (j.contains("groups")) r.groups = text_of(j.at("groups"));
  r.epilogue = text_of(j.at("epilogue"));
  r.kernel = text_of(j.at("kernel"));
  r.dependent = j.value("dependent", false);
  r.opponent = text_of(j.at("opponent"));
  r.flops = j.at("flops").get<double>();
  r.bytes = j.at("bytes").get<double>();
  r.verified = text_of(j.at("verified"));
  r.ours = timing_of(j.at("ours"));
  r.theirs = timing_of(j.at("theirs"));
  return r;
}

std::string ratio(double theirs, double ours) {
  return theirs > 0 && ours > 0 ? fmt::format("{:.3f}", theirs / ours) : "-";
}

std::string microseconds(double seconds) { return seconds > 0 ? fmt::format("{:.1f}", seconds * 1e6) : "-"; }

}  // namespace

Json to_json(const BenchRecord& record) {
  Json results = Json::array();
  for (const BenchResult& r : record.results) results.push_back(json_of(r));
  return {{"gantry_bench", kVersion},
          {"device", record.device},
          {"driver", record.driver},
          {"vendor", record.vendor},
          {"elements", record.elements},
          {"inputs", record.inputs},
          {"sustained_seconds", record.sustained_seconds},
          {"peak_flops", record.peak_flops},
          {"peak_bytes", record.peak_bytes},
          {"results", std::move(results)}};
}

Result<BenchRecord> read_record(const std::string& text) {
  const auto refused = [](std::string sentence) {
    return unexpected(failure_of(RunRule::record, std::move(sentence)));
  };
  const Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) return refused("it is not JSON");
  try {
    if (!j.is_object() || j.at("gantry_bench").get<int>() != kVersion) {
      return refused(fmt::format("it is not a record of gantry bench, version {}", kVersion));
    }
    BenchRecord r;
    r.device = text_of(j.at("device"));
    r.driver = text_of(j.at("driver"));
    r.vendor = text_of(j.at("vendor"));
    r.elements = text_of(j.at("elements"));
    r.inputs = text_of(j.at("inputs"));
    r.sustained_seconds = j.at("sustained_seconds").get<double>();
    r.peak_flops = j.at("peak_flops").get<double>();
    r.peak_bytes = j.at("peak_bytes").get<double>();
    for (const Json& result : j.at("results")) r.results.push_back(result_of(result));
    return r;
  } catch (const Json::exception& e) {
    return refused(fmt::format("it is not a record of gantry bench: {}", runtime::one_line(e.what())));
  }
}

std::string table_head(const BenchRecord& record) {
  std::string out = fmt::format("{}, driver {}, cuBLASLt {}; {} inputs, {}\n", record.device, record.driver,
                                record.vendor, record.elements, record.inputs);
  out +=
      "times in us; ratio: cuBLASLt's time over ours, above 1 if ours is faster; cold: L2 flushed before the call;\n"
      "dependent: ours uses programmatic dependent launch\n\n";
  return out + fmt::format("{:>6} {:>6} {:>6}  {:>9} {:>8} {:>6}  {:>8} {:>6}  {:>9} {:>8} {:>6} {:>5} {:>4}\n", "M",
                           "N", "K", "burst", "TFLOP/s", "ratio", "cold", "ratio", "sustained", "TFLOP/s", "ratio",
                           "MHz", "W");
}

std::string table_row(const BenchResult& r, std::string& heading) {
  std::string out;
  const std::string batch = !r.groups.empty() ? ", " + r.groups
                            : r.batch == 1    ? ""
                                              : fmt::format(", batch of {}", r.batch);
  const std::string title = fmt::format("{}{}  (against {})\n", r.epilogue, batch, r.opponent);
  if (title != heading) out += title;
  heading = title;
  const auto rate = [&](double seconds) { return seconds > 0 ? fmt::format("{:.1f}", r.flops / seconds / 1e12) : "-"; };
  const auto whole = [](double x) { return x > 0 ? fmt::format("{:.0f}", x) : "-"; };
  return out + fmt::format("{:>6} {:>6} {:>6}  {:>9} {:>8} {:>6}  {:>8} {:>6}  {:>9} {:>8} {:>6} {:>5} {:>4}  {}{}{}\n",
                           r.m, r.n, r.k, microseconds(r.ours.burst), rate(r.ours.burst),
                           ratio(r.theirs.burst, r.ours.burst), microseconds(r.ours.cold),
                           ratio(r.theirs.cold, r.ours.cold), microseconds(r.ours.sustained), rate(r.ours.sustained),
                           ratio(r.theirs.sustained, r.ours.sustained), whole(r.ours.sustained_megahertz),
                           whole(r.ours.sustained_watts), r.kernel, r.dependent ? ", dependent" : "",
                           r.verified.empty() ? "  WRONG" : "");
}

std::string table(const BenchRecord& record) {
  std::string out = table_head(record), heading;
  for (const BenchResult& r : record.results) out += table_row(r, heading);
  return out;
}

}  // namespace gantry::tool
