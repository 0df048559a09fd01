// Epilogues that run on both machines. Where a case is `exact`, nothing is left to compilers: products are not added,
// sums have one order, and no function is approximated; then both machines give the same bits. Every case is within the
// bound of the reference.
#pragma once

#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/fusion/operations.hpp>

#include "config.hpp"

namespace gantry::test {

struct MachineCase {
  const char* name;
  ProblemOptions options;
  bool exact = false;
};

namespace machine_cases {

using E = ElementType;
using S = EpilogueSchedule;

struct OnlyD : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = S::tma_warp_specialized_cooperative, .tile = {128, 128, 64}, .d = E::bf16}.policy();
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};

// Reuse and delay, or neither; rows or columns.
template <bool kReuse, bool kDelay, bool kRowsC, bool kRowsD>
struct Sum : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized_cooperative,
                                                             .tile = {128, 256, 64},
                                                             .c = E::bf16,
                                                             .d = E::bf16,
                                                             .layout_c = kRowsC ? kRowMajor : kColumnMajor,
                                                             .layout_d = kRowsD ? kRowMajor : kColumnMajor,
                                                             .stages_c = 3,
                                                             .stages_d = 2,
                                                             .reuse_smem_c = kReuse ? Choice::yes : Choice::no,
                                                             .delay_tma_store = kDelay ? Choice::yes : Choice::no}
                                               .policy();
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};

template <ElementType kC, ElementType kD>
struct Widths : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{
          .schedule = S::tma_warp_specialized, .tile = {64, 128, 64}, .c = kC, .d = kD, .layout_d = kColumnMajor}
          .policy();
  static constexpr fusion::Graph graph = fusion::graph("d = max(acc, c)");
};

struct BiasGeluAux : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{
          .schedule = S::tma_warp_specialized_cooperative, .tile = {128, 128, 64}, .c = E::bf16, .d = E::bf16}
          .policy();
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = alpha * acc + beta * c + row(bias:bf16) + col(shift = 1); d = gelu_tanh(z); aux:f16 col = z");
};

struct AuxiliaryInputs : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized,
                                                             .tile = {64, 128, 64},
                                                             .epi_tile = {64, 32},
                                                             .c = E::bf16,
                                                             .d = E::bf16,
                                                             .stages_c = 3,
                                                             .stages_d = 2}
                                               .policy();
  static constexpr fusion::Graph graph =
      fusion::graph("let z = acc + load(x:f16 col) + load(y:e4m3); d = max(z, c); out = z; gone:bf16 optional = z");
};

template <bool kRows>
struct Masks : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = S::tma_warp_specialized, .tile = {128, 64, 64}, .d = E::bf16}.policy();
  static constexpr fusion::Graph graph =
      kRows ? fusion::graph("d = select(load(in:u1), acc, 0); out:u1 = acc > 0.5")
            : fusion::graph("d = select(load(in:u1 col), acc, 0); out:u1 col = acc > 0.5");
};

// In workspace and, where the order does not matter, by atomics.
struct Reductions : Plain {
  static constexpr EpiloguePolicy policy = OnlyD::policy;
  static constexpr fusion::Graph graph = fusion::graph(
      "d = acc; a deterministic = reduce_add(acc); b = reduce_max(acc - 9); e = reduce_amax(acc);"
      "ra deterministic = reduce_row_add(acc); rb = reduce_row_max(acc - 9);"
      "ca deterministic = reduce_col_add(acc); cb = reduce_col_amax(acc)");
};
struct Atomics : Plain {
  static constexpr EpiloguePolicy policy = OnlyD::policy;
  static constexpr fusion::Graph graph =
      fusion::graph("d = acc; a = reduce_add(acc); ra = reduce_row_add(acc); ca = reduce_col_add(acc)");
};

struct Fp8 : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = S::tma_warp_specialized, .tile = {64, 128, 64}, .c = E::bf16, .d = E::e4m3}
          .policy();
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = alpha * acc + beta * c + col(bias); let y = silu(z); d = scalar(scale_d) * y; amax_d = reduce_amax(y)");
};

struct Direct : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::no_smem_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .c = E::bf16,
                                                             .d = E::bf16,
                                                             .align_c = 1,
                                                             .align_d = 1}
                                               .policy();
  static constexpr fusion::Graph graph =
      fusion::graph("let z = acc + c + row(r); d = z; s deterministic = reduce_col_add(z); m:u1 = z > 0");
};

// Rows are pixels of images (config.hpp); a subtile of f32 takes two instructions.
template <ElementType kElement>
struct Images : Plain {
  static constexpr LayoutTag kLayout = kElement == E::f32 ? kTensorNDHWC : kTensorNHWC;
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized_cooperative,
                                                             .tile = {128, 128, 64},
                                                             .epi_tile = {128, 64},
                                                             .c = kElement,
                                                             .d = kElement,
                                                             .layout_c = kLayout,
                                                             .layout_d = kLayout}
                                               .policy();
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};

struct ByName {
  static constexpr EpiloguePolicy policy = BiasGeluAux::policy;
  static constexpr fusion::NamedOperation operation{.name = "LinCombPerColBiasEltActAux",
                                                    .options = {.activation = fusion::Function::silu, .aux = E::bf16}};
};

