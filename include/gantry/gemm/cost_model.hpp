// What a product costs with a configuration, in plain terms: waves of tiles, the cycles of a K step and what binds
// them, an epilogue that is hidden or not, sums handed over, bytes of memory. An estimate, made to rank configurations;
// docs/performance.md has what its figures come from.
//
//   work   = waves x (K steps x cycles of a step + epilogue that shows) + what handing sums over costs
//   cycles = start + work and memory at the same time, and longer by what the chip lacks of power
//
// Two things at the same time take as long as the longer of them, and a little more where they are alike.
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
  double clock = 1.98e9;             // where power does not hold it back
  double memory_rate = 4.377e12;     // bytes a second
  double l2_rate = 53.12;            // bytes a cycle that a processor takes
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
  bool spills = false;                  // its registers do not hold what the epilogue needs
  double epilogue = 0;                  // cycles of a tile's
  double shown = 0;                     // of those, not hidden behind products
  double handover = 0;                  // cycles, for tiles that are shared
  double work = 0, memory = 0;          // cycles in all
  double cycles = 0, milliseconds = 0;  // cycles of the full clock

  bool memory_binds() const { return memory > work; }
};

// Clusters of so many CTAs that the chip holds at the same time. Processors come in groups, which clusters of four do
// not fill: an H200 holds 120 CTAs of such.
constexpr int resident_clusters(const GemmDeviceModel& device, int size) {
  const int usable = size > 2 ? device.multiprocessors * 10 / 11 : device.multiprocessors;
  return usable / size > 0 ? usable / size : 1;
}

