#include "checker.hpp"

#include <algorithm>
#include <bit>

#include "conflict.hpp"
#include "grid.hpp"

namespace gantry::sim {
namespace {

std::uint16_t mask_of(std::uint64_t first, std::uint64_t last) {
  return static_cast<std::uint16_t>(((1u << (last - first)) - 1) << first);
}

std::uint16_t without(std::uint16_t mask, std::uint16_t removed) { return static_cast<std::uint16_t>(mask & ~removed); }
std::uint16_t with(std::uint16_t mask, std::uint16_t added) { return static_cast<std::uint16_t>(mask | added); }

// The first run of set bits: where it starts, how long it is.
struct Run {
  std::uint64_t first, count;
};
Run first_run(std::uint16_t mask) {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  return {first, static_cast<std::uint64_t>(std::countr_one(static_cast<unsigned>(mask) >> first))};
}

}  // namespace

Actor Checker::origin(const Record& record) const {
  return by_number(record.kind) ? ops_[record.who].actor : record.actor();
}

// Strong accesses through the same proxy that overlap completely, each within the other's scope, may meet in any order.
bool Checker::compatible(const Record& a, const Record& b) const {
  const auto async = [](const Record& r) { return r.kind != AccessKind::thread; };
  if (!a.strong || !b.strong || async(a) != async(b) || a.size_log != b.size_log) return false;
  return grid_.launches().in_scope(std::min(a.scope, b.scope), cta_of(a), cta_of(b));
}

// Whether every later access that conflicts with `earlier` conflicts with `now` in the same way, so that the order of
// the two is all that has to be known to forget the first. What a strong access may pass depends on its CTA.
bool Checker::stands_for(const Record& now, const Record& earlier) const {
  return now.same_manner(earlier) && (!now.strong || cta_of(now) == cta_of(earlier));
}

std::uint32_t Checker::cta_of(const Record& record) const {
  return by_number(record.kind) ? ops_[record.who].issuer.cta : record.who;
}

Verdict Checker::judge(const Record& earlier, const Accessor& accessor, MemorySpace space) const {
  Actor actor = earlier.actor();
  Epoch epoch = earlier.epoch;
  if (by_number(earlier.kind)) {
    const AsyncOp& op = ops_[earlier.who];
    if (op.epoch == 0) return Verdict::unordered;
    actor = op.actor;
    epoch = op.epoch;
  }
  for (std::size_t i = 0; i < accessor.view_count; ++i) {
    const View& view = *accessor.views[i];
    const Entry known = view.at(actor);
    // A read, or a copy that has landed, is over when the thread that knows of it says so, whatever the scope: nothing
    // of it can come after what overwrites it.
    const bool over = !earlier.write || (earlier.kind != AccessKind::thread && accessor.record.write);
    if ((over ? known.reads_over() : known.seen) < epoch) {
      if (!view.noted || view.noted->at(actor).seen < epoch) return Verdict::unordered;
      return Verdict::noted;
    }
    // Completing an asynchronous operation is a proxy fence; an ordinary access needs one of its own.
    if (accessor.async && earlier.generic()) {
      const Epoch fenced = space == MemorySpace::shared ? known.fenced_shared : known.fenced_global;
      if (fenced < epoch) return Verdict::unfenced;
    }
  }
  return Verdict::ordered;
}

namespace {

// Adds an access to those that a cell holds, where it has not been before.
void remember(Cell& cell, const Record& now, std::uint16_t mask) {
  for (Record& r : cell) {
    if (r.same_access(now)) {
      r.mask = with(r.mask, mask);
      return;
    }
  }
  Record record = now;
  record.mask = mask;
  cell.add(record);
}

}  // namespace

void Checker::check_conflict(const Record& earlier, const Accessor& accessor, MemorySpace space,
                             std::uint64_t address) {
  const Record& now = accessor.record;
  const bool constant = earlier.constant || now.constant;
  if (constant && launch_of(earlier) == launch_of(now)) {
    object(Verdict::constant, earlier, accessor, space, address);
    return;
  }
  if (earlier.same_origin(now)) return;
  const Verdict verdict = judge(earlier, accessor, space);
  if (verdict != Verdict::ordered) object(verdict, earlier, accessor, space, address);
}

bool Checker::touch(Cell& cell, std::uint16_t mask, const Accessor& accessor, MemorySpace space,
                    std::uint64_t address) {
  // What is written over a live barrier is told as that: no order and no fence would mend it.
  std::uint16_t told = 0;
  if (accessor.record.write && cell.barriers != 0) told = overwrite_barriers(cell, mask, accessor.record, address);
  Record now = accessor.record;
  const bool unwritten = space == MemorySpace::shared && !now.write && read_unwritten(cell, mask, accessor, address);
  now.fresh = unwritten;
  bool merged = false;
  // By index: removing a record may move the others.
  for (std::size_t i = 0; i < cell.size();) {
    Record* r = cell.begin() + i;
    if ((r->mask & mask) == 0) {
      ++i;
      continue;
    }
    std::uint16_t forgotten = 0;
    if (r->same_access(now)) {
      r->mask = with(r->mask, mask);
      merged = true;
    } else if (!r->write && !now.write) {
      const bool covered = without(r->mask, mask) == 0 && stands_for(now, *r);
      if (covered && (r->same_origin(now) || judge(*r, accessor, space) == Verdict::ordered)) forgotten = mask;
    } else if (!compatible(*r, now)) {
      Record there = *r;
      there.mask = without(static_cast<std::uint16_t>(r->mask & mask), told);
      if (there.mask != 0) check_conflict(there, accessor, space, address);
      // A strong write leaves it: another one may pass this, and still meet that.
      if (now.write && !now.strong) forgotten = mask;
    } else if (stands_for(now, *r) && (r->same_origin(now) || judge(*r, accessor, space) == Verdict::ordered)) {
      forgotten = mask;  // whoever is ordered after this one is ordered after that one
    }
    r->mask = without(r->mask, forgotten);
    if (r->mask == 0) {
      cell.remove(r);
    } else {
      ++i;
    }
  }
  if (now.write) cell.initialised = with(cell.initialised, mask);
  if (!merged) remember(cell, now, mask);
  return unwritten;
}

// Whether bytes were read that nothing has written. What a product reads so spoils its result only where that is used.
bool Checker::read_unwritten(Cell& cell, std::uint16_t mask, const Accessor& accessor, std::uint64_t address) {
  const std::uint16_t unwritten = without(mask, cell.initialised);
  if (unwritten == 0) return false;
  const Record& now = accessor.record;
  if (now.kind == AccessKind::wgmma || grid_.findings().knows("uninitialised-shared-read", now.site, 0)) return true;
  const auto [first, count] = first_run(unwritten);
  grid_.findings().add(
      "uninitialised-shared-read", now.site, 0,
      describe_access(now, grid_.names().describe_bytes(address + first, count)) + ", which nothing has written.");
  return true;
}

// The bytes of the live barriers that the access writes to.
std::uint16_t Checker::overwrite_barriers(const Cell& cell, std::uint16_t mask, const Record& now,
                                          std::uint64_t address) {
  std::uint16_t bytes = 0;
  for (std::uint32_t half = 0; half < 2; ++half) {
    const auto barrier = static_cast<std::uint16_t>(0xFF << 8 * half);
    if ((cell.barriers >> half & 1) == 0 || (mask & barrier) == 0) continue;
    bytes = with(bytes, barrier);
    const void* pointer = reinterpret_cast<const void*>(address + 8 * half);
    grid_.findings().add("mbarrier-overwritten", now.site, 0,
                         describe_access(now, grid_.names().describe_mbarrier(pointer)) +
                             ", which is live: only mbarrier operations may touch it until mbarrier.inval.");
  }
  return bytes;
}

bool Checker::shared(Cta& cta, std::uint32_t address, std::uint32_t bytes, const Accessor& accessor) {
  const auto base = reinterpret_cast<std::uint64_t>(cta.visible);
  bool unwritten = false;
  for (std::uint32_t at = address; at < address + bytes;) {
    const std::uint32_t in = at % kChunk;
    const std::uint32_t end = std::min(in + (address + bytes - at), kChunk);
    unwritten |= touch(cta.cells[at / kChunk], mask_of(in, end), accessor, MemorySpace::shared, base + at - in);
    at += end - in;
  }
  return unwritten;
}

void Checker::global(std::uint64_t address, std::uint64_t bytes, const Accessor& accessor) {
  for (std::uint64_t at = address; at < address + bytes;) {
    const std::uint64_t in = at % kChunk;
    const std::uint64_t end = std::min<std::uint64_t>(in + (address + bytes - at), kChunk);
    touch(*global_.at(at - in), mask_of(in, end), accessor, MemorySpace::global, at - in);
    at += end - in;
  }
}

void Checker::thread_access(Thread& thread, const void* pointer, std::uint32_t bytes, const Manner& manner,
                            SiteId site) {
  const View* view = &thread.view;
  const std::uint32_t size = manner.size == 0 ? bytes : manner.size;
  Accessor accessor{.record = {.epoch = view->own.seen,
                               .site = site,
                               .kind = AccessKind::thread,
                               .write = manner.write,
                               .constant = manner.constant},
                    .views = &view,
                    .view_count = 1};
  set_actor(accessor.record, view->self);
  if (manner.strong) set_strong(accessor.record, manner.scope, size);
  if (Cta* cta = grid_.shared_owner(pointer)) {
    const auto address = static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - cta->visible);
    shared(*cta, address, bytes, accessor);
  } else {
    global(reinterpret_cast<std::uint64_t>(pointer), bytes, accessor);
  }
}

