// From a request to a design, decision by decision; those that need a refused one are left out.
#pragma once

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/params.hpp>
#include <gantry/epilogue/graph_rules.hpp>
#include <gantry/gemm/design_layouts.hpp>
#include <gantry/gemm/group_boxes.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/gemm/pointer_array.hpp>
#include <gantry/gemm/staging.hpp>

namespace gantry::detail {

class GemmDesignMaker {
 public:
  GANTRY_HD constexpr GemmDesignMaker(const GemmOptions& asked, const fusion::Graph& graph, const Sm90Limits& limits,
                                      const GemmCallbackNeeds& own)
      : asked_(asked), graph_(with_access(graph, asked)), limits_(limits), own_(own) {}

  GANTRY_HD constexpr const GemmDesign& make() {
    d_.options = with_elements(asked_, graph_, stores_d());
    d_.options = with_schedule_of_rows(d_.options);
    GemmOptions& o = d_.options;
    d_.reasons = GemmOptionsCheck(o, limits_).check();
    if (o.split == SplitMode::reduce_add && (!plain() || own_.copies)) {
      d_.reasons.add({.rule = GemmRule::reduce_add_plain});
    }
    if (o.scatter_d != RowScatter::none && !stores_d()) d_.reasons.add({.rule = GemmRule::scatter_void});
    if (own_.any() && (direct_c(o) || direct_d(o) || o.align_aux != 0)) d_.reasons.add({.rule = GemmRule::own_aligned});
    if (o.groups == GemmGrouping::along_m && !can_group_rows(graph_)) {
      d_.reasons.add({.rule = GemmRule::groups_argument});
    }
    check_pointer_array();
    check_gate();
    if (!d_.ok()) return d_;
    choose_tile();
    d_.reasons = GemmOptionsCheck(o, limits_).check();  // of what was left open too
    check_gated_tile();
    if (!d_.ok()) return d_;
    choose_roles();
    choose_store();
    lay_out_epilogue();
    choose_copy_warps();
    choose_stages();
    if (!d_.ok()) return d_;
    plan_copies();
    lay_out_parameters();
    return d_;
  }

 private:
  static constexpr int kAlignment = 1024;  // of stages and buffers: the period of the widest swizzle
  static constexpr int kMapBytes = sizeof(TmaDescriptor);
  // Columns of the widest tile of 128 rows that one warpgroup has alone.
  static constexpr int kAlone = kAccumulatorLimits.columns(128);
  GANTRY_HD constexpr bool integers() const { return gemm_kind(d_.options.a) == GemmKind::int8; }
  // Reductions and auxiliary outputs may be all that a graph gives.
  GANTRY_HD constexpr bool stores_d() const { return graph_.d >= 0 || own_.any(); }
  GANTRY_HD constexpr bool plain() const { return is_plain(graph_) && !own_.any(); }

  GANTRY_HD constexpr bool pointer_array() const { return d_.options.groups == GemmGrouping::pointer_array; }

  GANTRY_HD constexpr void check_pointer_array() {
    if (!pointer_array()) return;
    if (own_.any()) d_.reasons.add({.rule = GemmRule::pointers_own});
    if (fusion::longest_span(graph_) > 0) d_.reasons.add({.rule = GemmRule::spans_alone});
    if (!can_be_in_pointer_array(graph_)) d_.reasons.add({.rule = GemmRule::pointers_reduction});
  }

  GANTRY_HD constexpr void check_gate() {
    const GemmOptions& o = d_.options;
    if (!graph_.gated()) {
      if (o.gate != GemmGate::halves) d_.reasons.add({.rule = GemmRule::gate_unused});
      return;
    }
    if (o.major_b != Major::K) d_.reasons.add({.rule = GemmRule::gated_major});
    const bool own_b = o.groups == GemmGrouping::none || o.groups == GemmGrouping::along_m;
    if (!own_b || o.scale_b != ScaleMode::none) d_.reasons.add({.rule = GemmRule::gated_alone});
  }

