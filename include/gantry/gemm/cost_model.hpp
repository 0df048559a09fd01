// What a product costs with a configuration, in plain terms: waves of tiles, the cycles of a K step and what binds
// them, an epilogue that is hidden or not, sums handed over, bytes of memory. An estimate, made to rank configurations;
// docs/performance.md has what its figures come from.
//
//   cycles = start + the larger of work and memory + a part of the smaller
//   work   = waves x (K steps x cycles of a step + epilogue that shows) + what handing sums over costs
//
// Example:
//     using namespace gantry;
//     GemmWorkload product;
//     product.m = product.n = product.k = 8192;
//     const GemmOptions pair{.tile = {128, 256, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative};
//     const GemmCost cost = estimate(product, pair, {}, {});
//     const bool sixteen_waves = cost.waves == 16 && cost.bound == GemmBound::tensor_cores;
#pragma once

#include <cmath>

#include <gantry/gemm/scheduler.hpp>
#include <gantry/gemm/tuning.hpp>

namespace gantry {

// The defaults are an H200's.
struct GemmDeviceModel {
  int multiprocessors = 132;
  double clock = 1.7e9;              // of a chip that multiplies
  double memory_rate = 3.97e12;      // bytes a second, as epilogues reach
  double l2_rate = 52;               // bytes a cycle for each processor, where all of them load
  double most_l2_rate = 64;          // that one processor takes
  double shared_rate = 128;          // bytes a cycle of a processor
  double products_per_cycle = 2048;  // of 16-bit elements, of a processor
};

// What an epilogue does besides storing D.
struct GemmEpilogueCost {
  double bytes = 0;      // read and written for each element of D: C, auxiliary tensors
  bool plain = true;     // D is A B: a cooperative kernel stores it behind the next tile
  bool heavy = false;    // functions such as gelu or exp
  bool outputs = false;  // or C with factors: more than one of three warpgroups has registers for
  bool crowded = false;  // too much for the registers of a warpgroup that holds the sums of 128 x 192
};

enum class GemmBound : std::uint8_t { tensor_cores, shared_memory, l2 };

struct GemmCost {
  TileSchedule schedule{};
  int waves = 0;
  double last_wave = 1;  // the part of the clusters that the last wave keeps busy
  double step = 0;       // cycles
  GemmBound bound = GemmBound::tensor_cores;
  bool spills = false;          // its registers do not hold what the epilogue needs
  double epilogue = 0;          // cycles of a tile's
  double shown = 0;             // of those, not hidden behind products
  double handover = 0;          // cycles, for tiles that are shared
  double work = 0, memory = 0;  // cycles in all
  double cycles = 0, milliseconds = 0;

  bool memory_binds() const { return memory > work; }
};

// Clusters of so many CTAs that the chip holds at the same time. Processors come in groups, which clusters of four do
// not fill: an H200 holds 120 CTAs of such.
constexpr int resident_clusters(const GemmDeviceModel& device, int size) {
  const int usable = size > 2 ? device.multiprocessors * 10 / 11 : device.multiprocessors;
  return usable / size > 0 ? usable / size : 1;
}

namespace detail {

// In cycles of an SM, fitted to the times behind docs/performance.md so that the fastest is ranked first; short
// products were launched back to back there, so that little of a launch shows.
inline constexpr double kLaunchCycles = 2000;         // start, first loads, last store
inline constexpr double kTileCycles = 17.4;           // between two tiles
inline constexpr double kBehindCycles = 682;          // the same, where D is taken to be stored behind the next tile
inline constexpr double kTurnCycles = 728;            // the same, where warpgroups alternate
inline constexpr double kStepCycles = 3.92;           // between two K steps
inline constexpr double kReadPart = 0.759;            // of what wgmma reads from shared memory, beside what TMA writes
inline constexpr double kElementsPerCycle = 11.7;     // that a warpgroup's epilogue takes
inline constexpr double kHeavy = 2.74;                // times as long, with functions
inline constexpr double kSpilling = 2;                // the same, where registers run out
inline constexpr double kEpilogueByteCycles = 0.144;  // for each further byte of an element, of a warpgroup
inline constexpr double kSubtileCycles = 79.5;        // of barriers, for each subtile of an epilogue
inline constexpr double kPaired = 1.01;               // longer by, epilogues of CTAs that load for each other and wait
inline constexpr double kOfThree = 1.73;              // times as long takes such a byte where three take turns
inline constexpr double kLoadShare = 0.375;           // of the time that loads from L2 take, which epilogues wait for
inline constexpr double kEnergy = 0.000928;           // of the clock, for a byte that a processor loads a cycle
inline constexpr double kOverlap = 0.114;             // of the shorter of work and memory that is not hidden
inline constexpr double kHandoverLatency = 5900;      // to leave sums and find them
inline constexpr double kAddLatency = 900;            // to find and add one part of them, at the least
inline constexpr double kHandoverRate = 38;           // bytes a cycle that leave or arrive
inline constexpr double kHot = 0.925;                 // of the time, that loads take which all processors do at once
inline constexpr double kOutside = 1.33;              // longer by, that loads of rows outside of the matrix take
inline constexpr double kUnevenSplitSteps = 40;       // that reading at several places in K costs

class GemmEstimate {
 public:
  GemmEstimate(const GemmWorkload& workload, const GemmOptions& options, const GemmEpilogueCost& epilogue,
               const GemmDeviceModel& device)
      : w_(workload), o_(options), e_(epilogue), d_(device) {}