// Callbacks of their own; the graph is what they compute, for the reference.
template <class Config>
struct LargerOfBoth : fusion::EmptyCallbacks {
  static constexpr bool kUsesSource = true;
  static constexpr int kSharedBytes = Config::tile.threads() * 4, kSharedAlignment = 4;
  struct Store : fusion::EmptyCallbacks::Store {
    float* own;
    template <class P>
    GANTRY_INLINE Store(const P& p, unsigned char* shared, const fusion::TileContext& c)
        : EmptyCallbacks::Store(p, shared, c), own(reinterpret_cast<float*>(shared) + c.thread) {}
    GANTRY_INLINE void begin() { arch::st(arch::space_shared, own, 0.0f); }
    template <int F>
    GANTRY_INLINE void visit(const float (&acc)[F], const float (&c)[F], float (&d)[F], int, int, int) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) d[k] = (acc[k] > c[k] ? acc[k] : c[k]) + arch::ld(arch::space_shared, own);
    }
  };
};
struct OwnCallbacks {
  static constexpr EpiloguePolicy policy = BiasGeluAux::policy;
  static constexpr fusion::Graph graph = fusion::graph("d = max(acc, c)");
  template <class FusionConfig>
  using Callbacks = LargerOfBoth<FusionConfig>;
};

// Values go to the neighbouring lane and back.
struct ThereAndBack {
  template <class Value, int N>
  GANTRY_INLINE static void copy(Value (&values)[N], int /*thread*/) {
    GANTRY_UNROLL
    for (int i = 0; i < N; ++i) {
      values[i] = arch::shfl_xor_sync(arch::kFullWarp, arch::shfl_xor_sync(arch::kFullWarp, values[i], 1), 1);
    }
  }
};
struct BetweenRegisters : Plain {
  static constexpr EpiloguePolicy policy = BiasGeluAux::policy;
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
  using CopyOpR2R = ThereAndBack;
};

inline constexpr fusion::ProblemShape kImages{.m = 400, .n = 344, .batch = 1};
inline constexpr fusion::ProblemShape kResidue{.m = 400, .n = 336, .batch = 2};

}  // namespace machine_cases

// visitor.template run<Config>(case) for every case of one of two halves, which are compiled apart.
template <class Visitor>
void visit_cases_of_copies(Visitor& visitor) {
  using namespace machine_cases;
  visitor.template run<OnlyD>({"D alone", {.shape = kResidue}, true});
  visitor.template run<Sum<false, false, true, true>>({"C to D", {.shape = kResidue, .seed = 1}, true});
  visitor.template run<Sum<true, false, true, true>>({"C to D with reuse", {.shape = kResidue, .seed = 2}, true});
  visitor.template run<Sum<true, true, true, false>>(
      {"C to D with reuse and delay, C in rows, D in columns", {.shape = kResidue, .seed = 3}, true});
  visitor.template run<Sum<false, true, false, true>>(
      {"C to D with delay, C in columns, D in rows", {.shape = {.m = 131, .n = 520}, .seed = 4}, true});
  visitor.template run<Widths<E::f32, E::f32>>({"f32", {.shape = kResidue, .seed = 5}, true});
  visitor.template run<Widths<E::e4m3, E::e5m2>>({"fp8", {.shape = kResidue, .seed = 6}, true});
  visitor.template run<Images<E::bf16>>({"images of two dimensions", {.shape = kImages, .seed = 20}, true});
  visitor.template run<Images<E::f32>>({"images of three dimensions", {.shape = kImages, .seed = 21}, true});
  visitor.template run<OwnCallbacks>({"callbacks of their own", {.shape = kResidue, .seed = 22}, true});
  visitor.template run<BetweenRegisters>({"a step between registers", {.shape = kResidue, .seed = 23}, true});
  visitor.template run<Direct>({"without TMA", {.shape = {.m = 131, .n = 77, .batch = 2}, .seed = 7}, true});
}

template <class Visitor>
void visit_cases_of_fusion(Visitor& visitor) {
  using namespace machine_cases;
  visitor.template run<BiasGeluAux>({"bias, GELU and an auxiliary output", {.shape = kResidue, .seed = 8}});
  visitor.template run<BiasGeluAux>({"vectors of each batch, scalars from memory",
                                     {.shape = kResidue, .seed = 9, .by_batch = true, .scalar_by_value = false}});
  visitor.template run<ByName>({"an operation by its name", {.shape = kResidue, .seed = 24}});
  visitor.template run<AuxiliaryInputs>({"auxiliary inputs", {.shape = kResidue, .seed = 10}, true});
  visitor.template run<AuxiliaryInputs>(
      {"an auxiliary output left out", {.shape = kResidue, .seed = 11, .leave_out = true}, true});
  visitor.template run<Masks<true>>({"masks in rows", {.shape = kResidue, .seed = 12}, true});
  visitor.template run<Masks<false>>({"masks in columns", {.shape = kResidue, .seed = 13}, true});
  visitor.template run<Reductions>({"reductions for all batches", {.shape = kResidue, .seed = 14}, true});
  visitor.template run<Reductions>(
      {"reductions of each batch", {.shape = kResidue, .seed = 15, .by_batch = true}, true});
  visitor.template run<Atomics>({"sums by atomics", {.shape = kResidue, .seed = 16}});
  visitor.template run<Fp8>({"fp8 with scale and amax", {.shape = kResidue, .seed = 17}});
}

// Everything that an epilogue wrote, one tensor after the other.
inline std::vector<std::uint8_t> outputs_of(Problem& problem) {
  std::vector<std::uint8_t> out = problem.d().bytes;
  for (int i = 0; i < problem.graph().argument_count; ++i) {
    if (!fusion::is_output(problem.graph().arguments[i].kind)) continue;
    const std::vector<std::uint8_t>& bytes = problem.argument(i).bytes;
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace gantry::test