  GANTRY_HD constexpr void check_gated_tile() {
    const GemmOptions& o = d_.options;
    const int step = kGatedRows * o.cluster.m;
    if (!graph_.gated() || o.tile.n % step == 0) return;
    const int most = limits_.wgmma_columns / step * step, nearest = nearest_multiple(o.tile.n, step);
    d_.reasons.add({.rule = GemmRule::gated_columns, .actual = o.tile.n, .nearest = clamped(nearest, step, most)});
  }

  GANTRY_HD constexpr GemmSchedule usual_schedule() const {
    const GemmOptions& o = d_.options;
    const bool wide = o.tile.m == 256 || (o.tile.m == 128 && o.tile.n > kAlone);  // too wide for one warpgroup
    // reduce_add and clusters along K need the cooperative kernel.
    const bool adds = o.split == SplitMode::reduce_add || o.cluster.k > 1;
    const bool shared = adds || wide || o.groups == GemmGrouping::along_k || pointer_array() ||
                        (o.tile.m != 64 && o.warpgroups != 3 && (is_plain(graph_) || o.promotes()));
    return shared ? GemmSchedule::cooperative : GemmSchedule::pingpong;
  }

  // Columns of a tile that is left open, so that it has whole spans and blocks (fusion/spans.hpp): `usual` ones, or the
  // nearest number below that works, or the first.
  GANTRY_HD constexpr int with_whole_spans(int usual) const {
    const int longest = fusion::longest_span(graph_), block = fusion::longest_column_block(graph_);
    const int span = longest > block ? longest : block;
    if (span <= 2) return usual;
    const int most = limits_.wgmma_columns, step = span == fusion::kWholeRow ? most : span * (graph_.gated() ? 2 : 1);
    if (usual % step == 0 || step > most) return usual;
    return usual < step ? step : usual / step * step;
  }

  // Of a tile whose rows and schedule are known.
  GANTRY_HD constexpr int usual_columns() const {
    const GemmOptions& o = d_.options;
    GemmOptions wide = o;
    wide.tile.n = kAlone;
    const bool narrow = o.promotes() || o.tile.m == 256 || o.tile.m == 192 || o.warpgroups == 3 ||
                        spills(wide, {.crowded = is_crowded(graph_)});
    return o.scale_b == ScaleMode::row_block ? 96 : narrow ? 128 : d_.pingpong() ? kAlone : limits_.wgmma_columns;
  }

  GANTRY_HD constexpr void choose_tile() {
    GemmOptions& o = d_.options;
    // Too wide for one warpgroup, which decides the schedule.
    if (o.tile.n == 0 && o.tile.m <= 128 && with_whole_spans(kAlone) > kAlone) {
      o.tile.n = with_whole_spans(kAlone);
      if (o.tile.m == 0 && o.schedule == GemmSchedule::automatic) o.tile.m = 128;
    }
    if (o.schedule == GemmSchedule::automatic) o.schedule = usual_schedule();
    const bool pingpong = d_.pingpong();
    // Clusters along K are for few tiles, and keep accumulators of all of their CTAs in shared memory.
    if (o.tile.m == 0 && o.cluster.k > 1) o.tile.m = 64;
    if (o.tile.n == 0 && o.cluster.k > 1) o.tile.n = 64;
    if (o.tile.m == 0) o.tile.m = pingpong && (o.promotes() || o.tile.n > kAlone) ? 64 : 128;
    if (o.tile.n == 0) o.tile.n = with_whole_spans(usual_columns());
    if (o.tile.k == 0 && element_bits(o.a) > 0) o.tile.k = elements_per_row(o.a, limits_);
    if (o.cluster.m == 0) o.cluster.m = o.cluster.n > 1 || o.cluster.k > 1 ? 1 : 2;
    if (o.cluster.n == 0) o.cluster.n = 1;
    if (o.warpgroups == 0) o.warpgroups = usual_warpgroups(o.schedule, o.tile.m);
  }

