#include "copies.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <utility>

#include <gantry/numeric/float_types.hpp>

#include "issue.hpp"

namespace gantry::sim {
namespace {

constexpr std::size_t kMaxParts = 4;

void round_tf32(std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i + 4 <= count; i += 4) {
    float value;
    std::memcpy(&value, bytes + i, 4);
    const std::uint32_t bits = tf32(value).bits;
    std::memcpy(bytes + i, &bits, 4);
  }
}

void fill(std::byte* bytes, std::uint32_t count, std::uint16_t half_word) {
  for (std::uint32_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i % 2 == 0 ? half_word & 0xFF : half_word >> 8);
  }
}

void trace_copy(const Cta& cta, SiteId site, std::uint64_t issued) {
  Grid& g = grid();
  if (!g.trace()) return;
  g.trace()->span(cta.index, Trace::kCopies,
                  std::string(to_text(g.sites().operation(site))) + " " + g.sites().text(site), issued, g.step());
}

// The bytes of a job, counted through its pieces, in up to kMaxParts parts that end on multiples of 16, taken in a
// random order.
class Parts {
 public:
  Parts(const std::vector<Piece>& pieces, Random& random) {
    std::uint32_t bytes = 0;
    for (const Piece& piece : pieces) bytes += piece.bytes;
    std::array<std::uint32_t, kMaxParts + 1> cuts{};
    const std::size_t parts = 1 + std::size_t{random.below(kMaxParts)};
    for (std::size_t i = 1; i < parts; ++i) cuts[i] = random.below(bytes / 16 + 1) * 16;
    cuts[parts] = bytes;
    std::sort(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(parts) + 1);
    for (std::size_t i = 0; i < parts; ++i) {
      if (cuts[i] < cuts[i + 1]) ranges_.emplace_back(cuts[i], cuts[i + 1]);
    }
    for (std::size_t i = ranges_.size(); i > 1; --i) {
      std::swap(ranges_[i - 1], ranges_[random.below(static_cast<std::uint32_t>(i))]);
    }
  }
  bool empty() const { return ranges_.empty(); }

  // Calls `move(piece)` for what the next part holds of each piece.
  template <class F>
  void take(const std::vector<Piece>& pieces, F move) {
    const auto [first, last] = ranges_.back();
    ranges_.pop_back();
    std::uint32_t at = 0;
    for (const Piece& piece : pieces) {
      const std::uint32_t from = std::max(first, at), to = std::min(last, at + piece.bytes);
      if (from < to) {
        const std::uint32_t skipped = from - at;
        move(Piece{.shared = piece.shared + skipped,
                   .global = piece.global == 0 ? 0 : piece.global + skipped,
                   .bytes = to - from});
      }
      at += piece.bytes;
      if (at >= last) break;
    }
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;
};

class LoadAgent final : public Agent {
 public:
  explicit LoadAgent(LoadJob job) : job_(std::move(job)) {}

  bool step(Random& random) override {
    if (!parts_) parts_.emplace(job_.pieces, random);
    if (owed_ == 0 && !parts_->empty()) {
      parts_->take(job_.pieces, [this](const Piece& piece) { owed_ += deliver(piece); });
    }
    const std::uint32_t bytes = credited_now(random);
    owed_ -= bytes;
    const bool finished = parts_->empty() && owed_ == 0;
    if (finished) {
      trace_copy(*job_.to, job_.site, job_.issued);
      job_.barrier->last_credit = job_.barrier->phase + 1;
      grid().checker().landed(job_.load, static_cast<Epoch>(job_.barrier->phase + 1));
      --job_.to->in_flight;
      --job_.to->loads_in_flight;
      read_map();
    }
    credit(*job_.barrier, bytes);
    return finished;
  }

