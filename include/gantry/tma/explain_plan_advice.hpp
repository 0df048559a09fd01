// Advice on how a plan cuts its tile: into boxes, instructions and the parts of a multicast, and against the edges of
// the tensor. What concerns the tensor map and shared memory alone is in `tma/explain_advice.hpp`.
//
// Example:
//     using namespace gantry;
//     const TmaPlan plan = make_tma_copy(
//         TmaOp::load, {.element = ElementType::bf16, .layout = make_layout(make_shape(100, 64), make_stride(64, _1))},
//         make_layout(make_shape(_64, _64), LayoutRight{}));
//     const std::vector<TmaAdvice> advice = advise_plan(plan, gbasis_steps(plan));
//     // advice[0].name == "edge_tiles": 64 does not divide 100
#pragma once

#include <gantry/tma/explain_parts.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry {

// A tile that takes more instructions than this keeps the thread that issues them busy.
inline constexpr std::int64_t kManyInstructions = 8;

// The steps that planning did, computed again to be shown.
inline TmaGbasisSteps gbasis_steps(const TmaPlan& plan) {
  TmaGbasisSteps steps;
  if (plan.cta_v_map.ok() && plan.smem.ok() && plan.gmem.ok()) {
    construct_tma_gbasis(TmaGmodes(plan.gmem, plan.units()), plan.smem.layout(), plan.cta_v_map, &steps);
  }
  return steps;
}

namespace tma_detail {

// Outermost mode first, as reasons write it: mode 0 of mode 2 is "2.0".
inline std::string mode_name(BasisPath path) {
  std::string out = path.empty() ? "0" : "";
  for (int level = 0; level < path.depth(); ++level) out += (level > 0 ? "." : "") + number(path[level]);
  return out;
}

class PlanAdvisor {
 public:
  PlanAdvisor(const TmaPlan& plan, const TmaGbasisSteps& steps) : plan_(plan), steps_(steps) {}

  std::vector<TmaAdvice> run() {
    if (plan_.num_bits_per_tma == 0 || steps_.reached < 7) return {};
    split_by_256();
    instructions();
    repeats();
    multicast();
    if (plan_.bound) edges(plan_.gmem.shape(), {});
    shared_dimensions();
    return std::move(out_);
  }

 private:
  void add(TmaAdviceLevel level, const char* name, std::string what, std::string why, std::string change) {
    out_.push_back({name, level, std::move(what), std::move(why), std::move(change)});
  }

  // Neighbouring dimensions of the box that would be one if a dimension could have more than 256 elements.
  void split_by_256() {
    const TupleView s = steps_.tma_gstride.shape();
    const TupleView d = steps_.tma_gstride.stride();
    const int n = rank(steps_.tma_gstride);
    for (int i = 0; i + 1 < n; ++i) {
      const Int low = s[i].leaf(), step = d[i].leaf(), high = s[i + 1].leaf();
      const Int whole = low * high;
      if (!(low * step == d[i + 1].leaf()) || !whole.is_fixed() || whole.value() <= kTmaMaxMergedExtent) continue;
      add(TmaAdviceLevel::note, "split_by_256",
          "dimensions " + number(i) + " and " + number(i + 1) + " of the box are one run of " + number(whole.value()) +
              " elements",
          "a box has at most 256 elements along a dimension, so the run takes two of the five dimensions",
          "nothing needs to change while there are dimensions left; a tile extent of at most 256 would merge them");
    }
  }

  void instructions() {
    const std::int64_t per_tma = plan_.elements_per_tma();
    const std::int64_t count = per_tma > 0 ? size(plan_.cta_v_map) / per_tma : 0;
    if (count < 2) return;
    std::string why = "one instruction moves what is contiguous in shared memory and a box of the tensor: " +
                      text_of(steps_.sidx2gmode);
    if (rank(steps_.sidx2gmode_full) > steps_.smem_rank) {
      const Layout rest = take(steps_.sidx2gmode_full, steps_.smem_rank, rank(steps_.sidx2gmode_full));
      why += "; shared memory then goes on at " + text_of(rest);
    }
    const bool many = count > kManyInstructions;
    add(many ? TmaAdviceLevel::warning : TmaAdviceLevel::note, "several_instructions",
        "a tile takes " + number(count) + " instructions of " + number(plan_.bytes_per_instruction()) + " bytes", why,
        many ? "let shared memory follow the tile further, in wider rows or larger slabs"
             : "nothing needs to change: slabs as wide as the swizzle take one instruction each, issued one after the "
               "other");
  }