  // A CTA has the registers that its threads are launched with; the producer leaves most of its own to the others. A
  // single math warpgroup has all that it can use.
  GANTRY_HD constexpr void choose_roles() {
    const GemmOptions& o = d_.options;
    GemmRoles& r = d_.roles;
    r.tile_warpgroups = tile_warpgroups(o.schedule, o.tile.m);
    r.alternating = d_.pingpong() ? o.warpgroups : 1;
    r.math_warpgroups = r.tile_warpgroups * r.alternating;
    r.threads = 128 * (1 + r.math_warpgroups);
    r.moves_registers = r.math_warpgroups > 1;
    r.launch_registers = limits_.registers_per_block / r.threads / 8 * 8;
    // A warp of it edits the maps of a pointer array.
    r.producer_registers = r.math_warpgroups > 2 ? 32 : pointer_array() ? 56 : 40;
    const int given = r.launch_registers * (1 + r.math_warpgroups) - r.producer_registers;
    const int usable = limits_.registers_per_thread - 8;  // the last one is the zero
    r.math_registers = r.moves_registers ? given / r.math_warpgroups / 8 * 8 : usable;
  }

  // Of the producer's four warps one loads B and copies; loaders of the epilogue and the warp that finds tiles have
  // theirs. Warps take rows by turns, so there are 1, 2 or 4.
  GANTRY_HD constexpr void choose_copy_warps() {
    if (!d_.options.gather_a) return;
    const bool publishes = d_.options.groups != GemmGrouping::none || own_.scheduler_bytes > 0;
    const int taken = GemmRoles::first_free_warp(d_.epilogue_loads ? d_.roles.math_warpgroups : 0, publishes);
    const int free = GemmRoles::kProducerWarps - taken + 1;  // and warp 0
    d_.roles.copy_warps = free == 3 ? 2 : free;
  }

  GANTRY_HD constexpr void choose_store() {
    GemmOptions& o = d_.options;
    d_.accumulator = integers() ? ElementType::s32 : ElementType::f32;
    const bool keeps_integers = plain() && integers() && o.d == ElementType::s32;
    d_.compute = keeps_integers ? ElementType::s32 : ElementType::f32;
    // Subtiles that are asked for are the collective's.
    const bool left_open = o.epilogue.epi_n == 0 && o.epilogue.delay_tma_store != Choice::yes && !own_.copies;
    const bool overlaps = plain() && can_overlap_store(o, graph_) && left_open;
    d_.store = o.split == SplitMode::reduce_add ? GemmStore::reduce_add
               : overlaps                       ? GemmStore::overlapped
                                                : GemmStore::collective;
    o.epilogue = d_.store == GemmStore::collective ? staged(o, graph_) : GemmEpilogueOptions{};
    if (!stores_d() && asked_.epilogue.reuse != Choice::yes) o.epilogue.reuse = Choice::no;
  }

  // ---- Shared memory

  GANTRY_HD constexpr void lay_out_epilogue() {
    const GemmOptions& o = d_.options;
    GemmSharedMap& s = d_.shared;
    const int warpgroups = d_.roles.math_warpgroups, rows = d_.warpgroup_rows();
    d_.part.cta_tile = {rows, o.tile.n, o.tile.k};
    if (d_.store == GemmStore::overlapped) {
      d_.part.epi_tile = {kMmaRows, 64};
      s.epilogue_part = kSlabBuffers * rows * limits_.swizzle_bytes;
    } else if (d_.store == GemmStore::reduce_add) {
      d_.part.epi_tile = {kMmaRows, slab_columns(o.tile.n, o.d)};
      s.epilogue_part = kSlabBuffers * d_.part.epi_tile.size() * element_bits(o.d) / 8;
    } else {
      lay_out_collective();
    }
    d_.part.ragged = groups_tiles(o.groups);
    s.epilogue_pipelines = warpgroups * s.epilogue_part;
    const int barriers = d_.epilogue_loads ? 2 * kBarrierBytes * d_.part.stages_c : 0;
    s.epilogue_bytes = s.epilogue_pipelines + warpgroups * barriers;
  }

