// Counts the allocations of the program. In a file of its own, so that the compiler does not pair inlined halves.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::int64_t> count{0};
}

std::int64_t allocations() { return count; }

// NOLINTBEGIN(cppcoreguidelines-no-malloc): what operator new is made of.
void* operator new(std::size_t n) {
  ++count;
  if (void* p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
// NOLINTEND(cppcoreguidelines-no-malloc)
