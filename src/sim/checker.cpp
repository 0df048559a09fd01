#include "checker.hpp"

#include <algorithm>
#include <bit>
#include <sstream>
#include <string_view>

#include "grid.hpp"

namespace gantry::sim {
namespace {

std::string with_capital(std::string text) {
  if (text.starts_with("thread ")) text[0] = 'T';
  if (text.starts_with("a ")) text[0] = 'A';
  return text;
}

std::uint16_t mask_of(std::uint64_t first, std::uint64_t last) {
  return static_cast<std::uint16_t>(((1u << (last - first)) - 1) << first);
}

std::string byte_range(std::uint64_t first, std::uint64_t count) {
  return "bytes " + std::to_string(first) + ".." + std::to_string(first + count - 1);
}

}  // namespace

Checker::Verdict Checker::judge(const Record& earlier, const Accessor& accessor, MemorySpace space) const {
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
    find("uninitialised-shared-read", now.site, 0,
         describe(now.actor()) + " read " + describe_bytes(address + first, count) + " at " +
             grid_.sites.text(now.site) + ", which nothing has written.");
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

void Checker::find(const char* rule, SiteId site, SiteId other, const std::string& said) {
  const std::string text = with_capital(said);
  auto& findings = grid_.report.findings;
  if (!known_.emplace(rule, site, other).second) {
    for (Finding& finding : findings) {
      if (finding.rule == rule && finding.line == grid_.sites.line(site) && finding.text == text) {
        ++finding.count;
      }
    }
    return;
  }
  if (static_cast<int>(findings.size()) >= grid_.options().max_findings) return;
  findings.push_back(
      {.rule = rule, .text = text, .file = base_name(grid_.sites.file(site)), .line = grid_.sites.line(site)});
}

std::string Checker::describe(Actor actor) const {
  const Thread* thread = grid_.find_thread(actor);
  const std::string role = thread && *thread->role != '\0' ? std::string(" (") + thread->role + ")" : "";
  return "thread " + std::to_string(actor.local) + " of " + grid_.cta_text(actor.cta) + role;
}

std::string Checker::describe_bytes(std::uint64_t address, std::uint64_t bytes) const {
  const auto* pointer = reinterpret_cast<const std::byte*>(address);
  Cta* cta = grid_.shared_owner(pointer);
  const auto after = grid_.names.upper_bound(address);
  if (after != grid_.names.begin()) {
    const auto& [start, name] = *std::prev(after);
    if (address < start + name.bytes) {
      std::string text = "'" + name.text;
      if (name.index >= 0) text += "[" + std::to_string(name.index) + "]";
      text += "'";
      const bool part = bytes < name.bytes;
      if (part) text.insert(0, byte_range(address - start, bytes) + " of ");
      if (cta) text += (part ? " in " : " of ") + grid_.cta_text(cta->index);
      return text;
    }
  }
  if (cta) {
    const auto offset = static_cast<std::uint64_t>(pointer - cta->window);
    return byte_range(offset - kSharedBase, bytes) + " of the shared memory of " + grid_.cta_text(cta->index);
  }
  std::ostringstream text;
  text << bytes << " bytes of global memory at 0x" << std::hex << address;
  return text.str();
}

void complain(const char* rule, SiteId site, const std::string& sentence) {
  const std::string_view body(sentence.data(), sentence.size() - (sentence.ends_with('.') ? 1 : 0));
  grid().checker.find(rule, site, 0, std::string(body) + " (" + grid().sites.text(site) + ").");
}

}  // namespace gantry::sim
