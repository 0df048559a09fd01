// Runs an example kernel, or one with a bug, on the simulated SM and prints what the checker says:
//
//   simulate tile_product --seeds 100 --schedule pct
//   simulate missing_proxy_fence --seed 7 --json
//   simulate broadcast --trace trace.json           open it with Perfetto or chrome://tracing
//   simulate transpose --sweep                      leaves out one synchronising call after another
//   simulate tile_copy --exhaustive --preemptions 1 every schedule with that many preemptions
//
// Exits with 0 where every run was clean (of a sweep: where every change was detected; of a search: where it came to
// its end), with 1 otherwise, and with 2 where the options cannot be understood.
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include <gantry/arch/exhaustive.hpp>
#include <gantry/arch/mutation_sweep.hpp>
#include <gantry/arch/seeds.hpp>

#include "all.hpp"
#include "bugs/all.hpp"

namespace {

using gantry::Latency;
using gantry::Report;
using gantry::Schedule;
using gantry::SimulatorOptions;
using Run = Report (*)(const SimulatorOptions&);

std::map<std::string, Run> kernels() {
  std::map<std::string, Run> found;
  for (const gantry::examples::Example& example : gantry::examples::all()) found[example.name] = example.run;
  for (const gantry::examples::bugs::Bug& bug : gantry::examples::bugs::all()) found[bug.name] = bug.run;
  return found;
}

constexpr int kUsageError = 2;

int run_as_asked(int count, char** words) {
  const std::map<std::string, Run> known = kernels();
  const std::map<std::string, Schedule> schedules{{"round_robin", Schedule::round_robin},
                                                  {"random", Schedule::random},
                                                  {"pct", Schedule::pct},
                                                  {"directed", Schedule::directed}};
  const std::map<std::string, Latency> latencies{
      {"eager", Latency::eager}, {"random", Latency::random}, {"late", Latency::late}, {"mixed", Latency::mixed}};
  SimulatorOptions options;
  std::string kernel, schedule = "random", latency = "mixed";
  gantry::SeedRange range;
  gantry::ExploreOptions bounds;
  bool json = false, sweep = false, unchecked = false, exhaustive = false;
  CLI::App app("Runs an example kernel on the simulated SM.");
  app.add_option("kernel", kernel, "its name")->required()->check(CLI::IsMember(known));
  app.add_option("--seed", options.seed, "the first seed");
  app.add_option("--seeds", range.seeds, "how many, until one has findings")->check(CLI::Range(1, 1'000'000));
  app.add_option("--jobs", range.jobs, "threads of the host that run seeds; the report is the same for any number")
      ->check(CLI::Range(1, 1024));
  app.add_option("--schedule", schedule, "of threads")->check(CLI::IsMember(schedules));
  app.add_option("--latency", latency, "of copies and wgmmas")->check(CLI::IsMember(latencies));
  app.add_option("--trace", options.trace_file, "a Chrome trace of the last run");
  app.add_flag("--json", json, "the report as JSON");
  app.add_flag("--sweep", sweep, "leave out one synchronising call after another, with --seeds seeds each");
  auto* all = app.add_flag("--exhaustive", exhaustive, "every schedule up to --preemptions, instead of seeds")
                  ->excludes("--sweep", "--trace", "--jobs");
  app.add_option("--preemptions", bounds.preemptions, "of an exhaustive search")
      ->check(CLI::Range(0, 100))
      ->needs(all)
      ->capture_default_str();
  app.add_option("--max-schedules", bounds.max_schedules, "where an exhaustive search stops")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->needs(all)
      ->capture_default_str();
  app.add_flag("--unchecked", unchecked, "without the checker");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  options.schedule = schedules.at(schedule);
  options.latency = latencies.at(latency);
  options.command = "simulate " + kernel;
  options.checker = !unchecked;
  const Run run = known.at(kernel);
  if (sweep) {
    const gantry::SweepReport report = mutation_sweep(options, range.seeds, run);
    std::fputs(report.text().c_str(), stdout);
    return report.detected() == static_cast<int>(report.entries.size()) ? 0 : 1;
  }
  if (exhaustive) {
    const gantry::ExploreReport report = explore(options, bounds, run);
    std::fputs((kernel + ": " + report.text()).c_str(), stdout);
    return report.clean() ? 0 : 1;
  }
  const Report report = run_seeds(options, range, run);
  std::fputs((json ? report.json() + "\n" : report.text()).c_str(), stdout);
  return report.clean() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run_as_asked(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "simulate: %s\n", problem.what());
    return kUsageError;
  }
}
