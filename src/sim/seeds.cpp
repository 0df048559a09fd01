#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gantry/arch/seeds.hpp>

namespace gantry {
namespace {

// What ends the search: a run that is not clean, or that threw.
struct End {
  int index = 0;  // of the seed
  Report report{};
  std::exception_ptr thrown{};
};

class Search {
 public:
  Search(const SimulatorOptions& options, const SeedRange& range,
         const std::function<Report(const SimulatorOptions&)>& run)
      : options_(options), range_(range), run_(run), first_bad_(range.seeds) {}

  // Seeds are taken in order, so that every one before the first bad one has been run by somebody.
  void work() {
    for (int index = next_++; index < range_.seeds && index < first_bad_; index = next_++) {
      End end{.index = index};
      try {
        SimulatorOptions options = options_;
        options.seed += static_cast<std::uint64_t>(index);
        end.report = run_(options);
      } catch (...) {
        end.thrown = std::current_exception();
      }
      keep(std::move(end));
    }
  }

  Report result() {
    if (end_->thrown) std::rethrow_exception(end_->thrown);
    return std::move(end_->report);
  }

 private:
  void keep(End end) {
    const std::lock_guard lock(mutex_);
    const bool bad = end.thrown || !end.report.clean();
    if (bad) first_bad_ = std::min<int>(first_bad_, end.index);
    const bool had_bad = end_ && (end_->thrown || !end_->report.clean());
    const bool better = !end_ || (bad != had_bad ? bad : bad ? end.index < end_->index : end.index > end_->index);
    if (better) end_ = std::move(end);
  }

  const SimulatorOptions& options_;
  const SeedRange& range_;
  const std::function<Report(const SimulatorOptions&)>& run_;
  std::atomic<int> next_{0}, first_bad_;
  std::mutex mutex_;
  std::optional<End> end_;
};

}  // namespace

Report run_seeds(const SimulatorOptions& options, const SeedRange& range,
                 const std::function<Report(const SimulatorOptions&)>& run) {
  Search search(options, range, run);
  std::vector<std::thread> others;
  for (int i = 1; i < std::min(range.jobs, range.seeds); ++i) others.emplace_back([&] { search.work(); });
  search.work();
  for (std::thread& other : others) other.join();
  return search.result();
}

}  // namespace gantry
