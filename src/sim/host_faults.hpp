// What would end the host process, turned into findings of the kernel that did it: plain C++ access to shared memory,
// addresses that are no memory, stacks that are full, divisions by zero, failed assertions, and loops that never ask
// the machine for anything.
//
// While one exists, the signals of such faults of a simulated thread on this host thread end up in `Grid::host_fault`,
// on a stack of their own; the thread's fiber never goes on. A timer of the host thread's CPU time finds the loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace gantry::sim {

class Grid;

enum class HostFault : std::uint8_t { access, division, trap, endless_loop };

class HostFaults {
 public:
  HostFaults(Grid& grid, int watchdog_seconds);
  ~HostFaults();
  HostFaults(const HostFaults&) = delete;
  HostFaults& operator=(const HostFaults&) = delete;

 private:
  void start_timer();

  HostFaults* before_;
  bool has_timer_ = false;
  timer_t timer_{};

  friend struct FaultHandler;
  Grid& grid_;
  int patience_;  // ticks of the timer without an operation
  std::uint64_t seen_ = 0;
  int idle_ticks_ = 0;
  HostFault kind_ = HostFault::access;
  const void* address_ = nullptr;
};

}  // namespace gantry::sim
