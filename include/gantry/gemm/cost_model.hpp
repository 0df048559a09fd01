// What a GEMM costs with a design: waves of tiles, cycles of a K tile and what bounds them, the part of the epilogue
// that is exposed, the split-K reduction, bytes of DRAM. An estimate, made to rank designs; docs/design/cost-model.md
// derives it, and Architecture has its constants.
//
//   work   = waves x (K tiles x cycles of a K tile + exposed epilogue) + split-K reduction
//   cycles = launch + max(work, memory), scaled up where the chip would draw more than its power limit
//
// The maximum is soft: two times that overlap take a little more than the longer one where they are alike.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/design.hpp>
//     using namespace gantry;
//     GemmWorkload gemm;
//     gemm.m = gemm.n = gemm.k = 8192;
//     const GemmDesign pair = make_gemm_design({.tile = {128, 256}, .cluster = {2, 1}}, fusion::graph("d = acc"));
//     const GemmCost cost = estimate(gemm, pair, {}, {});
//     const bool sixteen_waves = cost.waves == 16 && cost.bound == GemmBound::tensor_cores;
#pragma once

#include <gantry/gemm/design_types.hpp>
#include <gantry/gemm/workload.hpp>

namespace gantry {

// What an epilogue does besides storing D.
struct GemmEpilogueCost {
  double bytes = 0;      // read and written per element of D: C, auxiliary tensors
  bool plain = true;     // D is A B^T alone
  bool heavy = false;    // functions such as gelu or exp
  bool outputs = false;  // as EpilogueRegisters has them
  bool crowded = false;
};

enum class GemmBound : std::uint8_t { tensor_cores, shared_memory, l2 };

struct GemmCost {
  TileSchedule schedule{};
  int waves = 0;
  double last_wave = 1;  // share of the resident clusters that the last wave occupies
  double step = 0;       // cycles of a K tile
  GemmBound bound = GemmBound::tensor_cores;
  bool spills = false;                  // the epilogue needs more registers than there are
  bool many_rows = false;               // of groups: more than operands are swapped for
  double epilogue = 0;                  // cycles for a tile
  double shown = 0;                     // of those, exposed: not overlapped with wgmmas
  double reduction = 0;                 // cycles of the split-K reduction
  double work = 0, memory = 0;          // cycles in all
  double cycles = 0, milliseconds = 0;  // cycles of the full clock

  bool memory_bound() const { return memory > work; }
  // Whatever its time is: the model does not hold there.
  bool ranks_last() const { return spills || many_rows; }
};

// Back-to-back launches gain about 1.5 us as dependent launches, which shows in short GEMMs and is lost in long ones
// (docs/measurements/gemm.md).
constexpr bool gains_as_dependent(const GemmCost& cost, const Architecture& arch) {
  return cost.milliseconds < arch.threshold.dependent_milliseconds;
}

// Requires a workload that is not empty and a design that is ok(). `workspace`: there is one.
GANTRY_LINKAGE GemmCost estimate(const GemmWorkload& workload, const GemmDesign& design,
                                 const GemmEpilogueCost& epilogue, const Architecture& device, bool workspace = true);

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/cost_model_definitions.hpp>
#endif
