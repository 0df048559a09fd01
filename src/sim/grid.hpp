// The state of a simulated run: its launches, their threads, warps, warpgroups, CTAs and clusters that are resident,
// and what they share.
//
// One `Grid` exists for each run; `self()` is the thread that is running on it now.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <gantry/arch/detail/machine.hpp>
#include <gantry/arch/simulator.hpp>
#include <gantry/hardware/architecture.hpp>

#include "agents.hpp"
#include "checker.hpp"
#include "clock.hpp"
#include "fiber.hpp"
#include "policy.hpp"
#include "sites.hpp"
#include "trace.hpp"
#include "warpgroup.hpp"

namespace gantry::sim {

struct Cta;
struct Cluster;
struct Launch;
class Grid;

// The shared window of a CTA: addresses below kSharedBase belong to the system, as on the hardware.
inline constexpr std::uint32_t kSharedBase = 1024;
inline constexpr std::uint32_t kSharedWindow = 256 * 1024;
inline constexpr std::uint32_t kMaxSharedBytes = kSm90.shared_bytes_per_block;

// What a blocked thread waits for, for reports.
struct Waiting {
  SiteId site = 0;
  const void* object = nullptr;  // an mbarrier, or null
  std::uint32_t parity = 0;
  int barrier_id = -1;  // a named barrier
  std::uint32_t mask = 0;
};

// A thread's bulk groups. Groups are numbered from 1; the one being filled is `committed + 1`.
struct BulkGroups {
  Actor read_actor, write_actor;
  Epoch committed = 0;
  struct Group {
    int unread = 0, unwritten = 0;
    SiteId site = 0;  // of its last store
  };
  std::deque<Group> groups{Group{}};  // unfinished ones; the last is being filled
  Epoch first = 1;                    // number of groups.front()
  bool blocked = false;

  Group& group(Epoch number) { return groups[number - first]; }
};

struct Thread {
  enum class State : std::uint8_t { ready, running, blocked, polling, exited };

  Identity id{};
  Cta* cta = nullptr;
  std::uint32_t slot = 0, rank = 0;
  State state = State::ready;
  View view;
  std::unique_ptr<Fiber> fiber;
  Waiting waiting;
  SiteId last_site = 0;  // of its last operation
  const char* role = "";
  std::unique_ptr<BulkGroups> bulk;
  WgmmaThread wgmma;
  ClockRef release_fence;      // what a fence before a relaxed store publishes
  ClockBuilder acquire_fence;  // what relaxed loads have read, for a fence after them
  bool acquire_pending = false;
  std::uint32_t cluster_round = 0;                                 // cluster barriers arrived at
  std::uint32_t cluster_waited = 0;                                // and waited for
  std::unordered_map<std::uint64_t, std::uint64_t> acquired_maps;  // version by address
  std::size_t register_changes = 0;                                // setmaxnreg executed
  std::uint64_t polled_at = ~std::uint64_t{0};                     // changes that its last look had seen
};

// Lanes that meet to exchange values.
struct Meeting {
  std::uint32_t mask = 0, arrived = 0;
  const char* operation = "";
  SiteId site = 0;  // of the lane that came first
  bool aligned = false, ordered = false;
  std::array<std::uint64_t, 32> values{};
  std::vector<Thread*> waiting{};
  ClockBuilder clock{};
  Published done{};
};

struct NamedBarrier {
  std::uint32_t expected = 0;  // 0: idle
  std::uint32_t arrived = 0;
  bool whole_cta = false;
  bool any = false, result = false;
  std::vector<Thread*> waiting;
  ClockBuilder clock;
  SiteId first_site = 0;
  std::bitset<1024> joined;         // threads that have arrived, by rank
  std::array<SiteId, 32> places{};  // where the first lane of each warp joined
};

struct Mbarrier {
  bool live = false;
  std::uint32_t expected = 0, pending = 0;
  std::int64_t tx = 0;
  std::uint64_t phase = 0;
  Actor actor;
  ClockBuilder clock;  // of the current phase
  Published done;      // of the last completed phase
  std::vector<Thread*> waiters;
  std::uint64_t expected_bytes = 0, received_bytes = 0;  // of the current phase
  Cta* cta = nullptr;
  std::uint32_t offset = 0;
  std::uint64_t last_credit = 0, last_wait = 0;  // phases, counted from 1: of the last copy, and waited for by anyone
  bool published = false;                        // initialisation was fenced
  std::uint32_t publish_round = 0;               // and reaches whoever has waited at this round of the cluster barrier
  Actor initialiser;
  Epoch init_epoch = 0;
};

// Where the first lane of a warp came to a round of the cluster barrier.
struct ClusterPlace {
  std::uint32_t round = 0;
  SiteId site = 0;
};

// One `setmaxnreg` of a warp: what it asked for, where, and how far its first lane had come.
struct RegisterChange {
  std::uint32_t registers = 0;
  bool grow = false;
  SiteId site = 0;
  Actor actor;
  Epoch epoch = 0;

