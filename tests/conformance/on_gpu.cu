// Runs the conformance suite on the GPU and holds its bytes against the simulator's.
//
//   conformance_on_gpu FILE [--in-process] [--only TEXT] [--show COUNT]
//
// FILE is what `conformance_simulate` wrote. Cases run in a worker process: one that kills its launch, as some are
// meant to, or that hangs costs the worker and not the suite. `--in-process` leaves out the cases that end the launch
// and starts no worker, for compute-sanitizer; `--only` takes the cases whose names contain TEXT; `--show` says how
// many differences of a case are printed (6 unless given). Exits with 77 where there is no GPU.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/numeric/float_types.hpp>

#include "gpu_machine.cuh"
#include "record.hpp"

namespace gantry::conformance {
namespace {

using GpuCase = Case<GpuMachine>;

struct Options {
  std::string file, only, show = "6";
  bool in_process = false;
  std::optional<std::size_t> worker_from;  // this process is a worker

  std::size_t shown() const { return std::strtoul(show.c_str(), nullptr, 10); }
};

struct Comparison {
  bool agrees = true;
  bool same_bits = true;
  std::string text;
};

std::string hex(const std::uint8_t* at, std::size_t bytes) {
  std::string out;
  char two[3];
  for (std::size_t i = bytes; i-- > 0;) {
    std::snprintf(two, sizeof two, "%02x", at[i]);
    out += two;
  }
  return out;
}

double number(Agreement::Kind kind, const std::uint8_t* at) {
  if (kind == Agreement::Kind::f16_within) {
    std::uint16_t bits;
    std::memcpy(&bits, at, 2);
    return float(f16::from_bits(bits));
  }
  float value;
  std::memcpy(&value, at, 4);
  return value;
}

Comparison compare(const Agreement& agreement, const Bytes& gpu, const Bytes& simulated, std::size_t show) {
  Comparison out;
  if (gpu.size() != simulated.size()) {
    return {false, false, std::to_string(gpu.size()) + " bytes, the simulator has " + std::to_string(simulated.size())};
  }
  const bool exact = agreement.kind == Agreement::Kind::exact;
  const std::size_t grain = exact ? 4 : agreement.kind == Agreement::Kind::f16_within ? 2 : 4;
  std::size_t wrong = 0, different = 0;
  std::string shown;
  double worst = 0;
  for (std::size_t i = 0; i + grain <= gpu.size(); i += grain) {
    if (std::memcmp(&gpu[i], &simulated[i], grain) == 0) continue;
    ++different;
    bool bad = exact;
    if (!exact) {
      const double a = number(agreement.kind, &gpu[i]), b = number(agreement.kind, &simulated[i]);
      bad = !(std::fabs(a - b) <= agreement.bound) && !(std::isnan(a) && std::isnan(b));
      worst = std::fmax(worst, std::fabs(a - b));
    }
    if (bad && wrong++ < show) {
      shown += "; byte " + std::to_string(i) + " is " + hex(&gpu[i], grain) + " on the GPU, " +
               hex(&simulated[i], grain) + " in the simulator";
    }
  }
  out.same_bits = different == 0;
  out.agrees = wrong == 0;
  if (wrong > 0) {
    out.text = std::to_string(wrong) + " of " + std::to_string(gpu.size() / grain) + " values differ" + shown;
  } else if (different > 0) {
    char text[160];
    std::snprintf(text, sizeof text, "%zu of %zu values differ within the bound, by %.3g at most; the bound is %.3g",
                  different, gpu.size() / grain, worst, agreement.bound);
    out.text = text;
  }
  return out;
}

// "pass", "near" (agrees within its bound but not in every bit) or "fail", and why.
struct Verdict {
  std::string word, text;
};

Verdict run_case(const GpuCase& c, const Answers& answers, std::size_t show) {
  GpuMachine machine;
  int error = 0;
  try {
    c.body(machine);
    check(cudaDeviceSynchronize());
  } catch (const GpuError& e) {
    error = e.code;
  } catch (const std::exception& e) {
    return {"fail", e.what()};
  }
  if (error != c.breaks.gpu_error) {
    return {"fail", "the launch ended with error " + std::to_string(error) + ", expected " +
                        std::to_string(c.breaks.gpu_error)};
  }
  if (error != 0) return {"pass", ""};
  const auto answer = answers.find(c.name);
  if (answer == answers.end()) return {"fail", "the simulator's file does not have this case"};
  const Comparison comparison = compare(c.agreement, machine.bytes(), answer->second.bytes, show);
  return {!comparison.agrees ? "fail" : comparison.same_bits ? "pass" : "near", comparison.text};
}

class Tally {
 public:
  void add(const GpuCase& c, const std::string& word, const std::string& text) {
    const bool rounded = c.agreement.kind != Agreement::Kind::exact;
    if (word == "fail") {
      ++failed_;
      std::printf("DIFFERS  %s\n         %s\n", c.name.c_str(), text.c_str());
    } else {
      ++passed_;
      if (word == "near") std::printf("near     %s\n         %s\n", c.name.c_str(), text.c_str());
    }
    rounded_ += rounded;
    rounded_same_ += rounded && word == "pass";
    std::fflush(stdout);
  }
  int finish() const {
    std::printf("%d of %d cases with a bound agree in every bit\n", rounded_same_, rounded_);
    std::printf("%d passed, %d failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  int passed_ = 0, failed_ = 0, rounded_ = 0, rounded_same_ = 0;
};

// A worker says on its output which case it begins, then its verdict, one line each; it stops after a case that ended
// its launch, because nothing runs in its context any more.
int work(const Options& options, const Cases<GpuMachine>& cases, const Answers& answers) {
  for (std::size_t i = *options.worker_from; i < cases.size(); ++i) {
    std::printf("begin\n");
    std::fflush(stdout);
    const Verdict verdict = run_case(cases[i], answers, options.shown());
    std::string text = verdict.text;
    for (char& c : text) c = c == '\n' ? ' ' : c;
    std::printf("%s %s\n", verdict.word.c_str(), text.c_str());
    std::fflush(stdout);
    if (cases[i].breaks.gpu_error != 0 || cudaDeviceSynchronize() != cudaSuccess) return 0;
  }
  return 0;
}

// Lines of a worker, with a limit on how long one may take.
class Worker {
 public:
  Worker(const Options& options, std::size_t from) {
    int ends[2];
    if (pipe(ends) != 0) std::exit(2);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], 1);
      close(ends[0]);
      const std::string first = std::to_string(from);
      execl("/proc/self/exe", "conformance_on_gpu", options.file.c_str(), "--only", options.only.c_str(), "--show",
            options.show.c_str(), "--worker", first.c_str(), static_cast<char*>(nullptr));
      _exit(2);
    }
    close(ends[1]);
    input_ = ends[0];
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    kill(child_, SIGKILL);
    int status = 0;
    waitpid(child_, &status, 0);
    close(input_);
  }

