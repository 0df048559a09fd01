// gantry bench gemm: ours against cuBLASLt, alternating in one process on the same buffers.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/asked_gemms.hpp"
#include "bench/measure.hpp"
#include "bench/session.hpp"
#include "bench/vendor_module.hpp"
#include "commands/commands.hpp"
#include "files.hpp"
#include "gemm/choice.hpp"
#include "gemm/on_gpu.hpp"
#include "gemm/vendor.hpp"
#include "option_text.hpp"
#include "plain_options.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

struct BenchTexts {
  AskedTexts asked{};
  AskedFiles files{};
  std::string from{}, json{}, plot{};
  std::string inputs = "uniform";
  std::string dependent = "auto";
  double sustained = 3;
  std::optional<double> time_limit{};
  bool progress = false;
};

int complain(const std::string& problem) {
  print_complaint(problem);
  return 1;
}

BenchOutputs outputs_of(const BenchTexts& texts, Progress& progress) {
  return {
      .print = [&progress](const std::string& text) { progress.print(text); }, .json = texts.json, .plot = texts.plot};
}

int show_recorded(const BenchTexts& texts) {
  const Result<std::string> file = read_text(texts.from);
  if (!file) return complain(fmt::format("the record {} could not be read: {}", texts.from, file.error().describe()));
  const Result<BenchRecord> read = read_record(*file);
  if (!read) return complain(fmt::format("the record {} cannot be used: {}", texts.from, read.error().describe()));
  Progress silent(false);
  silent.end();
  return show(*read, outputs_of(texts, silent));
}

// Dense FLOP of the tensor cores per cycle and SM.
double operations_per_cycle(const Architecture& arch, ElementType a) { return 2 * arch.mma_rate * 16 / info(a).bits; }

// "bf16", or where they differ "e4m3 by e5m2 to bf16".
std::string elements_of(const GemmOptions& o) {
  if (o.b == o.a && o.d == o.a) return info(o.a).name;
  const std::string b = o.b == o.a ? "" : fmt::format(" by {}", info(o.b).name);
  return fmt::format("{}{} to {}", info(o.a).name, b, info(o.d).name);
}

BenchRecord new_record(const runtime::Device& device, const runtime::Compiler& compiler, const BenchTexts& texts,
                       const AskedGemm& asked) {
  const runtime::DeviceFacts& f = device.facts();
  const Architecture arch = architecture_of(f);
  BenchRecord record;
  record.device = f.name;
  record.driver = fmt::format("CUDA {}.{}", f.driver_version / 1000, f.driver_version / 10 % 100);
  record.vendor = find_cublaslt(compiler).version;
  record.elements = elements_of(asked.options);
  record.inputs = texts.inputs == "uniform" ? "uniform in [-1, 1)" : texts.inputs;
  record.sustained_seconds = texts.sustained;
  record.peak_flops = operations_per_cycle(arch, asked.options.a) * arch.sms * arch.clock;
  record.peak_bytes = 2.0 * f.memory_clock_khz * 1e3 * f.memory_bits / 8;
  return record;
}

// The function of a GEMM's elements and epilogue, whatever its sizes are: one for all of them.
class Functions {
 public:
  explicit Functions(Context context) : context_(std::move(context)) {}

  Result<GemmFunction> get(const AskedGemm& asked) {
    const ExpectedGroups expected = expected_of(asked);
    const GemmRequest request{.options = asked.options,
                              .epilogue = asked.expression,
                              .expected_rows = expected.rows,
                              .expected_gemms = expected.gemms};
    for (const auto& [of, function] : made_) {
      if (of.options == request.options && of.epilogue == request.epilogue) return function;
    }
    Result<GemmFunction> function = context_.gemm(request);
    if (function) made_.emplace_back(request, *function);
    return function;
  }

 private:
  Context context_;
  std::vector<std::pair<GemmRequest, GemmFunction>> made_;
};

struct Bench {
  const runtime::Device& device;
  const runtime::Compiler& compiler;  // of cuBLASLt's part
  const runtime::KernelCache& cache;
  Functions& functions;
  const BenchTexts& texts;
  Inputs inputs;
  Progress& progress;
  const Stop& stop;
};

