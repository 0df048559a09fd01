// Every synchronising call of pointer arrays is needed: those around the tensor maps that the kernel writes, too.
//
// Twelve GEMMs for one cluster, so that slots of maps come round. Most are shorter than the ring of stages, so that
// loads of several are in flight at once; some have no K tile; all but two lie outside of the second CTA's tiles, so
// that it stores nothing for longer than slots take to come round. Some have more K tiles than there are stages, so
// that turns of warpgroups matter.
#include "gemm_sweep.hpp"

namespace gantry {
namespace {

struct Plain {
  static constexpr GemmOptions options{.tile = {64, 128},
                                       .cluster = {2, 1},
                                       .stages = 6,
                                       .schedule = GemmSchedule::cooperative,
                                       .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
struct Fused {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .stages = 6,
                                       .schedule = GemmSchedule::pingpong,
                                       .epilogue = {.epi_n = 16, .stages_d = 2},
                                       .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c + row(bias); y:bf16 = acc");
};

constexpr int kGemms = 12, kColumns = 128, kMostK = 512;

// Why a change does no harm, or nothing.
std::string excuse(const SweepEntry& change, const GemmOptions& options) {
  const std::string line = sweep::line_of(change.site);
  if (change.site.operation == std::string("syncwarp") && sweep::line_of(change.site, 1) == "});") {
    return "the lanes meet in tensormap.cp_fenceproxy; PTX does not say that this orders their copies for others";
  }
  if (line.find("load_tail") != std::string::npos && change.site.operation == std::string("mbarrier wait")) {
    return "nobody but the CTA's own warps arrives at the barriers of its loads";
  }
  return sweep::excuse(change, options, {});
}

template <class Spec>
void expect_every_change_detected() {
  std::vector<Buffer<bf16>> a, b, c, y, d;
  Buffer<float> bias(kColumns);
  std::vector<GemmGroup> gemms;
  std::vector<const void*> biases(kGemms, bias.data());
  std::vector<GemmGroupTensor> outputs;
  for (int g = 0; g < kGemms; ++g) {
    const int m = g % 10 == 0 ? 100 : 40, k = g == 6 || g == 7 ? 0 : g % 4 == 3 ? kMostK : 64;
    const auto matrix = [](std::vector<Buffer<bf16>>& to, int rows, int columns) {
      to.emplace_back(static_cast<std::size_t>(rows * columns));
      return to.back().data();
    };
    GemmGroup gemm{.m = m, .n = kColumns, .k = k};
    gemm.a = matrix(a, m, kMostK);
    gemm.b = matrix(b, kColumns, kMostK);
    gemm.c = matrix(c, m, kColumns);
    gemm.d = matrix(d, m, kColumns);
    gemms.push_back(gemm);
    outputs.push_back({matrix(y, m, kColumns), 0});
  }
  typename Gemm<Spec>::Arguments args({.m = 64, .n = kColumns, .k = 64, .batch = kGemms});
  args.groups.gemms = gemms.data();
  if constexpr (Spec::graph.uses_source()) {
    args.fusion["bias"] = static_cast<void*>(biases.data());
    args.fusion["y"] = static_cast<void*>(outputs.data());
  }
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), 2));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const auto run = [&](const SimulatorOptions& options) { return plan->run(Simulator(options)).report(); };
  const SweepReport report = mutation_sweep({.max_steps = 2'000'000}, sweep::seeds(), run, true);
  EXPECT_TRUE(report.original_clean);
  EXPECT_GE(report.entries.size(), 25u);
  for (const SweepEntry& entry : report.entries) {
    if (entry.detected() || !excuse(entry, Gemm<Spec>::kDesign.options).empty()) continue;
    ADD_FAILURE() << entry.site.file << ":" << entry.site.line << " " << entry.site.operation << ", change "
                  << static_cast<int>(entry.kind) << ": " << sweep::line_of(entry.site);
  }
}

TEST(PointerArraySweep, EveryCallWithAnOverlappedStoreIsNeeded) { expect_every_change_detected<Plain>(); }
TEST(PointerArraySweep, EveryCallWithAFusedEpilogueIsNeeded) { expect_every_change_detected<Fused>(); }

}  // namespace
}  // namespace gantry
