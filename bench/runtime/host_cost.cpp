// What a run costs the host beside the launch itself: µs, without a GPU. The driver and the compiler are the stand-ins
// of the library's tests, whose launch returns at once, so that what is left of a run is the library's own work. A
// stand-in moves tensor maps and clears memory for next to nothing too; the real driver's time for those is not in
// these figures.
//
//   library_host_cost     the launch alone, by turns with runs of sizes that were seen; then new sizes of loaded
//   kernels
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gantry/context.hpp>
#include <gantry/runtime/gemm.hpp>

#include "device_state.hpp"
#include "fake_gpu.hpp"

namespace {

using namespace gantry;
using Clock = std::chrono::steady_clock;

constexpr const char* kEpilogue = "d = relu(acc + row(bias))";

int fail(const std::string& problem) {
  std::fprintf(stderr, "library_host_cost: %s\n", problem.c_str());
  return 1;
}

double micros(Clock::time_point from) { return std::chrono::duration<double, std::micro>(Clock::now() - from).count(); }

// A folder that ends with the program.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gantry-host-cost-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Nothing is computed: any address does. Addresses of another `set` are as well aligned.
void* address(std::uintptr_t i, std::uintptr_t set) {
  return reinterpret_cast<void*>((i << 36) + (set << 20));  // NOLINT(performance-no-int-to-ptr)
}

GemmCall call_of(const GemmExtents& e, std::uintptr_t set = 0) {
  GemmCall out{.m = e.m, .n = e.n, .k = e.k, .a = address(1, set), .b = address(2, set), .d = address(3, set)};
  out.arguments = {{"bias", address(4, set)}};
  return out;
}

// Least and median of many rounds of some calls each, in µs for one call.
class Rounds {
 public:
  template <class Call>
  void add(const Call& call) {
    constexpr int kCalls = 200;
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call(i);
    values_.push_back(micros(start) / kCalls);
  }
  void add_value(double value) { values_.push_back(value); }

  double median() const { return at(values_.size() / 2); }
  double least() const { return at(0); }

 private:
  double at(std::size_t i) const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[i];
  }

  std::vector<double> values_;
};

// The stand-in's launch alone, with a cluster's attribute as the library's launches have.
class BareLaunch {
 public:
  explicit BareLaunch(const Context& context) : current_(context.device().shared_state()->context) {
    attribute_.id = runtime::LaunchAttribute::kClusterDimension;
    launch_.attributes = &attribute_;
    launch_.attribute_count = 1;
    (void)driver_.module_function(&function_, nullptr, "gantry_gemm");
  }

  void operator()(int) const { (void)driver_.launch(&launch_, function_, const_cast<void**>(arguments_), nullptr); }

 private:
  const runtime::Driver& driver_ = runtime::Driver::get();
  runtime::CurrentContext current_;
  runtime::LaunchAttribute attribute_{};
  runtime::DriverLaunch launch_{};
  void* function_ = nullptr;
  void* arguments_[1] = {nullptr};
};

// Sizes that were seen.
int seen(const Context& context, const GemmFunction& gemm, const GemmExtents& e, const char* what) {
  const GemmCall call = call_of(e);
  const GemmCall sets[] = {call_of(e, 1), call_of(e, 2), call_of(e, 3)};
  if (const Status ran = gemm.run(call); !ran) return fail(ran.describe());
  Rounds launches, runs, moved;
  bool all_ran = true;
  for (int round = 0; round < 300; ++round) {
    {
      const BareLaunch launch(context);
      launches.add(launch);
    }
    runs.add([&](int) { all_ran &= gemm.run(call).ok(); });
    moved.add([&](int i) { all_ran &= gemm.run(sets[i % 3]).ok(); });
  }
  if (!all_ran) return fail("a run of a size that was seen failed");
  std::printf("%s\n", what);
  std::printf("  the stand-in's launch alone    %6.3f us (least %.3f)\n", launches.median(), launches.least());
  std::printf("  run, the same addresses        %6.3f us (least %.3f)\n", runs.median(), runs.least());
  std::printf("  run, other addresses each time %6.3f us (least %.3f)\n", moved.median(), moved.least());
  std::printf("  beside the launch              %6.3f us\n",
              std::max(runs.median(), moved.median()) - launches.median());
  return 0;
}

// Sizes that were not, of kernels that are loaded.
int fresh(const GemmFunction& gemm) {
  std::vector<GemmExtents> sizes;
  for (int m = 8; m <= 1024; m += 8) sizes.push_back({m, 512, 1024});
  if (const Status warm = gemm.warm_up(sizes); !warm) return fail(warm.describe());
  Rounds all;
  for (const GemmExtents& e : sizes) {
    const GemmCall call = call_of(e);
    const auto start = Clock::now();
    if (const Status ran = gemm.run(call); !ran) return fail(ran.describe());
    all.add_value(micros(start));
  }
  std::printf("a new size of a loaded kernel    %6.2f us (least %.2f, %zu sizes)\n", all.median(), all.least(),
              sizes.size());
  return 0;
}

}  // namespace

int main() {
  const Folder folder;
  if (folder.path().empty()) return fail("no folder could be made for the cache");
  setenv("GANTRY_NVRTC", GANTRY_FAKE_COMPILER, 1);
  setenv("GANTRY_TUNING", (folder.path() + "/tuning").c_str(), 1);
  runtime::test::fake_gpu().keeps_launches = false;
  const Context context(
      {.policy = CompilePolicy::wait, .most_plans = 1000, .cache_directory = folder.path() + "/cache"});
  if (!context.status().ok()) return fail(context.status().describe());
  const auto gemm = context.gemm({.epilogue = kEpilogue});
  if (!gemm) return fail(gemm.error().describe());
  if (const int code = seen(context, *gemm, {4096, 4096, 4096}, "4096 x 4096 x 4096, no workspace"); code != 0)
    return code;
  if (const int code = seen(context, *gemm, {256, 256, 16384}, "256 x 256 x 16384, split-K"); code != 0) return code;
  return fresh(*gemm);
}
