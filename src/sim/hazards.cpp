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
    return {"unsynchronised-async-access", "a barrier must order the two before the operation is issued"};
  }
  return {global ? "global-race" : "shared-race", "a barrier or an acquire must order the two"};
}

const char* verb(const Record& record) {
  if (record.atomic) return "updated";
  return record.write ? "wrote" : "read";
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
  const auto who = [&](const Record& r) {
    const char* operation = to_text(grid_.sites.operation(r.site));
    switch (r.kind) {
      case AccessKind::thread:
        return describe(r.actor()) + " (" + operation + ")";
      case AccessKind::load:
        return std::string("a ") + operation + " by " + describe(loads_[r.who].issuer);
      default:
        return std::string("a ") + operation + " of " + grid_.cta_text(r.actor().cta);
    }
  };
  const int first = std::countr_zero(mask);
  const int bytes = std::popcount(mask);
  std::string text = who(now) + " " + verb(now) + " " +
                     describe_bytes(address + static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(bytes)) +
                     " at " + grid_.sites.text(now.site) + "; " + who(earlier) + " " + verb(earlier) + " them at " +
                     grid_.sites.text(earlier.site) + ", and nothing ";
  text += verdict == Verdict::unfenced ? "fenced that towards the async proxy: " : "orders the two: ";
  text += std::string(told.advice) + ".";
  find(told.rule, now.site, earlier.site, text);
}

}  // namespace gantry::sim