  bool same(const RegisterChange& other) const { return registers == other.registers && grow == other.grow; }
};

struct WarpRegisters {
  std::uint32_t held = 0;  // a thread
  std::vector<RegisterChange> changes;
  std::size_t done = 0;  // changes that have taken effect; the last one may still wait for registers
};

struct Cta {
  std::uint32_t index = 0;  // among all CTAs of the run
  Launch* launch = nullptr;
  bool lets_next_start = false;  // griddepcontrol.launch_dependents, or ended
  std::uint32_t place = 0;       // which shared window
  std::uint32_t rank = 0;        // in the cluster
  Cluster* cluster = nullptr;
  std::byte* window = nullptr;
  std::uint32_t shared_bytes = 0;
  std::vector<Thread> threads;
  std::vector<std::vector<std::shared_ptr<Meeting>>> meetings;  // by warp
  std::vector<std::uint32_t> lanes;                             // by warp: those that have not returned
  std::vector<ClusterPlace> cluster_arrivals, cluster_waits;    // by warp and parity of the round
  std::vector<WarpRegisters> registers;                         // by warp
  std::uint32_t free_registers = 0;                             // of the pool that the CTA was launched with
  std::vector<Thread*> wants_registers;
  std::vector<Warpgroup> warpgroups;
  std::array<NamedBarrier, 16> barriers;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers;  // by shared address
  std::vector<Cell> cells;
  std::vector<std::uint32_t> actor_owner;  // thread rank by added actor; ~0: a barrier
  std::uint32_t alive = 0;
  int in_flight = 0;        // asynchronous operations that refer to this CTA
  int loads_in_flight = 0;  // those of them that still write its shared memory
  ClockRef fence_before, fence_after;
  int fence_kind = 0;

  Actor add_actor(std::uint32_t owner);
};

struct Cluster {
  Launch* launch = nullptr;
  std::uint32_t place = 0;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::uint32_t arrived = 0, alive = 0, round = 0;
  std::vector<Thread*> waiting;
  ClockBuilder clock;
  Published done;
};

// A kernel of the run. Launches start in order; CTAs, shared windows and slots of the scheduler are numbered through.
struct Launch {
  const Simulator::Call* call = nullptr;
  std::uint32_t number = 0;
  std::uint32_t threads_per_cta = 0, ctas_per_cluster = 0, clusters = 0;
  std::uint32_t first_cta = 0, first_window = 0, first_slot = 0;
  std::uint32_t next_cluster = 0, finished_clusters = 0;
  std::uint32_t ctas_passed = 0;                   // that have ended or let the next launch start
  std::uint32_t known_finished = 0;                // CTAs that its threads know to have ended when they start
  std::vector<std::unique_ptr<Cluster>> resident;  // by place
  std::vector<Thread*> waiting;                    // threads of later launches, until this one has finished

  const LaunchConfig& config() const { return call->config; }
  std::uint32_t ctas() const { return clusters * ctas_per_cluster; }
  bool finished() const { return finished_clusters == clusters; }
};

class Grid {
 public:
  Grid(const std::vector<Simulator::Call>& calls, const SimulatorOptions& options);
  ~Grid();

  Report run();

  // Scheduling, called on behalf of the running thread.
  void yield();                          // someone else may go first
  void block(const Waiting& what);       // until `wake`
  void poll(const Waiting& what);        // until anything has changed
  void poll_point(const Waiting& what);  // before a look: lets others run; waits if nothing has changed since the last
  void wake(Thread& thread);
  void resume_later();  // woken by its own arrival: goes on when chosen again
  void changed() { ++changes_; }
  // Every operation: a thread that calls one after the other, and none that lets others run, is interrupted.
  void tick() {
    if (++turn_ < kLongestTurn) return;
    step_ += kLongestTurn;
    yield();
  }
  [[noreturn]] void stop();  // the launch cannot go on, as after a fault on the hardware

  bool aborting() const { return aborting_; }
  std::uint64_t step() const { return step_; }
  const SimulatorOptions& options() const { return options_; }
  std::deque<Launch>& launches() { return launches_; }
  bool checking() const { return options_.checker; }

  Thread* find_thread(Actor actor);  // null once its CTA has ended, or where the actor is no thread

