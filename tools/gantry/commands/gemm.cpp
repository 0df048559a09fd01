// gantry gemm: one GEMM with its fused epilogue, on a GPU or on the simulated SM, compared with the reference.
#include <algorithm>
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "gemm/choice.hpp"
#include "gemm/compiled.hpp"
#include "gemm/on_gpu.hpp"
#include "gemm/on_simulator.hpp"
#include "plain_options.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

struct GemmTexts {
  AskedTexts asked{};
  std::string machine = "auto";
  std::string inputs = "eighths";
  std::string checker = "on";
  std::string check = "none";
  std::uint64_t seed = 0;
  bool json = false;
  bool progress = false;
};

struct Answer {
  std::string machine;
  std::string choice;
  std::string plan;
  std::string gpu;       // what a GPU would run in place of the simulated kernel
  std::string findings;  // of the simulator, as it reports them
  std::string checker;
  std::string time;
  Status status{};  // why there was no run
  bool clean = true;
  Verification verification{};
  double seconds = 0;
  std::uint64_t steps = 0;

  bool ok() const { return status.ok() && clean && verification.ok(); }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Answer simulate(const SimulatorKernel& kernel, const AskedGemm& asked, Operands& operands, const GemmTexts& texts,
                Progress& progress) {
  Answer out;
  out.choice = kernel.choice;
  if (texts.check == "device") out.status = operands.wrong_on_device();
  if (!out.status) return out;
  SimulatorOptions options;
  options.seed = texts.seed;
  options.checker = texts.checker == "on";
  // Enough steps for a GEMM of this size; more is an endless loop.
  options.max_steps = 50'000'000 + static_cast<std::uint64_t>(asked.flops() / 100);
  runtime::SimulatedProgress count;
  progress.step("simulating", [&count] {
    const auto all = static_cast<double>(count.all.load(std::memory_order_relaxed));
    return all == 0 ? 0 : static_cast<double>(count.done.load(std::memory_order_relaxed)) / all;
  });
  const auto start = std::chrono::steady_clock::now();
  SimulatedRun run = run_on_simulator(kernel, asked, operands, options, count);
  out.seconds = seconds_since(start);
  out.status = run.status;
  out.plan = run.plan;
  if (!out.status || run.report.kernel.empty()) return out;
  if (kernel.built_in) {
    out.plan += "This kernel serves every epilogue: it has buffers of C and of auxiliary tensors, used or not.\n";
    out.gpu = describe_compiled(asked);
  }
  out.steps = run.report.steps;
  out.clean = run.report.clean();
  if (!out.clean) out.findings = run.report.text();
  out.checker = texts.checker == "on" ? fmt::format("{} in {} thread steps under seed {}{}",
                                                    out.clean ? "no finding" : "findings (see below)", out.steps,
                                                    texts.seed, out.clean ? "; that is evidence, not proof" : "")
                                      : "off: races and missing fences were not checked";
  out.time = fmt::format("{:.1f} s for {} simulated steps; not a measure of GPU speed", out.seconds, out.steps);
  return out;
}

Answer on_gpu(const AskedGemm& asked, Operands& operands, const GemmTexts& texts, Progress& progress) {
  Answer out;
  const RunCheck check = texts.check == "device" ? RunCheck::device : RunCheck::none;
  const GpuRun run = run_on_gpu(asked, operands, progress, check);
  out.status = run.status;
  out.plan = run.plan;
  out.choice = run.choice;
  if (!out.status) return out;
  out.seconds = run.seconds;
  out.time = fmt::format(
      "{:.2f} us per call, {:.1f} TFLOP/s, {:.2f} TB/s (median of {} calls, operands in L2 if they fit)",
      run.seconds * 1e6, asked.flops() / run.seconds / 1e12, operands.traffic() / run.seconds / 1e12, run.calls);
  return out;
}

std::string verdict(const Verification& v) {
  const std::string part = v.part.empty() ? "" : fmt::format(" ({})", v.part);
  if (!v.ok()) {
    return fmt::format("WRONG: {} of {} elements{}; the first: {}", v.wrong, v.elements, part, v.first_wrong);
  }
  return fmt::format("correct: {} elements{} are within their error bounds; largest error {:.3g}, bound {:.3g}",
                     v.elements, part, v.largest_error, v.its_bound);
}

void print_section(const char* name, const std::string& text) {
  if (!text.empty()) fmt::print("{}", hanging(fmt::format("{:<9} ", name), text, output_columns()));
}

void print(const AskedGemm& asked, const Answer& a) {
  fmt::print("{}\n\n", title(asked));
  print_section("machine", a.machine);
  print_section("result", verdict(a.verification));
  print_section("time", a.time);
  print_section("checker", a.checker);
  print_section("findings", a.findings);
  fmt::print("\n");
  print_section("choice", a.choice);
  print_section("plan", a.plan);
  print_section("gpu", a.gpu);
}

nlohmann::ordered_json groups_of(const AskedGemm& asked) {
  nlohmann::ordered_json out;
  out["kind"] = gantry::to_text(asked.options.groups);
  if (asked.is_array()) {
    out["gemms"] = nlohmann::ordered_json::array();
    for (const GemmExtents& e : asked.gemms) out["gemms"].push_back({e.m, e.n, e.k});
    return out;
  }
  out["sizes"] = asked.groups;
  if (asked.capacity > 0) out["capacity"] = asked.capacity;
  if (!asked.offsets.empty()) out["offsets"] = asked.offsets;
  return out;
}

nlohmann::ordered_json json_of(const AskedGemm& asked, const Answer& a, const GemmTexts& texts) {
  const Verification& v = a.verification;
  nlohmann::ordered_json out;
  out["m"] = asked.m;
  out["n"] = asked.n;
  out["k"] = asked.k;
  out["batch"] = asked.batch;
  if (asked.options.groups != GemmGrouping::none) out["groups"] = groups_of(asked);
  if (asked.options.gather_a) out["gather_rows"] = asked.gather_rows;
  if (asked.scatters()) out["scatter_rows"] = asked.scatter_rows;
  out["a"] = info(asked.options.a).name;
  out["b"] = info(asked.options.b).name;
  out["d"] = info(asked.options.d).name;
  out["epilogue"] = asked.expression;
  out["inputs"] = texts.inputs;
  out["seed"] = texts.seed;
  out["machine"] = a.machine;
  out["choice"] = a.choice;
  out["plan"] = a.plan;
  if (!a.gpu.empty()) out["gpu"] = a.gpu;
  out["ok"] = a.ok();
  out["clean"] = a.clean;
  if (!a.findings.empty()) out["findings"] = a.findings;
  out["verified"] = {{"elements", v.elements},           {"part", v.part},       {"wrong", v.wrong},
                     {"largest_error", v.largest_error}, {"bound", v.its_bound}, {"first_wrong", v.first_wrong}};
  out["seconds"] = a.seconds;
  if (a.steps > 0) out["steps"] = a.steps;
  return out;
}

// Where the GEMM runs, and why; the simulated SM if there is no GPU.
struct Machine {
  bool gpu = false;
  std::string why;
  Status status{};  // why it cannot run there
};

Machine choose_machine(const std::string& asked, const runtime::Device& device) {
  const Status usable = device.runs_kernels();
  const std::string simulated = "the simulated SM";
  if (asked == "sim") return {false, simulated};
  if (asked == "gpu") {
    if (usable) return {true, device.facts().name};
    return {true, {}, runtime::with_words_after(usable, "; --machine sim runs the GEMM without one")};
  }
  if (!usable) return {false, fmt::format("{}, since {}", simulated, usable.describe())};
  return {true, device.facts().name};
}

int print_refusal(const Status& refused) {
  for (const std::string& sentence : sentences_of(refused)) print_complaint(sentence);
  return 1;
}

int run_command(const GemmTexts& texts) {
  AskedGemm asked = read_asked(texts.asked);
  const Inputs inputs = read_inputs(texts.inputs, asked.status);
  OptionReader read(asked.status);
  read.word("--machine", texts.machine, {"auto", "sim", "gpu"});
  read.word("--checker", texts.checker, {"on", "off"});
  read.word("--check", texts.check, {"none", "device"});
  if (!asked.ok()) throw CLI::ValidationError(asked.status.describe(), 2);
  const runtime::Device device = texts.machine == "sim" ? runtime::Device() : runtime::Device::open();
  const Machine machine = choose_machine(texts.machine, device);
  if (!machine.status) {
    print_refusal(machine.status);
    return kNoGpuStatus;
  }
  // Before anything is filled or compiled, which may take long.
  if (const Status status = Operands::problems_of(asked); !status) return print_refusal(status);
  Progress progress(texts.progress);
  const SimulatorKernel kernel = machine.gpu ? SimulatorKernel{} : simulator_kernel(asked, progress);
  if (!kernel.status) {
    progress.end();
    return print_refusal(kernel.status);
  }
  progress.step("filling the operands");
  Operands operands(asked, inputs, texts.seed);
  Answer answer =
      machine.gpu ? on_gpu(asked, operands, texts, progress) : simulate(kernel, asked, operands, texts, progress);
  answer.machine = machine.why;
  if (!answer.status) {
    progress.end();
    return print_refusal(answer.status);
  }
  progress.step("comparing with the reference");
  answer.verification = operands.verify();
  progress.end();
  if (texts.json) {
    fmt::print("{}\n", json_of(asked, answer, texts).dump(2));
  } else {
    print(asked, answer);
  }
  return answer.ok() ? 0 : 1;
}

}  // namespace

