// Who runs next. A policy keeps the threads that can run and chooses one of them each time the machine asks.
//
// Threads are numbered by slot: a resident CTA's place and the thread's rank. A policy is deterministic: the same seed
// and the same calls give the same choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::sim {

inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};
// A choice from here on is an asynchronous operation: the oldest in flight, the one after it, and so on.
inline constexpr std::uint32_t kOperation = std::uint32_t{1} << 31;

class Policy {
 public:
  virtual ~Policy() = default;
  virtual void ready(std::uint32_t slot) = 0;  // `slot` can run; it was not ready before
  // The thread that is made ready next is about to look at, or to change, a word by which threads synchronise.
  virtual void approaches(std::uint32_t /*slot*/, std::uint64_t /*word*/) {}
  virtual std::uint32_t choose() = 0;            // takes one out, or returns kNobody
  virtual void grow(std::uint32_t /*slots*/) {}  // there are that many slots from now on
  // So many asynchronous operations are in flight; told before each choice to policies that choose among them too.
  virtual void operations(std::size_t /*pending*/) {}
};

// xorshift64*: small, fast, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) {
    if (state_ == 0) state_ = 1;
  }
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1D;
  }
  // Always 0: for searches that leave nothing to chance.
  static Random none() {
    Random random(0);
    random.state_ = 0;
    return random;
  }
  // Uniform in [0, bound). Requires bound > 0.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }

 private:
  std::uint64_t state_;
};

std::unique_ptr<Policy> make_round_robin();
std::unique_ptr<Policy> make_random(std::uint64_t seed);
std::unique_ptr<Policy> make_pct(std::uint64_t seed, std::uint32_t slots, int depth, std::uint64_t expected_steps);
std::unique_ptr<Policy> make_directed(std::uint64_t seed);
std::unique_ptr<Policy> make_replay(std::vector<std::uint32_t> choices);

}  // namespace gantry::sim
