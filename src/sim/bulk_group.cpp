#include "bulk_group.hpp"

#include <algorithm>

#include "grid.hpp"

namespace gantry::sim {

BulkGroups& bulk_groups(Thread& thread) {
  if (!thread.bulk) {
    thread.bulk = std::make_unique<BulkGroups>();
    thread.bulk->read_actor = thread.cta->add_actor(thread.rank);
    thread.bulk->write_actor = thread.cta->add_actor(thread.rank);
  }
  return *thread.bulk;
}

void check_groups_at_exit(Thread& thread) {
  if (!thread.bulk) return;
  Grid& g = grid();
  const BulkGroups& groups = *thread.bulk;
  for (Epoch number = groups.waited_read + 1; number < groups.first + groups.groups.size(); ++number) {
    if (number < groups.first) continue;
    const BulkGroups::Group& group = groups.groups[number - groups.first];
    if (!group.used) continue;
    g.findings().add(
        "exit-with-copies-in-flight", group.site, 0,
        g.checker().describe(thread.view.self) + " returned while the store that it issued at " +
            g.sites().text(group.site) +
            " was not known to have been read out of shared memory: end with cp.async.bulk.wait_group.read 0 in the "
            "issuing thread.");
    return;
  }
}

void bulk_commit_group(Site site) {
  const Call call = enter_call(site, Operation::bulk_commit_group);
  if (call.dropped()) return;
  BulkGroups& groups = bulk_groups(self());
  ++groups.committed;
  groups.groups.emplace_back();
}

void bulk_wait_group(int allowed, bool read_only, Site site) {
  const Call call = enter_call(site, read_only ? Operation::bulk_wait_group_read : Operation::bulk_wait_group);
  if (call.dropped()) return;
  Thread& thread = self();
  BulkGroups& groups = bulk_groups(thread);
  if (groups.committed <= static_cast<Epoch>(allowed)) return;
  const Epoch target = groups.committed - static_cast<Epoch>(allowed);
  const auto pending = [&] {
    for (Epoch number = groups.first; number <= target; ++number) {
      const BulkGroups::Group& group = groups.group(number);
      if (group.unread > 0 || (!read_only && group.unwritten > 0)) return true;
    }
    return false;
  };
  while (pending()) {
    groups.blocked = true;
    grid().block({.site = call.site});
    groups.blocked = false;
  }
  while (groups.first <= target && groups.groups.size() > 1 && groups.groups.front().unread == 0 &&
         groups.groups.front().unwritten == 0) {
    groups.groups.pop_front();
    ++groups.first;
  }
  groups.waited_read = std::max(groups.waited_read, target);
  ClockBuilder builder;
  builder.raise(groups.read_actor, {.seen = target});
  if (!read_only) builder.raise(groups.write_actor, {.seen = target});
  thread.view.base = joined(thread.view.base, builder.freeze());
}

}  // namespace gantry::sim
