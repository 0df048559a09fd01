// gantry tune: measures the candidate configurations of one GEMM or of many, and keeps the fastest in the tuning file,
// which the choice of a configuration reads.
#include <algorithm>
#include <atomic>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/asked_gemms.hpp"
#include "bench/measure.hpp"
#include "bench/tuning_run.hpp"
#include "commands/commands.hpp"
#include "gemm/choice.hpp"
#include "gemm/on_gpu.hpp"
#include "plain_options.hpp"
#include "run_rules.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

struct TuneTexts {
  AskedTexts asked{};
  AskedFiles files{};
  std::string file{};
  std::string inputs = "uniform";
  bool again = false;
  bool dry_run = false;
  bool progress = false;

  std::string path() const { return file.empty() ? tuning_path() : file; }
};

struct Trial {
  GemmOptions options{};
  std::string name{};
  double seconds = 0;
  Status status{};  // why it is out of the race
};

// Loads, checks and times one configuration.
Trial try_one(const runtime::Device& device, const runtime::CachedKernel& kernel, const runtime::GemmSpec& spec,
              Operands& operands, DeviceOperands& on_device) {
  Trial out{.options = spec.options, .name = gantry::to_text(spec.options).c_str()};
  const Result<runtime::LoadedGemm> gemm = runtime::LoadedGemm::load(device, kernel, spec);
  if (!gemm) {
    out.status = gemm.error();
    return out;
  }
  const Result<runtime::LoadedGemmPlan> plan = gemm->plan(on_device.call());
  if (!plan) {
    out.status = plan.error();
    return out;
  }
  out.status = on_device.poison(operands);
  if (out.status) out.status = plan->run();
  if (out.status) out.status = on_device.download(operands);
  if (!out.status) return out;
  if (const Verification v = operands.verify(); !v.ok()) {
    out.status = failure_of(RunRule::result_wrong, "it is wrong: " + v.first_wrong);
    return out;
  }
  const Result<double> time = burst_time(device, {.name = out.name, .run = [&plan] { return plan->run(); }}, 5);
  if (time) {
    out.seconds = *time;
  } else {
    out.status = time.error();
  }
  return out;
}

void print(const std::vector<Trial>& trials, const AskedGemm& asked) {
  fmt::print("{}\n\n", title(asked));
  for (const Trial& trial : trials) {
    if (trial.status) {
      fmt::print("{:<40} {:9.2f} us {:8.1f} TFLOP/s\n", trial.name, trial.seconds * 1e6,
                 asked.flops() / trial.seconds / 1e12);
    } else {
      const std::string why = trial.status.describe();
      fmt::print("{:<40} left out: {}\n", trial.name, why.substr(0, why.find('\n')));
    }
  }
}

struct Tuner {
  const runtime::Device& device;
  const runtime::KernelCache& cache;
  const runtime::KernelCompiler& compiler;
  Inputs inputs;
  Progress& progress;
  const Stop& stop;

  struct Tried {
    std::vector<Trial> trials{};  // the fastest first
    Status status{};
  };
  Tried try_all(const AskedGemm& asked) const;
};

Tuner::Tried Tuner::try_all(const AskedGemm& asked) const {
  Tried out;
  progress.step(fmt::format("{}: filling the operands", title(asked)));
  Operands operands(asked, inputs, 1);
  DeviceOperands on_device(device, operands);
  out.status = on_device.status();
  if (!out.status) return out;
  std::vector<runtime::GemmSpec> specs;
  for (const GemmDesign& design : candidates_for(asked))
    specs.push_back({.options = design.options, .expression = asked.expression});
  std::atomic<std::size_t> compiled = 0;
  progress.step(fmt::format("{}: compiling", title(asked)),
                [&] { return static_cast<double>(compiled) / static_cast<double>(specs.size()); });
  compile_ahead(cache, compiler, specs, compiled);
  for (const runtime::GemmSpec& spec : specs) {
    if (stop.asked()) return {};
    progress.step(fmt::format("{}: {} of {}, {}", title(asked), out.trials.size() + 1, specs.size(),
                              gantry::to_text(spec.options).c_str()));
    out.trials.push_back(try_one(device, compile_gemm(cache, compiler, spec), spec, operands, on_device));
  }
  std::stable_sort(out.trials.begin(), out.trials.end(), [](const Trial& x, const Trial& y) {
    return x.status.ok() != y.status.ok() ? x.status.ok() : x.seconds < y.seconds;
  });
  if (out.trials.empty() || !out.trials.front().status) {
    out.status = failure_of(RunRule::nothing_measured, "no configuration could be measured");
  }
  return out;
}

Tuned fastest_of(const Tuner::Tried& tried) {
  if (!tried.status || tried.trials.empty()) return {.status = tried.status};
  const auto measured =
      std::count_if(tried.trials.begin(), tried.trials.end(), [](const Trial& t) { return t.status.ok(); });
  return {.configuration = tried.trials.front().name,
          .seconds = tried.trials.front().seconds,
          .candidates = static_cast<int>(measured)};
}

