// What cost_model.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/gemm/cost_model.hpp>
#include <gantry/gemm/design_swap.hpp>

namespace gantry {

namespace detail {

// The soft maximum of two times that overlap.
inline double together(double x, double y, double sharpness) {
  const double longer = x > y ? x : y, shorter = x > y ? y : x;
  return longer > 0 ? longer * __builtin_pow(1 + __builtin_pow(shorter / longer, sharpness), 1 / sharpness) : 0;
}

class GemmEstimate {
 public:
  // `streams`: operands are swapped, and the workload and the design are the kernel's; A is read once and bounds it.
  GemmEstimate(const GemmWorkload& workload, const GemmDesign& design, const GemmEpilogueCost& epilogue,
               const Architecture& device, bool streams = false)
      : w_(workload),
        design_(design),
        o_(design.options),
        e_(epilogue),
        d_(device),
        l_(device.latency),
        streams_(streams) {}

  GemmCost cost(bool workspace) {
    TileSchedule tiles;
    const GemmTile cluster{o_.tile.m * o_.cluster.m, o_.tile.n * o_.cluster.n, o_.tile.k};
    rows_ = row_tiles(w_, cluster.m);
    columns_ = column_tiles(w_, cluster.n);
    sums_ = tile_sums(w_, cluster);
    tiles.m = ceil_div(w_.m, cluster.m);
    tiles.n = ceil_div(w_.n, cluster.n);
    tiles.k_steps = counted(sums_.k_steps());
    tiles.batch = static_cast<int>(w_.batch);
    if (w_.groups == GemmGrouping::along_m && !w_.expected.rows.empty()) {
      tiles.m = counted(rows_.tiles);
      tiles.batch = 1;
    }
    if (w_.groups == GemmGrouping::along_n && !w_.expected.rows.empty()) {
      tiles.n = counted(columns_.tiles);
      tiles.batch = 1;
    }
    if (w_.groups == GemmGrouping::pointer_array) {
      tiles.m = counted(sums_.tiles);
      tiles.n = tiles.batch = 1;
    }
    const int available = d_.resident_clusters(design_.cluster_size());
    set_epilogue();
    set_memory();
    tiles = with_costs_of(tiles, o_.tile.m, o_.tile.n, d_);
    return with(make_tile_schedule(tiles, available, design_.may_split(workspace), d_), available);
  }

 private:
  double together(double x, double y) const { return detail::together(x, y, l_.overlap_sharpness); }
  // As the scheduler counts; what is expected may be more than it can.
  static int counted(double x) { return static_cast<int>(x < kMostTileSteps ? __builtin_ceil(x) : kMostTileSteps); }
  static int ceil_div(std::int64_t a, int b) { return static_cast<int>((a + b - 1) / b); }
  static double bytes(ElementType element) { return element_bits(element) / 8.0; }

  void set_epilogue() {
    const double elements = double(design_.warpgroup_rows()) * double(design_.columns_of_d(o_.tile.n));
    c_.spills = gantry::spills(o_, {.crowded = e_.crowded, .outputs = e_.outputs});
    const double subtiles = design_.subtiles().count();
    const double computed = (e_.heavy ? l_.heavy_epilogue : 1) / l_.epilogue_elements;
    const double moved = e_.bytes * l_.epilogue_byte * (o_.warpgroups == 3 ? l_.epilogue_byte_of_three : 1);
    c_.epilogue = (c_.spills ? l_.spilling_epilogue : 1) * elements * (computed + moved) +
                  subtiles * l_.subtile * (e_.bytes > 0 ? l_.subtile_with_loads : 1);
  }

