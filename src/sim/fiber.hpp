// A simulated thread's stack and the switch to and from it: Boost.Context, with every switch announced to the
// sanitizers that need to know.
//
// Stacks come from slabs: one mapping holds many. Below each of the first kMostGuarded lies memory that cannot be
// accessed, so that a kernel which needs more than its stack is told so; more would exhaust the host's limit on
// mappings. A host thread keeps a few slabs for its next run.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/context/fiber.hpp>

namespace gantry::sim {

// Below each stack, as far as a frame with large arrays may reach at once.
inline constexpr std::size_t kGuardBytes = 1024 * 1024;

struct Stack {
  std::byte* low = nullptr;
  std::size_t bytes = 0;
};

// Frames on a stack that were left without a return: the address sanitizer has marked their variables.
void forget_frames(void* low, std::size_t bytes);

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
  static constexpr std::size_t kMostGuarded = 16384;
  struct Slab {
    std::byte* first;
    std::size_t bytes;
    std::size_t guard;
  };
  struct Kept;  // of this host thread
  static Kept& kept();
  Slab make_slab() const;

  std::size_t stack_bytes_;
  std::vector<Slab> slabs_;
  std::vector<Stack> free_;
};

// Runs `entry(argument)` on its own stack. `resume` runs it until it suspends or returns; `suspend` is called from
// inside. A fiber that has not returned is abandoned when it is destroyed: nothing of it runs any more.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber(StackPool& pool, Entry entry, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();
  void suspend();
  // Whether the address lies below the stack, where it would grow into.
  bool is_below(const void* address) const;

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
