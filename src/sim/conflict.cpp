#include "conflict.hpp"

namespace gantry::sim {
namespace {

// The rule that `later` breaks against `earlier`, given that the two are unordered.
Told unordered_rule(const Record& earlier, const Record& later, bool global) {
  using enum AccessKind;
  if (earlier.kind == load) {
    return {"tma-data-early", "wait for the phase of the copy's mbarrier first"};
  }
  if (earlier.kind == bulk_read) {
    return {"store-source-reused",
            "the thread that committed the group must wait with cp.async.bulk.wait_group.read, and a barrier must "
            "carry that to the writer"};
  }
  if (earlier.kind == bulk_write) {
    return {"bulk-result-early",
            "the thread that committed the group must wait with cp.async.bulk.wait_group, then release to the reader"};
  }
  if (earlier.kind == wgmma) {
    return {"wgmma-operand-reused",
            "wait with wgmma.wait_group for the wgmma that reads the tile before it is released"};
  }
  if (earlier.kind == cp_async && earlier.write) {
    return {"cp-async-data-early",
            "the thread that issued the copy must wait with cp.async.wait_group, and a barrier must carry that to "
            "others; or the copy arrives on an mbarrier, and its phase is waited for"};
  }
  if (earlier.kind == cp_async) {
    return {"cp-async-source-reused",
            "the thread that issued the copy must wait with cp.async.wait_group, and a barrier must carry that to the "
            "writer"};
  }
  if ((later.kind == load || later.kind == cp_async) && later.write && !global) {
    return {"slot-reloaded-early", "the threads that use the slot must release it before it is loaded again"};
  }
  if (later.kind != thread) {
    return {"unsynchronised-async-access", "a barrier must come after the access and before the operation is issued"};
  }
  return {global ? "global-race" : "shared-race", "a barrier or an acquire must order the two"};
}

}  // namespace

Told rule_of(const Conflict& conflict) {
  const Record& earlier = conflict.earlier;
  switch (conflict.verdict) {
    case Verdict::constant:
      return {"constant-load-of-written-data", "use an ordinary load of data that the kernel itself writes",
              "one of them is ld.global.nc, which does not see what this kernel writes"};
    case Verdict::noted:
      return {
          "fence-before-barrier", "use fence.sc, or let the thread that writes the flag execute the fence itself",
          "what orders the two is a fence.acq_rel in front of a barrier and a relaxed write by another thread behind "
          "it"};
    case Verdict::unfenced:
      return earlier.write
                 ? Told{"proxy-fence-missing",
                        "every writer executes fence.proxy.async before the barrier that precedes the operation",
                        "nothing fenced the write towards the async proxy"}
                 : Told{"proxy-fence-missing-after-read",
                        "every reader executes fence.proxy.async before it releases the slot",
                        "nothing fenced the read towards the async proxy"};
    default:
      break;
  }
  if (conflict.other_launch) {
    return {"grid-dependency-early",
            "the dependent kernel calls griddepcontrol_wait, and orders its threads after that, before it touches what "
            "the kernel before it reads or writes"};
  }
  // Who reads what nothing has written yet meant to read what is written now.
  if (earlier.fresh) return unordered_rule(conflict.later, earlier, conflict.global);
  return unordered_rule(earlier, conflict.later, conflict.global);
}

const char* verb(const Record& record) {
  if (record.kind != AccessKind::thread)
    return record.strong && record.write ? "updates" : record.write ? "writes" : "reads";
  return record.strong && record.write ? "updated" : record.write ? "wrote" : "read";
}

}  // namespace gantry::sim
