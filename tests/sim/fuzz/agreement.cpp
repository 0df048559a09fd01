#include "agreement.hpp"

#include <set>
#include <sstream>

#include "interpret.hpp"
#include "oracle.hpp"
#include "program.hpp"

namespace gantry::fuzz {
namespace {

constexpr Schedule kSchedules[] = {Schedule::random, Schedule::pct, Schedule::directed};

std::string to_text(const Pair& pair) {
  return std::string(pair.fault == Fault::race ? "race" : "missing proxy fence") + " on location " +
         std::to_string(pair.location) + " between lines " + std::to_string(pair.earlier) + " and " +
         std::to_string(pair.later);
}

// Where the checker has reported bytes once, it may have forgotten what came before: of each location that the oracle
// names, one pair is asked for.
std::string difference(const std::set<Pair>& expected, const std::set<Pair>& reported) {
  std::set<int> locations;
  for (const Pair& pair : reported) {
    if (!expected.contains(pair)) return "the checker reports a " + to_text(pair) + ", the oracle does not";
    locations.insert(pair.location);
  }
  for (const Pair& pair : expected) {
    if (!locations.contains(pair.location)) return "the oracle finds a " + to_text(pair) + ", the checker does not";
  }
  return {};
}

}  // namespace

namespace {

constexpr int kMostOmissions = 8;

struct Comparison {
  bool derailed = false, races = false;
  std::string disagreement{};
};

Comparison compare_one(const Program& program, std::uint64_t seed) {
  const Outcome outcome = interpret(
      program, {.seed = seed, .schedule = kSchedules[seed / 2 % 3], .max_steps = 1'000'000, .max_findings = 1000});
  const bool right = program.omission.empty();
  if (!right && derailed(outcome.report)) return {.derailed = true};
  const std::set<Pair> expected = judge(program, outcome.log);
  std::string text = difference(expected, pairs_of(outcome.report, program));
  if (text.empty() && right && !expected.empty()) text = "the generator made a program that races";
  if (text.empty() && right && !outcome.report.clean()) text = "a right program is not clean";
  if (text.empty()) return {.races = !expected.empty()};
  std::ostringstream out;
  out << "seed " << seed << ": " << text << ".\n" << outcome.report.text() << to_text(program);
  for (const Event& event : outcome.log) {
    out << "agent " << event.agent << (event.begins ? " begins" : "") << " line " << line_of(event.step) << " "
        << event.value << "\n";
  }
  return {.disagreement = out.str()};
}

}  // namespace

Agreement compare(std::uint64_t first_seed, int programs) {
  Agreement result;
  for (std::uint64_t seed = first_seed; result.programs < programs; ++seed) {
    const bool omits = seed % 2 != 0;
    Comparison one;
    for (int omission = omits ? 1 : 0; omission <= (omits ? kMostOmissions : 0) && !one.races; ++omission) {
      one = compare_one(omits ? generate(seed, omission) : generate(seed), seed);
      ++result.runs;
      result.derailed += one.derailed ? 1 : 0;
      if (!one.disagreement.empty()) {
        result.disagreement = one.disagreement;
        return result;
      }
    }
    ++result.programs;
    result.with_omission += omits ? 1 : 0;
    result.racing += one.races ? 1 : 0;
  }
  return result;
}

}  // namespace gantry::fuzz