Measured measure(const Bench& b, const AskedGemm& asked) {
  Measured out;
  const auto fail = [&](const Status& why) {
    out.status = runtime::with_words_before(title(asked) + ": ", why);
    return out;
  };
  b.progress.step(fmt::format("{}: compiling and filling", title(asked)));
  const Result<GemmFunction> gemm = b.functions.get(asked);
  if (!gemm) return fail(gemm.error());
  Operands operands(asked, b.inputs, 1);
  const DeviceOperands on_device(b.device, operands);
  if (!on_device.status()) return fail(on_device.status());
  GemmCall call = on_device.call();
  const Result<GemmExplanation> explained = gemm->explain(call);
  if (!explained) return fail(explained.error());
  if (b.texts.dependent != "auto") call.dependent = b.texts.dependent == "on";
  if (const Status ran = gemm->run(call); !ran) return fail(ran);
  if (const Status back = on_device.download(operands); !back) return fail(back);
  const Verification v = operands.verify();
  const VendorGemm vendor(b.cache, b.compiler, asked, on_device);
  if (!vendor.status() && !vendor.declines()) return fail(vendor.status());
  std::vector<Contestant> contestants{{.name = "ours", .run = [&] { return gemm->run(call); }}};
  if (vendor.status()) {
    contestants.insert(contestants.begin(), {.name = "cuBLASLt", .run = [&vendor] { return vendor.run(); }});
  }
  const RaceOptions options{.sustained = b.texts.sustained, .stop = &b.stop};
  if (const Status raced = race(b.device, contestants, options, b.progress); !raced) return fail(raced);
  BenchResult& r = out.result;
  r.m = asked.m;
  r.n = asked.n;
  r.k = asked.k;
  r.batch = asked.batch;
  r.groups = groups_text(asked);
  if (const std::string index = index_text(asked); !index.empty()) r.groups += (r.groups.empty() ? "" : ", ") + index;
  r.epilogue = asked.expression;
  r.kernel = explained->kernel;
  r.dependent = call.dependent.value_or(explained->gains_as_dependent);
  r.opponent = vendor.status() ? opponent_of(asked) : "nobody: " + vendor.status().describe();
  r.flops = asked.flops();
  r.bytes = operands.traffic();
  r.verified = v.ok() ? fmt::format("{} elements", v.elements) : "";
  if (!v.ok()) print_complaint(fmt::format("{}: {}", title(asked), v.first_wrong));
  r.ours = contestants.back().timing;
  if (vendor.status()) r.theirs = contestants.front().timing;
  return out;
}

AskedGemms asked_of(const BenchTexts& texts, Inputs& inputs) {
  AskedGemms out = read_all_asked(texts.asked, texts.files);
  inputs = read_inputs(texts.inputs, out.status);
  OptionReader(out.status).word("--dependent", texts.dependent, {"auto", "on", "off"});
  for (const auto& [option, path] : {std::pair("--json", texts.json), std::pair("--plot", texts.plot)}) {
    if (path.empty()) continue;
    if (const Status writable = check_writable(path); !writable)
      refuse(out.status, OptionRule::file, option, fmt::format("{}: {}", option, writable.describe()));
  }
  constexpr double kDay = 86400;
  if (!(texts.sustained >= 0 && texts.sustained <= kDay))
    refuse(out.status, OptionRule::value, "--sustained",
           fmt::format("--sustained takes seconds from 0 to {}, and not {}", kDay, texts.sustained));
  if (texts.time_limit && !(*texts.time_limit >= 0 && *texts.time_limit <= kDay))
    refuse(out.status, OptionRule::value, "--time-limit",
           fmt::format("--time-limit takes seconds from 0 to {}, and not {}", kDay, *texts.time_limit));
  return out;
}

void compile_all(const Bench& b, const std::vector<AskedGemm>& asked_gemms) {
  std::vector<std::string> seen;
  for (const AskedGemm& asked : asked_gemms) {
    if (std::find(seen.begin(), seen.end(), asked.expression) != seen.end()) continue;
    seen.push_back(asked.expression);
    const Result<GemmFunction> gemm = b.functions.get(asked);
    if (!gemm) continue;  // measuring it says why
    std::vector<GemmExtents> sizes;
    for (const AskedGemm& other : asked_gemms) {
      if (other.expression == asked.expression) sizes.push_back({other.m, other.n, other.k, other.batch});
    }
    std::atomic<double> part = 0;
    b.progress.step("compiling", [&] { return part.load(); });
    // What cannot be compiled is said where it is measured.
    (void)gemm->warm_up(sizes, [&](int done, int all) { part = all == 0 ? 1 : static_cast<double>(done) / all; });
    b.progress.step("compiled");
  }
}