  void repeats() {
    const TupleView s = plan_.smem.layout().shape();
    const TupleView d = plan_.smem.layout().stride();
    Int times = Int::fixed(1);
    for (int i = 0; i < s.nodes(); ++i) {
      if (s.node_is_leaf(i) && d.node_leaf(i).is_fixed(0)) times = times * s.node_leaf(i);
    }
    if (times.is_fixed(1)) return;
    add(TmaAdviceLevel::warning, "repeated_instructions",
        "the shared layout has modes of stride 0, so each box is moved " + number(times.value()) + " times",
        "elements along such a mode share their place in shared memory, and every copy of them is an instruction",
        "leave the mode out of the tile, and move the box once");
  }

  void multicast() {
    if (plan_.num_multicast < 2) return;
    const std::int64_t slice = plan_.bytes_per_instruction();
    const TmaDescriptorParams& map = plan_.descriptor;
    if (slice < static_cast<std::int64_t>(kTmaSharedAlignment)) {
      add(TmaAdviceLevel::warning, "multicast_slice_small",
          "each of " + number(plan_.num_multicast) + " CTAs issues slices of " + number(slice) + " bytes",
          "a slice starts where the one before it ends, and shared addresses of tensor copies are multiples of 128 "
          "bytes",
          "share the tile among fewer CTAs, or let one of them issue it whole");
    }
    const std::int64_t whole = product(TupleView(plan_.tma_gbasis.shape())[0]).value();
    if (std::int64_t{map.box[0]} < whole) {
      add(TmaAdviceLevel::warning, "multicast_cuts_rows",
          "the multicast cuts rows of " + number(whole) + " elements into parts of " + number(map.box[0]),
          "each CTA then reads short runs of global memory",
          "give the tile at least " + number(plan_.num_multicast) + " rows, so that rows are shared out whole");
    }
  }

  void edges(TupleView shape, BasisPath path) {
    if (shape.is_leaf()) return edge(path, shape.leaf().value(), detail::tile_extent(plan_.cta_v_map, path));
    int mode = 0;
    for (TupleView s : shape) edges(s, path.then(mode++));
  }

  const char* outside() const {
    if (is_prefetch(plan_.op)) return "what lies outside is not fetched";
    return writes_global(plan_.op) ? "what lies outside is not written"
                                   : "what lies outside is filled, and still counts for the barrier";
  }

  void edge(BasisPath path, std::int64_t extent, std::int64_t tile) {
    if (tile > extent) {
      add(TmaAdviceLevel::warning, "tile_exceeds_extent",
          "the tile takes " + number(tile) + " elements of global mode " + mode_name(path) + ", which has " +
              number(extent),
          std::string(outside()) + "; shared memory and instructions are spent on it in every tile",
          "make the tile no larger than the extent along this mode");
    } else if (extent % tile != 0) {
      add(TmaAdviceLevel::note, "edge_tiles",
          "tiles of " + number(tile) + " do not divide the " + number(extent) + " elements of global mode " +
              mode_name(path),
          "the last tile reaches beyond the tensor: " + std::string(outside()),
          "nothing needs to change for correctness; a multiple of " + number(tile) + " moves no byte for nothing");
    }
  }

  void shared_dimensions() {
    int dim = 0;
    for (TupleView basis : TupleView(plan_.tma_gbasis.stride())) {
      if (!basis.is_leaf() && leaf_count(basis) > 1 && dim == kTmaMaxRank - 1) {
        add(TmaAdviceLevel::note, "modes_share_dimension",
            counted(leaf_count(basis), "global mode") + " share TMA dimension " + number(dim),
            "a tensor map has five dimensions, so the last one steps by their greatest common stride and its "
            "coordinate "
            "scales with the strides",
            "take coordinates from the plan's coordinate tensor; do not compute them by hand");
      }
      ++dim;
    }
  }

  const TmaPlan& plan_;
  const TmaGbasisSteps& steps_;
  std::vector<TmaAdvice> out_;
};

}  // namespace tma_detail

inline std::vector<TmaAdvice> advise_plan(const TmaPlan& plan, const TmaGbasisSteps& steps) {
  return tma_detail::PlanAdvisor(plan, steps).run();
}

}  // namespace gantry
