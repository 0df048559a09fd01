// The table that the litmus grid is held to: what orders two accesses, and what does not, one fact in each row.
//
// A case is a first access, what its thread does afterwards, a chain of synchronisation, and a second access to the
// same bytes. Its verdict is put together from the rows: both must be ordered, the first must be over, and the proxies
// must have been fenced. "PTX MCM" is the chapter "Memory Consistency Model" of the PTX manual; where it is silent the
// row says "decision", with its reason.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry::litmus {

enum class Proxy { generic, async };

// How the end of an access becomes known to its own thread.
enum class Ends { at_once, by_mbarrier, by_read_wait, by_write_wait, by_wgmma_wait };

struct Kind {
  const char* name;
  bool writes;
  Proxy proxy;
  Ends ends;
  bool strong;    // relaxed or more, of GPU scope, 4 bytes
  bool constant;  // ld.global.nc
  const char* source;
};

// Whether the chain orders what the first thread did before it with what the second does after it.
struct Chain {
  const char* name;
  bool orders;
  const char* source;
};

enum class Verdict { clean, race, proxy, constant, dependency };

struct Between {
  bool waited = true;  // the first thread has waited for the end of its access, in the way that it ends by
  bool fenced = true;  // a proxy fence of the right space stands between the two
};

// PTX MCM, "Conflict and data-races": two overlapping operations, one of them a write, that are neither ordered by
// causality nor morally strong relative to each other. "Morally strong operations": both strong, in each other's scope,
// through the same proxy, overlapping completely. "Proxy-preserved base causality order": across proxies, a proxy fence
// must stand on the way.
inline Verdict verdict(const Kind& first, const Kind& second, const Chain& chain, const Between& between) {
  if (!first.writes && !second.writes) return Verdict::clean;
  if (first.constant || second.constant) return Verdict::constant;
  if (first.strong && second.strong && first.proxy == second.proxy) return Verdict::clean;
  if (!chain.orders || !between.waited) return Verdict::race;
  // The completion of an asynchronous operation is an implicit proxy fence (PTX MCM, "Async operations").
  if (first.proxy == Proxy::generic && second.proxy == Proxy::async && !between.fenced) return Verdict::proxy;
  return Verdict::clean;
}

inline bool any_of(const Report& report, std::initializer_list<const char*> rules) {
  for (const char* rule : rules) {
    if (report.has(rule)) return true;
  }
  return false;
}

inline bool agrees(const Report& report, Verdict expected) {
  switch (expected) {
    case Verdict::clean:
      return report.clean();
    case Verdict::race:
      return any_of(report, {"shared-race", "global-race", "tma-data-early", "store-source-reused", "bulk-result-early",
                             "wgmma-operand-reused", "slot-reloaded-early", "unsynchronised-async-access"});
    case Verdict::proxy:
      return any_of(report, {"proxy-fence-missing", "proxy-fence-missing-after-read"});
    case Verdict::constant:
      return report.has("constant-load-of-written-data");
    case Verdict::dependency:
      return report.has("grid-dependency-early");
  }
  return false;
}

// A few seeds in the suite; 100 with GANTRY_LONG_TESTS in the environment.
inline std::uint64_t seeds() { return std::getenv("GANTRY_LONG_TESTS") != nullptr ? 100 : 3; }

inline SimulatorOptions options_of(std::uint64_t seed) {
  constexpr Schedule kSchedules[] = {Schedule::random, Schedule::pct, Schedule::directed};
  return {.seed = seed, .schedule = kSchedules[seed % 3]};
}

// Counts what has been tried, so that a grid that shrinks is seen.
class Tally {
 public:
  template <class Run>
  void add(const std::string& name, Verdict expected, Run run) {
    ++cases_;
    for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
      const Report report = run(options_of(seed));
      if (agrees(report, expected)) continue;
      ADD_FAILURE() << name << ", seed " << seed << ": expected verdict " << static_cast<int>(expected) << "; "
                    << report.text();
      return;
    }
  }
  int cases() const { return cases_; }

 private:
  int cases_ = 0;
};

}  // namespace gantry::litmus
