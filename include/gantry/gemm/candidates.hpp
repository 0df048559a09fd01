// The candidate configurations of a GEMM, and the cost of its epilogue: the inputs of a choice.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = gelu(acc + c)");
//     const GemmEpilogueCost cost = epilogue_cost(graph, ElementType::bf16);  // heavy, 2 bytes of C
//     const std::vector<GemmDesign> candidates = gemm_candidates({}, graph);
#pragma once

#include <vector>

#include <gantry/gemm/cost_model.hpp>
#include <gantry/gemm/design.hpp>

namespace gantry {

// From the graph and the element of C.
GANTRY_LINKAGE GemmEpilogueCost epilogue_cost(const fusion::Graph& graph, ElementType c);

// Large tiles for compute-bound GEMMs, in shapes that fill the last wave at different sizes; pingpong for epilogues
// that would be exposed, with three warpgroups where one epilogue outlasts a main loop; small tiles, clusters that
// multicast, and swapped operands for few rows. The list does not depend on the sizes: the choice is made later. Of
// candidates that the model cannot tell apart the first is chosen.
GANTRY_LINKAGE std::vector<GemmOptions> gemm_requests(const GemmWorkload& w, const Sm90Limits& limits = kSm90);

// The same for an epilogue. One that combines the columns of a row has every tile in clusters of 2, 4 and 8 along N
// besides, whose tiles hold a longer row; nothing else has clusters of more than 2 along a mode.
GANTRY_LINKAGE std::vector<GemmOptions> gemm_requests(const GemmWorkload& w, const fusion::Graph& graph,
                                                      const Sm90Limits& limits = kSm90);

// What staging looks at, of the sizes: GEMMs of one class are staged alike.
struct StagingClass {
  static constexpr int kLongK = 9;

  int k64 = kLongK;       // K in steps of 64, kLongK of them standing for any more
  bool overlaps = false;  // K is long enough to overlap the store of a tile with the next one, and there is a next one

  friend bool operator==(const StagingClass&, const StagingClass&) = default;
};

GANTRY_LINKAGE StagingClass staging_class(const GemmTile& tile, const GemmWorkload& w,
                                          const Architecture& arch = kH200);

// A request with its staging set for GEMMs of a class, as far as it is left open. A plain D overlaps the next tile
// where the kernel can. With few K tiles four stages are enough: a stage that comes round then holds the same part of
// B, which is not loaded again. (With C more of them are better than that.)
GANTRY_LINKAGE GemmOptions staged_for(GemmOptions o, const fusion::Graph& graph, const StagingClass& sizes,
                                      const Sm90Limits& limits = kSm90);

// The same for one GEMM's sizes.
GANTRY_LINKAGE GemmOptions staged_for(const GemmOptions& o, const fusion::Graph& graph, const GemmWorkload& w,
                                      const Architecture& arch = kH200);

// Which tiles hold all columns of a row that the epilogue combines. A row of up to 256 columns is held by one tile, and
// where tiles may not be that wide by a cluster along N; a longer one by a cluster; and by none of which half would
// hold it. If none are wide enough, the widest count: planning refuses them with the widest row that works.
enum class RowRoom : std::uint8_t { none, spread, best };  // spread: where there is no better
GANTRY_LINKAGE RowRoom row_room(const GemmDesign& design, const GemmWorkload& w, const fusion::Graph& graph,
                                const Sm90Limits& limits = kSm90);

// Designs that come into question for a workload with this epilogue, staged for its sizes. Where a row that is combined
// is longer than any tile, they have clusters along N that hold it.
GANTRY_LINKAGE std::vector<GemmDesign> gemm_candidates(const GemmWorkload& w, const fusion::Graph& graph,
                                                       const Architecture& arch = kH200);

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/candidates_definitions.hpp>
#endif
