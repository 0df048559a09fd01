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

}  // namespace

Verdict Checker::judge(const Record& earlier, const Accessor& accessor, MemorySpace space) const {
  Actor actor = earlier.actor();
  Epoch epoch = earlier.epoch;
  if (earlier.kind == AccessKind::load) {
    const LoadOp& load = loads_[earlier.who];
    if (load.epoch == 0) return Verdict::unordered;
    actor = load.barrier;
    epoch = load.epoch;
  }
  for (std::size_t i = 0; i < accessor.view_count; ++i) {
    const Entry known = accessor.views[i]->at(actor);
    if (known.seen < epoch) return Verdict::unordered;
    // Completing an asynchronous operation is a proxy fence; an ordinary access needs one of its own.
    if (accessor.async && earlier.kind == AccessKind::thread) {
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
      r.mask = static_cast<std::uint16_t>(r.mask | mask);
      return;
    }
  }
  Record record = now;
  record.mask = mask;
  cell.add(record);
}

}  // namespace

void Checker::touch(Cell& cell, std::uint16_t mask, const Accessor& accessor, MemorySpace space,
                    std::uint64_t address) {
  const Record& now = accessor.record;
  bool merged = false;
  // By index: removing a record may move the others.
  for (std::size_t i = 0; i < cell.size();) {
    Record* r = cell.begin() + i;
    if ((r->mask & mask) == 0) {
      ++i;
      continue;
    }
    const bool same = r->who == now.who && r->kind == now.kind;
    if (!r->write && !now.write) {
      if (r->same_access(now)) {
        r->mask = static_cast<std::uint16_t>(r->mask | mask);
        merged = true;
        ++i;
      } else if ((r->mask & ~mask) == 0 && r->kind == now.kind &&
                 (same || judge(*r, accessor, space) == Verdict::ordered)) {
        cell.remove(r);
      } else {
        ++i;
      }
      continue;
    }
    const bool both_atomic = r->atomic && now.atomic;
    const bool own = same && (now.kind == AccessKind::thread || r->epoch == now.epoch);
    if (!both_atomic && !own) {
      const Verdict verdict = judge(*r, accessor, space);
      if (verdict != Verdict::ordered) {
        object(verdict, *r, accessor, space, address, static_cast<std::uint16_t>(r->mask & mask));
      }
    }
    if (now.write && !both_atomic) {
      r->mask = static_cast<std::uint16_t>(r->mask & ~mask);
      if (r->mask == 0) {
        cell.remove(r);
        continue;
      }
    } else if (both_atomic && r->same_access(now)) {
      r->mask = static_cast<std::uint16_t>(r->mask | mask);
      merged = true;
    }
    ++i;
  }
  if (now.write) {
    cell.initialised = static_cast<std::uint16_t>(cell.initialised | mask);
  } else if (const auto unwritten = static_cast<std::uint16_t>(mask & ~cell.initialised);
             space == MemorySpace::shared && unwritten != 0) {
    cell.initialised = static_cast<std::uint16_t>(cell.initialised | mask);
    const auto first = static_cast<unsigned>(std::countr_zero(unwritten));
    const auto count = static_cast<std::uint64_t>(std::countr_one(static_cast<unsigned>(unwritten) >> first));
    grid_.findings().add("uninitialised-shared-read", now.site, 0,
                         describe(now.actor()) + " read " + grid_.names().describe_bytes(address + first, count) +
                             " at " + grid_.sites().text(now.site) + ", which nothing has written.");
  }
  if (!merged) remember(cell, now, mask);
}

void Checker::shared(Cta& cta, std::uint32_t address, std::uint32_t bytes, const Accessor& accessor) {
  const auto base = reinterpret_cast<std::uint64_t>(cta.window);
  for (std::uint32_t at = address; at < address + bytes;) {
    const std::uint32_t in = at % kChunk;
    const std::uint32_t end = std::min(in + (address + bytes - at), kChunk);
    touch(cta.cells[at / kChunk], mask_of(in, end), accessor, MemorySpace::shared, base + at - in);
    at += end - in;
  }
}

void Checker::global(std::uint64_t address, std::uint64_t bytes, const Accessor& accessor) {
  for (std::uint64_t at = address; at < address + bytes;) {
    const std::uint64_t in = at % kChunk;
    const std::uint64_t end = std::min<std::uint64_t>(in + (address + bytes - at), kChunk);
    touch(*global_.at(at - in), mask_of(in, end), accessor, MemorySpace::global, at - in);
    at += end - in;
  }
}

void Checker::thread_access(Thread& thread, const void* pointer, std::uint32_t bytes, bool write, bool atomic,
                            SiteId site) {
  const View* view = &thread.view;
  const Accessor accessor{.record = {.who = packed(view->self),
                                     .epoch = view->own.seen,
                                     .site = site,
                                     .kind = AccessKind::thread,
                                     .write = write,
                                     .atomic = atomic},
                          .views = &view,
                          .view_count = 1};
  if (Cta* cta = grid_.shared_owner(pointer)) {
    const auto address = static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - cta->window);
    shared(*cta, address, bytes, accessor);
  } else {
    global(reinterpret_cast<std::uint64_t>(pointer), bytes, accessor);
  }
}

std::uint32_t Checker::add_load(const LoadOp& load) {
  loads_.push_back(load);
  return static_cast<std::uint32_t>(loads_.size() - 1);
}

const LoadOp& Checker::last_load_to(const Cta& cta) const {
  return *std::find_if(loads_.rbegin(), loads_.rend(), [&](const LoadOp& l) { return l.to == cta.index; });
}

std::string Checker::describe(Actor actor) const {
  const Thread* thread = grid_.launches().find_thread(actor);
  const std::string role = thread && *thread->role != '\0' ? std::string(" (") + thread->role + ")" : "";
  return "thread " + std::to_string(actor.local) + " of " + grid_.cta_text(actor.cta) + role;
}

const Launch* Checker::launch_of(const Record& record) const {
  return &grid_.launches().launch_of(record.kind == AccessKind::load ? loads_[record.who].issuer.cta
                                                                     : record.actor().cta);
}

void Checker::object(Verdict verdict, const Record& earlier, const Accessor& accessor, MemorySpace space,
                     std::uint64_t address, std::uint16_t mask) {
  const Record& now = accessor.record;
  const bool global = space == MemorySpace::global;
  const Told told = rule_of({.earlier = earlier,
                             .later = now,
                             .verdict = verdict,
                             .global = global,
                             .other_launch = launch_of(earlier) != launch_of(now)});
  const auto access = [&](const Record& r, const std::string& bytes) {
    const Operation operation = grid_.sites().operation(r.site);
    const std::string place = " at " + grid_.sites().text(r.site);
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
  std::string text =
      access(now, grid_.names().describe_bytes(address + first, count)) + ", and " + access(earlier, "them") + "; ";
  text += verdict == Verdict::unordered ? "nothing orders the two: "
          : earlier.write               ? "nothing fenced the write towards the async proxy: "
                                        : "nothing fenced the read towards the async proxy: ";
  text += std::string(told.advice) + ".";
  grid_.findings().add(told.rule, now.site, earlier.site, text);
}

}  // namespace gantry::sim
