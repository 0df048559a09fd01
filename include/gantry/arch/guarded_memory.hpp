// Host memory that the simulated SM knows the extent of: `Buffer` and workspaces are made of it.
//
// A block lies between two red zones that belong to nobody. An operation of a simulated kernel that leaves the block is
// reported and not carried out. A plain C++ store cannot be seen, so each run paints the zones of its host thread's
// blocks, and looks at the end whether they have changed. Blocks may be made and freed by any host thread.
//
// Example:
//     using namespace gantry;
//     void* data = detail::GuardedBlocks::all().allocate(1024);
//     bool known = false;
//     detail::GuardedBlocks::all().each([&](const detail::GuardedBlock& block) { known |= block.data == data; });
//     detail::GuardedBlocks::all().free(data);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
#define GANTRY_GUARDED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANTRY_GUARDED_ASAN 1
#endif
#endif
#if defined(GANTRY_GUARDED_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace gantry::detail {

struct GuardedBlock {
  static constexpr std::size_t kRedZone = 4096;

  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::thread::id owner{};  // the host thread that made it

  std::byte* before() const { return data - kRedZone; }
  std::byte* after() const { return data + bytes; }

  // The sanitizer reports accesses to closed zones; a run opens them.
  void open() const {
#if defined(GANTRY_GUARDED_ASAN)
    __asan_unpoison_memory_region(before(), kRedZone);
    __asan_unpoison_memory_region(after(), kRedZone);
#endif
  }
  void close() const {
#if defined(GANTRY_GUARDED_ASAN)
    __asan_poison_memory_region(before(), kRedZone);
    __asan_poison_memory_region(after(), kRedZone);
#endif
  }
};

class GuardedBlocks {
 public:
  static constexpr std::size_t kAlignment = 256;
  static_assert(GuardedBlock::kRedZone % kAlignment == 0);

  // Never destroyed: a Buffer of static storage may be freed after everything else.
  static GuardedBlocks& all() {
    static auto* const blocks = new GuardedBlocks;
    return *blocks;
  }

  // Requires bytes > 0. Null where there is not enough memory.
  void* allocate(std::size_t bytes) {
    if (bytes > PTRDIFF_MAX - 2 * GuardedBlock::kRedZone) return nullptr;
    void* memory = ::operator new (bytes + 2 * GuardedBlock::kRedZone, std::align_val_t{kAlignment}, std::nothrow);
    if (memory == nullptr) return nullptr;
    const GuardedBlock block{static_cast<std::byte*>(memory) + GuardedBlock::kRedZone, bytes,
                             std::this_thread::get_id()};
    block.close();
    const std::lock_guard lock(mutex_);
    blocks_[block.data] = block;
    return block.data;
  }

  void free(void* data) {
    if (data == nullptr) return;
    GuardedBlock block;
    {
      const std::lock_guard lock(mutex_);
      const auto found = blocks_.find(static_cast<std::byte*>(data));
      block = found->second;
      blocks_.erase(found);
    }
    block.open();
    ::operator delete (block.before(), std::align_val_t{kAlignment});
  }

  // Those that there are now, by ascending address. None is freed meanwhile.
  template <class F>
  void each(F visit) {
    const std::lock_guard lock(mutex_);
    for (const auto& [data, block] : blocks_) visit(block);
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, GuardedBlock> blocks_;
};

}  // namespace gantry::detail