  GANTRY_HD constexpr void lay_out_collective() {
    const GemmOptions& o = d_.options;
    CollectiveBuilder part;
    part.tile = d_.part.cta_tile;
    part.tile.n = columns_of_d(o, graph_);
    part.schedule = EpilogueSchedule::tma_warp_specialized;
    part.epi_tile = {o.epilogue.epi_m, o.epilogue.epi_n};
    part.c = o.c;
    part.d = stores_d() ? o.d : ElementType::void_;
    part.aux = stores_d() ? ElementType::void_ : o.d;
    part.layout_c = o.layout_c;
    part.layout_d = o.layout_d;
    part.acc = d_.accumulator;
    part.compute = d_.compute;
    part.stages_c = o.epilogue.stages_c;
    part.stages_d = o.epilogue.stages_d;
    part.reuse_smem_c = o.epilogue.reuse;
    part.delay_tma_store = o.epilogue.delay_tma_store;
    d_.part = part.policy(limits_);
    d_.part.gated = graph_.gated();
    d_.part.own_maps = pointer_array();
    d_.part.c.direct = direct_c(o);
    d_.part.d.direct = stores_d() && direct_d(o);
    d_.part.d.scatter = d_.part.d.direct ? o.scatter_d : RowScatter::none;
    if (fusion::longest_span(graph_) == fusion::kWholeRow) d_.part.row_ctas = {o.cluster.n, o.cluster.m};
    const bool formed = d_.ok() && !refuses(d_.part.reasons);
    quote(d_.part.reasons);
    if (formed && !own_.any()) quote(graph_form_reasons(d_.part, graph_));
    if (!d_.ok()) return;
    const fusion::Rings rings{.loads = d_.part.stages_c, .stores = d_.part.store_stages()};
    const fusion::Slots slots = make_slots(graph_, d_.subtiles(), rings);
    const StorageNeed fusion =
        own_.any() ? StorageNeed{own_.shared_bytes, own_.shared_alignment} : StorageNeed{slots.bytes, slots.alignment};
    d_.part.storage = epilogue_storage(d_.part, fusion);
    d_.shared.epilogue_part = d_.part.storage.tensor_bytes;
    d_.epilogue_loads = (graph_.uses_source() && !direct_c(o)) || (own_.any() ? own_.loads : slots.load_bytes > 0);
  }

  // Else it is too large at most, and can be judged further.
  GANTRY_HD static constexpr bool refuses(const EpilogueReasons& reasons) {
    for (const EpilogueReason& r : reasons) {
      if (r.weight() != RuleWeight::hopper) return true;
    }
    return false;
  }

  GANTRY_HD constexpr void quote(const EpilogueReasons& reasons) {
    for (const EpilogueReason& r : reasons) d_.reasons.add({.rule = GemmRule::epilogue, .epilogue = r});
  }

  // Stages of the main loop, then the epilogue, then turns.
  GANTRY_HD constexpr int bytes_with(int stages) const {
    const int loop = round_up(stages * (d_.stage_bytes() + 2 * kBarrierBytes), kAlignment);
    const int turns = d_.pingpong() ? kBarrierBytes * d_.roles.alternating : 0;
    const int maps = pointer_array() ? (GroupMapIndex::kAux + staged_tensors()) * kMapBytes : 0;
    const int published = d_.options.groups == GemmGrouping::none
                              ? own_.scheduler_bytes
                              : round_up(kGroupRingBytes + maps, maps > 0 ? kMapBytes : 1);
    const int end = round_up(loop + d_.shared.epilogue_bytes, kBarrierBytes) + partial_bytes();
    return round_up(scheduler_at(end, turns) + published, kAlignment);
  }

  // Barriers, then the accumulators of all CTAs of the cluster but the leader, where CTAs share K tiles.
  GANTRY_HD constexpr int partial_bytes() const {
    const GemmOptions& o = d_.options;
    if (o.cluster.k == 1) return 0;
    return partial_barrier_bytes() + (o.cluster.k - 1) * o.tile.m * o.tile.n * 4;
  }
  GANTRY_HD constexpr int partial_barrier_bytes() const {
    return round_up(2 * kBarrierBytes * d_.roles.math_warpgroups, 16) + 8;
  }

