// The choices of a recorded run, one after another. Where the record names a thread that is not ready, or has ended,
// the run has left the record: the longest waiting thread runs.
#include <algorithm>
#include <utility>

#include "policy.hpp"

namespace gantry::sim {
namespace {

class Replay final : public Policy {
 public:
  explicit Replay(std::vector<std::uint32_t> choices) : choices_(std::move(choices)) {}
  void ready(std::uint32_t slot) override { ready_.push_back(slot); }
  std::uint32_t choose() override {
    if (ready_.empty()) return kNobody;
    auto it = ready_.begin();
    if (at_ < choices_.size()) {
      const auto recorded = std::find(ready_.begin(), ready_.end(), choices_[at_]);
      if (recorded != ready_.end()) it = recorded;
      ++at_;
    }
    const std::uint32_t slot = *it;
    ready_.erase(it);
    return slot;
  }

 private:
  std::vector<std::uint32_t> choices_;
  std::vector<std::uint32_t> ready_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_replay(std::vector<std::uint32_t> choices) {
  return std::make_unique<Replay>(std::move(choices));
}

}  // namespace gantry::sim
