// How a thread of a random program tells another one what it knows: by flags, mbarriers, named barriers, the cluster
// barrier, with each semantic and scope that is enough for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "program.hpp"

namespace gantry::fuzz {

// A program under construction.
class Handover {
 protected:
  explicit Handover(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool often(std::uint32_t percent) { return below(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  int cta_of(int agent) const { return Program::cta_of(agent); }
  bool near(int a, int b) const { return cta_of(a) == cta_of(b) || program_.cluster; }
  int any_agent() { return static_cast<int>(below(static_cast<std::size_t>(program_.agents()))); }
  int other_than(int agent) {
    const int other = static_cast<int>(below(static_cast<std::size_t>(program_.agents()) - 1));
    return other >= agent ? other + 1 : other;
  }
  int agent_in(int cta) { return cta * kAgentsPerCta + static_cast<int>(below(kAgentsPerCta)); }

  int add_location(int cta) {
    program_.locations.push_back({cta});
    return static_cast<int>(program_.locations.size()) - 1;
  }
  int add_barrier(int cta, std::uint32_t count) {
    program_.barriers.push_back({cta, count});
    return static_cast<int>(program_.barriers.size()) - 1;
  }
  Step& add(const Step& step) {
    program_.steps.push_back(step);
    return program_.steps.back();
  }

  // The narrowest scope that reaches from the one to the other, or a wider one.
  Scope scope_for(int a, int b) {
    const Scope least = cta_of(a) == cta_of(b) ? Scope::cta : program_.cluster ? Scope::cluster : Scope::gpu;
    const auto wider = below(static_cast<std::size_t>(Scope::gpu) - static_cast<std::size_t>(least) + 1);
    return static_cast<Scope>(static_cast<std::uint32_t>(least) + wider);
  }
  Scope scope_of_all() {
    return program_.ctas == 1 ? one_of({Scope::cta, Scope::gpu})
           : program_.cluster ? one_of({Scope::cluster, Scope::gpu})
                              : Scope::gpu;
  }

  void wait(int agent, int barrier, std::uint32_t phase) {
    if (often(15)) {
      add({.op = Op::wait,
           .agent = agent,
           .semantics = Semantics::relaxed,
           .scope = Scope::cluster,
           .barrier = barrier,
           .phase = phase});
      add({.op = Op::fence, .agent = agent, .semantics = Semantics::acq_rel, .scope = Scope::cluster});
    } else {
      add({.op = Op::wait,
           .agent = agent,
           .semantics = Semantics::acquire,
           .scope = Scope::cta,
           .barrier = barrier,
           .phase = phase});
    }
  }

  // What `from` knows, `to` knows afterwards.
  void tell(int from, int to) {
    const std::uint32_t choice = below(100);
    if (choice < 12 && cta_of(from) == cta_of(to)) {
      meet_in_cta(from, to);
    } else if (choice < 16 && program_.cluster) {
      meet_in_cluster();
    } else if (choice < 50 && near(from, to)) {
      tell_by_mbarrier({from}, to);
    } else {
      tell_by_flag({from}, to);
    }
  }

  void meet_in_cta(int from, int to) {
    const std::uint32_t warps = 1u << Program::warp_of(from) | 1u << Program::warp_of(to);
    if (Program::warp_of(from) == Program::warp_of(to)) {
      add({.op = Op::syncwarp, .warps = warps});
    } else if (named_ < 15) {
      add({.op = Op::named_barrier, .warps = warps, .value = ++named_});
    } else {
      tell_by_mbarrier({from}, to);
    }
  }

  void meet_in_cluster() {
    const bool fences = often(30);
    for (int agent = 0; fences && agent < program_.agents(); ++agent) {
      add({.op = Op::fence, .agent = agent, .semantics = Semantics::acq_rel, .scope = Scope::cluster});
    }
    add({.op = Op::cluster_barrier,
         .warps = (1u << (program_.ctas * kWarps)) - 1,
         .semantics = fences ? Semantics::relaxed : Semantics::release});
  }

  void tell_by_mbarrier(const std::vector<int>& from, int to) {
    const int barrier = add_barrier(cta_of(to), static_cast<std::uint32_t>(from.size()));
    for (const int agent : from) {
      const bool remote = cta_of(agent) != cta_of(to), fences = often(25);
      const Scope scope = remote ? Scope::cluster : Scope::cta;
      if (fences)
        add({.op = Op::fence,
             .agent = agent,
             .semantics = one_of({Semantics::acq_rel, Semantics::sc}),
             .scope = scope});
      add({.op = Op::arrive,
           .agent = agent,
           .semantics = fences ? Semantics::relaxed : Semantics::release,
           .scope = scope,
           .barrier = barrier});
    }
    wait(to, barrier, 0);
  }

  void tell_by_flag(const std::vector<int>& from, int to) {
    bool local = true;
    for (const int agent : from) local = local && near(agent, to);
    const int flag = add_location(local && often(30) ? cta_of(to) : -1);
    const bool joined = from.size() > 1 || often(40), acquire_by_fence = often(35);
    Scope scope_to = Scope::cta;
    std::uint32_t value = 0;
    for (const int agent : from) {
      const std::uint32_t bit = value + 1;
      value |= bit;
      const bool fences = often(35);
      const Scope scope = scope_for(agent, to);
      scope_to = std::max(scope_to, std::max(scope, scope_for(agent, to)));
      if (fences) {
        add({.op = Op::fence,
             .agent = agent,
             .semantics = one_of({Semantics::acq_rel, Semantics::sc, Semantics::release}),
             .scope = scope_for(agent, to)});
      }
      add({.op = joined ? Op::join_flag : Op::set_flag,
           .agent = agent,
           .location = flag,
           .bytes = 4,
           .value = bit,
           .semantics = fences ? Semantics::relaxed
                               : one_of({Semantics::release, joined ? Semantics::acq_rel : Semantics::release}),
           .scope = std::max(scope, joined && from.size() > 1 ? scope_of_all() : scope)});
    }
    if (from.size() > 1) scope_to = std::max(scope_to, scope_of_all());
    add({.op = Op::wait_flag,
         .agent = to,
         .location = flag,
         .bytes = 4,
         .value = value,
         .semantics = acquire_by_fence ? Semantics::relaxed : Semantics::acquire,
         .scope = scope_to});
    if (acquire_by_fence) {
      add({.op = Op::fence,
           .agent = to,
           .semantics = one_of({Semantics::acq_rel, Semantics::acquire, Semantics::sc}),
           .scope = scope_to});
    }
  }

  void gather(const std::vector<int>& from, int to) {
    std::vector<int> others;
    bool local = true;
    for (const int agent : from) {
      if (agent == to) continue;
      others.push_back(agent);
      local = local && near(agent, to);
    }
    if (others.empty()) return;
    local&& often(50) ? tell_by_mbarrier(others, to) : tell_by_flag(others, to);
  }

  Program program_;

 private:
  std::mt19937_64 random_;
  std::uint32_t named_ = 0;  // named barriers in use, each once
};

}  // namespace gantry::fuzz
