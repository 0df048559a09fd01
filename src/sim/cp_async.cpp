#include "cp_async.hpp"

#include <cstring>
#include <utility>

#include <gantry/arch/detail/machine_cp_async.hpp>

#include "grid.hpp"
#include "issue.hpp"
#include "memory.hpp"

namespace gantry::sim {
namespace {

ThreadCopies& copies_of(Thread& thread) {
  if (!thread.copies) {
    thread.copies = std::make_unique<ThreadCopies>();
    thread.copies->actor = thread.cta->add_actor(thread.rank);
  }
  return *thread.copies;
}

// Everything up to `finished` is written: arrivals that waited for it are made.
void arrive_if_written(ThreadCopies& copies) {
  while (!copies.arrivals.empty() && copies.arrivals.front().after <= copies.finished) {
    const ThreadCopies::Arrival arrival = copies.arrivals.front();
    copies.arrivals.pop_front();
    arrive_for_copies(*arrival.barrier, copies.actor, arrival.after, arrival.site);
  }
}

class CpAsyncAgent final : public Agent {
 public:
  CpAsyncAgent(Thread& thread, const CpAsync& copy, Epoch number) : thread_(thread), copy_(copy), number_(number) {
    ++thread_.cta->in_flight;
  }
  bool step(Random&) override {
    auto* to = static_cast<std::byte*>(grid().launches().data(copy_.destination));
    if (copy_.source_bytes > 0) std::memcpy(to, copy_.source, copy_.source_bytes);
    std::memset(to + copy_.source_bytes, 0, copy_.bytes - copy_.source_bytes);
    ThreadCopies& copies = *thread_.copies;
    copies.done[number_ - copies.finished - 1] = true;
    while (!copies.done.empty() && copies.done.front()) {
      copies.done.pop_front();
      ++copies.finished;
    }
    arrive_if_written(copies);
    --thread_.cta->in_flight;
    if (copies.blocked) grid().wake(thread_);
    grid().changed();
    return true;
  }

 private:
  Thread& thread_;
  CpAsync copy_;
  Epoch number_;
};

void check(const Thread& thread, const CpAsync& copy, SiteId site) {
  const View* view = &thread.view;
  const ThreadCopies& copies = *thread.copies;
  Checker& checker = grid().checker();
  const std::uint32_t number =
      checker.add_op({.actor = copies.actor, .epoch = copies.issued, .issuer = view->self, .site = site, .to = kNoCta});
  Accessor accessor{.record = {.who = number, .site = site, .kind = AccessKind::cp_async, .write = true},
                    .views = &view,
                    .view_count = 1};
  Cta& cta = *thread.cta;
  const auto address = static_cast<std::uint32_t>(static_cast<std::byte*>(copy.destination) - cta.visible);
  checker.shared(cta, address, copy.bytes, accessor);
  accessor.record.write = false;
  if (copy.source_bytes > 0) {
    checker.global(reinterpret_cast<std::uint64_t>(copy.source), copy.source_bytes, accessor);
  }
}

// The whole size decides on the alignment, and the bytes that are taken on the extent. Requires: there are some.
bool source_legal(const CpAsync& copy, SiteId site) {
  if (!copy.source) fault("illegal-address", site, "A cp.async was given a null address.");
  if (!aligned_access(copy.source, copy.bytes, site) || !is_global(copy.source, site)) return false;
  return grid().global_memory().check_extent(reinterpret_cast<std::uint64_t>(copy.source), copy.source_bytes, site);
}

// Blocks until the copies up to `last` are written, and lets the thread know.
void wait_for(Thread& thread, Epoch last, SiteId site) {
  ThreadCopies& copies = *thread.copies;
  while (copies.finished < last) {
    copies.blocked = true;
    grid().block({.site = site});
    copies.blocked = false;
  }
  if (!grid().checking() || thread.view.at(copies.actor).seen >= last) return;
  ClockBuilder builder;
  builder.raise(copies.actor, {.seen = last});
  thread.view.base = joined(thread.view.base, builder.freeze());
}

}  // namespace

void cp_async(const CpAsync& copy, Site site) {
  const Call call = enter_call(site, Operation::cp_async);
  if (copy.source_bytes > copy.bytes) {
    accuse("cp-async-size", call.site,
           "cp.async of " + std::to_string(copy.bytes) + " bytes was told to take " +
               std::to_string(copy.source_bytes) + " of its source: at most " + std::to_string(copy.bytes) + ".");
    return;
  }
  if (!legal(copy.destination, copy.bytes, Space::shared, call.site)) return;
  if (copy.source_bytes > 0 && !source_legal(copy, call.site)) return;
  Thread& thread = self();
  ThreadCopies& copies = copies_of(thread);
  ++copies.issued;
  copies.done.push_back(false);
  if (grid().checking()) check(thread, copy, call.site);
  grid().flags().forget(reinterpret_cast<std::uint64_t>(copy.destination), copy.bytes);
  grid().agents().start(std::make_unique<CpAsyncAgent>(thread, copy, copies.issued), grid().step());
}

void cp_async_commit_group(Site site) {
  const Call call = enter_call(site, Operation::cp_async_commit_group);
  if (call.dropped()) return;
  ThreadCopies& copies = copies_of(self());
  copies.group_end.push_back(copies.issued);
}

void cp_async_wait_group(int allowed, Site site) {
  const Call call = enter_call(site, Operation::cp_async_wait_group);
  if (call.dropped()) return;
  const std::vector<Epoch>& ends = copies_of(self()).group_end;
  if (ends.size() <= static_cast<std::size_t>(allowed)) return;
  wait_for(self(), ends[ends.size() - static_cast<std::size_t>(allowed) - 1], call.site);
}

void cp_async_wait_all(Site site) {
  const Call call = enter_call(site, Operation::cp_async_wait_group);
  if (!call.dropped()) wait_for(self(), copies_of(self()).issued, call.site);
}

void cp_async_mbarrier_arrive(std::uint64_t* pointer, bool expected, Site site) {
  const Call call = enter_call(site, Operation::cp_async_mbarrier_arrive);
  if (call.dropped()) return;
  grid().yield();
  Thread& thread = self();
  Mbarrier* barrier = usable_mbarrier(pointer, call.site);
  if (!barrier) return;
  if (barrier->cta != thread.cta) {
    accuse("mbarrier-placement", call.site,
           "cp.async.mbarrier.arrive was given " + grid().names().describe_mbarrier(pointer) +
               ": it arrives on a barrier of its own CTA.");
    return;
  }
  if (expected) ++barrier->pending;
  ThreadCopies& copies = copies_of(thread);
  copies.arrivals.push_back({.barrier = barrier, .after = copies.issued, .site = call.site});
  arrive_if_written(copies);
}

}  // namespace gantry::sim
