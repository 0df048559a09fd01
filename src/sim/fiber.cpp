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

constexpr std::uint64_t kCanary = 0x5AFE57AC5AFE57AC;

struct NoAllocator {
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

StackPool::StackPool(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}

StackPool::~StackPool() {
  for (std::byte* slab : slabs_) munmap(slab, stack_bytes_ * kStacksPerSlab);
}

Stack StackPool::take() {
  if (free_.empty()) {
    void* slab = mmap(nullptr, stack_bytes_ * kStacksPerSlab, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(static_cast<std::byte*>(slab));
    for (std::size_t i = kStacksPerSlab; i-- > 0;) {
      free_.push_back({slabs_.back() + i * stack_bytes_, stack_bytes_});
    }
  }
  const Stack stack = free_.back();
  free_.pop_back();
  std::memcpy(stack.low, &kCanary, sizeof kCanary);
  return stack;
}

void StackPool::give_back(Stack stack) {
#if defined(GANTRY_ASAN)
  __asan_unpoison_memory_region(stack.low, stack.bytes);
#endif
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

Fiber::~Fiber() {
#if defined(GANTRY_ASAN)
  if (inside_) {
    __sanitizer_start_switch_fiber(&sanitizer_.fake_outside, stack_.low, stack_.bytes);
    inside_ = {};
    __sanitizer_finish_switch_fiber(sanitizer_.fake_outside, nullptr, nullptr);
  }
#else
  inside_ = {};
#endif
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

bool Fiber::overflowed() const { return std::memcmp(stack_.low, &kCanary, sizeof kCanary) != 0; }

}  // namespace gantry::sim