  // Nothing: the worker has ended or hangs; `hangs()` tells which.
  std::optional<std::string> line() {
    for (;;) {
      const std::size_t end = text_.find('\n');
      if (end != std::string::npos) {
        std::string out = text_.substr(0, end);
        text_.erase(0, end + 1);
        return out;
      }
      pollfd ready{input_, POLLIN, 0};
      constexpr int kMilliseconds = 20'000;
      hangs_ = poll(&ready, 1, kMilliseconds) <= 0;
      char bytes[4096];
      const ssize_t count = hangs_ ? 0 : read(input_, bytes, sizeof bytes);
      if (count <= 0) return std::nullopt;
      text_.append(bytes, static_cast<std::size_t>(count));
    }
  }
  bool hangs() const { return hangs_; }

 private:
  pid_t child_ = -1;
  int input_ = -1;
  bool hangs_ = false;
  std::string text_;
};

int supervise(const Options& options, const Cases<GpuMachine>& cases) {
  Tally tally;
  for (std::size_t next = 0; next < cases.size();) {
    Worker worker(options, next);
    const std::size_t first = next;
    while (next < cases.size()) {
      const std::optional<std::string> begin = worker.line();
      if (!begin) break;
      const std::optional<std::string> verdict = worker.line();
      if (verdict) {
        const std::size_t space = verdict->find(' ');
        tally.add(cases[next], verdict->substr(0, space), verdict->substr(space + 1));
      } else {
        tally.add(cases[next], "fail", worker.hangs() ? "hangs" : "the process ended");
      }
      ++next;
      if (!verdict) break;
    }
    if (next == first) {
      std::printf("the worker does not start\n");
      return 2;
    }
  }
  return tally.finish();
}

int run_here(const Options& options, const Cases<GpuMachine>& cases, const Answers& answers) {
  Tally tally;
  for (const GpuCase& c : cases) {
    if (c.breaks.gpu_error != 0) continue;
    const Verdict verdict = run_case(c, answers, options.shown());
    tally.add(c, verdict.word, verdict.text);
  }
  return tally.finish();
}

Cases<GpuMachine> chosen_cases(const std::string& only) {
  Cases<GpuMachine> all, chosen;
  add_copies_on_gpu(all);
  add_products_on_gpu(all);
  add_wide_products_on_gpu(all);
  add_operations_on_gpu(all);
  add_examples_on_gpu(all);
  add_faults_on_gpu(all);
  for (GpuCase& c : all) {
    if (c.name.find(only) != std::string::npos) chosen.push_back(std::move(c));
  }
  return chosen;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--in-process")
      options.in_process = true;
    else if (word == "--only" && has_value)
      options.only = argv[++i];
    else if (word == "--show" && has_value)
      options.show = argv[++i];
    else if (word == "--worker" && has_value)
      options.worker_from = std::strtoul(argv[++i], nullptr, 10);
    else if (options.file.empty())
      options.file = word;
    else
      return std::nullopt;
  }
  if (options.file.empty()) return std::nullopt;
  return options;
}

}  // namespace

int run(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr, "usage: conformance_on_gpu FILE [--in-process] [--only TEXT] [--show COUNT]\n");
    return 2;
  }
  int devices = 0;
  if (!options->worker_from && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  Answers answers;
  if (!read_answers(options->file, answers)) {
    std::fprintf(stderr, "%s is not a file that conformance_simulate wrote\n", options->file.c_str());
    return 2;
  }
  const Cases<GpuMachine> cases = chosen_cases(options->only);
  if (options->worker_from) return work(*options, cases, answers);
  return options->in_process ? run_here(*options, cases, answers) : supervise(*options, cases);
}

}  // namespace gantry::conformance

int main(int argc, char** argv) { return gantry::conformance::run(argc, argv); }
