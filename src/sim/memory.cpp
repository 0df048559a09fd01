// Ordinary accesses: loads, stores, atomics, and the matrix moves, which are loads and stores of a whole warp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <gantry/numeric/float_types.hpp>
#include <gantry/tensor/access.hpp>

#include "copies.hpp"
#include "grid.hpp"

namespace gantry::sim {
namespace {

// False, and a finding, where the access is not possible.
bool legal(const void* pointer, std::uint32_t bytes, Space space, SiteId site) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address % std::min(bytes, 16u) != 0) {
    complain("misaligned-access", site, "An access of " + std::to_string(bytes) + " bytes is not aligned to its size.");
    return false;
  }
  Cta* cta = grid().shared_owner(pointer);
  if (space == Space::global) {
    if (cta) complain("wrong-space", site, "A global access was given an address in shared memory.");
    return cta == nullptr;
  }
  if (!cta) {
    complain("wrong-space", site, "A shared access was given an address outside of shared memory.");
    return false;
  }
  const auto offset = static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - cta->window);
  if (offset < kSharedBase || offset + bytes > kSharedBase + cta->shared_bytes) {
    complain("shared-out-of-range", site,
             "An access of " + std::to_string(bytes) + " bytes at offset " +
                 std::to_string(static_cast<std::int64_t>(offset) - kSharedBase) + " leaves the " +
                 std::to_string(cta->shared_bytes) + " bytes of shared memory.");
    return false;
  }
  if (cta != self().cta) {
    if (space == Space::shared || cta->cluster != self().cta->cluster) {
      complain("wrong-space", site, "A local shared access was given an address in another CTA.");
      return false;
    }
    if (cta->alive == 0) {
      complain("cluster-peer-gone", site,
               grid().cta_text(cta->index) + " of the cluster has ended; its shared memory is gone.");
      return false;
    }
  }
  return true;
}

bool synchronises(Semantics semantics) { return semantics != Semantics::weak; }
bool acquires(Semantics s) { return s == Semantics::acquire || s == Semantics::acq_rel; }
bool releases(Semantics s) { return s == Semantics::release || s == Semantics::acq_rel; }

// What a strong load learns: at once where it acquires, at the next fence where it is relaxed.
void learn(Thread& thread, const void* address, Semantics semantics) {
  auto& flags = grid().flags;
  const auto found = flags.find(reinterpret_cast<std::uint64_t>(address));
  if (found == flags.end()) return;
  if (acquires(semantics)) {
    found->second.acquire(thread.view);
  } else {
    thread.acquire_fence.join(found->second.clock());
    thread.acquire_pending = true;
  }
}

// What a strong store tells: everything where it releases, what the last fence covered where it is relaxed. An update
// carries on what was there before.
void tell(Thread& thread, const void* address, Semantics semantics, bool update) {
  ClockRef clock;
  if (releases(semantics)) {
    ClockBuilder builder;
    builder.join(thread.view);
    clock = builder.freeze();
    advance(thread.view);
  } else {
    clock = thread.release_fence;
  }
  Published& flag = grid().flags[reinterpret_cast<std::uint64_t>(address)];
  flag = Published(update ? joined(flag.clock(), clock) : clock);
  grid().changed();
}

// The NaN that floating-point arithmetic gives, whatever the NaNs it was given.
template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_same_v<T, float>) {
    return value == value ? value : std::bit_cast<float>(0x7FFFFFFFu);
  } else {
    return value == value ? value : T::from_bits(0x7FFF);
  }
}

// A number wins against a NaN, and minus zero is less than zero: as an H200 was seen to do it.
template <class T>
T lesser(T a, T b) {
  if (a != a || b != b) return canonical(a == a ? a : b);
  if (a == b) return std::signbit(static_cast<float>(a)) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greater(T a, T b) {
  if (a != a || b != b) return canonical(a == a ? a : b);
  if (a == b) return std::signbit(static_cast<float>(a)) ? b : a;
  return a < b ? b : a;
}

template <class T>
T combine(AtomicOp op, T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case AtomicOp::add: {
        using Wraps = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Wraps>(old) + static_cast<Wraps>(value));
      }
      case AtomicOp::min:
        return std::min(old, value);
      case AtomicOp::max:
        return std::max(old, value);
      case AtomicOp::inc:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case AtomicOp::dec:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      case AtomicOp::and_:
        return old & value;
      case AtomicOp::or_:
        return old | value;
      case AtomicOp::xor_:
        return old ^ value;
      default:
        return value;
    }
  } else {
    switch (op) {
      case AtomicOp::add:
        return canonical(T(old + value));
      case AtomicOp::min:
        return lesser(old, value);
      case AtomicOp::max:
        return greater(old, value);
      default:
        return value;
    }
  }
}

