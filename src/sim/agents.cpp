#include "agents.hpp"

namespace gantry::sim {

Agents::~Agents() {
  while (!queue_.empty()) {
    delete queue_.top().agent;
    queue_.pop();
  }
}

void Agents::start(std::unique_ptr<Agent> agent, std::uint64_t now) { push(agent.release(), now, true); }

void Agents::run_one(std::uint64_t now) {
  std::unique_ptr<Agent> agent(queue_.top().agent);
  queue_.pop();
  if (!agent->step(random_)) push(agent.release(), now, false);
}

Latency Agents::drawn() {
  if (latency_ != Latency::mixed) return latency_;
  constexpr Latency kinds[] = {Latency::eager, Latency::random, Latency::random, Latency::late};
  return kinds[random_.below(4)];
}

std::uint64_t Agents::delay(Latency latency) {
  switch (latency) {
    case Latency::eager:
      return 0;
    case Latency::late:
      return kLate + random_.below(64);
    default:
      return random_.below(1u << random_.below(12));
  }
}

void Agents::push(Agent* agent, std::uint64_t now, bool first) {
  if (chosen_) {
    queue_.push({~std::uint64_t{0}, order_++, agent});
    return;
  }
  const std::uint64_t wait = first ? delay(drawn()) : random_.below(16);
  queue_.push({now + wait, order_++, agent});
}

void Agents::run_chosen(std::size_t index) {
  std::vector<Waiting> before;
  for (; index > 0; --index) {
    before.push_back(queue_.top());
    queue_.pop();
  }
  const Waiting chosen = queue_.top();
  queue_.pop();
  for (const Waiting& waiting : before) queue_.push(waiting);
  // An operation of several steps keeps its place.
  std::unique_ptr<Agent> agent(chosen.agent);
  if (!agent->step(random_)) queue_.push({chosen.due, chosen.order, agent.release()});
}

}  // namespace gantry::sim
