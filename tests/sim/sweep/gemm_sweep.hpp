// What the sweeps over GEMM kernels share: every synchronising call, left out or changed one at a time, is found out.
//
// The kernels run as a plan launches them, small: several tiles for each warpgroup, and more K tiles than stages, so
// that every buffer is used again. A few changes do no harm; each is named with its reason.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/mutation_sweep.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>

namespace gantry::sweep {

// The long form has more seeds for what is rarely seen.
inline int seeds() { return std::getenv("GANTRY_LONG_TESTS") != nullptr ? 64 : 3; }

// The source line of a call, or one `above` it, of whatever header of the library it is in.
inline std::string line_of(const SiteUse& site, int above = 0) {
  for (const char* folder :
       {"gemm", "gemm/detail", "epilogue", "epilogue/detail", "epilogue/fusion", "pipeline", "tma", "atom"}) {
    std::ifstream file(std::string(GANTRY_SOURCE_DIR "/include/gantry/") + folder + "/" + site.file);
    std::string line;
    for (int i = 0; i < site.line - above && std::getline(file, line); ++i) continue;
    if (file) return line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }
  return "";
}

struct Size {
  GemmExtents extents{};
  int sms = 1;
  bool reduces_rows = false;               // in the epilogue
  std::vector<std::int32_t> offsets = {};  // of groups
  std::string only = {};                   // judge the calls whose source line has this
  std::vector<std::int32_t> index = {};    // of rows of A
  std::vector<std::int32_t> scatter = {};  // of rows of D
};

// Why a change does no harm, or nothing.
inline std::string excuse(const SweepEntry& change, const GemmOptions& o, const Size& size) {
  const std::string line = line_of(change.site), above = line_of(change.site, 1);
  const std::string& operation = change.site.operation;
  const bool alone = o.cluster.m * o.cluster.n == 1;
  const bool says_when = change.kind == MutationKind::relax || change.kind == MutationKind::flip_parity;
  if (operation == "griddepcontrol.wait") return "the launch depends on no other";
  if (operation == "wgmma.fence" && above.find("consumer_try_wait") != std::string::npos) {
    return "the assembler asks for a fence amid the wgmmas of a stage; the accumulators stay those of the first";
  }
  if (operation == "wgmma.commit_group" && o.promotes() && above == "issue(0);") {
    return "nothing waits for the first wgmma of a stage alone where every stage has accumulators of its own";
  }
  // The last wait of the threads that load operands.
  if (line.find("++write_) arch::wait(&barriers(") != std::string::npos) {
    if (change.kind == MutationKind::relax) return "the load thread accesses nothing after its last wait";
    if (alone) return "no other CTA arrives at the barriers of one that leaves";
  }
  if (line.find("pipeline.producer_tail(state)") != std::string::npos && operation == "mbarrier wait" && alone) {
    return "no other CTA arrives at the barriers of one that leaves";
  }
  const bool after_acquire = operation == "barrier.sync" && above.find("producer_acquire(") != std::string::npos;
  if (size.reduces_rows && after_acquire) {
    return "the threads meet in the reduction of rows before they write to the buffer";
  }
  const bool waits = operation == "mbarrier wait" && change.kind != MutationKind::flip_parity;
  if (waits && line == "pipeline_.producer_acquire(stage, kStageBytes);") {
    return "weights that are loaded early go to stages that nobody has used";
  }
  if (line == "if (!leads()) arch::wait(free(s_, warpgroup_), phase_ ^ 1);" && change.kind == MutationKind::relax) {
    return "a CTA that is not the leader accesses nothing after its last wait";
  }
  if (line.starts_with("if (uses > 0) arch::wait(free(") && change.kind == MutationKind::relax) {
    return "a CTA that has exchanged its last row accesses nothing after its last wait";
  }
  if (change.site.file == "pingpong.hpp" && line.starts_with("order.") && says_when) {
    return "turns are for speed: a warpgroup waits for its own stages, and takes nothing over from the one before";
  }
  return "";
}

template <class Spec>
struct Operands {
  using Element = element_t<Spec::options.a>;
  using ElementD = element_t<Spec::options.d>;