  void set_memory() {
    const LinesInTiles of_ctas = row_tiles(w_, o_.tile.m);
    const double outside = design_.edge_a ? 0 : 1 - of_ctas.lines / (of_ctas.tiles * o_.tile.m);
    const auto n_of_d = double(design_.columns_of_d(w_.n)), tile_n_of_d = double(design_.columns_of_d(o_.tile.n));
    double operands = 0, results = 0;
    for_each_group(w_, [&](const GroupsAlike& g) {
      if (g.m == 0 || g.n == 0) return;  // its other operand is not read
      const double b = g.n * g.k * bytes(w_.b) * (1 + l_.memory_outside * outside);
      operands += g.count * (g.m * g.k * bytes(w_.a) + b);
      results += g.count * g.m * double(design_.columns_of_d(std::int64_t(g.n))) * (bytes(w_.d) + e_.bytes);
    });
    const bool columns = is_m_major(o_.layout_d);
    const double line = columns ? double(w_.m) : n_of_d, part = columns ? o_.tile.m : tile_n_of_d;
    const bool whole = fills(padded(line * bytes(w_.d)), kLine) && fills(part * bytes(o_.d), kLine);
    // A row of a box that begins inside a sector ends inside one, too.
    const double row_of_box = design_.stores_d() ? double(design_.d.map.box[0]) * bytes(o_.d) : kLine;
    const bool at_sectors = fills(padded(line * bytes(w_.d)), kSector);
    const double stored = results * (whole        ? 1
                                     : at_sectors ? l_.store_across_lines
                                                  : 1 + l_.store_across_sectors * kSector / row_of_box);
    const bool wide = streams_ && o_.tile.m > 64;  // of the weights' side
    c_.memory = (operands * (wide ? l_.wide_stream : 1) + stored) / d_.dram_rate * d_.clock;
  }

  static constexpr double kLine = 128, kSector = 32;  // bytes of L2
  static bool fills(double row, double unit) { return __builtin_fmod(row, unit) == 0; }
  static double padded(double row) { return __builtin_ceil(row / 16) * 16; }  // as TMA addresses rows

  // True if a stage that comes round still holds its part of B.
  bool keeps_b(const TileSchedule& schedule) const {
    return w_.groups != GemmGrouping::pointer_array && schedule.group == 1 && schedule.clusters % schedule.n == 0 &&
           o_.stages > 0 && schedule.k_steps > 0 && o_.stages % schedule.k_steps == 0;
  }

  // Lines inside of the fullest tile of a CTA. `x`: in tiles of clusters.
  static double most_inside(const LinesInTiles& x, double tile) {
    return x.most > 1 || x.mean() > tile ? tile : x.mean();
  }

  void set_step(const TileSchedule& schedule) {
    const double m = o_.tile.m, n = o_.tile.n;
    const double row = o_.tile.k * bytes(o_.a);
    const auto [multiplied, shared] = k_tile_cycles(o_.tile.m, o_.tile.n, d_);
    const double rows = design_.edge_a ? most_inside(rows_, m) : m,
                 columns = design_.edge_b ? most_inside(columns_, n) : n;
    const double loaded_a = rows / o_.cluster.n * (rows_.most == 1 ? l_.hot_load : 1);
    const bool hot_b = streams_ && columns_.most == 1;
    const double loaded_b = keeps_b(schedule) ? 0 : columns / o_.cluster.m * (hot_b ? l_.hot_load : 1);
    const double outside = design_.edge_a ? 0 : 1 - rows_.lines / (rows_.tiles * m * o_.cluster.m);
    const double row_of_k = padded(double(w_.k) * bytes(w_.a));
    const double across = fills(row_of_k, kLine)     ? 1
                          : fills(row_of_k, kSector) ? l_.load_across_lines
                                                     : l_.load_across_sectors;
    const double l2 = (1 + l_.load_outside * outside) * across * (loaded_a + loaded_b) * row / d_.l2_rate;
    c_.bound = GemmBound::tensor_cores;
    c_.step = multiplied;
    if (shared > c_.step) {
      c_.bound = GemmBound::shared_memory;
      c_.step = shared;
    }
    if (l2 > c_.step) {
      c_.bound = GemmBound::l2;
      c_.step = l2;
    }
    if (o_.promotes()) c_.step = together(c_.step, promotion());
    c_.step += l_.k_step;
    if (o_.stages > 1) c_.step = together(c_.step, l_.stage_refill / (o_.stages - 1));
  }

  // A warpgroup issues and promotes blocks of K one after the other, while tensor cores multiply.
  double promotion() const {
    const double sums = double(design_.warpgroup_rows()) * o_.tile.n / 128;
    return l_.promoted_block +
           sums * (o_.scale_b == ScaleMode::row_block ? l_.promoted_sum_of_column : l_.promoted_sum);
  }

  // Of accumulators that reach the CTA that leads a cluster along K.
  double partial_bytes() const { return 4.0 * (o_.cluster.k - 1) * o_.tile.m * o_.tile.n; }

