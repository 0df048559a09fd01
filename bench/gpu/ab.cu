// Kernels of two commits in one process, taking turns: do they compute the same bits, and is one of them slower?
//
//   ab FOLDER [--rows 0,3,17] [--seconds S] [--least RATIO]
//   ab --list
//
// For each row of ab_rows.hpp, FOLDER has before/ROW.so, after/ROW.so (ab_entry.cu, compiled against two trees of
// headers) and again/ROW.so, a copy of the first: how far its time lies from before's is what the method cannot tell
// apart. The three run on the same operands in the same memory. First their results are compared bit by bit. Then they
// take turns for S seconds (6 unless told): a call, a rest, and a burst that is timed, in an order that changes from
// round to round. A line has the median of the rounds' ratios of times, before over after, with the 95 % interval of
// that median. --list prints the rows. scripts/ab.sh builds and runs all of it; docs/measurements/before-and-after.md
// says how to read it.
//
// Exits with 77 where there is no Hopper GPU; with 1 where bits differ or the interval of a ratio reaches below RATIO
// (0.995 unless told).
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include "ab_abi.hpp"
#include "ab_rows.hpp"
#include "clock.hpp"
#include "matrices.hpp"
#include "timing.hpp"

namespace {

using namespace gantry;
using namespace gantry::bench;

constexpr double kBurst = 0.015, kRest = 0.015;  // seconds
constexpr int kLeastCalls = 4;                   // of a burst
constexpr int kOrders[6][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}};

struct Options {
  std::string folder;
  std::vector<int> rows;
  double seconds = 6, least = 0.995;
};

[[noreturn]] void stop(const std::string& sentence) {
  std::fprintf(stderr, "ab: %s\n", sentence.c_str());
  std::exit(2);
}

// A row's kernel out of one shared object, planned.
class Side {
 public:
  Side(const std::string& path, const AbProblem& problem) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) stop(dlerror());
    const auto entry = reinterpret_cast<AbEntry*>(dlsym(library, kAbSymbol));
    if (!entry) stop(path + " has no " + kAbSymbol);
    kernel_ = entry();
    const AbText text{why_.data(), why_.size()};
    plan_ = kernel_->plan(&problem, &text);
    if (!plan_) stop(path + " has no plan: " + why_.data());
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { kernel_->destroy(plan_); }

  void run() {
    const AbText text{why_.data(), why_.size()};
    if (!kernel_->run(plan_, nullptr, &text)) stop(why_.data());
  }
  std::string name() {
    const AbText text{why_.data(), why_.size()};
    kernel_->describe(&text);
    return why_.data();
  }

  std::vector<double> times{};  // of a call, in seconds, one for each round
  std::vector<double> megahertz{};

 private:
  const AbKernel* kernel_ = nullptr;
  void* plan_ = nullptr;
  std::array<char, 4096> why_{};
};

constexpr unsigned char kPoison = 0xFF;  // bf16 of such bytes are NaN, which these inputs never give

struct Difference {
  unsigned long long bits;       // elements that are not the same
  unsigned long long unwritten;  // of the second matrix
};
__global__ void compare(const bf16* x, const bf16* y, std::size_t count, Difference* result) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (x[i].bits != y[i].bits) atomicAdd(&result->bits, 1ull);
    if (y[i].bits == kPoison * 0x101u) atomicAdd(&result->unwritten, 1ull);
  }
}

std::size_t elements(const Problem& p) { return static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n); }

void run_into_poison(const Problem& p, Side& side) {
  for (bf16* out : {p.d, p.aux}) check(cudaMemset(out, kPoison, elements(p) * 2), "poisoning the outputs");
  check(cudaDeviceSynchronize(), "poisoning the outputs");
  side.run();
  check(cudaDeviceSynchronize(), "running a kernel");
}