const Record* Checker::last_store(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t at = address; at < address + bytes; at += kChunk) {
    for (Record& record : *global_.at(at)) {
      if (record.kind == AccessKind::thread && record.write) return &record;
    }
  }
  return nullptr;
}

std::uint32_t Checker::add_op(const AsyncOp& op) {
  ops_.push_back(op);
  return static_cast<std::uint32_t>(ops_.size() - 1);
}

const AsyncOp& Checker::last_load_to(const Cta& cta) const {
  return *std::find_if(ops_.rbegin(), ops_.rend(), [&](const AsyncOp& op) { return op.to == cta.index; });
}

std::string Checker::describe(Actor actor) const {
  const Thread* thread = grid_.launches().find_thread(actor);
  const std::string role = thread && *thread->role != '\0' ? std::string(" (") + thread->role + ")" : "";
  return "thread " + std::to_string(actor.local) + " of " + grid_.cta_text(actor.cta) + role;
}

std::string Checker::describe_op(SiteId site, Actor issuer) const {
  return std::string("the ") + to_text(grid_.sites().operation(site)) + " that " + describe(issuer) + " issued at " +
         grid_.sites().text(site);
}

const Launch* Checker::launch_of(const Record& record) const { return &grid_.launches().launch_of(cta_of(record)); }

