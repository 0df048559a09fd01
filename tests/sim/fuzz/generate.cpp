// Random programs. Each object has an owner, the one thread that knows of everything that was done to it; only the
// owner accesses it, waits for the end of what it started, and hands it on. What others do in between (readers, updates
// that may pass each other, a ring of two) is gathered by the next owner.
#include <algorithm>
#include <utility>

#include "handover.hpp"
#include "program.hpp"

namespace gantry::fuzz {
namespace {

struct Object {
  int location = 0;
  int owner = 0;
  bool unfenced = false;  // ordinary accesses since the last proxy fence that the owner knows of
};

class Generator : private Handover {
 public:
  explicit Generator(std::uint64_t seed) : Handover(seed * 2 + 1) {}

  Program generate() {
    const std::uint32_t shape = below(4);
    program_.ctas = shape == 0 ? 1 : 2;
    program_.cluster = shape >= 2;
    for (std::uint32_t i = 0, count = 2 + below(3); i < count; ++i) add_object();
    for (std::uint32_t i = 0, count = 6 + below(9); i < count; ++i) act(objects_[below(objects_.size())]);
    finish();
    return std::move(program_);
  }

 private:
  // One that can touch the object, and another than its owner where there is one.
  int next_owner(const Object& object) {
    const int agent = other_than(object.owner);
    return can_touch(object, agent) ? agent : agent_in(place(object).cta);
  }

  void add_object() {
    const int owner = any_agent();
    objects_.push_back({add_location(often(65) ? cta_of(owner) : -1), owner});
  }
  bool is_shared(const Object& object) const { return place(object).shared(); }
  const Location& place(const Object& object) const {
    return program_.locations[static_cast<std::size_t>(object.location)];
  }

  void fence_proxy(int agent, const Object& object) {
    add({.op = Op::proxy_fence, .agent = agent, .shared_space = is_shared(object), .all_spaces = often(30)});
  }

  void act(Object& object) {
    const std::uint32_t choice = below(100);
    if (choice < 30) {
      access(object);
      if (often(70)) hand_over(object, next_owner(object));
    } else if (choice < 60) {
      hand_over(object, next_owner(object));
      access(object);
    } else if (choice < 85) {
      fan_out(object);
    } else {
      ring(object);
    }
  }

  // Accesses of the owner, each waited for.
  void access(Object& object) {
    if (!is_shared(object)) return access_global(object);
    if (place(object).cta != cta_of(object.owner)) return access_remote(object);
    switch (below(7)) {
      case 0:
        return store_out(object, object.owner, Op::bulk_store);
      case 1:
        return store_out(object, object.owner, Op::bulk_reduce);
      case 2:
        return load_in(object);
      case 3:
        return copy_in(object);
      default:
        return generic(object, object.owner, true);
    }
  }

  void access_remote(Object& object) {
    switch (below(5)) {
      case 0:
        return load_in(object);
      case 1:
        return send(object);
      default:
        return generic(object, object.owner, true);
    }
  }

  void access_global(Object& object) {
    switch (below(7)) {
      case 0:
        return store_into(object, object.owner, Op::bulk_store);
      case 1:
        return store_into(object, object.owner, Op::bulk_reduce);
      case 2:
        return load_from(object, object.owner);
      case 3:
        return copy_from(object, object.owner);
      default:
        return generic(object, object.owner, true);
    }
  }

  void generic(Object& object, int agent, bool may_write) {
    const std::uint32_t bytes = one_of({4u, 4u, 8u, 16u});
    Step step{.op = may_write ? one_of({Op::load, Op::store, Op::store, Op::update}) : Op::load,
              .agent = agent,
              .location = object.location,
              .offset = below(kBytes / bytes) * bytes,
              .bytes = bytes,
              .scope = one_of({Scope::cta, Scope::cluster, Scope::gpu})};
    if (step.op == Op::update || often(25)) {
      step.semantics = Semantics::relaxed;
      if (step.op == Op::update || step.bytes > 8) step.bytes = 4;
    }
    add(step);
    object.unfenced = true;
  }

  struct Range {
    std::uint32_t offset, bytes;
  };
  Range any_range() {
    const std::uint32_t first = below(4), last = first + 1 + below(4 - first);
    return {16 * first, 16 * (last - first)};
  }
  Step copy(Op op, int agent, int shared, int global, const Range& range) {
    return {
        .op = op, .agent = agent, .location = shared, .other = global, .offset = range.offset, .bytes = range.bytes};
  }

  void fence_before_async(Object& object, int agent) {
    if (!object.unfenced) return;
    fence_proxy(agent, object);
    object.unfenced = false;
  }

