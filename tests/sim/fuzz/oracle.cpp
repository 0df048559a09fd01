// The graph: a node for each event, one for the end of each asynchronous operation, one for the completion of each
// phase of a barrier. Edges go forward in the log, so that the closure is built in one pass, as a row of bits for each
// node.
//
// An edge is narrow where it only tells that reads are over: an arrival of CTA scope on a barrier of another CTA.
#include "oracle.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gantry::fuzz {
namespace {

using Bits = std::vector<std::uint64_t>;

bool get(const Bits& bits, int at) {
  const auto word = static_cast<std::size_t>(at) / 64;
  return word < bits.size() && (bits[word] >> (at % 64) & 1) != 0;
}
void set(Bits& bits, int at) {
  const auto word = static_cast<std::size_t>(at) / 64;
  if (bits.size() <= word) bits.resize(word + 1);
  bits[word] |= std::uint64_t{1} << (at % 64);
}
void join(Bits& to, const Bits& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] |= from[i];
}

class Graph {
 public:
  int add() {
    before_.emplace_back();
    before_in_part_.emplace_back();
    return static_cast<int>(before_.size()) - 1;
  }
  void edge(int from, int to, bool narrow = false) {
    const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    if (!narrow) {
      join(before_[t], before_[f]);
      set(before_[t], from);
    }
    join(before_in_part_[t], before_in_part_[f]);
    set(before_in_part_[t], from);
  }
  bool before(int from, int to) const { return from == to || get(before_[static_cast<std::size_t>(to)], from); }
  // Reads, at least, are over.
  bool before_in_part(int from, int to) const {
    return from == to || get(before_in_part_[static_cast<std::size_t>(to)], from);
  }

 private:
  std::vector<Bits> before_, before_in_part_;
};

struct Access {
  int start = 0, end = 0;  // nodes
  int line = 0, agent = 0;
  int location = 0;
  std::uint32_t first = 0, last = 0;  // bytes
  bool write = false;
  bool asynchronous = false;  // not of the thread itself
  bool generic = true;        // an ordinary access, as far as proxies go
  bool needs_fence = false;   // through the async proxy
  bool strong = false;
  Scope scope = Scope::gpu;
  std::uint32_t size = 0;
};

// A write to a flag, and what whoever reads it learns: from which node on, within which scope.
struct Told {
  int node = 0;
  Scope scope = Scope::gpu;
  int cta = 0;
};
struct FlagWrite {
  std::vector<Told> told;
};

struct Phase {
  std::vector<std::pair<int, bool>> from;  // node, narrow
  int node = -1;                           // made when it is first waited for
};

struct Thread {
  int last = -1;                              // node
  std::vector<std::pair<int, Scope>> fences;  // that release: node, scope
  std::vector<Told> read;                     // by relaxed loads and waits, for a fence to acquire
  std::vector<std::pair<int, Scope>> sc_fences;
  // Operations of the group that is filling, and of those committed.
  std::vector<int> reads, writes, copies;
  std::vector<std::vector<int>> read_groups, write_groups, copy_groups;
};

class Oracle {
 public:
  Oracle(const Program& program, const Log& log)
      : program_(program), log_(log), threads_(static_cast<std::size_t>(program.agents())) {}

  std::set<Pair> judge() {
    for (const Event& event : log_) take(event);
    faults_.assign(accesses_.size(), std::vector<std::optional<Fault>>(accesses_.size()));
    std::set<Pair> pairs;
    for (std::size_t c = 0; c < accesses_.size(); ++c) {
      for (std::size_t a = c; a-- > 0;) {
        const std::optional<Fault> fault = fault_of(accesses_[a], accesses_[c]);
        if (!fault || overwritten_between(a, c)) continue;
        faults_[a][c] = fault;
        pairs.insert({accesses_[a].location, accesses_[a].line, accesses_[c].line, *fault});
      }
    }
    return pairs;
  }

 private:
  bool in_scope(Scope scope, int cta, int other) const {
    return cta == other || scope >= Scope::gpu || (scope == Scope::cluster && program_.cluster);
  }

