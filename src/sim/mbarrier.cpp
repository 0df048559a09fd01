#include "mbarrier.hpp"

#include <algorithm>
#include <utility>

#include "grid.hpp"

namespace gantry::sim {
namespace {

constexpr std::int64_t kMaxCount = (1 << 20) - 1;

std::string barrier_name(const void* barrier) { return grid().names().describe_mbarrier(barrier); }

bool well_placed(const void* barrier, SiteId site) {
  Cta* cta = grid().shared_owner(barrier);
  if (!cta) {
    accuse("mbarrier-placement", site, "An mbarrier at address " + address_text(barrier) + " is not in shared memory.");
    return false;
  }
  if (reinterpret_cast<std::uintptr_t>(barrier) % 8 != 0) {
    accuse("mbarrier-placement", site, barrier_name(barrier) + " is not aligned to 8 bytes.");
    return false;
  }
  const auto offset = static_cast<const std::byte*>(barrier) - cta->visible - kSharedBase;
  if (offset >= 0 && offset + 8 <= std::ptrdiff_t{cta->shared_bytes}) return true;
  accuse("shared-out-of-range", site,
         "An mbarrier at offset " + std::to_string(offset) + " lies outside of the " +
             std::to_string(cta->shared_bytes) + " bytes of shared memory of " + grid().cta_text(cta->index) + ".");
  return false;
}

// What an arrival tells those who wait for the phase. One of a scope that does not reach them tells that the thread's
// reads are over, and nothing of its writes.
void tell(Mbarrier& barrier, Thread& thread, Semantics semantics, Scope scope) {
  if (!grid().checking()) return;
  const bool local = barrier.cta == thread.cta;
  if (semantics == Semantics::relaxed) {
    barrier.clock.join(fenced_for(thread, local ? Scope::cta : Scope::cluster));
    return;
  }
  if (local || scope != Scope::cta) {
    release_into(barrier.clock, thread);
    return;
  }
  Cta& cta = *thread.cta;
  if (cta.narrow_before != thread.view.base || !cta.narrow_after) {
    cta.narrow_before = thread.view.base;
    cta.narrow_after = reads_only(thread.view.base);
  }
  barrier.clock.join(cta.narrow_after);
  Entry own = thread.view.own;
  own.passed = own.reads_over();
  own.seen = 0;
  barrier.clock.raise(thread.view.self, own);
  advance(thread.view);
}

void complain_over_arrival(const Mbarrier& barrier, const std::string& who, SiteId site) {
  complain("mbarrier-over-arrival", site,
           who + " arrived on " + barrier_name(barrier.cta->visible + barrier.offset) +
               ", which was not waiting for any more arrivals: it was initialised for " +
               std::to_string(barrier.expected) + " in each phase.");
}

void try_complete(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.tx != 0) return;
  ++barrier.phase;
  if (Grid& g = grid(); g.trace()) {
    g.trace()->instant(
        barrier.cta->index, Trace::kBarriers,
        barrier_name(barrier.cta->visible + barrier.offset) + " completes phase " + std::to_string(barrier.phase - 1),
        g.step());
  }
  barrier.pending = barrier.expected;
  barrier.expected_bytes = barrier.received_bytes = 0;
  barrier.clock.raise(barrier.actor, {.seen = static_cast<Epoch>(barrier.phase)});
  barrier.done = Published(barrier.clock.freeze());
  for (Thread* thread : std::exchange(barrier.waiters, {})) grid().wake(*thread);
  grid().changed(barrier.cta->visible + barrier.offset, sizeof(std::uint64_t));
}

void expect(Mbarrier& barrier, std::uint32_t bytes, SiteId site) {
  barrier.tx += bytes;
  barrier.expected_bytes += bytes;
  if (barrier.tx > kMaxCount) {
    accuse("mbarrier-tx-overflow", site,
           barrier_name(barrier.cta->visible + barrier.offset) + " was told to expect " + std::to_string(barrier.tx) +
               " bytes in one phase; it counts up to 1048575.");
  }
}

// A token names its barrier and the phase it was got in: pending count, phase, and where the barrier lies.
constexpr int kPendingBits = 20, kPhaseBits = 26;
constexpr std::uint64_t kPhaseMask = (std::uint64_t{1} << kPhaseBits) - 1;

std::uint64_t place_of(const Mbarrier& barrier) { return std::uint64_t{barrier.offset / 8} + 1; }
std::uint64_t place_in(std::uint64_t token) { return token >> (kPendingBits + kPhaseBits); }
std::uint64_t phase_in(std::uint64_t token) { return token >> kPendingBits & kPhaseMask; }

std::uint64_t token_of(const Mbarrier& barrier) {
  return place_of(barrier) << (kPendingBits + kPhaseBits) | (barrier.phase & kPhaseMask) << kPendingBits |
         barrier.pending;
}

bool complete(const Mbarrier& barrier, const Wait& wait, std::uint32_t parity) {
  return wait.by_parity ? (barrier.phase & 1) != parity : (barrier.phase & kPhaseMask) != phase_in(wait.state);
}

// A token is good for the barrier that gave it.
void check_token(const Mbarrier& barrier, const Wait& wait, SiteId site) {
  if (wait.by_parity || place_in(wait.state) == place_of(barrier)) return;
  complain("mbarrier-token", site,
           grid().checker().describe(self().view.self) + " waited on " + barrier_name(wait.barrier) +
               " with a token of another barrier" + (place_in(wait.state) == 0 ? ", or with none." : "."));
}

// try_wait sleeps until the phase completes or its time is up. How long that is, is anybody's guess: a few steps, or as
// long as anything goes on.
void sleep(const Mbarrier& barrier, const Wait& wait, std::uint32_t parity, SiteId site) {
  constexpr int kLong = 4;
  const int patience = grid().tries();
  if (patience >= kLong && !complete(barrier, wait, parity)) {
    grid().poll({.site = site, .object = wait.barrier, .parity = parity});
  }
  for (int step = 0; patience < kLong && step < patience && !complete(barrier, wait, parity); ++step) grid().yield();
}

// Whether ordinary writes over the barrier are reported.
void mark_live(const Mbarrier& barrier, bool live) {
  if (!grid().checking()) return;
  Cell& cell = barrier.cta->cells[barrier.offset / kChunk];
  const auto bit = static_cast<std::uint8_t>(1 << barrier.offset % kChunk / 8);
  cell.barriers = static_cast<std::uint8_t>(live ? cell.barriers | bit : cell.barriers & ~bit);
}

void note_use(Mbarrier& barrier, const Thread& thread, SiteId site) {
  if (!grid().checking() || barrier.cta != thread.cta) return;
  if (barrier.last_uses.empty()) barrier.last_uses.resize(thread.cta->threads.size());
  barrier.last_uses[thread.rank] = {.epoch = thread.view.own.seen, .site = site};
}

// Whoever invalidates a barrier knows that all others, and the copies that are credited to it, are done with it.
void check_unused(const Mbarrier& barrier, SiteId site) {
  if (!grid().checking()) return;
  const View& view = self().view;
  const std::string name = barrier_name(barrier.cta->visible + barrier.offset);
  if (barrier.tx != 0 || view.at(barrier.actor).seen < barrier.last_credit) {
    accuse("mbarrier-invalidated-early", site,
           name + " was invalidated, and nothing orders that after the end of the copies that are credited to it.");
  }
  for (std::uint32_t rank = 0; rank < barrier.last_uses.size(); ++rank) {
    const Mbarrier::Use& use = barrier.last_uses[rank];
    const Actor user = barrier.cta->threads[rank].view.self;
    if (use.epoch == 0 || view.at(user).reads_over() >= use.epoch) continue;
    accuse("mbarrier-invalidated-early", site,
           name + " was invalidated, and nothing orders that after its use by " + grid().checker().describe(user) +
               " at " + grid().sites().text(use.site) + ".");
    return;
  }
}

}  // namespace

