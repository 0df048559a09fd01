// Lanes of a warp that converge: shuffles, votes, elections, and the instructions that a whole warp executes together.
//
// A meeting ends when every lane of its mask has come; where the instruction is defined so, lanes that have returned do
// not count. Lanes that are at another operation, or, for an `.aligned` instruction, at another place of the source,
// are diverged: on the hardware they hang or compute garbage.
#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "grid.hpp"

namespace gantry::sim {
namespace {

// Lanes of the mask that are still to come. A last warp that is not full has only the lanes it was launched with.
std::uint32_t missing(const Cta& cta, std::uint32_t warp, const Meeting& meeting) {
  const std::size_t launched = std::min<std::size_t>(32, cta.threads.size() - std::size_t{warp} * 32);
  const std::uint32_t there = meeting.aligned ? ~0u >> (32 - launched) : cta.lanes[warp];
  return meeting.mask & there & ~meeting.arrived;
}

void end_meeting(Meeting& meeting) {
  if (meeting.ordered) meeting.done = Published(meeting.clock.freeze());
  for (Thread* waiting : std::exchange(meeting.waiting, {})) grid().wake(*waiting);
  grid().changed();
}

std::string lanes_text(std::uint32_t mask) {
  std::string text = (mask & (mask - 1)) == 0 ? "lane " : "lanes ";
  bool first = true;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const std::uint32_t from = lane;
    while (lane < 31 && (mask >> (lane + 1) & 1) != 0) ++lane;
    text += (first ? "" : ", ") + std::to_string(from) + (lane > from ? ".." + std::to_string(lane) : "");
    first = false;
  }
  return text;
}

// The operation and the place must be those of the lanes that came before.
void check_same(const Meeting& meeting, const Exchange& exchange, SiteId site) {
  const bool other_operation = std::string_view(meeting.operation) != exchange.operation;
  const bool other_place = (exchange.aligned || meeting.aligned) && meeting.site != site;
  if (!other_operation && !other_place) return;
  Grid& g = grid();
  g.findings().add("warp-divergent", site, meeting.site,
                   g.checker().describe(self().view.self) + " is at " + exchange.operation + " (" +
                       g.sites().text(site) + "), while " + lanes_text(meeting.arrived) +
                       " of its warp wait for it at " + meeting.operation + " (" + g.sites().text(meeting.site) +
                       "): all lanes of the mask execute the same instruction together.");
  g.stop();
}

}  // namespace

std::uint32_t warp_exchange(const Exchange& exchange, std::uint64_t (&values)[32], Site site) {
  const bool is_syncwarp = exchange.ordered && !exchange.aligned;
  const Call call = enter_call(site, is_syncwarp ? Operation::syncwarp : Operation::warp_exchange);
  if (call.dropped()) return exchange.mask;
  Thread& thread = self();
  Cta& cta = *thread.cta;
  const std::uint32_t warp = thread.rank / 32, lane = thread.rank % 32;
  const std::uint32_t bit = 1u << lane;
  if ((exchange.mask & bit) == 0) {
    complain("warp-mask", call.site,
             grid().checker().describe(thread.view.self) + " called " + exchange.operation +
                 " with a mask that does not contain its own lane.");
    return bit;
  }
  if (std::string_view(exchange.operation).starts_with("match.")) {
    grid().poison().check_compared(&exchange.value, sizeof exchange.value, call.site);
  }
  auto& meetings = cta.meetings[warp];
  auto found = std::find_if(meetings.begin(), meetings.end(), [&](const auto& m) { return m->mask == exchange.mask; });
  if (found == meetings.end()) {
    meetings.push_back(std::make_shared<Meeting>());
    found = std::prev(meetings.end());
    **found = {.mask = exchange.mask,
               .operation = exchange.operation,
               .site = call.site,
               .aligned = exchange.aligned,
               .ordered = exchange.ordered};
  }
  const std::shared_ptr<Meeting> meeting = *found;
  check_same(*meeting, exchange, call.site);
  meeting->arrived |= bit;
  meeting->values[lane] = exchange.value;
  if (exchange.ordered) release_into(meeting->clock, thread);
  if (missing(cta, warp, *meeting) == 0) {
    meetings.erase(found);
    end_meeting(*meeting);
    grid().yield();
  } else {
    meeting->waiting.push_back(&thread);
    grid().block({.site = call.site, .mask = exchange.mask});
  }
  if (exchange.ordered) meeting->done.acquire(thread.view);
  std::copy(meeting->values.begin(), meeting->values.end(), values);
  return meeting->arrived;
}

std::uint32_t shuffle_segments(int width, Site site) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    accuse(
        "shuffle-width", grid().sites().intern(site, Operation::warp_exchange),
        "A shuffle was asked for in groups of " + std::to_string(width) + " lanes: the width is 1, 2, 4, 8, 16 or 32.");
  }
  return static_cast<std::uint32_t>(32 - width) << 8;
}

void aligned(const char* operation, Site site) {
  std::uint64_t values[32];
  warp_exchange({.mask = ~0u, .operation = operation, .aligned = true}, values, site);
}

void thread_left_warp(Thread& thread) {
  Cta& cta = *thread.cta;
  const std::uint32_t warp = thread.rank / 32;
  cta.lanes[warp] &= ~(1u << thread.rank % 32);
  auto& meetings = cta.meetings[warp];
  for (std::size_t i = 0; i < meetings.size();) {
    if (missing(cta, warp, *meetings[i]) != 0) {
      ++i;
      continue;
    }
    end_meeting(*meetings[i]);
    meetings.erase(meetings.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::string missing_lanes(const Cta& cta, std::uint32_t warp, std::uint32_t mask) {
  for (const auto& meeting : cta.meetings[warp]) {
    if (meeting->mask != mask) continue;
    return lanes_text(missing(cta, warp, *meeting)) + " of warp " + std::to_string(warp);
  }
  return "lanes of its warp";
}

void report_diverged(const Cta& cta) {
  Grid& g = grid();
  for (std::uint32_t warp = 0; warp < cta.meetings.size(); ++warp) {
    for (const auto& meeting : cta.meetings[warp]) {
      const std::uint32_t absent = missing(cta, warp, *meeting);
      const Thread& one = cta.threads[warp * 32 + static_cast<std::uint32_t>(std::countr_zero(absent))];
      const bool returned = one.state == Thread::State::exited;
      // A lane that is held up by an mbarrier, or looks for something, may be on its way here.
      if (!returned && (one.waiting.object != nullptr || one.state == Thread::State::polling)) continue;
      g.findings().add(
          "warp-divergent", meeting->site, returned ? 0 : one.waiting.site,
          std::string(meeting->operation) + " at " + g.sites().text(meeting->site) + " was reached by " +
              lanes_text(meeting->arrived) + " of warp " + std::to_string(warp) + " of " + grid().cta_text(cta.index) +
              ", and not by " + lanes_text(absent) + " of its mask: " +
              (returned ? "thread " + std::to_string(one.rank) + " has returned"
                        : "thread " + std::to_string(one.rank) + " waits at " + g.sites().text(one.waiting.site)) +
              ". Every lane of the mask must come.");
    }
  }
}

}  // namespace gantry::sim
