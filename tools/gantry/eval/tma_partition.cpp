// `gantry eval tma_partition`: one tile copy per line, cut into instructions for every CTA that takes part, in the atom
// form and in the tiled form; or the multicast masks of a cluster.
#include <fmt/format.h>

#include <gantry/tma/multicast.hpp>
#include <gantry/tma/partition.hpp>

#include "eval/kinds.hpp"
#include "eval/tma_case.hpp"

namespace gantry::tool {

namespace {

constexpr std::string_view kComputed[] = {"tma_rank",
                                          "gmem_prob_shape",
                                          "gmem_prob_stride_bytes",
                                          "smem_box_shape",
                                          "tma_gbasis",
                                          "elems_per_tma",
                                          "tma_tensor",
                                          "g_tile",
                                          "g_tile_origin",
                                          "tma_partition",
                                          "tiled_copy_partition",
                                          "static",
                                          "masks",
                                          "refused",
                                          kError,
                                          kPosition};

// A line asks for what happens in one place; more instructions than this are a mistake in it.
constexpr std::int64_t kMostInstructions = 1 << 16;

// The i-th coordinate of a shape as CuTe counts: the last entry takes what is left.
IntTuple nth_coordinate(TupleView shape, std::int64_t i) {
  int left = leaf_count(shape);
  Int rest(i);
  return transform_leaf(shape, [&](const Int& extent) {
    if (--left == 0) return rest;
    const Int c = rest % extent;
    rest = rest / extent;
    return c;
  });
}

// Why there is no cluster of so many CTAs.
std::optional<Problem> too_many_ctas(std::int64_t ctas) {
  if (ctas >= 1 && ctas <= kMaxClusterCtas) return std::nullopt;
  return Problem{
      .sentence = fmt::format("a cluster of {} CTAs was asked for: there are 1 to {}", ctas, kMaxClusterCtas),
      .is_unreadable = false};
}

// Why a mode is none of a cluster's.
std::optional<Problem> no_mode(std::int64_t mode, const Layout& ctas) {
  if (mode >= 0 && mode < rank(ctas)) return std::nullopt;
  return Problem{.sentence = fmt::format(R"(the field "modes" has {}: the modes of "cta_layout" are 0 to {})", mode,
                                         rank(ctas) - 1),
                 .is_unreadable = false};
}

// Why an index does not name one of the tiles, or stages, that a layout has beyond the tile.
std::optional<Problem> outside(std::string_view key, std::int64_t index, const Layout& layout, int tile_rank) {
  const std::int64_t count = rank(layout) > tile_rank ? size(layout[rank(layout) - 1]) : 1;
  if (index >= 0 && index < count) return std::nullopt;
  return Problem{.sentence = fmt::format("the field \"{}\" is {}: it counts from 0 to {}", key, index, count - 1),
                 .is_unreadable = false};
}

struct Query {
  TmaPlan plan;
  PlacedLayout gmem;  // the tile, and the kept rest modes
  PlacedLayout smem;  // the tile, and the pipeline mode if there is one
  int tile_rank = 1;
  std::int64_t rest_index = 0;
  std::int64_t pipe_index = 0;
};

// A line may name strides whose bits do not fit into an integer.
std::int64_t to_bytes(const Query& q, const IntTuple& offset) {
  if (!offset.is_leaf()) return 0;
  const Int bits = offset.leaf() * Int(element_bits(q.plan.element));
  if (bits.rule() != Rule::none) throw LayoutError(bits.fault());
  return bits.value() / 8;
}

// The coordinate of instruction i: ((0, i), rest index) where there are rest modes, nested as CuTe's slices are.
IntTuple instruction_at(const PlacedLayout& t, std::int64_t i, std::int64_t rest) {
  IntTuple crd = make_coord(make_coord(_0, Int(i)));
  const int n = rank(t.layout);
  // All modes but the first and the last are the ones that a tile leaves over of itself: one element each.
  for (int mode = 1; mode < n; ++mode) crd.push_back(mode == n - 1 ? Int(rest) : _0);
  return place_of(t, crd);
}

void write_cta(JsonText& json, const Query& q, std::int64_t cta, const IntTuple& coord, std::int64_t id,
               const PlacedLayout& g, const PlacedLayout& s, bool g_has_rest, bool s_has_pipe) {
  json.begin('{').key("cta").value(cta).key("cta_coord").value(coord).key("multicast_id").value(id);
  json.key("gtensor_origin").value(g.origin).key("smem_offset_bytes").value(to_bytes(q, s.origin));
  json.key("issues").begin('[');
  const std::int64_t n = size(g.layout[0][1]);
  for (std::int64_t i = 0; i < n; ++i) {
    const IntTuple crd = g_has_rest ? instruction_at(g, i, q.rest_index) : instruction_at(g, i, 0);
    const IntTuple offset = instruction_at(s, i, s_has_pipe ? q.pipe_index : 0);
    json.begin('{').key("crd").value(crd).key("smem_offset_bytes").value(to_bytes(q, offset)).end('}');
  }
  json.end(']').end('}');
}

// The answer for one form; `part(cta)` gives both sides for a CTA.
template <class Part>
std::string write_form(const Query& q, const Layout& ctas, const Part& part) {
  const bool has_rest = rank(q.gmem.layout) > q.tile_rank;
  const bool has_pipe = rank(q.smem.layout) > q.tile_rank;
  JsonText json;
  json.begin('{');
  bool same = true;
  TmaPartition first;
  JsonText list;
  list.begin('[');
  for (std::int64_t cta = 0; cta < size(ctas); ++cta) {
    const IntTuple coord = nth_coordinate(ctas.shape(), cta);
    const TmaPartition p = part(cta, coord);
    if (!p.gmem.layout.ok()) throw LayoutError(p.gmem.layout.fault());
    if (!p.smem.layout.ok()) throw LayoutError(p.smem.layout.fault());
    if (size(p.gmem.layout[0][1]) > kMostInstructions) throw LayoutError(Fault{Rule::overflow});
    if (cta == 0) first = p;
    same = same && p.gmem.layout == first.gmem.layout && p.smem.layout == first.smem.layout;
    write_cta(list, q, cta, coord, ctas(cta), p.gmem, p.smem, has_rest, has_pipe);
  }
  list.end(']');
  json.key("gtensor_layout").value(first.gmem.layout).key("stensor_layout").value(first.smem.layout);
  json.key("same_layout_all_ctas").value(same).key("ctas");
  json.out += list.out;
  json.end('}');
  return std::move(json.out);
}

void write_plan(JsonLine& line, const TmaPlan& plan) {
  const TmaDescriptorParams& p = plan.descriptor;
  std::int64_t shape[kTmaMaxRank];
  std::int64_t stride[kTmaMaxRank] = {element_bytes(p.data_type)};
  std::int64_t box[kTmaMaxRank];
  for (int i = 0; i < kTmaMaxRank; ++i) {
    shape[i] = static_cast<std::int64_t>(p.dims[i]);
    if (i > 0) stride[i] = static_cast<std::int64_t>(p.strides[i - 1]);
    box[i] = p.box[i];
  }
  line.set("tma_rank", std::int64_t{p.rank});
  line.set("gmem_prob_shape", shape);
  line.set("gmem_prob_stride_bytes", stride);
  line.set("smem_box_shape", box);
  line.set("tma_gbasis", text_of(plan.tma_gbasis));
  line.set("elems_per_tma", plan.elements_per_tma());
}

std::optional<Problem> evaluate_partition(JsonLine& line) {
  TmaCase c(line);
  TmaCopyRequest r;
  r.op = c.operation("copy_op");
  r.gtensor.element = c.element("elem");
  r.gtensor.layout = c.layout("gmem");
  r.smem = c.shared("smem_stage", element_bits(r.gtensor.element));
  r.cta_tiler = c.tiler("cta_tiler");
  r.num_multicast = c.ctas("num_multicast");
  const ComposedLayout full = c.shared("smem_full", element_bits(r.gtensor.element));
  const Layout cta_layout = c.layout("cta_layout");
  const IntTuple tile_coord = c.tuple("tile_coord");
  Query q;
  q.rest_index = c.integer("rest_index");
  q.pipe_index = c.integer("pipe_index");
  if (c.problem) return c.problem;
  if (!cta_layout.ok()) return Problem{.sentence = describe(cta_layout.fault()).c_str(), .is_unreadable = false};
  if (auto problem = too_many_ctas(size(cta_layout))) return problem;

  q.plan = make_tma_copy(r);
  std::vector<std::string> refused = c.refused;
  for (std::string& s : sentences(q.plan, TmaVerdict::refused)) refused.push_back(std::move(s));
  if (!refused.empty()) line.set_json("refused", json_list(refused));
  if (!q.plan.bound) return std::nullopt;
  write_plan(line, q.plan);
  if (auto problem = too_many_ctas(r.num_multicast)) return problem;

  q.tile_rank = rank(q.plan.cta_v_map);
  q.smem = {_0, full.layout()};
  const PlacedLayout whole = get_tma_tensor(q.plan, r.gtensor.layout.shape());
  q.gmem = local_tile(whole, r.cta_tiler, tile_coord);
  if (!q.gmem.layout.ok()) return Problem{.sentence = describe(q.gmem.layout.fault()).c_str(), .is_unreadable = false};
  line.set("tma_tensor", text_of(whole.layout));
  line.set("g_tile", text_of(q.gmem.layout));
  line.set("g_tile_origin", text_of(q.gmem.origin));

  if (auto problem = outside("rest_index", q.rest_index, q.gmem.layout, q.tile_rank)) return problem;
  if (!q.smem.layout.ok()) return Problem{.sentence = describe(q.smem.layout.fault()).c_str(), .is_unreadable = false};
  if (auto problem = outside("pipe_index", q.pipe_index, q.smem.layout, q.tile_rank)) return problem;
  const PlacedLayout g = group_modes(q.gmem, 0, q.tile_rank);
  const PlacedLayout s = group_modes(q.smem, 0, q.tile_rank);
  line.set_json("tma_partition", write_form(q, cta_layout, [&](std::int64_t, const IntTuple& coord) {
                  return tma_partition(q.plan, coord, cta_layout, s, g);
                }));
  const Layout slices = make_layout(Int::fixed(r.num_multicast));
  line.set_json("tiled_copy_partition", write_form(q, slices, [&](std::int64_t cta, const IntTuple&) {
                  const TmaCopySlice slice = get_slice(q.plan, Int(cta));
                  return TmaPartition{slice.partition_S(q.gmem), slice.partition_D(q.smem)};
                }));
  return std::nullopt;
}

std::optional<Problem> evaluate_masks(JsonLine& line) {
  TmaCase c(line);
  const Layout cta_layout = c.layout("cta_layout");
  const std::vector<std::int64_t> modes = c.integers("modes");
  if (c.problem) return c.problem;
  if (!cta_layout.ok()) return Problem{.sentence = describe(cta_layout.fault()).c_str(), .is_unreadable = false};
  if (auto problem = too_many_ctas(size(cta_layout))) return problem;
  for (const std::int64_t mode : modes) {
    if (auto problem = no_mode(mode, cta_layout)) return problem;
  }
  JsonText json;
  json.begin('[');
  for (std::int64_t i = 0; i < size(cta_layout); ++i) {
    const IntTuple coord = nth_coordinate(cta_layout.shape(), i);
    IntTuple projected = coord;
    for (const std::int64_t mode : modes) projected = replace(projected, static_cast<int>(mode), Int::all());
    if (!projected.ok()) return Problem{.sentence = describe(projected.fault()).c_str(), .is_unreadable = false};
    json.begin('{').key("coord").value(coord).key("cta_rank").value(cta_layout(i));
    json.key("mask").value(std::int64_t{create_tma_multicast_mask(cta_layout, projected)}).end('}');
  }
  json.end(']');
  line.set_json("static", is_fixed(cta_layout) ? "true" : "false");
  line.set_json("masks", json.out);
  return std::nullopt;
}

std::optional<Problem> evaluate(JsonLine& line) {
  TmaCase c(line);
  const std::string_view kind = c.word("kind");
  if (c.problem) return c.problem;
  if (kind == "partition") return evaluate_partition(line);
  if (kind == "mcast_mask") return evaluate_masks(line);
  return Problem{fmt::format("the kind \"{}\" is not known; there are partition and mcast_mask", kind)};
}

}  // namespace

const EvalKind tma_partition_kind{"tma_partition", "TMA copies, cut into instructions; multicast masks", kComputed,
                                  evaluate};

}  // namespace gantry::tool
