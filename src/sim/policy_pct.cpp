// Probabilistic concurrency testing: threads have random priorities and the highest that is ready runs; at a few random
// steps the running thread falls to the bottom. A bug that needs d ordering constraints is found with probability at
// least 1 / (n k^(d-1)) in a run of n threads and k steps.
#include <algorithm>
#include <bit>
#include <numeric>

#include "policy.hpp"

namespace gantry::sim {
namespace {

class Pct final : public Policy {
 public:
  Pct(std::uint64_t seed, std::uint32_t slots, int depth, std::uint64_t expected_steps)
      : random_(seed), rank_of_(slots), slot_at_(slots + static_cast<std::uint32_t>(depth), kNobody) {
    std::vector<std::uint32_t> order(slots);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint32_t i = slots; i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    const auto low = static_cast<std::uint32_t>(depth);
    for (std::uint32_t i = 0; i < slots; ++i) place(order[i], low + i);
    for (int i = 1; i < depth; ++i) change_at_.push_back(random_.next() % (expected_steps + 1));
    std::sort(change_at_.begin(), change_at_.end());
    make_room();
  }

  void ready(std::uint32_t slot) override {
    const std::uint32_t rank = rank_of_[slot];
    ready_[rank / 64] |= bit(rank);
    words_[rank / 4096] |= bit(rank / 64);
  }

  // Those who come later are above those who are there, in a random order among themselves.
  void grow(std::uint32_t slots) override {
    std::vector<std::uint32_t> added(slots - rank_of_.size());
    std::iota(added.begin(), added.end(), static_cast<std::uint32_t>(rank_of_.size()));
    for (std::size_t i = added.size(); i > 1; --i) {
      std::swap(added[i - 1], added[random_.below(static_cast<std::uint32_t>(i))]);
    }
    rank_of_.resize(slots);
    for (const std::uint32_t slot : added) {
      slot_at_.push_back(kNobody);
      place(slot, static_cast<std::uint32_t>(slot_at_.size() - 1));
    }
    make_room();
  }

  std::uint32_t choose() override {
    std::uint32_t rank = highest();
    if (rank == kNobody) return kNobody;
    if (changes_ < change_at_.size() && step_ >= change_at_[changes_]) {
      const std::uint32_t slot = slot_at_[rank];
      clear(rank);
      slot_at_[rank] = kNobody;
      place(slot, static_cast<std::uint32_t>(change_at_.size() - changes_));
      ++changes_;
      ready(slot);
      rank = highest();
    }
    ++step_;
    clear(rank);
    return slot_at_[rank];
  }

 private:
  static std::uint64_t bit(std::uint32_t rank) { return std::uint64_t{1} << (rank % 64); }
  void make_room() {
    ready_.resize(slot_at_.size() / 64 + 1);
    words_.resize(ready_.size() / 64 + 1);
  }
  void clear(std::uint32_t rank) {
    ready_[rank / 64] &= ~bit(rank);
    if (ready_[rank / 64] == 0) words_[rank / 4096] &= ~bit(rank / 64);
  }
  static std::size_t last_bit(std::uint64_t word) { return 63 - static_cast<std::size_t>(std::countl_zero(word)); }
  void place(std::uint32_t slot, std::uint32_t rank) {
    rank_of_[slot] = rank;
    slot_at_[rank] = slot;
  }
  std::uint32_t highest() const {
    for (std::size_t i = words_.size(); i-- > 0;) {
      if (words_[i] == 0) continue;
      const std::size_t word = i * 64 + last_bit(words_[i]);
      return static_cast<std::uint32_t>(word * 64 + last_bit(ready_[word]));
    }
    return kNobody;
  }

  Random random_;
  std::vector<std::uint32_t> rank_of_;  // by slot
  std::vector<std::uint32_t> slot_at_;  // by rank; ranks below depth are for threads that fell
  std::vector<std::uint64_t> ready_;    // bits by rank
  std::vector<std::uint64_t> words_;    // bits by word of ready_: whether any of its bits is set
  std::vector<std::uint64_t> change_at_;
  std::size_t changes_ = 0;
  std::uint64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_pct(std::uint64_t seed, std::uint32_t slots, int depth, std::uint64_t expected_steps) {
  return std::make_unique<Pct>(seed, slots, std::max(depth, 1), expected_steps);
}

}  // namespace gantry::sim