void add_gemm_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("gemm", "Runs a GEMM with a fused epilogue and verifies the result");
  command->get_formatter()->column_width(30);
  const auto texts = std::make_shared<GemmTexts>();
  add_gemm_options(*command, texts->asked, true);
  command
      ->add_option("--check", texts->check,
                   "device: before the run, name each group whose offsets, counts or addresses are wrong, and each row "
                   "whose index "
                   "is; default none")
      ->option_text("none|device");
  command->add_option("--machine", texts->machine, "sim (the simulated SM), gpu, or auto: a GPU if there is one")
      ->option_text("NAME");
  command
      ->add_option("--inputs", texts->inputs,
                   "eighths (accumulation is exact), uniform in [-1, 1), zeros, or special (uniform with NaN, "
                   "infinities, -0, subnormals and large values)")
      ->option_text("NAME");
  add_number(*command, "--seed", texts->seed, "seed of the inputs and of the simulator's thread schedule; default 0");
  command->add_option("--checker", texts->checker, "race checker of the simulated SM; off is faster")
      ->option_text("on|off");
  add_flag(*command, "--json", texts->json, "print the answer as JSON");
  add_flag(*command, "--progress", texts->progress, "print progress even if standard error is not a terminal");
  command->footer(
      "Example: gantry gemm --m 512 --n 768 --k 256 --a bf16 --d bf16 --epilogue \"d = gelu(acc + row(bias))\"\n"
      "Tensor and vector arguments of the epilogue are filled like A and B; --set gives numbers to scalars, which else "
      "have their defaults, and to vectors.\n"
      "The exit status is 1 if the GEMM cannot run, its result is wrong or the checker reports findings, and 77 if "
      "--machine gpu finds no GPU.");
  command->callback([texts, &status] { status = run_command(*texts); });
}

}  // namespace gantry::tool