 private:
  void read_map() const {
    if (!job_.reader) return;
    --job_.reader->bulk->group(job_.group).unread;
    if (job_.reader->bulk->blocked) grid().wake(*job_.reader);
    grid().changed();
  }
  std::uint32_t deliver(const Piece& piece) {
    std::byte* to = job_.to->window + piece.shared;
    if (piece.global == 0) {
      fill(to, piece.bytes, job_.transform.fill);
    } else {
      const auto* from =
          static_cast<const std::byte*>(grid().launches().data(reinterpret_cast<const void*>(piece.global)));
      if (job_.transform.reduce) {
        const std::uint32_t size = element_size(job_.transform.element);
        for (std::uint32_t i = 0; i < piece.bytes; i += size) {
          reduce_element(*job_.transform.reduce, job_.transform.element, to + i, from + i);
        }
      } else {
        std::memcpy(to, from, piece.bytes);
      }
      if (job_.transform.rounds_to_tf32) round_tf32(to, piece.bytes);
    }
    return piece.bytes;
  }

  // Bytes are credited as they arrive, so where too few were expected the count passes zero on the way: the phase may
  // end there.
  std::uint32_t credited_now(Random& random) const {
    const std::int64_t awaited = job_.barrier->tx;
    const bool passes_zero = awaited > 0 && awaited < owed_ && awaited % 16 == 0;
    return passes_zero && random.below(8) != 0 ? static_cast<std::uint32_t>(awaited) : owed_;
  }

  LoadJob job_;
  std::optional<Parts> parts_;
  std::uint32_t owed_ = 0;  // delivered and not yet credited
};

// First reads its source, then writes: a wait for reading may return in between.
class StoreAgent final : public Agent {
 public:
  explicit StoreAgent(StoreJob job) : job_(std::move(job)) {}

  bool step(Random& random) override {
    if (!parts_) parts_.emplace(job_.pieces, random);
    if (!read_) {
      if (!parts_->empty()) parts_->take(job_.pieces, [this](const Piece& piece) { fetch(piece); });
      if (!parts_->empty()) return false;
      read_ = true;  // at once where the store has no bytes
      --job_.thread->bulk->group(job_.group).unread;
      signal();
      return false;
    }
    std::size_t at = 0;
    for (const auto& [global, bytes] : runs_) {
      write(global, data_.data() + at, bytes);
      grid().changed(reinterpret_cast<const void*>(global), bytes);
      at += bytes;
    }
    --job_.thread->bulk->group(job_.group).unwritten;
    trace_copy(*job_.from, job_.site, job_.issued);
    --job_.from->in_flight;
    signal();
    return true;
  }

 private:
  void fetch(const Piece& piece) {
    if (piece.global == 0) return;
    const std::byte* from = job_.from->window + piece.shared;
    data_.insert(data_.end(), from, from + piece.bytes);
    runs_.emplace_back(piece.global, piece.bytes);
  }
  void write(std::uint64_t global, const std::byte* data, std::uint32_t bytes) {
    auto* to = reinterpret_cast<std::byte*>(global);
    grid().poison().check(data, bytes, job_.site);
    if (!job_.transform.reduce) {
      std::memcpy(to, data, bytes);
      return;
    }
    const std::uint32_t size = element_size(job_.transform.element);
    for (std::uint32_t i = 0; i < bytes; i += size) {
      reduce_element(*job_.transform.reduce, job_.transform.element, to + i, data + i);
    }
  }
  void signal() const {
    if (job_.thread->bulk->blocked) grid().wake(*job_.thread);
    grid().changed();
  }