namespace detail {

// In cycles of an SM, fitted to 1,065 measured times (tests/data/gemm_times.txt) so that the fastest is ranked first;
// short products were launched as dependent ones, so that little of a launch shows.
inline constexpr double kLaunchCycles = 4631;       // start, first loads, last store
inline constexpr double kTileCycles = 483.1;        // between two tiles
inline constexpr double kBehindCycles = 1363;       // the same, where D is taken to be stored behind the next tile
inline constexpr double kTurnCycles = 160.9;        // the same, where warpgroups alternate
inline constexpr double kStepCycles = 7.12;         // between two K steps
inline constexpr double kLatency = 1944;            // from a stage that is free to one that is loaded
inline constexpr double kReadPart = 0.8035;         // of what wgmma reads from shared memory, beside what TMA writes
inline constexpr double kElementsPerCycle = 16.97;  // that a warpgroup's epilogue takes
inline constexpr double kHeavy = 3.914;             // times as long, with functions
inline constexpr double kSpilling = 2;              // the same, where registers run out
inline constexpr double kEpilogueByteCycles = 0.05055;  // for each further byte of an element, of a warpgroup
inline constexpr double kOfThree = 1.554;               // times as long takes such a byte where three take turns
inline constexpr double kSubtileCycles = 208.6;         // of barriers, for each subtile of an epilogue
inline constexpr double kMovedSubtile = 1.212;          // times as long, where there is more than D
inline constexpr double kHandoverLatency = 4103;        // to leave sums and find them
inline constexpr double kAddLatency = 694.7;            // to find and add one part of them, at the least
inline constexpr double kHandoverRate = 53.75;          // bytes a cycle that leave or arrive
inline constexpr double kUnevenSplitSteps = 21.61;      // that reading at several places in K costs
inline constexpr double kHot = 0.3028;                  // of the time, that loads take which all processors do at once
inline constexpr double kOutside = 1.089;               // longer by, that loads of rows outside of the matrix take
inline constexpr double kLoadedAcross = 1.099;          // times as long, where rows do not begin at lines of L2
inline constexpr double kStoredAcross = 1.342;          // the same, of rows that are stored
inline constexpr double kSharpness = 14.61;             // of the longer of two
// Of the power that there is, takes a chip that waits, one that multiplies all the time besides, and its memory.
inline constexpr double kWaitingPower = 0.7061, kProductPower = 0.5148, kMemoryPower = 0.3539;

// Of two that go on at the same time.
inline double together(double x, double y) {
  const double longer = x > y ? x : y, shorter = x > y ? y : x;
  return longer > 0 ? longer * std::pow(1 + std::pow(shorter / longer, kSharpness), 1 / kSharpness) : 0;
}

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
    const double computed = (e_.heavy ? kHeavy : 1) / kElementsPerCycle;
    const double moved = e_.bytes * kEpilogueByteCycles * (o_.warpgroups == 3 ? kOfThree : 1);
    c_.epilogue = (c_.spills ? kSpilling : 1) * elements * (computed + moved) +
                  subtiles * kSubtileCycles * (e_.bytes > 0 ? kMovedSubtile : 1);
  }

  void set_memory() {
    const double m = double(w_.m), n = double(w_.n), k = double(w_.k), l = double(w_.l);
    const double operands = m * k * bytes(w_.a) + n * k * bytes(w_.b), results = m * n * (bytes(w_.d) + e_.bytes);
    const double stored =
        results * (fills_lines(n * bytes(w_.d)) && fills_lines(o_.tile.n * bytes(o_.d)) ? 1 : kStoredAcross);
    c_.memory = l * (operands + stored) / d_.memory_rate * d_.clock;
  }

  static bool fills_lines(double row) { return std::fmod(row, 128) == 0; }

  // Whether a stage that comes round still holds its part of B.
  bool keeps_b(const TileSchedule& schedule) const {
    return schedule.group == 1 && schedule.clusters % schedule.n == 0 && o_.stages > 0 && schedule.k_steps > 0 &&
           o_.stages % schedule.k_steps == 0;
  }

  void set_step(const TileSchedule& schedule) {
    const double m = o_.tile.m, n = o_.tile.n;
    const double row = o_.tile.k * bytes(o_.a);
    const double products = m * n * o_.tile.k / rate();
    // Each 64 rows read their A and all of B.
    const double shared = (kReadPart * (m / 64 * (64 + n)) + m + n) * row / d_.shared_rate;
    const double loaded_a = m / o_.cluster.n * (schedule.m == 1 ? kHot : 1);
    const double loaded_b = keeps_b(schedule) ? 0 : n / o_.cluster.m;
    const double rows = double(schedule.m) * o_.tile.m * o_.cluster.m;
    const double outside = 1 - double(w_.m) / rows;
    const double across = fills_lines(double(w_.k) * bytes(w_.a)) ? 1 : kLoadedAcross;
    const double l2 = (1 + kOutside * outside) * across * (loaded_a + loaded_b) * row / d_.l2_rate;
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
    if (o_.stages > 1) c_.step = together(c_.step, kLatency / (o_.stages - 1));
  }

  // Products that the tensor cores of a processor do in a cycle.
  double rate() const { return d_.products_per_cycle * 2 / bytes(o_.a); }

  GemmCost with(const TileSchedule& schedule, int available) {
    const int tiles = schedule.tiles();
    const bool pingpong = o_.schedule == GemmSchedule::pingpong;
    c_.schedule = schedule;
    c_.waves = (tiles + schedule.clusters - 1) / schedule.clusters;
    c_.last_wave = double(tiles - (c_.waves - 1) * schedule.clusters) / available;
    if (schedule.split_tiles > 0) c_.last_wave = double(schedule.clusters) / available;
    set_step(schedule);

    // Alternating warpgroups multiply and store side by side; a plain D is stored behind the next tile, slab by slab
    // behind its K steps; any other epilogue shows.
    const double tile = schedule.k_steps * c_.step;
    const bool behind = e_.plain && !pingpong && stores_behind() && 64 * schedule.k_steps >= o_.tile.n;
    const double gap = pingpong ? kTurnCycles : behind ? kBehindCycles : kTileCycles;
    // Of w warpgroups that take turns one multiplies, and the others store.
    const int turns = o_.warpgroups == 3 ? 3 : 2;
    const double in_turn = together(tile + gap, (c_.epilogue + tile) / turns) - tile - gap;
    c_.shown = pingpong ? in_turn : behind ? 0 : c_.epilogue;
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
    const double unhurried = kLaunchCycles + together(c_.work, c_.memory);
    const double multiplied = double(tiles) * o_.cluster.m * o_.cluster.n * schedule.k_steps * o_.tile.m * o_.tile.n *
                              o_.tile.k / rate() / d_.multiprocessors;
    const double power = kWaitingPower + (kProductPower * multiplied + kMemoryPower * c_.memory) / unhurried;
    c_.cycles = unhurried * (power > 1 ? power : 1);
    c_.milliseconds = c_.cycles / d_.clock * 1e3;
    return c_;
  }

  const GemmWorkload& w_;
  const GemmOptions& o_;
  const GemmEpilogueCost& e_;
  const GemmDeviceModel& d_;
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
