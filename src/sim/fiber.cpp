#include "fiber.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define GANTRY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANTRY_ASAN 1
#endif
#endif

#if defined(GANTRY_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace gantry::sim {
namespace {

struct NoAllocator {
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

void forget_frames([[maybe_unused]] void* low, [[maybe_unused]] std::size_t bytes) {
#if defined(GANTRY_ASAN)
  __asan_unpoison_memory_region(low, bytes);
#endif
}

StackPool::StackPool(std::size_t stack_bytes) : stack_bytes_((stack_bytes + 4095) / 4096 * 4096) {}

struct StackPool::Kept {
  static constexpr std::size_t kMost = 16;
  std::size_t stack_bytes = 0;
  std::vector<Slab> slabs;

  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { clear(); }
  void clear() {
    for (const Slab& slab : slabs) munmap(slab.first, slab.bytes);
    slabs.clear();
  }
};

StackPool::Kept& StackPool::kept() {
  thread_local Kept slabs;
  return slabs;
}

StackPool::~StackPool() {
  Kept& keep = kept();
  if (keep.stack_bytes != stack_bytes_) keep.clear();
  keep.stack_bytes = stack_bytes_;
  for (const Slab& slab : slabs_) {
    if (slab.guard != 0 && keep.slabs.size() < Kept::kMost) {
      keep.slabs.push_back(slab);
    } else {
      munmap(slab.first, slab.bytes);
    }
  }
}

StackPool::Slab StackPool::make_slab() const {
  const std::size_t guard = slabs_.size() * kStacksPerSlab < kMostGuarded ? kGuardBytes : 0;
  const std::size_t pitch = guard + stack_bytes_;
  void* memory = mmap(nullptr, pitch * kStacksPerSlab, guard == 0 ? PROT_READ | PROT_WRITE : PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* first = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; guard != 0 && i < kStacksPerSlab; ++i) {
    if (mprotect(first + i * pitch + guard, stack_bytes_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  return {first, pitch * kStacksPerSlab, guard};
}

Stack StackPool::take() {
  if (free_.empty()) {
    Kept& keep = kept();
    if (keep.stack_bytes == stack_bytes_ && !keep.slabs.empty()) {
      slabs_.push_back(keep.slabs.back());
      keep.slabs.pop_back();
    } else {
      slabs_.push_back(make_slab());
    }
    const Slab& slab = slabs_.back();
    for (std::size_t i = kStacksPerSlab; i-- > 0;) {
      free_.push_back({slab.first + i * (slab.guard + stack_bytes_) + slab.guard, stack_bytes_});
    }
  }
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::give_back(Stack stack) {
  forget_frames(stack.low, stack.bytes);
  free_.push_back(stack);
}

Fiber::Fiber(StackPool& pool, Entry entry, void* argument) : pool_(pool), stack_(pool.take()) {
  boost::context::stack_context context;
  context.sp = stack_.low + stack_.bytes;
  context.size = stack_.bytes;
  const boost::context::preallocated place(context.sp, context.size, context);
  inside_ = boost::context::fiber(
      std::allocator_arg, place, NoAllocator{}, [this, entry, argument](boost::context::fiber&& outside) {
#if defined(GANTRY_ASAN)
        __sanitizer_finish_switch_fiber(nullptr, &sanitizer_.outside_stack, &sanitizer_.outside_bytes);
#endif
        outside_ = std::move(outside);
        entry(argument);
#if defined(GANTRY_ASAN)
        __sanitizer_start_switch_fiber(nullptr, sanitizer_.outside_stack, sanitizer_.outside_bytes);
#endif
        return std::move(outside_);
      });
}

// What is left of a fiber that has not returned is forgotten, not unwound: unwinding runs the kernel's own handlers,
// which may swallow it. Its stack goes back as it is.
Fiber::~Fiber() {
  std::memset(static_cast<void*>(&inside_), 0, sizeof inside_);
  std::memset(static_cast<void*>(&outside_), 0, sizeof outside_);
  pool_.give_back(stack_);
}

void Fiber::resume() {
#if defined(GANTRY_ASAN)
  __sanitizer_start_switch_fiber(&sanitizer_.fake_outside, stack_.low, stack_.bytes);
#endif
  inside_ = std::move(inside_).resume();
#if defined(GANTRY_ASAN)
  __sanitizer_finish_switch_fiber(sanitizer_.fake_outside, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#if defined(GANTRY_ASAN)
  __sanitizer_start_switch_fiber(&sanitizer_.fake_inside, sanitizer_.outside_stack, sanitizer_.outside_bytes);
#endif
  outside_ = std::move(outside_).resume();
#if defined(GANTRY_ASAN)
  __sanitizer_finish_switch_fiber(sanitizer_.fake_inside, &sanitizer_.outside_stack, &sanitizer_.outside_bytes);
#endif
}

bool Fiber::is_below(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at < stack_.low && at >= stack_.low - kGuardBytes;
}

}  // namespace gantry::sim