std::string Checker::describe_access(const Record& r, const std::string& bytes) const {
  const Operation operation = grid_.sites().operation(r.site);
  const std::string place = " at " + grid_.sites().text(r.site);
  if (r.kind == AccessKind::thread) {
    // Ordinary loads and stores are told by the verb.
    const bool plain = operation == Operation::load || operation == Operation::store;
    return describe(r.actor()) + " " + verb(r) + " " + bytes + place +
           (plain ? "" : std::string(" (") + to_text(operation) + ")");
  }
  const std::string issuer = by_number(r.kind) ? "by " + describe(ops_[r.who].issuer) : "in " + grid_.cta_text(r.who);
  return std::string("a ") + to_text(operation) + " issued " + issuer + place + " " + verb(r) + " " + bytes;
}

// A wait is on a barrier of the own CTA; what lands in another one is told from there.
std::string Checker::advice(const Told& told, const Record& earlier, const Record& now) const {
  const bool landed_elsewhere = earlier.kind == AccessKind::load && earlier.write && now.kind == AccessKind::thread &&
                                ops_[earlier.who].to != now.who;
  if (!landed_elsewhere || std::string_view(told.rule) != "tma-data-early") return told.advice;
  return grid_.cta_text(ops_[earlier.who].to) +
         ", where the bytes land, waits for the phase of its mbarrier and then tells this thread by the cluster "
         "barrier "
         "or by an arrival on an mbarrier of its CTA";
}

void Checker::object(Verdict verdict, const Record& earlier, const Accessor& accessor, MemorySpace space,
                     std::uint64_t address) {
  const Record& now = accessor.record;
  const Told told = rule_of({.earlier = earlier,
                             .later = now,
                             .verdict = verdict,
                             .global = space == MemorySpace::global,
                             .other_launch = launch_of(earlier) != launch_of(now)});
  const auto [first, count] = first_run(earlier.mask);
  const std::string text = describe_access(now, grid_.names().describe_bytes(address + first, count)) + ", and " +
                           describe_access(earlier, "them") + "; " + told.reason + ": " + advice(told, earlier, now) +
                           ".";
  if (verdict == Verdict::noted) {
    grid_.findings().note(told.rule, now.site, earlier.site, text);
  } else {
    grid_.findings().add(told.rule, now.site, earlier.site, text);
  }
}

}  // namespace gantry::sim
