// What explain.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <gantry/gemm/explain.hpp>

namespace gantry::detail {

// Bytes of DRAM traffic if every element is read and written once.
struct GemmTraffic {
  double read = 0, written = 0;
};

inline GemmTraffic traffic_of(const GemmFacts& f) {
  const auto bytes = [](ElementType element, double count) { return count * element_bits(element) / 8; };
  const auto m = static_cast<double>(f.m), n = static_cast<double>(f.n), k = static_cast<double>(f.k);
  const auto n_of_d = static_cast<double>(f.design.columns_of_d(f.n));
  // Groups share the matrices that have the rows of all of them.
  const auto of = [&](char operand) { return shares_matrix(f.design, operand) ? 1 : static_cast<double>(f.batch); };
  const double batch = of('D');
  GemmTraffic out;
  out.read = of('A') * bytes(f.design.options.a, m * k) + of('B') * bytes(f.design.options.b, n * k);
  if (f.design.stores_d()) out.written = batch * bytes(f.design.options.d, m * n_of_d);
  if (f.graph == nullptr) return out;
  if (f.graph->uses_source()) out.read += batch * bytes(f.design.options.c, m * n_of_d);
  for (int i = 0; i < f.graph->argument_count; ++i) {
    const fusion::Argument& a = f.graph->arguments[i];
    if (a.kind == fusion::ArgumentKind::aux_in) out.read += batch * bytes(a.element, m * n_of_d);
    if (fusion::is_matrix(a) && fusion::is_output(a.kind)) {
      const fusion::MatrixExtents matrix = fusion::extents_of(a, f.m, f.design.columns_of_d(f.n));
      out.written += batch * bytes(a.element, static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns));
    }
    if (a.kind == fusion::ArgumentKind::row) out.read += bytes(a.element, n_of_d);
    if (a.kind == fusion::ArgumentKind::column) out.read += bytes(a.element, m);
  }
  return out;
}

// "17.2 G" of something: three digits and the prefix of a power of 1000.
inline std::string with_prefix(double x) {
  const char* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int i = 0;
  for (; x >= 1000 && i < 5; ++i) x /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", x, prefixes[i]);
  return text;
}

inline std::string explain_kernel(const GemmFacts& f) {
  const GemmOptions& o = f.design.options;
  std::string out = "Kernel: ";
  out += to_text(o).c_str();
  out +=
      o.schedule == GemmSchedule::pingpong
          ? (o.warpgroups == 3 ? ". Three consumer warpgroups alternate: one runs the main loop of its tile while the "
                                 "others run their epilogues"
                               : ". Two consumer warpgroups alternate: one runs the main loop of its tile while the "
                                 "other runs its epilogue")
      : f.design.roles.tile_warpgroups == 1 ? ". One consumer warpgroup computes a tile"
      : o.swapped                           ? ". Two consumer warpgroups share a tile, half of its columns each"
                                            : ". Two consumer warpgroups share a tile, half of its rows each";
  if (o.swapped) out += "; operands are swapped: B takes the M side of wgmma, A its N side";
  if (o.cluster.m * o.cluster.n > 1) {
    out += "; TMA multicasts tiles of ";
    out += o.cluster.m == 1 ? "A" : o.cluster.n == 1 ? "B" : "A and B";
    out += " within a cluster of " + std::to_string(o.cluster.m * o.cluster.n) + " CTAs";
  }
  if (o.cluster.k > 1) {
    out +=
        "; " + std::to_string(o.cluster.k) +
        " CTAs of a cluster share the K tiles of a tile and add their accumulators through distributed shared memory";
  }
  if (o.constant != ConstantOperand::none) {
    out += o.constant == ConstantOperand::a ? "; the first K tiles of A" : "; the first K tiles of B";
    out += " are loaded before a dependent launch waits";
  }
  return out + (o.promote ? "; accumulators are promoted to f32 registers every 128 elements of K.\n" : ".\n");
}

