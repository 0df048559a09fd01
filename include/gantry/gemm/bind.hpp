// From a design and a problem to what a launch needs: tensor maps' arguments, the tile schedule, the launch's shape. No
// template: the design is a value.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const GemmDesign design = make_gemm_design({}, fusion::graph("d = acc"));
//     GemmProblem problem;
//     problem.m = problem.n = problem.k = 4096;
//     const TmaDescriptorParams a = bind_a(design, problem);  // a.dims == {4096, 4096, 1}
//     const TileSchedule schedule = schedule_of(design, problem, {.clusters = 66, .workspace = true});
#pragma once

#include <gantry/arch/launch_config.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/gemm/gather.hpp>
#include <gantry/gemm/group_boxes.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/gemm/pointer_array.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry {

namespace detail {

inline TmaDescriptorParams bind_operand(const TmaMatrixBox& box, const GemmMatrix<const void>& operand, int rows,
                                        int columns, int batch) {
  const bool contiguous_columns = box.contiguous == MatrixMode::second;
  const auto x = operand.with_strides(contiguous_columns ? columns : rows, contiguous_columns ? rows : columns);
  return bind(box, {.address = reinterpret_cast<std::uint64_t>(x.data),
                    .first = rows,
                    .second = columns,
                    .batch = batch,
                    .stride = x.stride,
                    .batch_stride = x.batch_stride});
}
inline TmaDescriptorParams bind_loaded(const GemmDesign& d, char operand, const TmaMatrixBox& box,
                                       const GemmMatrix<const void>& matrix, int rows, const GemmProblem& p) {
  const TmaDescriptorParams map = bind_operand(box, matrix, rows, p.k, shares_matrix(d, operand) ? 1 : p.batch);
  return shares_matrix(d, operand) ? ragged(map) : map;
}

}  // namespace detail

// Where K is 0 there is nothing to load, and nothing to describe.
inline TmaDescriptorParams bind_a(const GemmDesign& d, const GemmProblem& p) {
  return detail::bind_loaded(d, 'A', d.a, p.a, p.m, p);
}
// In its place, where rows of A are gathered. Requires strides in place of kPacked.
inline GatherParams bind_gather(const GemmDesign& d, const GemmProblem& p) {
  const std::int64_t bytes = element_bits(d.options.a) / 8;
  const auto a = p.a.with_strides(p.k, p.gather.rows);
  // An A without rows may have no address; none of it is read, and addresses are computed from it all the same.
  return {.data = a.data != nullptr ? a.data : p.gather.index,
          .index = p.gather.index,
          .batch_stride = a.batch_stride * bytes,
          .k_bytes = p.k * bytes,
          .stride = static_cast<std::uint32_t>(a.stride * bytes / 16),
          .rows = static_cast<int>(p.gather.rows),
          .count = p.m};
}
inline TmaDescriptorParams bind_b(const GemmDesign& d, const GemmProblem& p) {
  if (d.gated()) {
    const auto b = p.b.with_strides(p.k, p.n);
    return bind_gated(d.b,
                      {.address = reinterpret_cast<std::uint64_t>(b.data),
                       .first = p.n,
                       .second = p.k,
                       .batch = p.batch,
                       .stride = b.stride,
                       .batch_stride = b.batch_stride},
                      d.options.gate);
  }
  return detail::bind_loaded(d, 'B', d.b, p.b, p.n, p);
}
// Columns of D that are stored. Rows that are added in order go to slots of whole chunks of 16 bytes first, since TMA
// writes those.
inline int stored_columns(const GemmDesign& d, int n) {
  return d.options.scatter_d == RowScatter::ordered ? (n + 3) / 4 * 4 : n;
}
// Of the last rows of A and B (edge_boxes.hpp). Requires rows, and a design with edges. `encode`: TmaDescriptorParams
// to a TmaDescriptor.
template <class Encode>
GemmEdgeParams bind_edges(const GemmDesign& d, const GemmProblem& p, const Encode& encode) {
  GemmEdgeParams out{};
  const auto bind_edge = [&encode](TmaDescriptorParams map, int rows, GemmEdge& edge) {
    edge = {.rows = rows, .last = rows_of_last_box(rows, map.box[1])};
    map.box[1] = static_cast<std::uint32_t>(edge.last);
    return encode(map);
  };
  if (d.edge_a) out.map_a = bind_edge(bind_a(d, p), p.m, out.a);
  if (d.edge_b) out.map_b = bind_edge(bind_b(d, p), stored_columns(d, p.n), out.b);
  return out;
}
// Of the rows that a group ends with (group_boxes.hpp): `maps` has room for d.group_boxes. `encode`: likewise.
template <class Encode>
void bind_group_boxes(const GemmDesign& d, const GemmProblem& p, const Encode& encode, TmaDescriptor* maps) {
  if (d.group_boxes == 0) return;
  TmaDescriptorParams map = shares_matrix(d, 'A') ? bind_a(d, p) : bind_b(d, p);
  for (int i = 0; i < d.group_boxes; ++i) {
    map.box[1] = static_cast<std::uint32_t>(kGroupBoxRows << i);
    maps[i] = encode(map);
  }
}
// All that a kernel's main loop loads, into the parameters that its type has. Requires rows and K.
template <class LoopParams, class Encode>
void bind_loads(const GemmDesign& d, const GemmProblem& p, const Encode& encode, LoopParams& out) {
  if constexpr (requires { out.a.index; }) {
    out.a = bind_gather(d, p);
  } else {
    out.a = encode(bind_a(d, p));
  }
  out.b = encode(bind_b(d, p));
  if constexpr (requires { out.edges; }) out.edges = bind_edges(d, p, encode);
  if constexpr (requires { out.group_boxes; }) bind_group_boxes(d, p, encode, out.group_boxes);
}
inline TmaDescriptorParams bind_d(const GemmDesign& d, const GemmProblem& p) {
  const bool shared = shares_matrix(d, 'D');
  const GemmMatrix<const void> matrix{p.d.data, p.d.stride, p.d.batch_stride};
  const TmaDescriptorParams map = detail::bind_operand(d.d, matrix, p.m, p.n, shared ? 1 : p.batch);
  return shared ? ragged(map) : map;
}

// The clusters that a device holds at the same time, and whether there is a workspace for tiles that they share.
struct GemmResidency {
  int clusters = 1;
  bool workspace = false;
};

inline TileSchedule schedule_of(const GemmDesign& d, const GemmProblem& p, const GemmResidency& held,
                                const Architecture& arch = kH200) {
  const TileSchedule tiles{
      .m = d.clusters_along_m(p.m), .n = d.clusters_along_n(p.n), .k_steps = d.k_steps(p.k), .batch = p.batch};
  return make_tile_schedule(with_costs_of(tiles, d.options.tile.m, d.options.tile.n, arch), held.clusters,
                            d.may_split(held.workspace), arch);
}

inline LaunchConfig launch_config_of(const GemmDesign& d, const TileSchedule& schedule) {
  const auto unsigned_of = [](int x) { return static_cast<std::uint32_t>(x); };
  return {.grid = {unsigned_of(schedule.clusters * d.cluster_size())},
          .cluster = {unsigned_of(d.cluster_size())},
          .block = {unsigned_of(d.roles.threads)},
          .shared_bytes = unsigned_of(d.shared.bytes),
          .name = d.pingpong() ? "pingpong_gemm" : "cooperative_gemm"};
}

}  // namespace gantry