  std::optional<Fault> fault_of(const Access& a, const Access& b) const {
    if (a.location != b.location || a.first >= b.last || b.first >= a.last || (!a.write && !b.write)) return {};
    if (a.agent == b.agent && !a.asynchronous && !b.asynchronous) return {};
    if (a.asynchronous && b.asynchronous && a.end == b.end) return {};
    if (may_pass(a, b)) return {};
    const bool over_is_enough = !a.write || (a.asynchronous && b.write);
    if (over_is_enough ? !graph_.before_in_part(a.end, b.start) : !graph_.before(a.end, b.start)) return Fault::race;
    if (a.generic && b.needs_fence && !fenced(a, b)) return Fault::proxy;
    return {};
  }

  // Whether every byte that the two share has been written in between, in order with both: nothing of the first is left
  // for the second to meet. So the end of a load that replaces another one is enough to read what it brought.
  bool overwritten_between(std::size_t a, std::size_t c) const {
    const Access &first = accesses_[a], &last = accesses_[c];
    for (std::uint32_t at = std::max(first.first, last.first); at < std::min(first.last, last.last); at += 4) {
      bool found = false;
      for (std::size_t w = a + 1; w < c && !found; ++w) {
        const Access& between = accesses_[w];
        found = between.write && between.location == first.location && between.first <= at && at < between.last &&
                in_order(a, w) && in_order(w, c);
      }
      if (!found) return false;
    }
    return true;
  }
  // Not by accesses that may pass each other.
  bool in_order(std::size_t a, std::size_t b) const { return !faults_[a][b] && !may_pass(accesses_[a], accesses_[b]); }
  bool may_pass(const Access& a, const Access& b) const {
    return a.strong && b.strong && a.asynchronous == b.asynchronous && a.size == b.size &&
           in_scope(std::min(a.scope, b.scope), Program::cta_of(a.agent), Program::cta_of(b.agent));
  }

  bool fenced(const Access& a, const Access& b) const {
    const bool shared = program_.locations[static_cast<std::size_t>(a.location)].shared();
    return std::any_of(proxy_fences_.begin(), proxy_fences_.end(), [&](const auto& fence) {
      const auto [node, step] = fence;
      return (step->all_spaces || step->shared_space == shared) && graph_.before_in_part(a.end, node) &&
             graph_.before_in_part(node, b.start);
    });
  }

  int next_node(int agent) {
    Thread& thread = threads_[static_cast<std::size_t>(agent)];
    const int node = graph_.add();
    if (thread.last >= 0) graph_.edge(thread.last, node);
    thread.last = node;
    return node;
  }

  Access made_by(const Event& event, int start, int end) const {
    const Step& step = program_.steps[static_cast<std::size_t>(event.step)];
    return {.start = start,
            .end = end,
            .line = line_of(event.step),
            .agent = event.agent,
            .location = step.location,
            .first = step.offset,
            .last = step.offset + step.bytes};
  }

  void take(const Event& event) {
    const Step& step = program_.steps[static_cast<std::size_t>(event.step)];
    const int node = next_node(event.agent);
    Thread& thread = threads_[static_cast<std::size_t>(event.agent)];
    switch (step.op) {
      case Op::load:
      case Op::store:
      case Op::update:
        if (step.semantics != Semantics::weak) take_strong(event, step, node);
        add_generic(event, step, node, step.op != Op::load);
        break;
      case Op::set_flag:
      case Op::join_flag:
      case Op::wait_flag:
        take_strong(event, step, node);
        add_generic(event, step, node, step.op != Op::wait_flag);
        break;
      case Op::fence:
        take_fence(thread, event, step, node);
        break;
      case Op::proxy_fence:
        proxy_fences_.emplace_back(node, &step);
        break;
      case Op::arrive:
        take_arrival(thread, event, step, node);
        break;
      case Op::wait:
        take_wait(thread, event, step);
        break;
      case Op::bulk_load:
      case Op::remote_store:
      case Op::bulk_store:
      case Op::bulk_reduce:
      case Op::cp_async:
        take_copy(thread, event, step, node);
        break;
      case Op::cp_arrive:
        for (const std::vector<int>& group : thread.copy_groups) arrive_for(group, step);
        arrive_for(thread.copies, step);
        break;
      case Op::commit:
        thread.read_groups.push_back(std::exchange(thread.reads, {}));
        thread.write_groups.push_back(std::exchange(thread.writes, {}));
        break;
      case Op::cp_commit:
        thread.copy_groups.push_back(std::exchange(thread.copies, {}));
        break;
      case Op::wait_group:
        wait_for(thread.read_groups, step.allowed, node);
        if (!step.read_only) wait_for(thread.write_groups, step.allowed, node);
        break;
      case Op::cp_wait:
        wait_for(thread.copy_groups, step.essential ? 0 : step.allowed, node);
        for (const int end : thread.copies) {
          if (step.essential) graph_.edge(end, node);
        }
        break;
      case Op::named_barrier:
      case Op::syncwarp:
      case Op::cluster_barrier:
        take_meeting(thread, event, step, node);
        break;
    }
  }