Mbarrier* usable_mbarrier(const void* pointer, SiteId site) {
  if (!well_placed(pointer, site)) return nullptr;
  Mbarrier* barrier = find_mbarrier(pointer);
  if (!barrier || !barrier->live) {
    accuse("mbarrier-uninitialised", site, barrier_name(pointer) + " was used before mbarrier.init.");
    return nullptr;
  }
  const Thread& thread = self();
  if (barrier->cta->alive == 0) {
    accuse("cluster-peer-gone", site,
           barrier_name(pointer) + " belongs to " + grid().cta_text(barrier->cta->index) +
               " of the cluster, whose threads have all returned.");
  }
  if (grid().checking() && !knows_init(thread, *barrier)) {
    complain("mbarrier-init-race", site,
             barrier_name(pointer) + " was used by " + grid().checker().describe(thread.view.self) +
                 ", and no barrier orders that after its mbarrier.init.");
  }
  if (barrier->cta != thread.cta && !barrier->published) {
    accuse("mbarrier-init-unfenced", site,
           barrier_name(pointer) +
               " was used from another CTA, and its mbarrier.init was not followed by "
               "fence.mbarrier_init.");
  }
  note_use(*barrier, thread, site);
  return barrier;
}

Mbarrier* find_mbarrier(const void* pointer) {
  Cta* cta = grid().shared_owner(pointer);
  if (!cta) return nullptr;
  const auto offset = static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - cta->visible);
  const auto it = cta->mbarriers.find(offset);
  return it == cta->mbarriers.end() ? nullptr : &it->second;
}

