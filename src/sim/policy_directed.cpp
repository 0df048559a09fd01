// Active testing: schedules directed at what is not yet ordered.
//
// Two threads that are about to look at, or change, the same word of synchronisation are not ordered: either may come
// first, and what they see decides what they do. So a thread that comes to such a word is held back half of the time,
// until another one comes to the same word, and then one of the two goes first, drawn anew each time; the others run on
// meanwhile. A check that another thread invalidates before it is acted on is found within a few seeds, however far
// apart the two are in time. A word that only one thread has come to so far is its own, and holds it twice at
// most.
#include <algorithm>
#include <unordered_map>

#include "policy.hpp"

namespace gantry::sim {
namespace {

class Directed final : public Policy {
 public:
  explicit Directed(std::uint64_t seed) : random_(seed) {}

  void approaches(std::uint32_t slot, std::uint64_t word) override {
    coming_ = slot;
    word_ = word;
  }

  void ready(std::uint32_t slot) override {
    if (slot != coming_) {
      ready_.push_back(slot);
      return;
    }
    coming_ = kNobody;
    Word& word = words_.try_emplace(word_, Word{.visitor = slot}).first->second;
    if (word.visitor != slot) word.visitor = kNobody;
    const bool own = word.visitor == slot && ++word.visits > 2;
    const bool waits = !own && random_.below(2) == 0;
    if (waits && word.held != kNobody) let_go(word.held);
    waits ? hold(slot) : ready_.push_back(slot);
  }

  std::uint32_t choose() override {
    // Now and then without need: somebody may run on for ever until the one that is held goes on.
    if (!held_.empty() && (ready_.empty() || random_.below(4096) == 0)) {
      let_go(held_[random_.below(static_cast<std::uint32_t>(held_.size()))].slot);
    }
    if (ready_.empty()) return kNobody;
    std::swap(ready_[random_.below(static_cast<std::uint32_t>(ready_.size()))], ready_.back());
    const std::uint32_t slot = ready_.back();
    ready_.pop_back();
    return slot;
  }

 private:
  // Addresses differ from run to run: words are compared, and never ordered.
  struct Word {
    std::uint32_t visitor;         // the only one so far, or nobody
    std::uint32_t visits = 0;      // of that one
    std::uint32_t held = kNobody;  // one thread at most
  };
  struct Held {
    std::uint32_t slot;
    std::uint64_t word;
  };

  void hold(std::uint32_t slot) {
    words_.at(word_).held = slot;
    held_.push_back({slot, word_});
  }
  void let_go(std::uint32_t slot) {
    const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.slot == slot; });
    words_.at(found->word).held = kNobody;
    *found = held_.back();
    held_.pop_back();
    ready_.push_back(slot);
  }

  Random random_;
  std::vector<std::uint32_t> ready_;
  std::vector<Held> held_;
  std::unordered_map<std::uint64_t, Word> words_;
  std::uint32_t coming_ = kNobody;  // about to be ready at `word_`
  std::uint64_t word_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_directed(std::uint64_t seed) { return std::make_unique<Directed>(seed); }

}  // namespace gantry::sim
