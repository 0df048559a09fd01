// First come, first served.
#include <deque>

#include "policy.hpp"

namespace gantry::sim {
namespace {

class RoundRobin final : public Policy {
 public:
  void ready(std::uint32_t slot) override { queue_.push_back(slot); }
  std::uint32_t choose() override {
    if (queue_.empty()) return kNobody;
    const std::uint32_t slot = queue_.front();
    queue_.pop_front();
    return slot;
  }

 private:
  std::deque<std::uint32_t> queue_;
};

}  // namespace

std::unique_ptr<Policy> make_round_robin() { return std::make_unique<RoundRobin>(); }

}  // namespace gantry::sim
