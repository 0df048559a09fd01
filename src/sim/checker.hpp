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

inline constexpr std::uint32_t kNoCta = ~0u;

// An asynchronous operation that was issued: the actor whose progress tells that it has finished, and the epoch of that
// actor at which it has. For a load that is a phase of its mbarrier, known once it has landed.
struct AsyncOp {
  Actor actor;
  Epoch epoch = 0;  // 0: in flight
  Actor issuer;
  SiteId site = 0;
  std::uint32_t to = 0;  // the CTA that receives a load, or kNoCta
};

// Who makes an access, and what it may rely on: every one of the views must be ordered after what is found.
struct Accessor {
  Record record;  // all but the mask
  const View* const* views = nullptr;
  std::size_t view_count = 0;
  bool async = false;
};

// How a thread accesses: weakly, or with a scope that others' accesses of the same size are weighed against.
struct Manner {
  bool write = false;
  bool strong = false;
  Scope scope = Scope::cta;
  std::uint32_t size = 0;  // of the element that is accessed at once; 0: the whole access
  bool constant = false;
};

class Checker {
 public:
  explicit Checker(Grid& grid) : grid_(grid) {}

  // Requires: the range lies in the CTA's window. True where bytes were read that nothing had written.
  bool shared(Cta& cta, std::uint32_t address, std::uint32_t bytes, const Accessor& accessor);
  void global(std::uint64_t address, std::uint64_t bytes, const Accessor& accessor);

  // An ordinary access by a thread.
  void thread_access(Thread& thread, const void* pointer, std::uint32_t bytes, const Manner& manner, SiteId site);

  std::uint32_t add_op(const AsyncOp& op);  // its number
  void landed(std::uint32_t op, Epoch epoch) { ops_[op].epoch = epoch; }
  const AsyncOp& op(std::uint32_t number) const { return ops_[number]; }
  const AsyncOp& last_load_to(const Cta& cta) const;  // Requires: there has been one.

  // The last ordinary store of this run to any of the bytes; null: none.
  const Record* last_store(std::uint64_t address, std::uint64_t bytes);

  // Whether the view is ordered after the operation's end.
  static bool knows_end(const View& view, const AsyncOp& op) {
    return op.epoch != 0 && view.at(op.actor).seen >= op.epoch;
  }

  std::string describe(Actor actor) const;                   // "thread 130 of CTA 2 (math)"
  std::string describe_op(SiteId site, Actor issuer) const;  // "the TMA store that thread 0 of CTA 2 issued at ..."

 private:
  enum class MemorySpace : std::uint8_t { shared, global };

  const Launch* launch_of(const Record& record) const;
  Actor origin(const Record& record) const;  // the thread, or the actor of an operation
  std::uint32_t cta_of(const Record& record) const;
  bool compatible(const Record& a, const Record& b) const;
  bool stands_for(const Record& now, const Record& earlier) const;
  Verdict judge(const Record& earlier, const Accessor& accessor, MemorySpace space) const;
  bool touch(Cell& cell, std::uint16_t mask, const Accessor& accessor, MemorySpace space, std::uint64_t address);
  void check_conflict(const Record& earlier, const Accessor& accessor, MemorySpace space, std::uint64_t address);
  bool read_unwritten(Cell& cell, std::uint16_t mask, const Accessor& accessor, std::uint64_t address);
  std::uint16_t overwrite_barriers(const Cell& cell, std::uint16_t mask, const Record& now, std::uint64_t address);
  void object(Verdict verdict, const Record& earlier, const Accessor& accessor, MemorySpace space,
              std::uint64_t address);
  std::string describe_access(const Record& record, const std::string& bytes) const;
  std::string advice(const Told& told, const Record& earlier, const Record& now) const;

  Grid& grid_;
  std::vector<AsyncOp> ops_;
  GlobalShadow global_;
};

}  // namespace gantry::sim