  // The wait for a group leaves one that came after it pending, now and then.
  void end_group(int agent, bool read_only) {
    add({.op = Op::commit, .agent = agent});
    const bool another = often(30);
    if (another) {
      add(copy(Op::bulk_store, agent, add_location(cta_of(agent)), add_location(-1), {0, 16}));
      add({.op = Op::commit, .agent = agent});
    }
    add({.op = Op::wait_group, .agent = agent, .read_only = read_only, .allowed = another ? 1 : 0});
  }
  void end_copies(int agent) {
    add({.op = Op::cp_commit, .agent = agent});
    const bool another = often(30);
    if (another) {
      add(copy(Op::cp_async, agent, add_location(cta_of(agent)), add_location(-1), {0, 16}));
      add({.op = Op::cp_commit, .agent = agent});
    }
    add({.op = Op::cp_wait, .agent = agent, .allowed = another ? 1 : 0});
  }

  // Out of the shared object, or into the global one.
  void store_out(Object& object, int agent, Op op) {
    fence_before_async(object, agent);
    add(copy(op, agent, object.location, add_location(-1), any_range()));
    end_group(agent, often(70));
  }
  void store_into(Object& object, int agent, Op op) {
    fence_before_async(object, agent);
    add(copy(op, agent, add_location(cta_of(agent)), object.location, any_range()));
    end_group(agent, false);
  }

  // Into the shared object: whoever waits on the barrier is the owner.
  void load_in(Object& object) {
    fence_before_async(object, object.owner);
    const Range range = any_range();
    const int cta = place(object).cta, barrier = add_barrier(cta, 1);
    const bool remote = cta != cta_of(object.owner);
    add({.op = Op::arrive,
         .agent = object.owner,
         .bytes = range.bytes,
         .semantics = Semantics::release,
         .scope = remote ? Scope::cluster : Scope::cta,
         .barrier = barrier});
    Step step = copy(Op::bulk_load, object.owner, object.location, add_location(-1), range);
    step.barrier = barrier;
    add(step);
    if (remote || often(60)) object.owner = agent_in(cta);
    wait(object.owner, barrier, 0);
  }

  void load_from(const Object& object, int agent) {
    if (object.unfenced) fence_proxy(agent, object);
    const Range range = any_range();
    const int barrier = add_barrier(cta_of(agent), 1);
    add({.op = Op::arrive,
         .agent = agent,
         .bytes = range.bytes,
         .semantics = Semantics::release,
         .scope = Scope::cta,
         .barrier = barrier});
    Step step = copy(Op::bulk_load, agent, add_location(cta_of(agent)), object.location, range);
    step.barrier = barrier;
    add(step);
    wait(agent, barrier, 0);
  }

  // A group of its own in front of what is waited for, now and then.
  void copy_something(int agent) {
    if (!often(40)) return;
    add(copy(Op::cp_async, agent, add_location(cta_of(agent)), add_location(-1), {0, 16}));
    add({.op = Op::cp_commit, .agent = agent});
  }

  void copy_in(Object& object) {
    const int agent = object.owner;
    copy_something(agent);
    add(copy(Op::cp_async, agent, object.location, add_location(-1), any_range()));
    object.unfenced = true;
    if (often(50)) return end_copies(agent);
    const int barrier = add_barrier(cta_of(agent), 2);
    add({.op = Op::cp_arrive, .agent = agent, .barrier = barrier});
    add({.op = Op::arrive, .agent = agent, .semantics = Semantics::release, .scope = Scope::cta, .barrier = barrier});
    object.owner = agent_in(cta_of(agent));
    wait(object.owner, barrier, 0);
  }
  void copy_from(Object& object, int agent) {
    copy_something(agent);
    add(copy(Op::cp_async, agent, add_location(cta_of(agent)), object.location, any_range()));
    end_copies(agent);
    object.unfenced = true;
  }

  // st.async to the peer: one that lives there expects it, knows what the sender knew, and takes the object.
  void send(Object& object) {
    const int cta = place(object).cta, barrier = add_barrier(cta, 2), receiver = agent_in(cta);
    add({.op = Op::arrive,
         .agent = receiver,
         .bytes = 4,
         .semantics = Semantics::release,
         .scope = Scope::cta,
         .barrier = barrier});
    add({.op = Op::remote_store,
         .agent = object.owner,
         .location = object.location,
         .offset = 4 * below(16),
         .bytes = 4,
         .barrier = barrier});
    add({.op = Op::arrive,
         .agent = object.owner,
         .semantics = Semantics::release,
         .scope = Scope::cluster,
         .barrier = barrier});
    object.owner = receiver;
    wait(receiver, barrier, 0);
  }