  GemmCost with(const TileSchedule& schedule, int available) {
    const int tiles = schedule.tiles();
    const bool pingpong = o_.schedule == GemmSchedule::pingpong;
    c_.schedule = schedule;
    c_.waves = (tiles + schedule.clusters - 1) / schedule.clusters;
    c_.last_wave = double(tiles - (c_.waves - 1) * schedule.clusters) / available;
    if (schedule.split_tiles > 0) c_.last_wave = double(schedule.clusters) / available;
    set_step(schedule);

    // Alternating warpgroups multiply and store side by side; an overlapped store hides a slab behind each K tile of
    // the next tile; any other epilogue is exposed.
    const double steps = sums_.even() ? design_.k_steps_of_cta(schedule.k_steps) : sums_.k_steps();
    const double tile = steps * c_.step;
    const bool behind =
        design_.store == GemmStore::overlapped && design_.part.epi_tile.n * schedule.k_steps >= o_.tile.n;
    const double gap = pingpong ? l_.pingpong_turn : behind ? l_.overlapped_tile : l_.tile;
    // Of the warpgroups that alternate one multiplies while the others run their epilogues.
    const int turns = o_.warpgroups == 3 ? 3 : 2;
    const double in_turn = together(tile + gap, (c_.epilogue + tile) / turns) - tile - gap;
    c_.shown = pingpong ? in_turn : behind ? 0 : c_.epilogue;
    const double last = pingpong ? c_.epilogue : 0;
    const double between = gap + c_.shown;
    c_.reduction = 0;
    if (schedule.split_tiles == 0) {
      if (o_.cluster.k > 1) c_.reduction = l_.cluster_latency + partial_bytes() / l_.cluster_rate;
      c_.work = c_.waves * (tile + between + c_.reduction) + last;
      const double longest = sums_.longest * c_.step + between + c_.reduction + last;
      if (!sums_.even() && longest > c_.work) c_.work = longest;
    } else {
      const auto [leave, add] = split_cycles(o_.tile.m, o_.tile.n, d_);
      const int parts = schedule.parts > 1 ? schedule.parts : 2;
      c_.reduction = leave + (parts - 1) * add;
      if (schedule.parts == 1) c_.reduction += l_.uneven_split_steps * c_.step;
      const double shared_steps = double(tiles) * schedule.k_steps / schedule.clusters;
      c_.work = __builtin_ceil(shared_steps) * c_.step + c_.waves * between + last + c_.reduction;
    }
    const bool few_rows = w_.m <= d_.threshold.few_rows && w_.groups == GemmGrouping::none;
    const double sharpness = streams_   ? l_.streaming_sharpness
                             : few_rows ? l_.few_rows_sharpness
                                        : l_.overlap_sharpness;
    const double unhurried = l_.launch + detail::together(c_.work, c_.memory, sharpness);
    const double k_tiles = double(tiles) * o_.cluster.m * o_.cluster.n * sums_.k_steps();
    const double multiplied = k_tiles * k_tile_cycles(o_.tile.m, o_.tile.n, d_).multiplied / d_.sms;
    const double power = d_.power.idle + (d_.power.tensor_cores * multiplied + d_.power.dram * c_.memory) / unhurried;
    c_.cycles = unhurried * (power > 1 ? power : 1);
    c_.milliseconds = c_.cycles / d_.clock * 1e3;
    return c_;
  }

  const GemmWorkload& w_;
  const GemmDesign& design_;
  const GemmOptions& o_;
  const GemmEpilogueCost& e_;
  const Architecture& d_;
  const GemmLatencies& l_;
  bool streams_;
  LinesInTiles rows_{}, columns_{};  // of clusters
  TileSums sums_{};                  // likewise
  GemmCost c_;
};

}  // namespace detail

GANTRY_LINKAGE GemmCost estimate(const GemmWorkload& workload, const GemmDesign& design,
                                 const GemmEpilogueCost& epilogue, const Architecture& device, bool workspace) {
  if (!design.options.swapped) return detail::GemmEstimate(workload, design, epilogue, device).cost(workspace);
  const GemmWorkload turned = swapped(workload);
  const GemmDesign kernel = swapped(design);
  GemmCost cost = detail::GemmEstimate(turned, kernel, epilogue, device, true).cost(workspace);
  cost.many_rows = workload.groups != GemmGrouping::none && row_tiles(workload, 1).mean() > device.threshold.few_rows;
  return cost;
}

}  // namespace gantry