  StoreJob job_;
  std::optional<Parts> parts_;
  bool read_ = false;  // all of the source
  std::vector<std::byte> data_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> runs_;
};

void check_load(const LoadJob& job) {
  const View* view = &self().view;
  Accessor to{.record = {.who = job.load, .site = job.site, .kind = AccessKind::load, .write = true},
              .views = &view,
              .view_count = 1,
              .async = true};
  Accessor from = to;
  from.record.write = false;
  if (job.transform.reduce) set_strong(to.record, Scope::cluster, element_size(job.transform.element));
  Checker& checker = grid().checker();
  for (const Piece& piece : job.pieces) {
    checker.shared(*job.to, piece.shared, piece.bytes, to);
    if (piece.global == 0) continue;
    const auto* source = reinterpret_cast<const std::byte*>(piece.global);
    if (Cta* cta = grid().shared_owner(source)) {
      cta->lifetime.sources.push_back(job.load);
      checker.shared(*cta, static_cast<std::uint32_t>(source - cta->visible), piece.bytes, from);
    } else {
      checker.global(piece.global, piece.bytes, from);
    }
  }
}

void check_store(const StoreJob& job) {
  const View* view = &self().view;
  const BulkGroups& groups = *job.thread->bulk;
  Accessor from{.record = {.epoch = job.group, .site = job.site, .kind = AccessKind::bulk_read},
                .views = &view,
                .view_count = 1,
                .async = true};
  set_actor(from.record, groups.read_actor);
  Checker& checker = grid().checker();
  const std::uint32_t number = checker.add_op(
      {.actor = groups.write_actor, .epoch = job.group, .issuer = view->self, .site = job.site, .to = kNoCta});
  // Waiting until the source has been read covers the map.
  if (job.map) {
    grid().maps().use(
        job.map,
        checker.add_op(
            {.actor = groups.read_actor, .epoch = job.group, .issuer = view->self, .site = job.site, .to = kNoCta}),
        job.site);
  }
  Accessor to{.record = {.who = number, .site = job.site, .kind = AccessKind::bulk_write, .write = true},
              .views = &view,
              .view_count = 1,
              .async = true};
  if (job.transform.reduce) set_strong(to.record, Scope::gpu, element_size(job.transform.element));
  for (const Piece& piece : job.pieces) {
    // What lies outside of the tensor is not stored, whatever it holds.
    if (piece.global == 0) continue;
    checker.shared(*job.from, piece.shared, piece.bytes, from);
    checker.global(piece.global, piece.bytes, to);
    grid().flags().forget(piece.global, piece.bytes);
  }
}

// The bytes move when nobody runs who could be blamed. What leaves its allocation is not moved.
void check_global_side(Piece& piece, bool write, SiteId site) {
  if (piece.global == 0 || grid().launches().in_windows(reinterpret_cast<const void*>(piece.global))) return;
  if (!grid().global_memory().check_extent(piece.global, piece.bytes, site)) {
    piece.global = 0;
    return;
  }
  if (grid().global_memory().is_there(piece.global, piece.bytes, write)) return;
  fault("illegal-address", site,
        grid().checker().describe(self().view.self) + " issued a copy " + (write ? "to" : "from") + " address " +
            address_text(piece.global) + ", which is no memory of the host" + (write ? " that can be written." : "."));
}

}  // namespace

void start_load(LoadJob job) {
  job.issued = grid().step();
  for (Piece& piece : job.pieces) check_global_side(piece, false, job.site);
  job.load = grid().checker().add_op(
      {.actor = job.barrier->actor, .issuer = self().view.self, .site = job.site, .to = job.to->index});
  if (grid().checking()) check_load(job);
  // Reading the map is an operation of the issuer's bulk group too.
  std::uint32_t reading = TensorMaps::kNoGroup;
  if (job.map && grid().maps().is_edited(job.map)) {
    BulkGroups& groups = bulk_groups(self());
    job.reader = &self();
    job.group = groups.committed + 1;
    ++groups.group(job.group).unread;
    reading = grid().checker().add_op(
        {.actor = groups.read_actor, .epoch = job.group, .issuer = self().view.self, .site = job.site, .to = kNoCta});
  }
  grid().maps().use(job.map, job.load, job.site, reading);
  ++job.to->in_flight;
  ++job.to->loads_in_flight;
  grid().agents().start(std::make_unique<LoadAgent>(std::move(job)), grid().step());
}

void start_store(StoreJob job) {
  job.issued = grid().step();
  for (Piece& piece : job.pieces) check_global_side(piece, true, job.site);
  if (grid().checking()) check_store(job);
  ++job.from->in_flight;
  auto& group = job.thread->bulk->group(job.group);
  group.site = job.site;
  group.used = true;
  ++group.unread;
  ++group.unwritten;
  grid().agents().start(std::make_unique<StoreAgent>(std::move(job)), grid().step());
}

}  // namespace gantry::sim