  void hand_over(Object& object, int to) {
    if (object.unfenced && often(50)) {
      fence_proxy(object.owner, object);
      object.unfenced = false;
    }
    tell(object.owner, to);
    object.owner = to;
  }

  // Several read, or update by accesses that may pass each other; the next owner gathers what they know.
  void fan_out(Object& object) {
    std::vector<int> agents;
    for (std::uint32_t i = 0, count = 2 + below(2); i < count; ++i) {
      const int agent = any_agent();
      if (std::find(agents.begin(), agents.end(), agent) == agents.end() && can_touch(object, agent))
        agents.push_back(agent);
    }
    if (agents.empty()) return;
    for (const int agent : agents) {
      if (agent != object.owner) tell(object.owner, agent);
    }
    const bool updates = often(40), reductions = updates && !is_shared(object) && often(40);
    bool unfenced = object.unfenced;
    for (const int agent : agents) {
      Object seen{object.location, agent, object.unfenced};
      if (reductions) {
        store_into(seen, agent, Op::bulk_reduce);
        // The next owner may know of one that has not fenced what was there before: it has, by its own.
        unfenced = unfenced && seen.unfenced;
      } else if (updates) {
        update(seen, agent);
        unfenced = true;
      } else {
        read(seen, agent);
        if (seen.unfenced && often(40)) {
          fence_proxy(agent, seen);
          seen.unfenced = false;
        }
        unfenced = unfenced || seen.unfenced;
      }
    }
    object.unfenced = unfenced;
    const int next = next_owner(object);
    gather(agents, next);
    object.owner = next;
  }

  bool can_touch(const Object& object, int agent) const {
    return !is_shared(object) || place(object).cta == cta_of(agent) || program_.cluster;
  }

  void update(Object& object, int agent) {
    const Scope scope = scope_of_all();
    for (std::uint32_t i = 0, count = 1 + below(2); i < count; ++i) {
      add({.op = one_of({Op::update, Op::update, Op::load}),
           .agent = agent,
           .location = object.location,
           .offset = 4 * below(4),
           .bytes = 4,
           .semantics = Semantics::relaxed,
           .scope = scope});
    }
    object.unfenced = true;
  }

  void read(Object& object, int agent) {
    const std::uint32_t choice = below(3);
    if (is_shared(object) && place(object).cta == cta_of(agent) && choice == 0)
      return store_out(object, agent, Op::bulk_store);
    if (!is_shared(object) && choice == 0) return load_from(object, agent);
    if (!is_shared(object) && choice == 1) return copy_from(object, agent);
    generic(object, agent, false);
  }

  // A producer loads a slot several times, a consumer in the slot's CTA reads it and says that it is free.
  void ring(Object& object) {
    if (!is_shared(object)) return access(object);
    const int producer = object.owner, cta = place(object).cta;
    const int consumer = agent_in(cta);
    if (consumer == producer) return access(object);
    const bool remote = cta_of(producer) != cta;
    fence_before_async(object, producer);
    const int full = add_barrier(cta, 1), empty = add_barrier(cta_of(producer), 1);
    const std::uint32_t rounds = 2 + below(3);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (round > 0) wait(producer, empty, round - 1);
      const Range range = any_range();
      add({.op = Op::arrive,
           .agent = producer,
           .bytes = range.bytes,
           .semantics = Semantics::release,
           .scope = remote ? Scope::cluster : Scope::cta,
           .barrier = full,
           .phase = round});
      Step step = copy(Op::bulk_load, producer, object.location, add_location(-1), range);
      step.barrier = full;
      step.phase = round;
      add(step);
      wait(consumer, full, round);
      object.unfenced = false;
      read(object, consumer);
      if (round + 1 == rounds) break;
      fence_before_async(object, consumer);
      // That reads are over is told by an arrival of any scope.
      add({.op = Op::arrive,
           .agent = consumer,
           .semantics = Semantics::release,
           .scope = one_of({Scope::cta, Scope::cluster}),
           .barrier = empty,
           .phase = round});
    }
    object.owner = consumer;
  }

  void finish() {
    for (int agent = 0; agent < program_.agents(); ++agent) {
      add({.op = Op::wait_group, .agent = agent, .essential = true});
      add({.op = Op::cp_wait, .agent = agent, .essential = true});
    }
    if (program_.cluster) {
      add({.op = Op::cluster_barrier,
           .warps = (1u << (program_.ctas * kWarps)) - 1,
           .semantics = Semantics::release,
           .essential = true});
    }
  }

  std::vector<Object> objects_;
};

}  // namespace

Program generate(std::uint64_t seed) { return Generator(seed).generate(); }

}  // namespace gantry::fuzz