bool knows_init(const Thread& thread, const Mbarrier& barrier) {
  if (thread.view.at(barrier.initialiser).seen >= barrier.init_epoch) return true;
  return barrier.published && thread.cluster_waited >= barrier.publish_round;
}

void credit(Mbarrier& barrier, std::uint32_t bytes) {
  barrier.tx -= bytes;
  barrier.received_bytes += bytes;
  try_complete(barrier);
}

void arrive_for_copies(Mbarrier& barrier, Actor copies, Epoch last, SiteId site) {
  barrier.clock.raise(copies, {.seen = last});
  if (barrier.pending == 0) {
    complain_over_arrival(barrier, "cp.async.mbarrier.arrive", site);
    return;
  }
  --barrier.pending;
  try_complete(barrier);
}

void mbarrier_init(std::uint64_t* pointer, std::uint32_t count, Site site) {
  const Call call = enter_call(site, Operation::mbarrier_init);
  if (call.dropped() || !well_placed(pointer, call.site)) return;
  Thread& thread = self();
  Cta* cta = grid().shared_owner(pointer);
  const auto offset = static_cast<std::uint32_t>(reinterpret_cast<std::byte*>(pointer) - cta->visible);
  Mbarrier& barrier = cta->mbarriers[offset];
  if (barrier.live) {
    accuse("mbarrier-reinitialised", call.site,
           barrier_name(pointer) + " was initialised again while it was in use: mbarrier.inval comes first.");
    mark_live(barrier, false);
  }
  if (count == 0 || count > kMaxCount) {
    accuse("mbarrier-count", call.site,
           barrier_name(pointer) + " was initialised with a count of " + std::to_string(count) +
               "; it is from 1 to 1048575.");
    count = 1;
  }
  if (grid().checking()) grid().checker().thread_access(thread, pointer, 8, {.write = true}, call.site);
  const Actor actor = barrier.cta ? barrier.actor : cta->add_actor(~0u);
  const std::uint64_t phase = barrier.cta ? (barrier.phase + 2) & ~std::uint64_t{1} : 0;
  barrier = Mbarrier{};
  barrier.live = true;
  barrier.expected = barrier.pending = count;
  barrier.phase = phase;  // even, so that the parity starts at 0 and the actor's epochs never repeat
  barrier.actor = actor;
  barrier.cta = cta;
  barrier.offset = offset;
  barrier.initialiser = thread.view.self;
  barrier.init_epoch = thread.view.own.seen;
  mark_live(barrier, true);
}

void mbarrier_inval(std::uint64_t* pointer, Site site) {
  const Call call = enter_call(site, Operation::mbarrier_inval);
  Mbarrier* barrier = call.dropped() ? nullptr : usable_mbarrier(pointer, call.site);
  if (!barrier) return;
  check_unused(*barrier, call.site);
  barrier->live = false;
  mark_live(*barrier, false);
}