template <class T>
void update(AtomicOp op, std::byte* target, const void* value, const void* compare) {
  T old, operand;
  std::memcpy(&old, target, sizeof old);
  std::memcpy(&operand, value, sizeof operand);
  T result = operand;
  if (op == AtomicOp::compare_exchange) {
    if (!std::equal(target, target + sizeof old, static_cast<const std::byte*>(compare))) result = old;
  } else if (op != AtomicOp::exchange) {
    result = combine(op, old, operand);
  }
  std::memcpy(target, &result, sizeof result);
}

void update(AtomicOp op, Element element, std::byte* target, const void* value, const void* compare) {
  switch (element) {
    case Element::b8:
      return update<std::uint8_t>(op, target, value, compare);
    case Element::b16:
      return update<std::uint16_t>(op, target, value, compare);
    case Element::u32:
      return update<std::uint32_t>(op, target, value, compare);
    case Element::s32:
      return update<std::int32_t>(op, target, value, compare);
    case Element::u64:
      return update<std::uint64_t>(op, target, value, compare);
    case Element::s64:
      return update<std::int64_t>(op, target, value, compare);
    case Element::f16:
      return update<f16>(op, target, value, compare);
    case Element::bf16:
      return update<bf16>(op, target, value, compare);
    case Element::f32:
      return update<float>(op, target, value, compare);
    case Element::f64:
      return update<double>(op, target, value, compare);
  }
}

}  // namespace

std::uint32_t element_size(Element element) {
  switch (element) {
    case Element::b8:
      return 1;
    case Element::b16:
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::u32:
    case Element::s32:
    case Element::f32:
      return 4;
    default:
      return 8;
  }
}

void reduce_element(ReduceOp op, Element element, std::byte* old, const std::byte* value) {
  // The reductions are the first eight atomic operations, in the same order.
  update(static_cast<AtomicOp>(op), element, old, value, nullptr);
}

void load(void* to, const void* from, std::uint32_t bytes, Access access, Site site) {
  const Call call = enter_call(site, Operation::load);
  if (synchronises(access.semantics)) grid().poll_point({.site = call.site});
  if (!legal(from, bytes, access.space, call.site)) {
    std::memset(to, 0xCD, bytes);
    return;
  }
  Thread& thread = self();
  const bool strong = synchronises(access.semantics);
  if (strong) learn(thread, from, access.semantics);
  if (grid().checking()) grid().checker.thread_access(thread, from, bytes, false, strong, call.site);
  std::memcpy(to, from, bytes);
}

void store(void* to, const void* from, std::uint32_t bytes, Access access, Site site) {
  const Call call = enter_call(site, Operation::store);
  const bool strong = synchronises(access.semantics);
  if (strong) grid().yield();
  if (!legal(to, bytes, access.space, call.site)) return;
  Thread& thread = self();
  if (grid().checking()) grid().checker.thread_access(thread, to, bytes, true, strong, call.site);
  std::memcpy(to, from, bytes);
  if (strong) tell(thread, to, access.semantics, false);
}

void atomic(const Atomic& what, Access access, Site site) {
  const Call call = enter_call(site, Operation::atomic);
  grid().yield();
  const std::uint32_t size = element_size(what.element);
  const std::uint32_t bytes = size * static_cast<std::uint32_t>(what.lanes);
  if (!legal(what.target, bytes, access.space, call.site)) return;
  Thread& thread = self();
  if (grid().checking()) grid().checker.thread_access(thread, what.target, bytes, true, true, call.site);
  learn(thread, what.target, access.semantics);
  auto* target = static_cast<std::byte*>(what.target);
  if (what.old) std::memcpy(what.old, target, bytes);
  for (std::uint32_t at = 0; at < bytes; at += size) {
    const auto* compare = what.compare ? static_cast<const std::byte*>(what.compare) + at : nullptr;
    update(what.op, what.element, target + at, static_cast<const std::byte*>(what.value) + at, compare);
  }
  tell(thread, what.target, access.semantics, true);
}