  void add_generic(const Event& event, const Step& step, int node, bool write) {
    Access access = made_by(event, node, node);
    access.write = write;
    access.strong = step.semantics != Semantics::weak;
    access.scope = step.scope;
    access.size = step.bytes;
    accesses_.push_back(access);
  }

  // What strong accesses of an address tell each other: a read learns of the last write, and of those that it updated.
  void take_strong(const Event& event, const Step& step, int node) {
    const int cta = Program::cta_of(event.agent);
    Thread& thread = threads_[static_cast<std::size_t>(event.agent)];
    const std::pair<int, std::uint32_t> address{step.location, step.offset};
    const bool reads = step.op != Op::store && step.op != Op::set_flag;
    const bool writes = step.op != Op::load && step.op != Op::wait_flag;
    const bool acquires = step.semantics == Semantics::acquire || step.semantics == Semantics::acq_rel;
    for (const Told& told : flags_[address].told) {
      if (!reads || !in_scope(std::min(told.scope, step.scope), told.cta, cta)) continue;
      if (acquires) {
        graph_.edge(told.node, node);
      } else {
        thread.read.push_back(told);
      }
    }
    if (!writes) return;
    FlagWrite& flag = flags_[address];
    if (!reads) flag = {};
    const bool releases = step.semantics == Semantics::release || step.semantics == Semantics::acq_rel;
    if (releases) {
      flag.told.push_back({node, step.scope, cta});
      return;
    }
    for (const auto& [fence, scope] : thread.fences) flag.told.push_back({fence, std::min(scope, step.scope), cta});
    for (const auto& [fence, scope] : thread.sc_fences) flag.told.push_back({fence, std::min(scope, step.scope), cta});
  }

  void take_fence(Thread& thread, const Event& event, const Step& step, int node) {
    if (step.semantics != Semantics::release) {
      for (const Told& told : thread.read) {
        if (in_scope(std::min(told.scope, step.scope), told.cta, Program::cta_of(event.agent)))
          graph_.edge(told.node, node);
      }
    }
    if (step.semantics == Semantics::acquire) return;
    thread.fences.emplace_back(node, step.scope);
    if (step.semantics == Semantics::sc && step.scope == Scope::gpu) thread.sc_fences.emplace_back(node, Scope::gpu);
  }

  Phase& phase_of(const Step& step) { return phases_[{step.barrier, step.phase}]; }

  void take_arrival(Thread& thread, const Event& event, const Step& step, int node) {
    const bool remote = program_.barriers[static_cast<std::size_t>(step.barrier)].cta != Program::cta_of(event.agent);
    Phase& phase = phase_of(step);
    if (step.semantics == Semantics::release) {
      phase.from.emplace_back(node, remote && step.scope == Scope::cta);
      return;
    }
    for (const auto& [fence, scope] : thread.fences) {
      if (!remote || scope >= Scope::cluster) phase.from.emplace_back(fence, false);
    }
  }

  void arrive_for(const std::vector<int>& ends, const Step& step) {
    for (const int end : ends) phase_of(step).from.emplace_back(end, false);
  }