  explicit Operands(const GemmExtents& of)
      : a(static_cast<std::size_t>(of.m * of.k)),
        b(static_cast<std::size_t>(of.n * of.k * of.batch)),
        c(static_cast<std::size_t>(of.m * of.n)),
        aux(static_cast<std::size_t>(of.m * of.n)),
        d(static_cast<std::size_t>(of.m * of.n * of.batch)),
        shift(static_cast<std::size_t>(of.m)),
        bias(static_cast<std::size_t>(of.n)),
        row_sums(static_cast<std::size_t>(of.n)),
        column_maxima(static_cast<std::size_t>(of.m)),
        sum(1),
        scale_a(static_cast<std::size_t>(of.m * scale_blocks(of.k))),
        scale_b(static_cast<std::size_t>(of.n * scale_blocks(of.k))) {
    std::fill(scale_a.begin(), scale_a.end(), 0.5f);
    std::fill(scale_b.begin(), scale_b.end(), 2.0f);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = Element(static_cast<float>(i % 7) - 3);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = Element(static_cast<float>(i % 5) - 2);
  }

  Buffer<Element> a, b;
  Buffer<bf16> c, aux;
  Buffer<ElementD> d;
  Buffer<float> shift, bias, row_sums, column_maxima, sum, scale_a, scale_b;
};

template <class Spec>
void expect_every_change_detected(const Size& size) {
  Operands<Spec> operands(size.extents);
  typename Gemm<Spec>::Arguments args(size.extents);
  args.a = operands.a.data();
  args.b = operands.b.data();
  if constexpr (Spec::graph.d >= 0) args.d = operands.d.data();
  if (!size.offsets.empty()) args.groups.offsets = size.offsets.data();
  if (!size.scatter.empty()) args.scatter = {size.scatter.data(), size.extents.m};
  if (!size.index.empty()) args.gather = {size.index.data(), size.extents.m};
  if constexpr (Spec::options.c != ElementType::void_) args.c = operands.c.data();
  const std::pair<std::string, void*> tensors[] = {
      {"bias", operands.bias.data()},  {"shift", operands.shift.data()}, {"y", operands.aux.data()},
      {"s", operands.row_sums.data()}, {"t", operands.sum.data()},       {"u", operands.column_maxima.data()}};
  for (int i = 0; i < Spec::graph.argument_count; ++i) {
    for (const auto& [name, data] : tensors) {
      if (name == Spec::graph.arguments[i].name.text) args.fusion[name.c_str()] = data;
    }
  }
  if constexpr (Spec::options.scaled()) {
    args.scale_a = GemmScale(operands.scale_a.data());
    args.scale_b = GemmScale(operands.scale_b.data());
  }
  const auto run = [&](const SimulatorOptions& options) {
    std::fill(operands.d.begin(), operands.d.end(), typename Operands<Spec>::ElementD(0.0f));
    // A new plan, as a run that was given up leaves the flags in the workspace as they are.
    const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), size.sms));
    if (!plan) ADD_FAILURE() << describe(plan.error()[0]).c_str();
    return plan->run(Simulator(options)).report();
  };
  const SweepReport report = mutation_sweep({.max_steps = 2'000'000}, seeds(), run, true);
  EXPECT_TRUE(report.original_clean);
  EXPECT_GE(report.entries.size(), 15u);
  int judged = 0;
  for (const SweepEntry& entry : report.entries) {
    if (line_of(entry.site).find(size.only) == std::string::npos) continue;
    ++judged;
    if (entry.detected() || !excuse(entry, Gemm<Spec>::kDesign.options, size).empty()) continue;
    ADD_FAILURE() << entry.site.file << ":" << entry.site.line << " " << entry.site.operation << ", change "
                  << static_cast<int>(entry.kind) << ": " << line_of(entry.site);
  }
  EXPECT_GT(judged, 0);
}

inline constexpr GemmEpilogueOptions kStaged{.epi_n = 32, .stages_c = 2, .stages_d = 2};

template <GemmSchedule kSchedule, int kWarpgroups = 2>
struct Plain {
  static constexpr GemmOptions options{.tile = {kSchedule == GemmSchedule::pingpong ? 64 : 128, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .warpgroups = kWarpgroups};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

// C, an auxiliary tensor in and one out, vectors, and reductions of every kind.
template <GemmSchedule kSchedule>
struct Fused {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .tile = {kSchedule == GemmSchedule::pingpong ? 64 : 128, 64},
                                       .cluster = {1, 1},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .epilogue = kStaged};
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + c + row(bias) + col(shift); d = z; y:bf16 = z; s deterministic = reduce_row_add(z);"
      "t deterministic = reduce_add(z); u deterministic = reduce_col_max(z)");
};

}  // namespace gantry::sweep
