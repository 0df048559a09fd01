// gantry tune: measures the candidate configurations of a GEMM and keeps the fastest in the tuning file, which the
// choice of a configuration reads.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure.hpp"
#include "commands/commands.hpp"
#include "files.hpp"
#include "gemm/choice.hpp"
#include "gemm/on_gpu.hpp"
#include "plain_options.hpp"

namespace gantry::tool {

namespace {

struct TuneTexts {
  ProductTexts product{};
  std::string file{};
  std::string inputs = "uniform";
  bool dry_run = false;
  bool progress = false;
};

struct Trial {
  GemmOptions options{};
  std::string name{};
  double seconds = 0;
  std::string problem{};  // why it is out of the race
};

// Loads, checks and times one configuration.
Trial try_one(const runtime::Device& device, const runtime::CachedKernel& kernel, const runtime::GemmSpec& spec,
              Operands& operands, DeviceOperands& on_device) {
  Trial out{.options = spec.options, .name = gantry::to_text(spec.options).c_str()};
  const auto first_line = [](const Status& status) {
    const std::string text = status.describe();
    return text.substr(0, text.find('\n'));
  };
  const Result<runtime::LoadedGemm> gemm = runtime::LoadedGemm::load(device, kernel, spec);
  if (!gemm) {
    out.problem = first_line(gemm.error());
    return out;
  }
  const Result<runtime::LoadedGemmPlan> plan = gemm->plan(on_device.call());
  if (!plan) {
    out.problem = first_line(plan.error());
    return out;
  }
  out.problem = on_device.poison(operands);
  if (out.problem.empty()) out.problem = plan->run().describe();
  if (out.problem.empty()) out.problem = on_device.download(operands);
  if (!out.problem.empty()) return out;
  if (const Verification v = operands.verify(); !v.ok()) {
    out.problem = "it is wrong: " + v.first_wrong;
    return out;
  }
  const BurstTime time = burst_time(device, {.name = out.name, .run = [&plan] { return plan->run().describe(); }}, 5);
  out.seconds = time.seconds;
  out.problem = time.problem;
  return out;
}

// Empty, or why the fastest could not be kept, which is asked before anything is measured.
std::string why_not_kept(const std::string& path) {
  if (path.empty()) return "the tuning file has no path: HOME is not set; --file names one";
  // Folders are made when there is something to keep; asked is the first that is there already.
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(path, error);
  while (place.has_relative_path() && !std::filesystem::exists(place.parent_path(), error)) place = place.parent_path();
  if (std::string why = why_not_writable(place.string()); !why.empty()) return why;
  const TuningFile file = TuningFile::read(path);
  const std::string unread = unread_lines(file);
  if (unread.empty()) return {};
  return fmt::format("{} holds lines that are no tuning entries and would be lost: {}; --file names another file", path,
                     unread);
}

// Read again right before it is written, so that what others added in between stays.
std::string keep(const std::string& path, const TuningEntry& entry) {
  TuningFile file = TuningFile::read(path);
  file.set(entry);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(path).parent_path(), error);
  return replace_text(path, file.text()) ? "" : fmt::format("the tuning file could not be written to {}", path);
}

void print(const std::vector<Trial>& trials, const Product& product) {
  fmt::print("{}\n\n", title(product));
  for (const Trial& trial : trials) {
    if (trial.problem.empty()) {
      fmt::print("{:<40} {:9.2f} us {:8.1f} TFLOP/s\n", trial.name, trial.seconds * 1e6,
                 product.flops() / trial.seconds / 1e12);
    } else {
      fmt::print("{:<40} left out: {}\n", trial.name, trial.problem);
    }
  }
}

int run_tune(const TuneTexts& texts) {
  Product product = read_product(texts.product);
  const Inputs inputs = read_inputs(texts.inputs, product.problems);
  const std::string path = texts.file.empty() ? tuning_path() : texts.file;
  if (!texts.dry_run) {
    if (const std::string why = why_not_kept(path); !why.empty())
      product.problems.push_back("the fastest could not be kept: " + why);
  }
  if (product.ok()) product.problems = Operands::problems_of(product);
  if (!product.ok()) throw CLI::ValidationError(fmt::format("{}", fmt::join(product.problems, "\n")), 2);
  const runtime::Device device = runtime::Device::open();
  if (const std::string no_gpu = why_no_gpu(device); !no_gpu.empty()) {
    fmt::print(stderr, "gantry: {}; tuning needs a GPU\n", no_gpu);
    return kNoGpuStatus;
  }
  const std::unique_ptr<runtime::KernelCompiler> compiler = runtime::find_gpu_compiler(device);
  const std::vector<GemmDesign> candidates = candidates_for(product);
  const runtime::KernelCache cache;
  if (!cache.note().empty()) fmt::print(stderr, "gantry: {}\n", cache.note());
  Progress progress(texts.progress);
  progress.step("filling the operands");
  Operands operands(product, inputs, 1);
  DeviceOperands on_device(device, operands);
  if (!on_device.problem().empty()) {
    progress.end();
    fmt::print(stderr, "gantry: {}\n", on_device.problem());
    return 1;
  }
  std::atomic<std::size_t> compiled = 0;
  progress.step("compiling", [&] { return static_cast<double>(compiled) / static_cast<double>(candidates.size()); });
  std::vector<runtime::GemmSpec> specs;
  specs.reserve(candidates.size());
  for (const GemmDesign& design : candidates)
    specs.push_back({.options = design.options, .expression = product.expression});
  compile_ahead(cache, *compiler, specs, compiled);
  std::vector<Trial> trials;
  for (const runtime::GemmSpec& spec : specs) {
    progress.step(fmt::format("{} of {}: {}", trials.size() + 1, specs.size(), gantry::to_text(spec.options).c_str()));
    trials.push_back(try_one(device, compile_gemm(cache, *compiler, spec), spec, operands, on_device));
  }
  progress.end();
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& x, const Trial& y) {
    return x.problem.empty() != y.problem.empty() ? x.problem.empty() : x.seconds < y.seconds;
  });
  print(trials, product);
  if (trials.empty() || !trials.front().problem.empty()) {
    fmt::print(stderr, "gantry: no configuration could be measured\n");
    return 1;
  }
  if (texts.dry_run) return 0;
  const Trial& best = trials.front();
  const std::string problem = keep(path, {workload_of(product), device.facts().name, best.name, best.seconds * 1e3});
  if (!problem.empty()) {
    fmt::print(stderr, "gantry: {}\n", problem);
    return 1;
  }
  fmt::print("\n{} is kept in {}; gantry gemm and gantry bench use it from now on\n", best.name, path);
  return 0;
}

}  // namespace

void add_tune_command(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("tune", "Measures the configurations of a GEMM on the GPU and keeps the fastest");
  command->get_formatter()->column_width(30);
  const auto texts = std::make_shared<TuneTexts>();
  add_product_options(*command, texts->product, true);
  command->add_option("--file", texts->file, "the tuning file; default GANTRY_TUNING or ~/.config/gantry/tuning")
      ->option_text("FILE");
  command->add_option("--inputs", texts->inputs, "uniform in [-1, 1), eighths or zeros")->option_text("NAME");
  add_flag(*command, "--dry-run", texts->dry_run, "measure without writing the tuning file");
  add_flag(*command, "--progress", texts->progress, "print progress even if standard error is not a terminal");
  command->footer(
      "Example: gantry tune --m 4096 --n 4096 --k 4096 --epilogue \"d = gelu_tanh(acc + row(bias:bf16))\"\n"
      "The exit status is 77 if there is no GPU.");
  command->callback([texts, &status] { status = run_tune(*texts); });
}

}  // namespace gantry::tool