std::uint64_t mbarrier_arrive(const Arrive& arrive, Site site) {
  const Call call =
      enter_call(site, arrive.expects ? Operation::mbarrier_arrive_expect_tx : Operation::mbarrier_arrive);
  if (call.dropped()) return 0;
  grid().yield_at(arrive.barrier);
  Mbarrier* barrier = usable_mbarrier(arrive.barrier, call.site);
  if (!barrier) return 0;
  Thread& thread = self();
  const std::uint64_t state = token_of(*barrier);
  if (arrive.expects) {
    std::uint32_t bytes = arrive.bytes;
    if (call.mutation == MutationKind::more_bytes) bytes += 16;
    if (call.mutation == MutationKind::fewer_bytes) bytes -= std::min(bytes, 16u);
    expect(*barrier, bytes, call.site);
  }
  note_remote_arrival(*barrier, call.site);
  if (call.mutation != MutationKind::relax) tell(*barrier, thread, arrive.semantics, arrive.scope);
  if (barrier->pending < arrive.count) {
    complain_over_arrival(*barrier, grid().checker().describe(thread.view.self), call.site);
    return state;
  }
  barrier->pending -= arrive.count;
  if (arrive.drop) barrier->expected -= arrive.count;
  if (arrive.no_complete && barrier->pending == 0 && barrier->tx == 0) {
    accuse("mbarrier-no-complete", call.site,
           "mbarrier.arrive.noComplete completed the phase of " + barrier_name(arrive.barrier) + ".");
  }
  try_complete(*barrier);
  return state;
}

void mbarrier_expect_tx(std::uint64_t* pointer, std::uint32_t bytes, Space, Site site) {
  const Call call = enter_call(site, Operation::mbarrier_expect_tx);
  if (call.dropped()) return;
  if (call.mutation == MutationKind::more_bytes) bytes += 16;
  if (call.mutation == MutationKind::fewer_bytes) bytes -= std::min(bytes, 16u);
  if (Mbarrier* barrier = usable_mbarrier(pointer, call.site)) {
    expect(*barrier, bytes, call.site);
    try_complete(*barrier);
  }
}

void mbarrier_complete_tx(std::uint64_t* pointer, std::uint32_t bytes, Site site) {
  const Call call = enter_call(site, Operation::mbarrier_complete_tx);
  if (call.dropped()) return;
  if (Mbarrier* barrier = usable_mbarrier(pointer, call.site)) credit(*barrier, bytes);
}

std::uint32_t mbarrier_pending_count(std::uint64_t state) {
  return static_cast<std::uint32_t>(state & ((1u << kPendingBits) - 1));
}

bool mbarrier_wait(const Wait& wait, Site site) {
  const Call call = enter_call(site, Operation::mbarrier_wait);
  if (call.dropped()) return true;
  Grid& g = grid();
  Thread& thread = self();
  std::uint32_t parity = wait.parity & 1;
  if (call.mutation == MutationKind::flip_parity) parity ^= 1;
  if (wait.kind != WaitKind::block) {
    g.poll_point({.site = call.site, .object = wait.barrier, .parity = parity});
  } else {
    g.yield();
  }
  Mbarrier* barrier = usable_mbarrier(wait.barrier, call.site);
  if (!barrier) {
    // A barrier that does not exist never completes.
    if (wait.kind == WaitKind::block) g.block({.site = call.site, .object = wait.barrier, .parity = parity});
    return false;
  }
  if (barrier->cta != thread.cta) {
    complain("mbarrier-remote-wait", call.site,
             g.checker().describe(thread.view.self) + " waited on " + barrier_name(wait.barrier) +
                 ": a thread waits on barriers of its own CTA.");
  }
  check_token(*barrier, wait, call.site);
  const std::uint64_t entered = barrier->phase;
  if (wait.kind == WaitKind::attempt) sleep(*barrier, wait, parity, call.site);
  while (!complete(*barrier, wait, parity)) {
    if (wait.kind != WaitKind::block) return false;
    barrier->waiters.push_back(&thread);
    g.block({.site = call.site, .object = wait.barrier, .parity = parity});
    if (wait.by_parity && barrier->phase >= entered + 2) {
      complain("mbarrier-phase-overrun", call.site,
               barrier_name(wait.barrier) + " completed two phases while " + g.checker().describe(thread.view.self) +
                   " waited for the first: the parity it waits for has come round again.");
    }
  }
  barrier->last_wait = std::max(barrier->last_wait, barrier->phase);
  thread.saw_progress();
  if (call.mutation == MutationKind::relax) return true;
  if (wait.semantics == Semantics::acquire) {
    barrier->done.acquire(thread.view);
  } else if (barrier->done.clock()) {
    thread.unfenced_reads.push_back({.scope = wait.scope, .cta = thread.cta->index, .clock = barrier->done.clock()});
  }
  return true;
}

}  // namespace gantry::sim
