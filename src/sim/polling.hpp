// Threads that look at memory, again and again, until it changes: they wait in queues by address, so that a change
// wakes those who look there and nobody else.
//
// Memory is told apart by grains of 16 bytes. A thread is known to look at the last few grains that it has looked at;
// it waits for a change of any of them. One that has looked at more, or at none, waits for a change of anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gantry::sim {

struct Thread;

// What one thread looks at.
struct Looks {
  static constexpr std::size_t kMost = 4;
  struct Look {
    std::uint64_t grain = 0, version = 0;
  };
  std::array<Look, kMost> last{};
  std::size_t count = 0;
  bool too_many = false;  // it has looked at more than can be kept since it last waited

  Look* find(std::uint64_t grain);
};

class Polling {
 public:
  static std::uint64_t grain_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address) / kGrain; }

  // Whether the thread has looked at the grain before, and nothing that it looks at has changed since.
  bool unchanged(Looks& looks, std::uint64_t grain) const;
  void look(Looks& looks, std::uint64_t grain);

  // The thread waits until what it looks at changes.
  void wait(Thread& thread);

  // Takes out those who wait for a change of these bytes; of anything; all there are.
  std::vector<Thread*> changed(const void* address, std::uint64_t bytes);
  std::vector<Thread*> take_indifferent();
  std::vector<Thread*> take_all();

  bool anyone() const { return waiting_ > 0; }
  bool anyone_indifferent() const { return !indifferent_.empty(); }

 private:
  static constexpr std::uint64_t kGrain = 16;
  struct Place {
    std::uint64_t version = 0;
    std::vector<Thread*> waiting;
  };
  void take(Place& place, std::vector<Thread*>& out);

  std::unordered_map<std::uint64_t, Place> places_;  // by grain: those that anybody has looked at
  std::vector<Thread*> indifferent_;
  std::size_t waiting_ = 0;
};

}  // namespace gantry::sim