  void take_wait(Thread& thread, const Event& event, const Step& step) {
    Phase& phase = phase_of(step);
    if (phase.node < 0) {
      phase.node = graph_.add();
      for (const auto& [from, narrow] : phase.from) graph_.edge(from, phase.node, narrow);
      // A copy that an earlier phase was completed by is over in every later one.
      if (step.phase > 0) {
        for (const int end : landed_[{step.barrier, step.phase - 1}]) {
          graph_.edge(end, phase.node);
          landed_[{step.barrier, step.phase}].push_back(end);
        }
      }
    }
    // The node of the phase comes after the wait's own: what it knows goes to a node behind it.
    const int behind = next_node(event.agent);
    if (step.semantics == Semantics::acquire) {
      graph_.edge(phase.node, behind);
    } else {
      thread.read.push_back({phase.node, Scope::gpu, Program::cta_of(event.agent)});
    }
  }

  void take_copy(Thread& thread, const Event& event, const Step& step, int node) {
    // That an operation has ended says nothing of what its thread did before it: no edge leads through it.
    const int end = graph_.add();
    Access shared = made_by(event, node, end), global = shared;
    global.location = step.other;
    shared.asynchronous = global.asynchronous = true;
    shared.generic = global.generic = step.op == Op::cp_async;
    shared.needs_fence = global.needs_fence = step.op != Op::cp_async && step.op != Op::remote_store;
    shared.write = step.op == Op::bulk_load || step.op == Op::cp_async || step.op == Op::remote_store;
    global.write = !shared.write;
    if (step.op == Op::bulk_reduce) global.strong = true, global.size = 4;
    if (step.op == Op::bulk_store || step.op == Op::bulk_reduce) {
      // Its source has been read before its result is there.
      const int written = graph_.add();
      global.end = written;
      thread.reads.push_back(end);
      thread.writes.push_back(written);
    } else if (step.op == Op::cp_async) {
      thread.copies.push_back(end);
    } else {
      phase_of(step).from.emplace_back(end, false);
      landed_[{step.barrier, step.phase}].push_back(end);
    }
    accesses_.push_back(shared);
    if (step.other >= 0) accesses_.push_back(global);
  }

  void wait_for(const std::vector<std::vector<int>>& groups, int allowed, int node) {
    for (std::size_t i = 0; i + static_cast<std::size_t>(allowed) < groups.size(); ++i) {
      for (const int end : groups[i]) graph_.edge(end, node);
    }
  }

  struct Meeting {
    std::vector<int> from;
    std::vector<std::pair<int, Scope>> sc_fences;
    int node = -1;
  };

  void take_meeting(Thread& thread, const Event& event, const Step& step, int node) {
    Meeting& meeting = meetings_[event.step];
    if (event.begins) {
      if (step.op != Op::cluster_barrier || step.semantics == Semantics::release) {
        meeting.from.push_back(node);
      } else {
        for (const auto& [fence, scope] : thread.fences) {
          if (scope >= Scope::cluster) meeting.from.push_back(fence);
        }
      }
      if (step.op == Op::named_barrier) {
        meeting.sc_fences.insert(meeting.sc_fences.end(), thread.sc_fences.begin(), thread.sc_fences.end());
      }
      return;
    }
    if (meeting.node < 0) {
      meeting.node = graph_.add();
      for (const int from : meeting.from) graph_.edge(from, meeting.node);
    }
    graph_.edge(meeting.node, next_node(event.agent));
    // fence.sc of all who meet counts for each of them: the PTX manual's Fence-SC order goes on by the barrier.
    thread.sc_fences.insert(thread.sc_fences.end(), meeting.sc_fences.begin(), meeting.sc_fences.end());
  }

  const Program& program_;
  const Log& log_;
  Graph graph_;
  std::vector<Thread> threads_;
  std::vector<Access> accesses_;
  std::vector<std::vector<std::optional<Fault>>> faults_;  // by earlier and later access
  std::vector<std::pair<int, const Step*>> proxy_fences_;
  std::map<std::pair<int, std::uint32_t>, FlagWrite> flags_;  // by location and offset
  std::map<std::pair<int, std::uint32_t>, Phase> phases_;     // by barrier and phase
  std::map<std::pair<int, std::uint32_t>, std::vector<int>> landed_;
  std::map<int, Meeting> meetings_;  // by step
};

}  // namespace

std::set<Pair> judge(const Program& program, const Log& log) { return Oracle(program, log).judge(); }

}  // namespace gantry::fuzz
