// How a conflict between two accesses is named and told.
#include <bit>

#include "checker.hpp"
#include "grid.hpp"

namespace gantry::sim {
namespace {

struct Told {
  const char* rule;
  const char* advice;
};

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
            "wait with wgmma.wait_group for the product that reads the tile before it is released"};
  }
  if (later.kind == load && later.write && !global) {
    return {"slot-reloaded-early", "the threads that use the slot must release it before it is loaded again"};
  }
  if (later.kind != thread) {
    return {"unsynchronised-async-access", "a barrier must come after the access and before the operation is issued"};
  }
  return {global ? "global-race" : "shared-race", "a barrier or an acquire must order the two"};
}

// Threads have made their accesses; asynchronous operations may be making them still.
const char* verb(const Record& record) {
  if (record.kind != AccessKind::thread) return record.atomic ? "updates" : record.write ? "writes" : "reads";
  return record.atomic ? "updated" : record.write ? "wrote" : "read";
}

}  // namespace

const Launch* Checker::launch_of(const Record& record) const {
  return &grid_.launch_of(record.kind == AccessKind::load ? loads_[record.who].issuer.cta : record.actor().cta);
}

void Checker::object(Verdict verdict, const Record& earlier, const Accessor& accessor, MemorySpace space,
                     std::uint64_t address, std::uint16_t mask) {
  const Record& now = accessor.record;
  const bool global = space == MemorySpace::global;
  Told told = unordered_rule(earlier, now, global);
  if (launch_of(earlier) != launch_of(now)) {
    told = Told{
        "grid-dependency-early",
        "the dependent kernel calls griddepcontrol_wait, and orders its threads after that, before it touches what "
        "the kernel before it reads or writes"};
  }
  if (verdict == Verdict::unfenced) {
    told = earlier.write
               ? Told{"proxy-fence-missing",
                      "every writer executes fence.proxy.async before the barrier that precedes the operation"}
               : Told{"proxy-fence-missing-after-read",
                      "every reader executes fence.proxy.async before it releases the slot"};
  }
  const auto access = [&](const Record& r, const std::string& bytes) {
    const Operation operation = grid_.sites.operation(r.site);
    const std::string place = " at " + grid_.sites.text(r.site);
    if (r.kind == AccessKind::thread) {
      // Ordinary loads and stores are told by the verb.
      const bool plain = operation == Operation::load || operation == Operation::store;
      return describe(r.actor()) + " " + verb(r) + " " + bytes + place +
             (plain ? "" : std::string(" (") + to_text(operation) + ")");
    }
    const std::string issuer =
        r.kind == AccessKind::load ? "by " + describe(loads_[r.who].issuer) : "in " + grid_.cta_text(r.actor().cta);
    return std::string("a ") + to_text(operation) + " issued " + issuer + place + " " + verb(r) + " " + bytes;
  };
  const auto first = static_cast<std::uint64_t>(std::countr_zero(mask));
  const auto count = static_cast<std::uint64_t>(std::popcount(mask));
  std::string text = access(now, describe_bytes(address + first, count)) + ", and " + access(earlier, "them") + "; ";
  text += verdict == Verdict::unordered ? "nothing orders the two: "
          : earlier.write               ? "nothing fenced the write towards the async proxy: "
                                        : "nothing fenced the read towards the async proxy: ";
  text += std::string(told.advice) + ".";
  find(told.rule, now.site, earlier.site, text);
}

}  // namespace gantry::sim
