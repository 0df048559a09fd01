// Any of the ready threads, each as likely as the others; in runs of very many threads, neighbours first.
//
// Where more threads are resident than the host's caches hold, a thread that goes on finds its stack and its clocks in
// DRAM. So a large run stays in a neighbourhood of a CTA or two for a while. How long is drawn anew each time, from one
// step up, so that CTAs also take turns step by step.
#include <utility>

#include "policy.hpp"

namespace gantry::sim {
namespace {

constexpr std::uint32_t kNeighbours = 512;    // slots
constexpr std::uint32_t kFewSlots = 8192;     // one neighbourhood up to here
constexpr std::uint32_t kLongestStay = 4096;  // choices; a power of 2

class RandomChoice final : public Policy {
 public:
  explicit RandomChoice(std::uint64_t seed) : random_(seed) {}

  void ready(std::uint32_t slot) override {
    if (slot >= kFewSlots && !many_) split();
    place_of(slot).push_back(slot);
    ++count_;
  }
  std::uint32_t choose() override {
    if (count_ == 0) return kNobody;
    if (many_ && (stay_ == 0 || places_[here_].empty())) move_on();
    stay_ -= many_ ? 1 : 0;
    --count_;
    return take(places_[here_]);
  }

 private:
  using Place = std::vector<std::uint32_t>;

  std::uint32_t take(Place& place) {
    const std::uint32_t i = random_.below(static_cast<std::uint32_t>(place.size()));
    const std::uint32_t slot = place[i];
    place[i] = place.back();
    place.pop_back();
    return slot;
  }
  Place& place_of(std::uint32_t slot) {
    const std::size_t place = many_ ? slot / kNeighbours : 0;
    if (place >= places_.size()) places_.resize(place + 1);
    return places_[place];
  }
  void split() {
    many_ = true;
    const Place all = std::exchange(places_, {Place{}})[0];
    for (const std::uint32_t slot : all) place_of(slot).push_back(slot);
  }
  // Requires: somebody is ready.
  void move_on() {
    do {
      here_ = random_.below(static_cast<std::uint32_t>(places_.size()));
    } while (places_[here_].empty());
    std::uint32_t most = 1;
    while (most < kLongestStay && random_.below(8) != 0) most *= 2;
    stay_ = 1 + random_.below(most);
  }

  Random random_;
  std::vector<Place> places_ = std::vector<Place>(1);
  std::uint32_t count_ = 0;  // ready
  bool many_ = false;
  std::uint32_t here_ = 0, stay_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_random(std::uint64_t seed) { return std::make_unique<RandomChoice>(seed); }

}  // namespace gantry::sim