  // Templates of tensor maps lie before what is published.
  GANTRY_HD constexpr int scheduler_at(int epilogue_end, int turns) const {
    return round_up(round_up(epilogue_end, kBarrierBytes) + turns, pointer_array() ? kMapBytes : 16);
  }
  // Of the graph, each of which has a map.
  GANTRY_HD constexpr int staged_tensors() const {
    int maps = 0;
    for (int i = 0; i < graph_.argument_count; ++i) maps += fusion::is_staged(graph_.arguments[i]) ? 1 : 0;
    return maps;
  }

  // Why two stages do not fit: the accumulators of CTAs that share K tiles, if fewer such CTAs would leave room.
  GANTRY_HD constexpr GemmReason no_room() {
    const int asked = d_.options.cluster.k, bytes = partial_bytes();
    int fits = asked;
    for (int k = asked / 2; k >= 1 && fits == asked; k /= 2) {
      d_.options.cluster.k = k;
      if (bytes_with(2) <= limits_.shared_bytes_per_block) fits = k;
    }
    d_.options.cluster.k = asked;
    if (fits == asked) {
      return {.rule = GemmRule::no_room, .actual = d_.shared.epilogue_bytes, .first = d_.stage_bytes()};
    }
    return {.rule = GemmRule::no_room_shared_k, .actual = bytes, .nearest = fits, .first = asked};
  }

  // The most stages that fit beside the epilogue, up to the number that still helps.
  GANTRY_HD constexpr void choose_stages() {
    if (!d_.ok()) return;
    GemmOptions& o = d_.options;
    const int useful = limits_.useful_stage_bytes / d_.stage_bytes();
    int fit = useful > 8 ? useful : 8;
    while (fit >= 2 && bytes_with(fit) > limits_.shared_bytes_per_block) --fit;
    if (fit < 2) {
      d_.reasons.add(no_room());
      return;
    }
    if (o.stages == 0) o.stages = fit;
    int most = fit;  // more of them than help may be asked for
    while (most < kMostStages && bytes_with(most + 1) <= limits_.shared_bytes_per_block) ++most;
    if (o.stages > kMostStages) {
      d_.reasons.add({.rule = GemmRule::stages, .actual = o.stages, .nearest = most});
      return;
    }
    if (bytes_with(o.stages) > limits_.shared_bytes_per_block) {
      d_.reasons.add({.rule = GemmRule::shared_memory,
                      .actual = bytes_with(o.stages),
                      .nearest = most,
                      .first = o.stages,
                      .second = limits_.shared_bytes_per_block});
      return;
    }
    GemmSharedMap& s = d_.shared;
    s.b = o.stages * d_.stage_bytes_a();
    s.pipeline = o.stages * d_.stage_bytes();
    s.epilogue = round_up(s.pipeline + o.stages * 2 * kBarrierBytes, kAlignment);
    s.epilogue_pipelines += s.epilogue;
    s.partial_barriers = round_up(s.epilogue + s.epilogue_bytes, kBarrierBytes);
    s.partials = round_up(s.partial_barriers + 2 * kBarrierBytes * d_.roles.math_warpgroups, 16);
    s.order = s.partial_barriers + partial_bytes();
    s.scheduler = scheduler_at(s.order, d_.pingpong() ? kBarrierBytes * d_.roles.alternating : 0);
    s.bytes = bytes_with(o.stages);
  }

  // ---- Copies: tiles that passed so far are boxes of TMA (a test walks them)

