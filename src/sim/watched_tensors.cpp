#include "watched_tensors.hpp"

#include <cstring>

#include "grid.hpp"

namespace gantry::sim {
namespace {

Space space_of(Memory memory) { return memory == Memory::shared ? Space::shared : Space::global; }

// What the simulator itself does between two threads' turns is host memory.
void load_of_tensor(Memory memory, void* to, const void* from, std::uint32_t bytes) {
  if (running_thread() == nullptr) {
    std::memcpy(to, from, bytes);
  } else {
    load(to, from, bytes, {.space = space_of(memory)}, Site{});
  }
}
void store_of_tensor(Memory memory, void* to, const void* from, std::uint32_t bytes) {
  if (running_thread() == nullptr) {
    std::memcpy(to, from, bytes);
  } else {
    store(to, from, bytes, {.space = space_of(memory)}, Site{});
  }
}

}  // namespace

WatchedTensors::WatchedTensors() : before_(memory_hooks) { memory_hooks = {load_of_tensor, store_of_tensor}; }

}  // namespace gantry::sim
