#include "flags.hpp"

#include "grid.hpp"

namespace gantry::sim {
namespace {

bool acquires(Semantics s) { return s == Semantics::acquire || s == Semantics::acq_rel; }
bool releases(Semantics s) { return s == Semantics::release || s == Semantics::acq_rel; }

}  // namespace

void Flags::learn(Thread& thread, const void* address, Semantics semantics) {
  const auto found = published_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == published_.end()) return;
  if (acquires(semantics)) {
    found->second.acquire(thread.view);
  } else {
    thread.acquire_fence.join(found->second.clock());
    thread.acquire_pending = true;
  }
}

void Flags::tell(Thread& thread, const void* address, Semantics semantics, bool update) {
  ClockRef clock;
  if (releases(semantics)) {
    ClockBuilder builder;
    builder.join(thread.view);
    clock = builder.freeze();
    advance(thread.view);
  } else {
    clock = thread.release_fence;
  }
  Published& flag = published_[reinterpret_cast<std::uint64_t>(address)];
  flag = Published(update ? joined(flag.clock(), clock) : clock);
}

}  // namespace gantry::sim