  GANTRY_HD constexpr void plan_copies() {
    const GemmOptions& o = d_.options;
    d_.swizzle_a = operand_swizzle(o.a, o.major_a, o.tile.m);
    d_.swizzle_b = operand_swizzle(o.b, o.major_b, o.tile.n);
    d_.a = compact(operand_plan(tile_a(d_), o.cluster.n));
    d_.b = compact(operand_plan(tile_b(d_), o.cluster.m));
    if (d_.gated()) d_.b.contiguous = MatrixMode::second;  // K is; the plan has it as its fourth mode
    // The host knows the last rows of a matrix, not of groups; only rows of K have boxes that end with them. A producer
    // with 32 registers has none left for it.
    const bool of_rows = groups_tiles(o.groups);
    const bool edges = (o.groups == GemmGrouping::none || of_rows) && !o.gather_a && o.warpgroups != 3;
    const bool shares_a = shares_matrix(d_, 'A'), shares_b = shares_matrix(d_, 'B');
    d_.edge_a = edges && o.major_a == Major::K && !shares_a;
    d_.edge_b = edges && o.major_b == Major::K && !shares_b && !d_.gated();
    if (edges && of_rows) d_.group_boxes = group_box_count(shares_a ? o.tile.m / o.cluster.n : o.tile.n / o.cluster.m);
    if (d_.store == GemmStore::collective) {
      d_.c = d_.part.c.box;
      d_.d = d_.part.d.box;
      return;
    }
    const TmaOp op = d_.store == GemmStore::reduce_add ? TmaOp::reduce_add : TmaOp::store;
    d_.d = compact(subtile_plan(o.d, !is_m_major(o.layout_d), d_.part.epi_tile.extents(), op, d_.part.ragged));
  }

  // ---- Parameters

  GANTRY_HD constexpr void lay_out_parameters() {
    constexpr int kMap = sizeof(TmaDescriptor);
    GemmParameterMap& p = d_.params;
    p.b = kMap;
    p.epilogue = 2 * kMap;
    if (d_.has_edges()) {
      p.edge_a = p.epilogue;
      p.edge_b = p.edge_a + kMap;
      p.epilogue += static_cast<int>(sizeof(GemmEdgeParams));
    }
    if (d_.group_boxes > 0) {
      p.group_boxes = p.epilogue;
      p.epilogue += d_.group_boxes * kMap;
    }
    if (d_.options.scaled()) {
      p.scales = p.epilogue;
      p.epilogue += kMap;
    }
    int end = p.epilogue + kMap;  // the other stores have the map of D alone
    p.d = p.epilogue;
    if (d_.store == GemmStore::collective) {
      p.c = p.epilogue;
      p.d = p.c + kMap;
      p.aux = p.d + kMap;
      end = own_.any() ? lay_out_own(p) : lay_out_graph(p);
    }
    p.schedule = round_up(end, kMap);
    const bool grouped = d_.options.groups != GemmGrouping::none;
    const auto schedule = static_cast<int>(pointer_array() ? sizeof(PointerSchedule)
                                           : grouped       ? sizeof(GroupSchedule)
                                                           : sizeof(TileSchedule));
    p.workspace = round_up(p.schedule + schedule, 8);
    p.bytes = round_up(p.workspace + 8, kMap);
    if (p.bytes > limits_.parameter_bytes) {
      d_.reasons.add({.rule = GemmRule::parameters, .actual = p.bytes, .nearest = limits_.parameter_bytes});
    }
  }
  // An array in a parameter struct has an element at least.
  GANTRY_HD constexpr int lay_out_graph(GemmParameterMap& p) const {
    const int maps = p.aux_maps = staged_tensors();
    const int operands = graph_.argument_count > 0 ? graph_.argument_count : 1;
    p.operands = p.aux + (maps > 0 ? maps : 1) * static_cast<int>(sizeof(TmaDescriptor));
    const int fusion_end = p.operands + operands * static_cast<int>(sizeof(fusion::Operand));
    p.extents = round_up(fusion_end, static_cast<int>(sizeof(TmaDescriptor)));
    return p.extents + 3 * static_cast<int>(sizeof(int));
  }
  GANTRY_HD constexpr int lay_out_own(GemmParameterMap& p) const {
    p.tail = p.aux;
    p.extents = round_up(p.tail + own_.parameter_bytes, 4);
    return p.extents + 3 * static_cast<int>(sizeof(int));
  }

  const GemmOptions& asked_;
  const fusion::Graph graph_;
  const Sm90Limits& limits_;
  const GemmCallbackNeeds& own_;
  GemmDesign d_{};
};

}  // namespace gantry::detail
