// Copies of plain byte ranges, and values that travel with their credit.
#include <cstring>

#include "copies.hpp"
#include "issue.hpp"

namespace gantry::sim {
namespace {

Operation operation_of(CopyKind kind) {
  switch (kind) {
    case CopyKind::load:
      return Operation::bulk_load;
    case CopyKind::store:
      return Operation::bulk_store;
    case CopyKind::reduce:
      return Operation::bulk_reduce;
    case CopyKind::prefetch:
      return Operation::bulk_prefetch;
  }
  return Operation::none;
}

// The range in the window of the CTA that holds it.
std::uint32_t shared_range(const void* pointer, std::uint32_t bytes, Cta*& owner, SiteId site) {
  owner = grid().shared_owner(pointer);
  if (!owner)
    fault("bulk-address", site,
          "The shared side of a bulk copy is at address " + address_text(pointer) +
              ", which is outside of shared memory.");
  const auto address = static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - owner->visible);
  if (address < kSharedBase || address + bytes > kSharedBase + owner->shared_bytes) {
    fault("shared-out-of-range", site,
          "A bulk copy of " + std::to_string(bytes) + " bytes at offset " +
              std::to_string(static_cast<std::int64_t>(address) - kSharedBase) + " leaves the " +
              std::to_string(owner->shared_bytes) + " bytes of shared memory of " + grid().cta_text(owner->index) +
              ".");
  }
  return address;
}

void refuse_null(const void* pointer, SiteId site) {
  if (!pointer) fault("illegal-address", site, "A bulk copy was given a null address.");
}

void load(const BulkCopy& copy, SiteId site) {
  Thread& thread = self();
  refuse_null(copy.source, site);
  Cta* to = nullptr;
  const std::uint32_t address = shared_range(copy.destination, copy.bytes, to, site);
  Transform transform;
  if (copy.kind == CopyKind::reduce) {
    transform.reduce = copy.op;
    transform.element = copy.element;
  }
  if (copy.from == Space::shared) {
    Cta* from = nullptr;
    shared_range(copy.source, copy.bytes, from, site);
    if (from != thread.cta || to == thread.cta) {
      fault("bulk-address", site,
            "A bulk copy goes from the shared memory of " + grid().cta_text(from->index) + " to that of " +
                grid().cta_text(to->index) + ": it goes from the own CTA to another one of the cluster.");
    }
  }
  if (copy.bytes == 0) return;  // nothing lands, and no barrier hears of it
  const std::vector<Piece> pieces{
      {.shared = address, .global = reinterpret_cast<std::uint64_t>(copy.source), .bytes = copy.bytes}};
  for (Cta* cta : receivers(mask_of(copy), *to, copy.barrier, site)) {
    start_load({.pieces = pieces,
                .to = cta,
                .barrier = &credited_barrier(*cta, copy.barrier, site),
                .transform = transform,
                .site = site});
  }
}

void store(const BulkCopy& copy, SiteId site) {
  Thread& thread = self();
  refuse_null(copy.destination, site);
  Cta* from = nullptr;
  const std::uint32_t address = shared_range(copy.source, copy.bytes, from, site);
  StoreJob job{
      .pieces = {{.shared = address, .global = reinterpret_cast<std::uint64_t>(copy.destination), .bytes = copy.bytes}},
      .from = from,
      .thread = &thread,
      .group = bulk_groups(thread).committed + 1,
      .site = site};
  if (copy.kind == CopyKind::reduce) {
    job.transform.reduce = copy.op;
    job.transform.element = copy.element;
  }
  start_store(std::move(job));
}

// The value of a remote store is kept until it is delivered.
class ValueAgent final : public Agent {
 public:
  ValueAgent(Cta& to, Mbarrier& barrier, std::uint32_t load, const RemoteStore& store)
      : to_(to), barrier_(barrier), load_(load), store_(store) {
    std::memcpy(value_, store.value, store.bytes);
    ++to_.in_flight;
    ++to_.loads_in_flight;
  }
  bool step(Random&) override {
    auto* destination = static_cast<std::byte*>(grid().launches().data(store_.destination));
    if (store_.reduces) {
      reduce_element(store_.op, store_.element, destination, value_);
    } else {
      std::memcpy(destination, value_, store_.bytes);
    }
    barrier_.last_credit = barrier_.phase + 1;
    grid().checker().landed(load_, static_cast<Epoch>(barrier_.phase + 1));
    --to_.in_flight;
    --to_.loads_in_flight;
    credit(barrier_, store_.bytes);
    return true;
  }

 private:
  Cta& to_;
  Mbarrier& barrier_;
  std::uint32_t load_;
  RemoteStore store_;
  std::byte value_[16] = {};
};

}  // namespace

void bulk_copy(const BulkCopy& copy, Site site) {
  const Call call = enter_call(site, operation_of(copy.kind));
  grid().yield();
  const auto misaligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 != 0; };
  if (misaligned(copy.source) || misaligned(copy.destination) || copy.bytes % 16 != 0) {
    fault("bulk-alignment", call.site,
          "A bulk copy of " + std::to_string(copy.bytes) + " bytes from address " + address_text(copy.source) + " to " +
              address_text(copy.destination) + ": both addresses and the size must be multiples of 16.");
  }
  switch (copy.kind) {
    case CopyKind::load:
      load(copy, call.site);
      break;
    case CopyKind::store:
      store(copy, call.site);
      break;
    case CopyKind::reduce:
      copy.to == Space::global ? store(copy, call.site) : load(copy, call.site);
      break;
    case CopyKind::prefetch:
      break;
  }
  advance(self().view);
}

void remote_store(const RemoteStore& store, Site site) {
  const Call call = enter_call(site, Operation::remote_store);
  grid().yield();
  Thread& thread = self();
  Cta* to = nullptr;
  const std::uint32_t address = shared_range(store.destination, store.bytes, to, call.site);
  if (address % store.bytes != 0) {
    fault("misaligned-access", call.site,
          "st.async of " + std::to_string(store.bytes) + " bytes at offset " + std::to_string(address - kSharedBase) +
              " is not aligned to its size.");
  }
  receivers({}, *to, store.barrier, call.site);
  Mbarrier& barrier = credited_barrier(*to, store.barrier, call.site);
  const std::uint32_t number =
      grid().checker().add_op({.actor = barrier.actor, .issuer = thread.view.self, .site = call.site, .to = to->index});
  if (grid().checking()) {
    const View* view = &thread.view;
    Accessor accessor{.record = {.who = number, .site = call.site, .kind = AccessKind::load, .write = true},
                      .views = &view,
                      .view_count = 1};
    if (store.reduces) set_strong(accessor.record, Scope::cluster, store.bytes);
    grid().checker().shared(*to, address, store.bytes, accessor);
  }
  grid().agents().start(std::make_unique<ValueAgent>(*to, barrier, number, store), grid().step());
  advance(thread.view);
}

}  // namespace gantry::sim
