// From a design, sizes and a device to a launch: schedule, workspace, the kernel's parameters as bytes. No template:
// planning is compiled once, whatever the kernel is.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     const fusion::Graph graph = fusion::graph("d = acc");
//     const GemmDesign design = make_gemm_design({}, graph);
//     alignas(128) static bf16 a[64 * 64], b[64 * 64], d[64 * 64];
//     const fusion::FusionArguments none(graph);
//     const GemmInputs inputs{.extents = {64, 64, 64}, .a = a, .b = b, .d = d, .fusion = none};
//     const GemmLaunchPlan plan = plan_gemm(design, inputs, {.clusters = 4}, kH200);
//     // plan.config.grid.x CTAs; plan.needs.total() bytes of workspace
#pragma once

#include <gantry/epilogue/fill_words.hpp>
#include <gantry/epilogue/fusion/params.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/inputs.hpp>
#include <gantry/gemm/pack.hpp>
#include <gantry/gemm/row_slots.hpp>
#include <gantry/tma/encode.hpp>
#include <gantry/tma/encoder.hpp>

namespace gantry {

// Bytes of workspace: for tiles that several clusters share, for reductions that give the same bits on every run, for
// operands that are packed because TMA cannot address them, or for the tensor maps of a pointer array, which packs
// nothing; for slots of rows that are added in a fixed order; and what callbacks of one's own ask for.
struct GemmWorkspaceNeeds {
  std::size_t sums = 0, reductions = 0, packed = 0, maps = 0, slots = 0, callbacks = 0;

  // Reductions begin at a multiple of 16, packed operands, maps and slots at one of 128.
  constexpr std::size_t reductions_at() const { return (sums + 15) / 16 * 16; }
  constexpr std::size_t packed_at() const { return (reductions_at() + reductions + 127) / 128 * 128; }
  constexpr std::size_t maps_at() const { return packed_at(); }
  constexpr std::size_t slots_at() const { return (without_slots() + 127) / 128 * 128; }
  constexpr std::size_t callbacks_at() const { return (without_callbacks() + 15) / 16 * 16; }
  constexpr std::size_t total() const { return callbacks > 0 ? callbacks_at() + callbacks : without_callbacks(); }

 private:
  constexpr std::size_t without_callbacks() const { return slots > 0 ? slots_at() + slots : without_slots(); }
  constexpr std::size_t without_slots() const {
    return packed + maps > 0 ? packed_at() + packed + maps : reductions_at() + reductions;
  }
};

// What is launched, but for its parameters.
struct GemmLaunchPlan {
  TileSchedule schedule{};  // of a grouped GEMM: as many tiles as there are at most
  GroupSchedule groups{};   // of a grouped GEMM
  PointerSchedule array{};  // of a pointer array
  GemmWorkspaceNeeds needs{};
  PackedOperand a{}, b{};    // of the GEMM that was asked for; offsets count from the beginning of the workspace
  SumSlots::Params slots{};  // of rows that are added in a fixed order, but for addresses
  LaunchConfig config{};

  bool packs() const { return a.packed || b.packed; }
  // A second kernel adds rows.
  bool sums_slots() const { return needs.slots > 0 && slots.units() > 0; }
};

// What is packed before the kernel runs.
GANTRY_LINKAGE PackLines::Params packs_of(const GemmLaunchPlan& plan, const void* a, const void* b, void* workspace);

// What is added after it. `groups`: their offsets or counts, where there are groups.
struct SlotAddresses {
  void* d = nullptr;
  const std::int32_t* index = nullptr;
  const void* groups = nullptr;
};
GANTRY_LINKAGE SumSlots::Params slot_sums_of(const GemmLaunchPlan& plan, const SlotAddresses& at, void* workspace);

// Requires arguments that can be implemented, and extents that are not 0. `held.workspace`: workspace may be had.
GANTRY_LINKAGE GemmLaunchPlan plan_gemm(const GemmDesign& asked, const GemmInputs& given, const GemmResidency& held,
                                        const Architecture& arch);

namespace detail {

// The map, or why there is none.
GANTRY_COLD GANTRY_LINKAGE TmaDescriptor map_of(const EncodedTmaDescriptor& encoded, ArgumentReasons& out);

}  // namespace detail

// What has to stand in memory before the kernel starts, where its epilogue reduces. Deterministic reductions have their
// part of the workspace at `reductions`.
GANTRY_LINKAGE FillWords::Params fills_of(const GemmDesign& design, const GemmInputs& args, int functions,
                                          void* reductions);

namespace detail {

// Where the operands and tensor maps of a graph go that comes at run time.
struct RunTimeGraph {
  int functions = 0;           // of the program, beside those of the library
  void* reductions = nullptr;  // their part of the workspace
  fusion::Operand* operands = nullptr;
  TmaDescriptor* maps = nullptr;
};

// Returns the graph as the kernel takes it: as it was given, or swapped.
GANTRY_COLD GANTRY_LINKAGE fusion::Graph bind_run_time_graph(const GemmDesign& design, const GemmInputs& args,
                                                             const TmaEncoder& encode, const RunTimeGraph& out);

}  // namespace detail

// The kernel's parameters, at the offsets that the design gives. `encode` makes a tensor map from its arguments. The
// tail of own callbacks is left as it is.
GANTRY_COLD GANTRY_LINKAGE void write_parameters(const GemmDesign& asked, const GemmInputs& given,
                                                 const GemmLaunchPlan& plan, void* workspace, const TmaEncoder& encode,
                                                 unsigned char* bytes);

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/planner_definitions.hpp>
#endif
