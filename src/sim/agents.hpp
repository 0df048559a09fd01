// Asynchronous operations under way. Each is due at some step of the run, drawn by the latency policy; when its time
// comes, or when no thread can run, it takes one more step, until it is finished.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include <gantry/arch/simulator.hpp>

#include "policy.hpp"

namespace gantry::sim {

class Agent {
 public:
  virtual ~Agent() = default;
  virtual bool step(Random& random) = 0;  // true: finished
};

class Agents {
 public:
  Agents(Latency latency, std::uint64_t seed) : latency_(latency), random_(seed ^ 0xA5A5A5A5) {}
  // Operations take effect when they are chosen, each step as a whole.
  Agents() : chosen_(true), random_(Random::none()) {}
  ~Agents();
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  void start(std::unique_ptr<Agent> agent, std::uint64_t now);
  bool empty() const { return queue_.empty(); }
  bool due(std::uint64_t now) const { return !queue_.empty() && queue_.top().due <= now; }
  void run_one(std::uint64_t now);

  std::size_t size() const { return queue_.size(); }
  void run_chosen(std::size_t index);  // in the order of their issue. Requires index < size().

 private:
  static constexpr std::uint64_t kLate = 1 << 16;  // in steps: long after everybody has blocked
  struct Waiting {
    std::uint64_t due, order;
    Agent* agent;
    bool operator<(const Waiting& other) const { return due != other.due ? due > other.due : order > other.order; }
  };
  std::uint64_t delay(Latency latency);
  Latency drawn();
  void push(Agent* agent, std::uint64_t now, bool first);

  bool chosen_ = false;
  Latency latency_ = Latency::late;
  Random random_;
  std::uint64_t order_ = 0;
  std::priority_queue<Waiting> queue_;
};

}  // namespace gantry::sim