// Of D and, where the job has it, the further output: `other` against what `theirs` and `their_aux` hold.
Difference differences(const Problem& p, Job job, Side& other) {
  static Difference* on_device = nullptr;
  if (!on_device) check(cudaMalloc(&on_device, sizeof(Difference)), "cudaMalloc");
  check(cudaMemset(on_device, 0, sizeof(Difference)), "clearing the comparison");
  run_into_poison(p, other);
  compare<<<1024, 256>>>(p.theirs, p.d, elements(p), on_device);
  if (job == Job::bias_gelu_aux) compare<<<1024, 256>>>(p.their_aux, p.aux, elements(p), on_device);
  Difference result;
  check(cudaMemcpy(&result, on_device, sizeof result, cudaMemcpyDeviceToHost), "reading the comparison");
  return result;
}

// Empty where all three give the same bits, or what is wrong.
std::string compare_results(const Problem& p, Job job, Side& before, Side& after, Side& again) {
  run_into_poison(p, before);
  check(cudaMemcpy(p.theirs, p.d, elements(p) * 2, cudaMemcpyDeviceToDevice), "keeping D");
  check(cudaMemcpy(p.their_aux, p.aux, elements(p) * 2, cudaMemcpyDeviceToDevice), "keeping the further output");
  const Difference same = differences(p, job, again), changed = differences(p, job, after);
  if (same.unwritten > 0) return std::to_string(same.unwritten) + " elements are not written by before";
  if (changed.unwritten > 0) return std::to_string(changed.unwritten) + " elements are not written by after";
  if (changed.bits == 0 && same.bits == 0) return "";
  const std::string text = std::to_string(changed.bits) + " elements differ";
  return same.bits == 0 ? text : text + "; before differs from itself in " + std::to_string(same.bits);
}

// Before, after, again.
using Sides = std::array<Side*, 3>;

void take_turns(const Sides& sides, double time) {
  for (Side* side : sides) side->run();
  const double once = seconds([&] { sides[0]->run(); }, 10);
  const int calls = std::max(kLeastCalls, static_cast<int>(kBurst / once));
  const double turn = kRest + (calls + 1) * once;
  const int orders = static_cast<int>(std::size(kOrders));
  const int rounds = orders * std::max(1, static_cast<int>(std::ceil(time / (3 * turn) / orders)));
  Clock clock;
  for (int round = 0; round < rounds; ++round) {
    for (const int i : kOrders[round % orders]) {
      Side& side = *sides[static_cast<std::size_t>(i)];
      side.run();
      check(cudaDeviceSynchronize(), "running a kernel");
      std::this_thread::sleep_for(std::chrono::duration<double>(kRest));
      clock.start();
      side.times.push_back(seconds([&] { side.run(); }, calls));
      side.megahertz.push_back(clock.megahertz());
    }
  }
}

// Median of the rounds' ratios, and the interval that holds the true one in 95 of 100 visits, whatever the times are
// distributed like: the order statistics around the middle.
struct Ratio {
  double median, low, high;
};
Ratio ratio(const Side& before, const Side& after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.times.size(); ++i) ratios.push_back(before.times[i] / after.times[i]);
  std::sort(ratios.begin(), ratios.end());
  const double count = static_cast<double>(ratios.size()), reach = 0.98 * std::sqrt(count);
  const auto at = [&](double rank) { return ratios[static_cast<std::size_t>(std::clamp(rank, 0.0, count - 1))]; };
  return {median(ratios), at(std::floor(count / 2 - reach)), at(std::ceil(count / 2 + reach) - 1)};
}

const char* verdict(const Ratio& r, double least) {
  if (r.low >= least) return "holds";
  return r.high < least ? "SLOWER" : "UNCLEAR";
}