GANTRY_LINKAGE std::string explain_memory(const GemmFacts& f) {
  const GemmOptions& o = f.design.options;
  std::string out = "Shared memory: " + std::to_string(f.design.shared.bytes) + " of " +
                    std::to_string(f.arch.limits.shared_bytes_per_block) + " bytes: " + std::to_string(o.stages) +
                    " stages of " + std::to_string(f.design.stage_bytes()) + ", and " +
                    std::to_string(f.design.shared.epilogue_bytes) + " for the epilogue, which ";
  if (f.design.store == GemmStore::overlapped)
    return out + "overlaps the store of a tile with the main loop of the next.\n";
  if (f.design.store == GemmStore::reduce_add)
    return out + "adds the accumulators to D by TMA reduction, in no fixed order.\n";
  const std::string lines =
      o.swapped ? std::to_string(o.epilogue.epi_m) + " rows" : std::to_string(o.epilogue.epi_n) + " columns";
  out += "works in subtiles of " + lines + " with " + std::to_string(o.epilogue.stages_d) + " buffers of " +
         (f.design.stores_d() ? "D" : "each output") + " per warpgroup";
  if (o.c != ElementType::void_) {
    out += o.epilogue.reuse == Choice::yes ? ", which reuse those of C"
           : direct_c(o)                   ? ""
                                           : ", and " + std::to_string(o.epilogue.stages_c) + " of C";
  }
  if (const int ctas = f.design.part.row_ctas.count; ctas > 1) {
    out += "; the " + std::to_string(ctas) + " CTAs of a cluster along N exchange what they have of a row";
  }
  return out + ".\n";
}

inline std::string explain_schedule(const GemmFacts& f) {
  const TileSchedule& s = f.schedule;
  const int cluster = f.design.cluster_size();
  const int waves = s.clusters > 0 ? (s.tiles() + s.clusters - 1) / s.clusters : 0;
  const std::string tile = cluster == 1 ? " tile" : " cluster tile";
  const auto tiles = [&](int count) { return std::to_string(count) + tile + (count == 1 ? "" : "s"); };
  if (f.design.options.groups == GemmGrouping::pointer_array) {
    return "Schedule: tiles of " + std::to_string(f.design.options.tile.m * f.design.options.cluster.m) + " x " +
           std::to_string(f.design.options.tile.n * f.design.options.cluster.n) + ", dealt out to " +
           std::to_string(s.clusters) + (s.clusters == 1 ? " cluster of " : " clusters of ") + std::to_string(cluster) +
           (cluster == 1 ? " CTA" : " CTAs") +
           " by the device, which reads sizes and addresses; a warp of each CTA writes the tensor maps of a GEMM "
           "before "
           "its first tile, and " +
           std::to_string(kGroupMapSlots) + " GEMMs' maps are kept.\n";
  }
  if (f.design.options.groups != GemmGrouping::none) {
    const bool along_m = f.design.options.groups == GemmGrouping::along_m;
    return "Schedule: at most " + tiles(s.tiles()) + " of " +
           std::to_string(f.design.options.tile.m * f.design.options.cluster.m) + " x " +
           std::to_string(f.design.options.tile.n * f.design.options.cluster.n) + ", dealt out to " +
           std::to_string(s.clusters) + (s.clusters == 1 ? " cluster of " : " clusters of ") + std::to_string(cluster) +
           (cluster == 1 ? " CTA" : " CTAs") + " by the device, which reads the groups: " +
           (along_m ? std::to_string(s.k_steps) + (s.k_steps == 1 ? " K tile each.\n" : " K tiles each.\n")
                    : "K tiles as many as a group has.\n");
  }
  std::string out =
      "Schedule: " + tiles(s.tiles()) + " of " + std::to_string(f.design.options.tile.m * f.design.options.cluster.m) +
      " x " + std::to_string(f.design.options.tile.n * f.design.options.cluster.n) + ", " + std::to_string(s.k_steps) +
      (s.k_steps == 1 ? " K tile" : " K tiles") + " each, over " + std::to_string(s.clusters) +
      (s.clusters == 1 ? " cluster" : " clusters") + " of " + std::to_string(cluster) +
      (cluster == 1 ? " CTA" : " CTAs") + " (" + std::to_string(f.ctas / cluster) + " can be resident)";
  if (s.split_tiles > 0) {
    out += s.parts > 1 ? "; split-K: " + std::to_string(s.parts) + " clusters share each tile"
                       : "; stream-K: " + tiles(s.split_tiles) + " split into equal runs of K tiles";
    return out + (f.design.store == GemmStore::reduce_add
                      ? ".\n"
                      : ", and partial accumulators are reduced in a fixed order.\n");
  }
  char busy[16];
  std::snprintf(busy, sizeof busy, "%.0f", 100.0 * s.tiles() / (static_cast<double>(waves) * s.clusters));
  return out + ": " + std::to_string(waves) + (waves == 1 ? " wave, " : " waves, ") + busy + " % full.\n";
}