namespace {

// Row addresses of the lanes, exchanged.
void rows_of(const void* row, const char* operation, std::uint64_t (&rows)[32], Site site) {
  warp_exchange({.mask = ~0u, .value = reinterpret_cast<std::uint64_t>(row), .operation = operation, .aligned = true},
                rows, site);
}

bool rows_legal(const std::uint64_t (&rows)[32], int matrices, SiteId site) {
  for (int i = 0; i < 8 * matrices; ++i) {
    if (!legal(reinterpret_cast<const void*>(rows[i]), 16, Space::shared, site)) return false;
  }
  return true;
}

}  // namespace

void ldmatrix(std::uint32_t* registers, const void* row, int matrices, bool transposed, Site site) {
  const Call call = enter_call(site, Operation::ldmatrix);
  std::uint64_t rows[32] = {};
  rows_of(row, "ldmatrix", rows, site);
  if (!rows_legal(rows, matrices, call.site)) return;
  Thread& thread = self();
  const std::uint32_t lane = thread.rank % 32;
  const auto fetch = [&](std::uint64_t address, void* to, std::uint32_t bytes) {
    const auto* from = reinterpret_cast<const std::byte*>(address);
    if (grid().checking()) grid().checker.thread_access(thread, from, bytes, false, false, call.site);
    std::memcpy(to, from, bytes);
  };
  for (int j = 0; j < matrices; ++j) {
    if (!transposed) {
      fetch(rows[8 * j + static_cast<int>(lane / 4)] + 4 * (lane % 4), &registers[j], 4);
    } else {
      std::uint16_t halves[2];
      for (std::uint32_t b = 0; b < 2; ++b) {
        fetch(rows[8 * j + static_cast<int>(2 * (lane % 4) + b)] + 2 * (lane / 4), &halves[b], 2);
      }
      registers[j] = halves[0] | static_cast<std::uint32_t>(halves[1]) << 16;
    }
  }
}

void stmatrix(void* row, const std::uint32_t* registers, int matrices, bool transposed, Site site) {
  const Call call = enter_call(site, Operation::stmatrix);
  std::uint64_t rows[32] = {};
  rows_of(row, "stmatrix", rows, site);
  if (!rows_legal(rows, matrices, call.site)) return;
  Thread& thread = self();
  const std::uint32_t lane = thread.rank % 32;
  const auto put = [&](std::uint64_t address, const void* from, std::uint32_t bytes) {
    auto* to = reinterpret_cast<std::byte*>(address);
    if (grid().checking()) grid().checker.thread_access(thread, to, bytes, true, false, call.site);
    std::memcpy(to, from, bytes);
  };
  for (int j = 0; j < matrices; ++j) {
    if (!transposed) {
      put(rows[8 * j + static_cast<int>(lane / 4)] + 4 * (lane % 4), &registers[j], 4);
    } else {
      for (std::uint32_t b = 0; b < 2; ++b) {
        const auto half = static_cast<std::uint16_t>(registers[j] >> (16 * b));
        put(rows[8 * j + static_cast<int>(2 * (lane % 4) + b)] + 2 * (lane / 4), &half, 2);
      }
    }
  }
}

// ---- Elements of tensors

namespace {

// What a tensor reads and writes while a kernel runs is an access of its thread; at other times it is host memory.
void load_of_tensor(Memory memory, void* to, const void* from, std::uint32_t bytes) {
  if (running_thread() == nullptr) {
    std::memcpy(to, from, bytes);
  } else {
    load(to, from, bytes, {.space = memory == Memory::shared ? Space::shared : Space::global}, Site{});
  }
}
void store_of_tensor(Memory memory, void* to, const void* from, std::uint32_t bytes) {
  if (running_thread() == nullptr) {
    std::memcpy(to, from, bytes);
  } else {
    store(to, from, bytes, {.space = memory == Memory::shared ? Space::shared : Space::global}, Site{});
  }
}

[[maybe_unused]] const bool tensors_are_watched = (memory_hooks = {load_of_tensor, store_of_tensor}, true);

}  // namespace

}  // namespace gantry::sim
