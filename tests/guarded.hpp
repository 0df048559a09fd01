// Memory of tests that ends where readable memory does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace gantry::test {

// Bytes that end where memory ends: to read or write one beyond them stops the test.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    whole_ = (bytes + page - 1) / page * page;
    base_ = static_cast<std::uint8_t*>(
        mmap(nullptr, whole_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    mprotect(base_ + whole_, page, PROT_NONE);
    mapped_ = whole_ + page;
  }
  Guarded(Guarded&& other) noexcept
      : bytes_(other.bytes_),
        whole_(other.whole_),
        mapped_(other.mapped_),
        base_(std::exchange(other.base_, nullptr)) {}
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }

  std::uint8_t* data() const { return base_ + whole_ - bytes_; }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_, whole_ = 0, mapped_ = 0;
  std::uint8_t* base_ = nullptr;
};

}  // namespace gantry::test