  const Launch& launch_of(std::uint32_t cta) const;
  std::string cta_text(std::uint32_t cta) const;  // "CTA 3", with its kernel where there are several

  // The CTA has ended, or no longer holds back the launch after its own.
  void let_next_start(Cta& cta);

  // Null where `pointer` is not in shared memory.
  Cta* shared_owner(const void* pointer);

  Sites sites;
  Checker checker;
  Agents agents;
  Report report;
  std::unique_ptr<Trace> trace;  // null: not asked for

  struct Name {
    std::uint64_t bytes;
    std::string text;
    int index;
  };
  std::map<std::uint64_t, Name> names;  // by address
  // Tensor maps in global memory that this launch has edited, by address.
  struct EditedMap {
    std::uint64_t version = 0;
    bool released = false;
    Actor editor;
    int copies_in_flight = 0;
  };
  std::unordered_map<std::uint64_t, EditedMap> edited_maps;
  std::unordered_map<std::uint64_t, Published> flags;  // what releasing stores to an address published

 private:
  void start_clusters();
  bool may_start(const Launch& launch) const;
  void start_cluster(Launch& launch, std::uint32_t index, std::uint32_t place);
  void start_cta(Cta& cta, const Identity& id);
  void finish_cluster(Cluster& cluster);
  void run_thread(std::uint32_t slot);
  bool idle();
  void wake_pollers();
  void thread_exit(Thread& thread);
  void cta_exit(Cta& cta);
  static void enter(void* argument);
  void report_deadlock();

  template <class F>
  void each_cta(F f) {
    for (Launch& launch : launches_) {
      for (auto& cluster : launch.resident) {
        if (!cluster) continue;
        for (auto& cta : cluster->ctas) f(*cta);
      }
    }
  }

  const SimulatorOptions& options_;
  std::deque<Launch> launches_;
  std::byte* windows_ = nullptr;
  std::size_t window_bytes_ = 0;
  StackPool stacks_;
  std::vector<Cta*> cta_at_;        // by shared window; null: empty
  std::vector<Thread*> thread_at_;  // by slot
  std::unique_ptr<Policy> policy_;
  std::uint64_t step_ = 0, changes_ = 0, polled_at_ = 0;
  static constexpr std::uint64_t kLongestTurn = 4096;
  std::uint64_t turn_ = 0;  // operations since a thread was chosen
  static constexpr int kIdlePolls = 64;
  std::vector<Thread*> pollers_;
  int idle_polls_ = 0;
  bool aborting_ = false;
  Thread* running_ = nullptr;
};

// The running thread and its grid. Throws std::logic_error outside of a simulated kernel.
Thread& self();
Grid& grid();
Thread* running_thread();  // or null

// Interns the call site, counts it, and answers whether it is to be left out.
struct Call {
  SiteId site = 0;
  MutationKind mutation = MutationKind::none;
  bool dropped() const { return mutation == MutationKind::drop; }
};
Call enter_call(Site site, Operation operation);

// After a release: later accesses of the thread are not covered by what it published.
inline void advance(View& view) { ++view.own.seen; }

// What the thread knows goes into `clock`; nothing where the checker is off.
inline void release_into(ClockBuilder& clock, Thread& thread) {
  if (!grid().checking()) return;
  clock.join(thread.view);
  advance(thread.view);
}

// A thread has returned: barriers of the whole CTA and of the cluster no longer wait for it.
void thread_left_barriers(Thread& thread);

// What a CTA's last change of registers left behind: warps of a warpgroup that took no part.
void check_registers_at_end(const Cta& cta);
std::string waits_for_registers(const Thread& thread);

// The same for the lanes of its warp that wait for it.
void thread_left_warp(Thread& thread);

// The whole warp executes an `.aligned` instruction together.
void aligned(const char* operation, Site site);

// What a lane waits for at a meeting of `mask`, and the findings of a warp whose lanes never meet.
std::string missing_lanes(const Cta& cta, std::uint32_t warp, std::uint32_t mask);
void report_diverged(const Cta& cta);

// Whether the running thread may issue a copy with this map, if the launch has edited it.
void check_map_use(const void* map, SiteId site);

// Whether the barrier's initialisation is known to the thread: ordered before, or fenced and carried by the cluster
// barrier, whose arrival may then be relaxed.
bool knows_init(const Thread& thread, const Mbarrier& barrier);

// Bytes arrive for a barrier; called by operations when they land.
void credit(Mbarrier& barrier, std::uint32_t bytes);
Mbarrier* find_mbarrier(const void* pointer);

}  // namespace gantry::sim