inline std::string explain_work(const GemmFacts& f) {
  const GemmTraffic t = traffic_of(f);
  const bool grouped = f.design.options.groups == GemmGrouping::along_m ||
                       f.design.options.groups == GemmGrouping::along_k;  // M or K has the rows of all groups
  const double operations = 2.0 * static_cast<double>(f.m) * static_cast<double>(f.n) * static_cast<double>(f.k) *
                            (grouped ? 1 : static_cast<double>(f.batch));
  const double balance = f.arch.mma_peak / f.arch.dram_peak * 16 / element_bits(f.design.options.a);
  const double intensity = operations / (t.read + t.written);
  char text[96];
  std::snprintf(text, sizeof text, intensity < 1000 ? "%.3g" : "%.0f", intensity);
  const std::string per_byte = text;
  std::snprintf(text, sizeof text, "%.0f", balance);
  const bool array = f.design.options.groups == GemmGrouping::pointer_array;
  return (array ? "Work, where all GEMMs have these sizes: " : "Work: ") + with_prefix(operations) + "FLOP; at least " +
         with_prefix(t.read) + "B read and " + with_prefix(t.written) + "B written, " + per_byte + " FLOP/B; an " +
         f.arch.name + " is compute-bound above " + text + " FLOP/B.\n";
}

// How tensors go that TMA cannot address, and what that costs.
inline std::string explain_access(const GemmFacts& f) {
  const GemmOptions& o = f.design.options;
  std::string out;
  if (f.packed_a || f.packed_b) {
    const double moved = 2.0 * static_cast<double>(f.packed_bytes);
    char microseconds[32];
    std::snprintf(microseconds, sizeof microseconds, "%.2g", moved / f.arch.dram_rate * 1e6);
    out += std::string("Packing: TMA cannot address ") +
           (f.packed_a && f.packed_b ? "A and B, so they are"
            : f.packed_a             ? "A, so it is"
                                     : "B, so it is") +
           " copied into the workspace first, with rows at multiples of 16 bytes: " + with_prefix(moved) +
           "B read and written, " + microseconds + " us of an " + f.arch.name + "'s DRAM and a launch.\n";
  }
  std::vector<std::string> direct;
  if (direct_c(o)) direct.emplace_back("C");
  if (is_direct(o.d, o.align_d)) direct.emplace_back("D");
  for (int i = 0; f.graph != nullptr && i < f.graph->argument_count; ++i) {
    if (fusion::is_direct(f.graph->arguments[i])) direct.emplace_back(f.graph->arguments[i].name.text);
  }
  for (std::size_t i = 0; i < direct.size(); ++i) {
    out += (i == 0 ? "Alignment: TMA cannot address " : i + 1 == direct.size() ? " and " : ", ") + direct[i];
  }
  return direct.empty() ? out : out + "; threads read and write " + (direct.size() == 1 ? "it" : "them") + ".\n";
}

// Which rows of B are the gate's, and how wide D is.
inline std::string explain_gate(const GemmFacts& f) {
  if (!f.design.gated()) return "";
  return "Gate: D has " + std::to_string(f.design.columns_of_d(f.n)) + " columns, and the gate has " +
         (f.design.options.gate == GemmGate::halves ? "the first half of the rows of B"
                                                    : "every second row of B, from the first on") +
         "; TMA brings 8 of them and 8 of up's by turns.\n";
}