// All candidates of one GEMM are shown.
int tune_one(const Tuner& tuner, const AskedGemm& asked, const TuningRun& run) {
  const Tuner::Tried tried = tuner.try_all(asked);
  tuner.progress.end();
  if (tuner.stop.asked()) return Stop::status();
  print(tried.trials, asked);
  const Tuned tuned = fastest_of(tried);
  const Status kept = tuned.status ? keep_tuned(run, asked, tuned) : tuned.status;
  if (!kept) {
    print_complaint(kept.describe());
    return 1;
  }
  if (!run.dry_run)
    fmt::print("\n{} is kept in {}; gantry gemm and gantry bench use it from now on\n", tuned.configuration, run.path);
  return 0;
}

// What was asked for, checked as a whole before anything is measured.
std::vector<AskedGemm> asked_of(const TuneTexts& texts, Inputs& inputs) {
  const AskedTexts& one = texts.asked;
  const bool sizes = !texts.files.shapes.empty() || one.m != 0 || one.n != 0 || one.k != 0 || !one.groups.empty() ||
                     !one.groups_k.empty() || !one.gemms.empty() || !one.offsets.empty();
  if (!sizes)
    throw CLI::ValidationError(
        "--m, --n and --k are required, or --shapes, a file of sizes, or groups: --groups, --groups-k or --problems",
        2);
  AskedGemms asked_gemms = read_all_asked(one, texts.files);
  inputs = read_inputs(texts.inputs, asked_gemms.status);
  if (!texts.dry_run) {
    if (const Status keeps = check_keeps(texts.path()); !keeps)
      refuse(asked_gemms.status, OptionRule::file, "--file", "the fastest could not be kept: " + keeps.describe());
  }
  if (!asked_gemms.status) throw CLI::ValidationError(first_sentences(asked_gemms.status), 2);
  return asked_gemms.all;
}

int run_tune(const TuneTexts& texts) {
  Inputs inputs = Inputs::uniform;
  const std::vector<AskedGemm> asked_gemms = asked_of(texts, inputs);
  const runtime::Device device = runtime::Device::open();
  if (const Status gpu = device.runs_kernels(); !gpu) {
    print_complaint(gpu.describe() + "; tuning needs a GPU");
    return kNoGpuStatus;
  }
  const std::unique_ptr<runtime::KernelCompiler> compiler = runtime::find_gpu_compiler(device);
  const runtime::KernelCache cache;
  for (const std::string& note : sentences_of(cache.note())) print_complaint(note);
  Progress progress(texts.progress);
  const Stop stop;
  const Tuner tuner{device, cache, *compiler, inputs, progress, stop};
  const TuningRun run{.path = texts.path(),
                      .device = device.facts().name,
                      .again = texts.again,
                      .dry_run = texts.dry_run,
                      .print = [&progress](const std::string& text) { progress.print(text); }};
  if (asked_gemms.size() == 1) return tune_one(tuner, asked_gemms.front(), run);
  const int status = tune_all(
      asked_gemms, [&](const AskedGemm& p) { return fastest_of(tuner.try_all(p)); }, run, stop);
  progress.end();
  return status;
}

}  // namespace

void add_tune_command(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("tune", "Measures the configurations of GEMMs on the GPU and keeps the fastest");
  command->get_formatter()->column_width(30);
  const auto texts = std::make_shared<TuneTexts>();
  add_gemm_options(*command, texts->asked, false);
  command->add_option("--shapes", texts->files.shapes, "file of sizes, \"M N K\" per line: one run for all of them")
      ->option_text("FILE");
  command->add_option("--epilogues", texts->files.epilogues, "file of epilogues, one per line, instead of --epilogue")
      ->option_text("FILE");
  command->add_option("--file", texts->file, "the tuning file; default GANTRY_TUNING or ~/.config/gantry/tuning")
      ->option_text("FILE");
  command->add_option("--inputs", texts->inputs, "uniform in [-1, 1), eighths or zeros")->option_text("NAME");
  add_flag(*command, "--again", texts->again, "with many sizes: measure those too that the file has already");
  add_flag(*command, "--dry-run", texts->dry_run, "measure without writing the tuning file");
  add_flag(*command, "--progress", texts->progress, "print progress even if standard error is not a terminal");
  command->footer(
      "Example: gantry tune --m 4096 --n 4096 --k 4096 --epilogue \"d = gelu_tanh(acc + row(bias:bf16))\"\n"
      "         gantry tune --shapes shapes.txt --file layers.tuning\n"
      "With many sizes each is kept when it was measured, and the same command goes on after Ctrl-C.\n"
      "The exit status is 77 if there is no GPU.");
  command->callback([texts, &status] { status = run_tune(*texts); });
}

}  // namespace gantry::tool
