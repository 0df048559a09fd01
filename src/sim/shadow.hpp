// What has happened to each byte: for every 16-byte chunk of memory a cell with the accesses that a later one could
// conflict with, each with a mask of the bytes it touched.
//
// A write forgets what it overwrites; a read forgets earlier reads that it is ordered after. So a cell stays small
// however long the run is.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include <gantry/arch/tags.hpp>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

inline constexpr std::uint32_t kChunk = 16;

// What accessed: a thread, or an operation that a thread started. Loads, bulk writes and cp.async are known by the
// number of the operation, since the phase that a load ends in is known only once it has landed, and two writes of one
// group are not ordered; the others by an actor and an epoch of it.
enum class AccessKind : std::uint8_t { thread, load, bulk_read, bulk_write, wgmma, cp_async };
inline bool by_number(AccessKind kind) {
  return kind == AccessKind::load || kind == AccessKind::bulk_write || kind == AccessKind::cp_async;
}

struct Record {
  std::uint32_t who = 0;  // the number of the operation, or the CTA of the actor
  Epoch epoch = 0;
  std::uint16_t local = 0;  // of the actor
  std::uint16_t mask = 0;
  SiteId site = 0;
  AccessKind kind : 3 = AccessKind::thread;
  bool write : 1 = false;
  bool strong : 1 = false;    // relaxed or more, of `scope` and `size_log`
  bool constant : 1 = false;  // through the path for data that a kernel does not write
  bool fresh : 1 = false;     // read bytes that nothing had written
  arch::Scope scope : 2 = arch::Scope::cta;
  std::uint8_t size_log : 3 = 0;

  // Through the generic proxy; the others go through the async one.
  bool generic() const { return kind == AccessKind::thread || kind == AccessKind::cp_async; }
  Actor actor() const { return {who, local}; }
  // Made by the same thread, or by the same asynchronous operation or group of them.
  bool same_origin(const Record& other) const {
    return who == other.who && local == other.local && kind == other.kind &&
           (kind == AccessKind::thread || epoch == other.epoch);
  }
  bool same_manner(const Record& other) const {
    return kind == other.kind && write == other.write && strong == other.strong && constant == other.constant &&
           fresh == other.fresh && scope == other.scope && size_log == other.size_log;
  }
  bool same_access(const Record& other) const {
    return who == other.who && local == other.local && epoch == other.epoch && site == other.site && same_manner(other);
  }
};
static_assert(sizeof(Record) == 16);

// Requires: `size` is a power of two up to 16.
inline void set_strong(Record& record, arch::Scope scope, std::uint32_t size) {
  record.strong = true;
  record.scope = scope;
  record.size_log = (std::bit_width(size) - 1) & 7;
}

inline void set_actor(Record& record, Actor actor) {
  record.who = actor.cta;
  record.local = static_cast<std::uint16_t>(actor.local);
}

class Cell {
 public:
  std::uint16_t initialised = 0;  // bytes that have been written
  std::uint8_t barriers = 0;      // live mbarriers: bit 0 in the lower, bit 1 in the upper half

  Record* begin() { return overflow_ ? overflow_->data() : inline_.data(); }
  Record* end() { return begin() + size(); }
  std::size_t size() const { return overflow_ ? overflow_->size() : count_; }

  void add(const Record& record) {
    if (overflow_) {
      overflow_->push_back(record);
    } else if (count_ < inline_.size()) {
      inline_[count_++] = record;
    } else {
      overflow_ = std::make_unique<std::vector<Record>>(inline_.begin(), inline_.end());
      overflow_->push_back(record);
    }
  }

  // Removes the record at `at`; the last one takes its place.
  void remove(Record* at) {
    *at = *(end() - 1);
    if (!overflow_) {
      --count_;
      return;
    }
    overflow_->pop_back();
    if (overflow_->size() <= inline_.size() / 2) {
      count_ = static_cast<std::uint8_t>(overflow_->size());
      std::copy(overflow_->begin(), overflow_->end(), inline_.begin());
      overflow_.reset();
    }
  }

  void clear() {
    initialised = 0;
    barriers = 0;
    count_ = 0;
    overflow_.reset();
  }

 private:
  std::uint8_t count_ = 0;
  std::unique_ptr<std::vector<Record>> overflow_;
  std::array<Record, 4> inline_;
};

// Cells of global memory, made page by page as it is touched.
class GlobalShadow {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  // The cell of the chunk at `address`, which is a multiple of 16; the cells up to the page's end follow it.
  Cell* at(std::uint64_t address) {
    const std::uint64_t page = address / kPageBytes;
    if (page != last_page_) {
      auto& found = pages_[page];
      if (!found) found = std::make_unique<Page>();
      last_page_ = page;
      last_ = found->data();
    }
    return last_ + address % kPageBytes / kChunk;
  }

 private:
  using Page = std::array<Cell, kPageBytes / kChunk>;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  Cell* last_ = nullptr;
};

}  // namespace gantry::sim
