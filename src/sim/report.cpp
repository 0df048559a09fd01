// Reports as text and JSON.
#include <algorithm>

#include <nlohmann/json.hpp>

#include <gantry/arch/simulator.hpp>

namespace gantry {
namespace {

const char* to_text(Schedule schedule) {
  switch (schedule) {
    case Schedule::round_robin:
      return "round_robin";
    case Schedule::random:
      return "random";
    case Schedule::pct:
      return "pct";
    case Schedule::directed:
      return "directed";
    case Schedule::replay:
      return "replay";
  }
  return "unknown";
}

const char* to_text(Latency latency) {
  switch (latency) {
    case Latency::eager:
      return "eager";
    case Latency::random:
      return "random";
    case Latency::late:
      return "late";
    case Latency::mixed:
      return "mixed";
  }
  return "unknown";
}

}  // namespace

bool Report::has(const std::string& rule) const {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.rule == rule; });
}

bool Report::notes_rule(const std::string& rule) const {
  return std::any_of(notes.begin(), notes.end(), [&](const Finding& f) { return f.rule == rule; });
}

std::string Report::replay() const {
  if (command.empty()) {
    return ".seed = " + std::to_string(seed) + ", .schedule = Schedule::" + to_text(schedule) +
           ", .latency = Latency::" + to_text(latency);
  }
  return command + " --seed " + std::to_string(seed) + " --schedule " + to_text(schedule) + " --latency " +
         to_text(latency);
}

std::string Report::text() const {
  std::string out;
  for (const Finding& finding : findings) {
    out += kernel + ": " + finding.rule + ": " + finding.text;
    if (finding.count > 1) out += " (" + std::to_string(finding.count) + " times)";
    out += "\n";
  }
  for (const Finding& note : notes) out += kernel + ": note: " + note.rule + ": " + note.text + "\n";
  out += kernel + ": ";
  if (clean()) {
    out += "no finding in " + std::to_string(steps) + " steps; that is evidence, not proof";
  } else if (findings.empty()) {
    out += "stopped before its end";
  } else {
    out += std::to_string(findings.size()) + (findings.size() == 1 ? " finding" : " findings");
  }
  return out + "; replay with " + replay() + ".\n";
}

std::string Report::json() const {
  nlohmann::json out = {{"kernel", kernel},
                        {"seed", seed},
                        {"schedule", to_text(schedule)},
                        {"latency", to_text(latency)},
                        {"completed", completed},
                        {"steps", steps},
                        {"replay", replay()},
                        {"findings", nlohmann::json::array()},
                        {"notes", nlohmann::json::array()}};
  const auto list = [&](const char* name, const std::vector<Finding>& all) {
    for (const Finding& finding : all) {
      out[name].push_back({{"rule", finding.rule},
                           {"text", finding.text},
                           {"file", finding.file},
                           {"line", finding.line},
                           {"count", finding.count}});
    }
  };
  list("findings", findings);
  list("notes", notes);
  return out.dump(2);
}

}  // namespace gantry
