// The global memory that an epilogue needs beside its tensors, and how it is initialised: partial results and counters
// of deterministic reductions, and the identities that atomics start from.
//
// Counters come first and are zero; partial results follow and need no initialisation. fill_words
// writes the initial values, on a GPU or on the simulated SM.
//
// Example:
//     using namespace gantry;
//     fusion::Graph g;
//     g.add_argument({.name = "sums", .kind = fusion::ArgumentKind::reduction, .extent = fusion::Extent::row,
//                     .deterministic = true});
//     constexpr Subtiles tile{.m = 128, .n = 128, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//     const WorkspaceLayout layout = workspace_layout(g, tile, {.m = 256, .n = 100});
//     // one counter, padded to 16 bytes; 2 tiles of 2 subtiles, each with 100 sums: layout.bytes == 16 + 4 * 100 * 4
#pragma once

#include <gantry/arch/machines.hpp>
#include <gantry/epilogue/fill_words.hpp>
#include <gantry/epilogue/fusion/slots.hpp>
#include <gantry/epilogue/subtiles.hpp>

namespace gantry {

// Extents of the GEMM: M, N, K and the batch count. An epilogue does not read K.
struct EpilogueProblem {
  int m = 0, n = 0, k = 0, batch = 1;
  bool groups_of_rows = false;     // a grouped GEMM along M: `batch` groups share the rows of one C and one D
  bool pointer_array = false;      // `batch` GEMMs that share nothing: M and N are known on the device
  bool groups_of_columns = false;  // groups of rows from the other side: they share the columns of D^T

  bool share_d() const { return groups_of_rows || groups_of_columns; }
};

// Offsets in bytes, by argument.
struct WorkspaceLayout {
  std::int64_t counters[fusion::kMaxArguments] = {};
  std::int64_t partials[fusion::kMaxArguments] = {};
  std::int64_t counter_bytes = 0;
  std::int64_t bytes = 0;
};

inline bool needs_workspace(const fusion::Argument& a) { return fusion::combined_in_order(a); }

inline WorkspaceLayout workspace_layout(const fusion::Graph& graph, const Subtiles& tile, const EpilogueProblem& p) {
  using fusion::Extent;
  const std::int64_t tiles_m = (p.m + tile.m - 1) / tile.m;
  const std::int64_t tiles_n = (p.n + tile.n - 1) / tile.n;
  const auto round_up = [](std::int64_t bytes) { return (bytes + 15) / 16 * 16; };
  WorkspaceLayout out;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (!needs_workspace(a)) continue;
    const std::int64_t results = a.extent == Extent::row ? tiles_n : a.extent == Extent::column ? tiles_m : 1;
    out.counters[i] = out.counter_bytes;
    out.counter_bytes = round_up(out.counter_bytes + results * p.batch * 4);
  }
  out.bytes = out.counter_bytes;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    if (!needs_workspace(a)) continue;
    const std::int64_t floats = a.extent == Extent::row      ? tiles_m * tile.along_m() * p.n
                                : a.extent == Extent::column ? tiles_n * p.m
                                                             : tiles_m * tiles_n;
    out.partials[i] = out.bytes;
    out.bytes = round_up(out.bytes + floats * fusion::floats_of(fusion::reduction_of(graph, i)) * p.batch * 4);
  }
  return out;
}

// On the device that runs the kernel after it.
template <class Machine>
LaunchResult fill_words(const Machine& machine, const FillWords::Params& params) {
  if (params.most_words() == 0) return {};
  return launch(machine, fill_config(params), FillWords{}, params);
}

}  // namespace gantry
