// A simulated thread's stack and the switch to and from it: Boost.Context, with every switch announced to the
// sanitizers that need to know.
//
// Stacks come from slabs: one mapping holds many, because one guarded mapping for each of thousands of fibers would
// exhaust the kernel's limit on mappings. A canary at the end of each stack tells when a kernel ran over it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/context/fiber.hpp>

namespace gantry::sim {

struct Stack {
  std::byte* low = nullptr;
  std::size_t bytes = 0;
};

class StackPool {
 public:
  explicit StackPool(std::size_t stack_bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  Stack take();
  void give_back(Stack stack);

 private:
  static constexpr std::size_t kStacksPerSlab = 64;
  std::size_t stack_bytes_;
  std::vector<std::byte*> slabs_;
  std::vector<Stack> free_;
};

// Runs `entry(argument)` on its own stack. `resume` runs it until it suspends or returns; `suspend` is called from
// inside. Destroying a fiber that has not returned unwinds its stack.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber(StackPool& pool, Entry entry, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();
  void suspend();
  bool overflowed() const;

 private:
  StackPool& pool_;
  Stack stack_;
  boost::context::fiber inside_;   // valid while suspended
  boost::context::fiber outside_;  // valid while running
  struct Sanitizer {
    void* fake_inside = nullptr;
    void* fake_outside = nullptr;
    const void* outside_stack = nullptr;
    std::size_t outside_bytes = 0;
  } sanitizer_;
};

}  // namespace gantry::sim