  GemmCost cost(bool may_split) {
    const bool pingpong = o_.schedule == GemmSchedule::pingpong;
    TileSchedule tiles;
    tiles.m = ceil_div(w_.m, o_.tile.m * o_.cluster.m);
    tiles.n = ceil_div(w_.n, o_.tile.n * o_.cluster.n);
    tiles.k_steps = ceil_div(w_.k, o_.tile.k);
    tiles.l = static_cast<int>(w_.l);
    const int available = resident_clusters(d_, o_.cluster.m * o_.cluster.n);
    set_epilogue(pingpong);
    set_memory();
    tiles = with_costs_of(tiles, o_.tile.m, o_.tile.n);
    return with(make_tile_schedule(tiles, available, may_split && !pingpong), available);
  }

 private:
  static int ceil_div(std::int64_t a, int b) { return static_cast<int>((a + b - 1) / b); }
  static double bytes(ElementType element) { return element_bits(element) / 8.0; }

  // Whether DeferredStore has this tile.
  bool stores_behind() const {
    return o_.tile.m <= 128 && o_.tile.n % 128 == 0 && element_bits(o_.d) == 16 && o_.epilogue.epi_n == 0;
  }

  void set_epilogue(bool pingpong) {
    const double warpgroups = pingpong || o_.tile.m == 64 ? 1 : 2;
    const double elements = double(o_.tile.m) * o_.tile.n / warpgroups;
    c_.spills =
        pingpong && (o_.warpgroups == 3 ? e_.outputs || e_.crowded : e_.crowded && o_.tile.m * o_.tile.n > 128 * 128);
    const double columns = o_.epilogue.epi_n > 0 ? o_.epilogue.epi_n : 64;
    const double subtiles = elements / ((o_.epilogue.epi_m > 64 ? o_.epilogue.epi_m : 64) * columns);
    c_.epilogue = (c_.spills ? kSpilling : 1) * elements *
                      ((e_.heavy ? kHeavy : 1) / kElementsPerCycle +
                       e_.bytes * kEpilogueByteCycles * (o_.warpgroups == 3 ? kOfThree : 1)) +
                  subtiles * kSubtileCycles;
    if (o_.cluster.m * o_.cluster.n > 1) c_.epilogue *= kPaired;
  }

  void set_memory() {
    const double m = double(w_.m), n = double(w_.n), k = double(w_.k), l = double(w_.l);
    const double operands = m * k * bytes(w_.a) + n * k * bytes(w_.b), results = m * n * (bytes(w_.d) + e_.bytes);
    c_.memory = l * (operands + results) / d_.memory_rate * d_.clock;
    results_ = results / (operands + results);
  }

  // With `busy` processors.
  void set_step(int busy) {
    const double m = o_.tile.m, n = o_.tile.n;
    const double row = o_.tile.k * bytes(o_.a);
    const double products = m * n * o_.tile.k / (d_.products_per_cycle * 2 / bytes(o_.a));
    // Each 64 rows read their A and all of B.
    const double shared = (kReadPart * (m / 64 * (64 + n)) + m + n) * row / d_.shared_rate;
    const double rate = d_.l2_rate * d_.multiprocessors / busy;
    const int tiles_m = ceil_div(w_.m, o_.tile.m * o_.cluster.m);
    const double loaded = (m / o_.cluster.n * (tiles_m == 1 ? kHot : 1) + n / o_.cluster.m) * row;
    const double rows = double(tiles_m) * o_.tile.m * o_.cluster.m;
    const double outside = 1 - double(w_.m) / rows;
    const double l2 = (1 + kOutside * outside) * loaded / (rate < d_.most_l2_rate ? rate : d_.most_l2_rate);
    c_.bound = GemmBound::tensor_cores;
    c_.step = products;
    if (shared > c_.step) {
      c_.bound = GemmBound::shared_memory;
      c_.step = shared;
    }
    if (l2 > c_.step) {
      c_.bound = GemmBound::l2;
      c_.step = l2;
    }
    c_.step += kStepCycles;
    c_.step *= 1 + kEnergy * loaded / c_.step;
    loaded_ = loaded;
  }

