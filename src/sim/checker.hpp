// The happens-before checker: whether an access is ordered after everything it conflicts with, and through the right
// proxy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/arch/detail/machine.hpp>

#include "clock.hpp"
#include "conflict.hpp"
#include "shadow.hpp"

namespace gantry::sim {

class Grid;
struct Cta;
struct Launch;
struct Thread;

// A load that was issued: which barrier it will be credited to, and once it has landed, in which phase.
struct LoadOp {
  Actor barrier;
  Epoch epoch = 0;  // 0: in flight
  Actor issuer;
  SiteId site = 0;
  std::uint32_t to = 0;  // the CTA that receives it
};

// Who makes an access, and what it may rely on: every one of the views must be ordered after what is found.
struct Accessor {
  Record record;  // all but the mask
  const View* const* views = nullptr;
  std::size_t view_count = 0;
  bool async = false;
};

class Checker {
 public:
  explicit Checker(Grid& grid) : grid_(grid) {}

  // Requires: the range lies in the CTA's window.
  void shared(Cta& cta, std::uint32_t address, std::uint32_t bytes, const Accessor& accessor);
  void global(std::uint64_t address, std::uint64_t bytes, const Accessor& accessor);

  // An ordinary access by a thread.
  void thread_access(Thread& thread, const void* pointer, std::uint32_t bytes, bool write, bool atomic, SiteId site);

  std::uint32_t add_load(const LoadOp& load);  // its number
  void landed(std::uint32_t load, Epoch epoch) { loads_[load].epoch = epoch; }
  const LoadOp& last_load_to(const Cta& cta) const;  // Requires: there has been one.

  std::string describe(Actor actor) const;  // "thread 130 of CTA 2 (math)"

 private:
  enum class MemorySpace : std::uint8_t { shared, global };

  const Launch* launch_of(const Record& record) const;
  Verdict judge(const Record& earlier, const Accessor& accessor, MemorySpace space) const;
  void touch(Cell& cell, std::uint16_t mask, const Accessor& accessor, MemorySpace space, std::uint64_t address);
  void object(Verdict verdict, const Record& earlier, const Accessor& accessor, MemorySpace space,
              std::uint64_t address, std::uint16_t mask);

  Grid& grid_;
  std::vector<LoadOp> loads_;
  GlobalShadow global_;
};

}  // namespace gantry::sim
