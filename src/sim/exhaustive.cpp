#include <algorithm>
#include <set>
#include <utility>

#include <gantry/arch/exhaustive.hpp>

#include "explorer.hpp"

namespace gantry {
namespace sim {

thread_local Explorer* current_explorer = nullptr;

std::uint32_t Explorer::choose(std::uint32_t choices) {
  const std::size_t point = choices_.size();
  choices_.push_back(choices);
  if (next_ == preemptions_.size() || preemptions_[next_].point != point) return 0;
  return std::min(preemptions_[next_++].choice, choices - 1);
}

namespace {

// The running thread goes on as long as it can; then the next one by slot. Behind the threads come operations in
// flight, in the order of their issue.
class Exploring final : public Policy {
 public:
  explicit Exploring(Explorer& explorer) : explorer_(explorer) {}

  void ready(std::uint32_t slot) override { ready_.insert(slot); }
  void operations(std::size_t pending) override { pending_ = static_cast<std::uint32_t>(pending); }

  std::uint32_t choose() override {
    const auto threads = static_cast<std::uint32_t>(ready_.size());
    if (threads + pending_ == 0) return kNobody;
    std::uint32_t choice = threads + pending_ == 1 ? 0 : explorer_.choose(threads + pending_);
    if (choice >= threads) return kOperation + (choice - threads);
    auto slot = ready_.lower_bound(last_);
    for (; choice > 0; --choice) slot = after(slot);
    if (slot == ready_.end()) slot = ready_.begin();
    last_ = *slot;
    ready_.erase(slot);
    return last_;
  }

 private:
  std::set<std::uint32_t>::iterator after(std::set<std::uint32_t>::iterator slot) {
    if (slot == ready_.end()) slot = ready_.begin();
    return ++slot;
  }

  Explorer& explorer_;
  std::set<std::uint32_t> ready_;
  std::uint32_t pending_ = 0, last_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_exploring(Explorer& explorer) { return std::make_unique<Exploring>(explorer); }

}  // namespace sim

namespace {

struct Current {
  explicit Current(sim::Explorer& explorer) { sim::current_explorer = &explorer; }
  ~Current() { sim::current_explorer = nullptr; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

class Search {
 public:
  Search(const SimulatorOptions& options, const ExploreOptions& bounds,
         const std::function<Report(const SimulatorOptions&)>& run)
      : options_(options), bounds_(bounds), run_(run) {}

  ExploreReport all() {
    found_.preemptions = bounds_.preemptions;
    found_.all = visit(0);
    return std::move(found_);
  }

 private:
  // The schedule with these preemptions, and all with more of them behind the last. False: stopped on the way.
  bool visit(std::size_t from) {
    if (found_.schedules == bounds_.max_schedules) return false;
    sim::Explorer explorer(preemptions_);
    {
      const Current current(explorer);
      found_.report = run_(options_);
    }
    ++found_.schedules;
    if (!found_.report.clean()) return false;
    if (preemptions_.size() == static_cast<std::size_t>(std::max(bounds_.preemptions, 0))) return true;
    for (std::size_t point = from; point < explorer.choices().size(); ++point) {
      for (std::uint32_t choice = 1; choice < explorer.choices()[point]; ++choice) {
        preemptions_.push_back({point, choice});
        const bool went_on = visit(point + 1);
        preemptions_.pop_back();
        if (!went_on) return false;
      }
    }
    return true;
  }

  const SimulatorOptions& options_;
  const ExploreOptions& bounds_;
  const std::function<Report(const SimulatorOptions&)>& run_;
  std::vector<sim::Preemption> preemptions_;
  ExploreReport found_;
};

}  // namespace

ExploreReport explore(const SimulatorOptions& options, const ExploreOptions& bounds,
                      const std::function<Report(const SimulatorOptions&)>& run) {
  return Search(options, bounds, run).all();
}

std::string ExploreReport::text() const {
  const std::string bound =
      " with at most " + std::to_string(preemptions) + (preemptions == 1 ? " preemption" : " preemptions");
  const std::string count = std::to_string(schedules) + (schedules == 1 ? " schedule" : " schedules");
  if (clean()) return "all " + count + bound + ": clean\n";
  if (report.clean()) return "the first " + count + bound + ": clean; there are more\n";
  return report.text() + "found in schedule " + std::to_string(schedules) + bound + "\n";
}

}  // namespace gantry