int run_bench(const BenchTexts& texts) {
  if (!texts.from.empty()) return show_recorded(texts);
  Inputs inputs = Inputs::uniform;
  const AskedGemms asked_gemms = asked_of(texts, inputs);
  if (!asked_gemms.status) throw CLI::ValidationError(first_sentences(asked_gemms.status), 2);
  const Stop stop(texts.time_limit);
  constexpr int kAnyNumber = 1 << 20;
  const Context context({.policy = CompilePolicy::wait,
                         .most_kernels = kAnyNumber,
                         .compile_threads = static_cast<int>(std::thread::hardware_concurrency())});
  const runtime::Device& device = context.device();
  if (!context.status().ok()) {
    fmt::print(stderr, "gantry: {}; gantry bench gemm --from RECORD shows what was measured elsewhere\n",
               context.status().describe());
    return kNoGpuStatus;
  }
  const runtime::Compiler compiler = runtime::Compiler::find();
  for (const std::string& note : sentences_of(context.notes())) print_complaint(note);
  const runtime::KernelCache cache;
  Functions functions(context);
  const BenchRecord record = new_record(device, compiler, texts, asked_gemms.all.front());
  Progress progress(texts.progress);
  const Bench bench{device, compiler, cache, functions, texts, inputs, progress, stop};
  bool finished = finishes([&] { compile_all(bench, asked_gemms.all); }, stop);
  Measured measured;
  const auto measure_one = [&](const AskedGemm& asked) {
    finished = finishes([&] { measured = measure(bench, asked); }, stop);
    return finished ? measured : Measured{};
  };
  const int status = measure_all(asked_gemms.all, measure_one, record, outputs_of(texts, progress), stop);
  progress.end();
  if (!finished) leave(status);
  return status;
}

}  // namespace

void add_bench_command(CLI::App& app, int& status) {
  CLI::App* bench = app.add_subcommand("bench", "Measures speed on the GPU");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand("gemm", "GEMMs against cuBLASLt, alternating in one process");
  command->get_formatter()->column_width(30);
  const auto texts = std::make_shared<BenchTexts>();
  add_gemm_options(*command, texts->asked, false);
  command->add_option("--shapes", texts->files.shapes, "file of sizes, \"M N K\" per line; default twelve common ones")
      ->option_text("FILE");
  command->add_option("--epilogues", texts->files.epilogues, "file of epilogues, one per line, instead of --epilogue")
      ->option_text("FILE");
  command->add_option("--inputs", texts->inputs, "uniform in [-1, 1), eighths or zeros; zeros draw less power")
      ->option_text("NAME");
  command->add_option("--sustained", texts->sustained, "seconds of sustained load per kernel; default 3, 0 for none")
      ->option_text("SECONDS");
  command->add_option("--time-limit", texts->time_limit, "stop after this long and keep what was measured")
      ->option_text("SECONDS");
  command
      ->add_option("--dependent", texts->dependent,
                   "programmatic dependent launch of our kernels; auto: on for short GEMMs")
      ->option_text("auto|on|off");
  command->add_option("--json", texts->json, "write the record to a file")->option_text("FILE");
  command->add_option("--plot", texts->plot, "draw a roofline plot")->option_text("FILE.svg");
  command->add_option("--from", texts->from, "show a record instead of measuring; needs no GPU")->option_text("FILE");
  add_flag(*command, "--progress", texts->progress, "print progress even if standard error is not a terminal");
  command->footer(
      "Example: gantry bench gemm --shapes shapes.txt --epilogue \"d = gelu_tanh(acc + row(bias:bf16))\" "
      "--json gemm.json --plot gemm.svg\n"
      "A row is printed, and the record written, after each size: Ctrl-C keeps what was measured.\n"
      "The exit status is 77 if there is no GPU, and 1 if a result is wrong.");
  command->callback([texts, &status] { status = run_bench(*texts); });
}

}  // namespace gantry::tool
