// Any of the ready threads, each as likely as the others.
#include "policy.hpp"

namespace gantry::sim {
namespace {

class RandomChoice final : public Policy {
 public:
  explicit RandomChoice(std::uint64_t seed) : random_(seed) {}
  void ready(std::uint32_t slot) override { ready_.push_back(slot); }
  std::uint32_t choose() override {
    if (ready_.empty()) return kNobody;
    const std::uint32_t i = random_.below(static_cast<std::uint32_t>(ready_.size()));
    const std::uint32_t slot = ready_[i];
    ready_[i] = ready_.back();
    ready_.pop_back();
    return slot;
  }

 private:
  Random random_;
  std::vector<std::uint32_t> ready_;
};

}  // namespace

std::unique_ptr<Policy> make_random(std::uint64_t seed) { return std::make_unique<RandomChoice>(seed); }

}  // namespace gantry::sim