  GemmCost with(const TileSchedule& schedule, int available) {
    const int tiles = schedule.tiles();
    const bool pingpong = o_.schedule == GemmSchedule::pingpong;
    c_.schedule = schedule;
    c_.waves = (tiles + schedule.clusters - 1) / schedule.clusters;
    c_.last_wave = double(tiles - (c_.waves - 1) * schedule.clusters) / available;
    if (schedule.split_tiles > 0) c_.last_wave = double(schedule.clusters) / available;
    set_step(schedule.clusters * o_.cluster.m * o_.cluster.n);

    // Alternating warpgroups multiply and store side by side; a plain D is stored behind the next tile, slab by slab
    // behind its K steps; any other epilogue shows.
    const double tile = schedule.k_steps * c_.step;
    const bool behind = e_.plain && !pingpong && stores_behind() && 64 * schedule.k_steps >= o_.tile.n;
    const double gap = pingpong ? kTurnCycles : behind ? kBehindCycles : kTileCycles;
    // Of w warpgroups that take turns one multiplies, and the others store.
    const int turns = o_.warpgroups == 3 ? 3 : 2;
    const double beyond = (c_.epilogue - (turns - 1) * tile) / turns;
    c_.shown = pingpong ? (beyond > gap ? beyond - gap : 0) : behind ? 0 : c_.epilogue;
    const double last = pingpong ? c_.epilogue : 0;
    const double between = gap + c_.shown;
    c_.handover = 0;
    if (schedule.split_tiles == 0) {
      c_.work = c_.waves * (tile + between) + last;
    } else {
      const double sums = 4.0 * o_.tile.m * o_.tile.n / kHandoverRate;
      const int parts = schedule.parts > 1 ? schedule.parts : 2;
      c_.handover = kHandoverLatency + sums + (parts - 1) * (sums > kAddLatency ? sums : kAddLatency);
      if (schedule.parts == 1) c_.handover += kUnevenSplitSteps * c_.step;
      const double shared_steps = double(tiles) * schedule.k_steps / schedule.clusters;
      c_.work = std::ceil(shared_steps) * c_.step + c_.waves * between + last + c_.handover;
    }
    const double steps = double(tiles) * o_.cluster.m * o_.cluster.n * schedule.k_steps;
    const double memory = c_.memory + results_ * kLoadShare * steps * loaded_ / (d_.l2_rate * d_.multiprocessors);
    const double larger = c_.work > memory ? c_.work : memory;
    const double smaller = c_.work > memory ? memory : c_.work;
    c_.cycles = kLaunchCycles + larger + kOverlap * smaller;
    c_.milliseconds = c_.cycles / d_.clock * 1e3;
    return c_;
  }

  const GemmWorkload& w_;
  const GemmOptions& o_;
  const GemmEpilogueCost& e_;
  const GemmDeviceModel& d_;
  double loaded_ = 0;   // bytes of a step, for a processor
  double results_ = 0;  // the part of all bytes that the epilogue moves
  GemmCost c_;
};

}  // namespace detail

// Launches that follow one another gain where each may start before the one before has ended: some 1.5 us, which show
// in short products and are lost in long ones (docs/performance.md).
constexpr bool gains_as_dependent(const GemmCost& cost) {
  constexpr double kShort = 0.15;  // milliseconds
  return cost.milliseconds < kShort;
}

// Requires a workload that is not empty and options with tile, cluster and schedule. `may_split`: there is a workspace.
inline GemmCost estimate(const GemmWorkload& workload, const GemmOptions& options, const GemmEpilogueCost& epilogue,
                         const GemmDeviceModel& device, bool may_split = true) {
  return detail::GemmEstimate(workload, options, epilogue, device).cost(may_split);
}

}  // namespace gantry