// The matrices that outputs with one element for a block of rows or columns are.
inline std::string explain_blocks(const GemmFacts& f) {
  std::string out;
  for (int i = 0; f.graph != nullptr && i < f.graph->argument_count; ++i) {
    const fusion::Argument& a = f.graph->arguments[i];
    if (!fusion::is_partial(a)) continue;
    const fusion::MatrixExtents of = fusion::extents_of(a, f.m, f.design.columns_of_d(f.n));
    out += std::string("Partial results: ") + a.name.text + " is " + std::to_string(of.rows) + " x " +
           std::to_string(of.columns) + (a.row_major ? ", row-major" : ", column-major") + ", one result for each " +
           std::to_string(a.block) + (a.extent == fusion::Extent::row ? " rows.\n" : " columns.\n");
  }
  return out;
}

inline std::string explain_gather(const GemmFacts& f) {
  if (!f.design.options.gather_a) return "";
  const int warps = f.design.roles.copy_warps;
  return "Rows of A are gathered by an index on the device: " + std::to_string(warps) +
         (warps == 1 ? " warp of each CTA copies" : " warps of each CTA copy") +
         " them, 16 bytes a thread, and TMA brings B.\n";
}

// Slots are written and read, and rows of D read and written.
inline std::string explain_slots(const GemmFacts& f) {
  const auto slots = static_cast<double>(f.slot_bytes);
  const double rows = static_cast<double>(f.slot_rows) * static_cast<double>(f.design.columns_of_d(f.n)) * 4;
  char microseconds[32];
  std::snprintf(microseconds, sizeof microseconds, "%.2g", (slots + 2 * rows) / f.arch.dram_rate * 1e6);
  return "Rows of D are scattered by an index on the device: the GEMM stores each in a slot of the workspace, " +
         with_prefix(slots) +
         "B, and a second kernel adds the slots of each row of D in ascending order: " + with_prefix(slots + rows) +
         "B read and " + with_prefix(rows) + "B written at most, " + microseconds + " us of an " + f.arch.name +
         "'s DRAM and a launch.\n";
}

inline std::string explain_scatter(const GemmFacts& f) {
  if (f.design.options.scatter_d == RowScatter::none) return "";
  if (f.design.options.scatter_d == RowScatter::ordered) return explain_slots(f);
  return f.design.options.scatter_d == RowScatter::store
             ? "Rows of D are scattered by an index on the device: threads store them.\n"
             : "Rows of D are scattered by an index on the device: threads add them to what is there, in no fixed "
               "order.\n";
}

GANTRY_LINKAGE std::string explain_gemm(const GemmFacts& f) {
  std::string out =
      "D = A B^T, " + std::to_string(f.m) + " x " + std::to_string(f.n) + " x " + std::to_string(f.k) + " (M x N x K)";
  const GemmGrouping groups = f.design.options.groups;
  if (groups == GemmGrouping::pointer_array) {
    out += " and others, a pointer array of " + std::to_string(f.batch) + (f.batch == 1 ? " GEMM" : " GEMMs");
  } else if (groups != GemmGrouping::none) {
    out += ", " + std::to_string(f.batch) + (f.batch == 1 ? " group" : " groups") +
           (groups == GemmGrouping::along_m ? " along M" : " along K");
  } else if (f.batch != 1) {
    out += ", batch of " + std::to_string(f.batch);
  }
  if (*f.expression != '\0') out.append(": ").append(f.expression);
  out += "\n" + explain_kernel(f) + explain_gate(f) + explain_blocks(f) + explain_gather(f) + explain_scatter(f);
  if (f.m == 0 || f.n == 0 || f.batch == 0) {
    const bool reduces = f.graph->count(fusion::ArgumentKind::reduction) > 0;
    return out + (reduces ? "There is nothing to compute: sum reductions become 0, max reductions -infinity.\n"
                          : "There is nothing to compute, and nothing will be launched.\n");
  }
  if (f.k == 0) out += "K is 0: all accumulators are 0, and A and B are not read.\n";
  out += explain_memory(f) + explain_access(f) + explain_schedule(f) + explain_work(f);
  out += f.workspace_bytes > 0 ? "Workspace: " + std::to_string(f.workspace_bytes) + " bytes.\n" : "Workspace: none.\n";
  return out;
}

GANTRY_LINKAGE void append_explanation(const GemmFacts& f, std::string& out) { out.append(explain_gemm(f)); }

}  // namespace gantry::detail