// Whether the row holds.
bool compare_row(int number, const Options& options) {
  const AbRow& row = kAbRows[number];
  const Matrices matrices(row.size.m, row.size.n, row.size.k);
  const Problem& p = matrices.problem();
  const AbProblem problem{p.m, p.n, p.k, p.a, p.b, p.c, p.bias, p.d, p.aux, row.dependent};
  const auto path = [&](const char* side) {
    return options.folder + "/" + side + "/" + std::to_string(number) + ".so";
  };
  Side before(path("before"), problem), after(path("after"), problem), again(path("again"), problem);
  const std::string wrong = compare_results(p, row.job, before, after, again);
  take_turns({&before, &after, &again}, options.seconds);
  const Ratio change = ratio(before, after), noise = ratio(before, again);
  const std::string name = before.name() == after.name() ? before.name() : before.name() + ", after: " + after.name();
  std::printf(
      "| %d | %d %d %d | %s | %s%s | %.1f | %.1f | %.4f (%.4f to %.4f) | %.4f (%.4f to %.4f) | %.0f, %.0f | %s | %s "
      "|\n",
      number, p.m, p.n, p.k, name_of(row.job), name.c_str(), row.dependent ? ", dependent" : "",
      median(before.times) * 1e6, median(after.times) * 1e6, change.median, change.low, change.high, noise.median,
      noise.low, noise.high, median(before.megahertz), median(after.megahertz), wrong.empty() ? "same" : wrong.c_str(),
      verdict(change, options.least));
  std::fflush(stdout);
  return wrong.empty() && change.low >= options.least;
}

double number_after(const char* option, const char* word) {
  char* end = nullptr;
  const double value = word ? std::strtod(word, &end) : 0;
  if (!word || *word == '\0' || *end != '\0' || !(value > 0)) stop(std::string(option) + " takes a number above 0");
  return value;
}

std::vector<int> rows_of(const std::string& list) {
  std::vector<int> rows;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    char* rest = nullptr;
    const long row = std::strtol(word.c_str(), &rest, 10);
    if (word.empty() || *rest != '\0' || row < 0 || row >= kAbRowCount)
      stop("--rows takes numbers from 0 to " + std::to_string(kAbRowCount - 1) + ", and here is \"" + word + "\"");
    rows.push_back(static_cast<int>(row));
    begin = end + 1;
  }
  return rows;
}

Options read(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const char* const next = i + 1 < count ? words[i + 1] : nullptr;
    if (!std::strcmp(words[i], "--rows") && next) {
      options.rows = rows_of(next), ++i;
    } else if (!std::strcmp(words[i], "--seconds")) {
      options.seconds = number_after(words[i], next), ++i;
    } else if (!std::strcmp(words[i], "--least")) {
      options.least = number_after(words[i], next), ++i;
    } else if (words[i][0] != '-' && options.folder.empty()) {
      options.folder = words[i];
    } else {
      stop(std::string("\"") + words[i] + "\" is no option; there are --rows, --seconds and --least");
    }
  }
  if (options.folder.empty()) stop("a folder with before, after and again is needed");
  if (options.rows.empty()) {
    for (int row = 0; row < kAbRowCount; ++row) options.rows.push_back(row);
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && !std::strcmp(words[1], "--list")) {
    for (int i = 0; i < kAbRowCount; ++i) {
      const AbSize& s = kAbRows[i].size;
      std::printf("%d %d %d %d %s\n", i, s.m, s.n, s.k, name_of(kAbRows[i].job));
    }
    return 0;
  }
  const Options options = read(count, words);
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::fprintf(stderr, "skipped: no Hopper GPU\n");
    return 77;
  }
  std::printf("%s, %g s a row; ratio: time of before over time of after, median (95 %% interval)\n\n", device.name,
              options.seconds);
  std::printf(
      "| row | M N K | epilogue | kernel | before, us | after, us | before / after | before / before | MHz | bits | at "
      "least %g |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
      options.least);
  int held = 0;
  for (const int row : options.rows) held += compare_row(row, options);
  std::printf("\n%d of %zu rows hold\n", held, options.rows.size());
  return held == static_cast<int>(options.rows.size()) ? 0 : 1;
}
