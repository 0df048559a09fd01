#include "trace.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include <gantry/arch/simulator.hpp>

namespace gantry::sim {

void Trace::span(std::uint32_t cta, std::uint32_t track, std::string name, std::uint64_t from, std::uint64_t to) {
  events_.push_back({'X', cta, track, std::move(name), from, to});
}

void Trace::instant(std::uint32_t cta, std::uint32_t track, std::string name, std::uint64_t at) {
  events_.push_back({'i', cta, track, std::move(name), at, at});
}

void Trace::name_track(std::uint32_t cta, std::uint32_t track, std::string name) {
  events_.push_back({'M', cta, track, std::move(name), 0, 0});
}

void Trace::write(const std::string& file) const {
  nlohmann::json events = nlohmann::json::array();
  for (const Event& e : events_) {
    nlohmann::json event = {{"ph", std::string(1, e.kind)}, {"pid", e.cta}, {"tid", e.track}};
    if (e.kind == 'M') {
      event["name"] = "thread_name";
      event["args"] = {{"name", e.name}};
    } else {
      event["name"] = e.name;
      event["ts"] = e.from;
    }
    if (e.kind == 'X') event["dur"] = e.to - e.from;
    if (e.kind == 'i') event["s"] = "t";
    events.push_back(std::move(event));
  }
  // Opening a pipe waits for a reader, who may never come.
  if (std::filesystem::is_fifo(file)) throw TraceNotWritten("the trace could not be written to " + file + ": a pipe");
  std::ofstream out(file);
  out << nlohmann::json{{"traceEvents", std::move(events)}}.dump();
  out.close();
  if (!out) throw TraceNotWritten("the trace could not be written to " + file);
}

}  // namespace gantry::sim
