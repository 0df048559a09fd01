// The named operations, compiled as for a GPU, in variants: tiles, elements, majors, buffers and activations differ
// from one operation to the next and from one variant to the next.
#pragma once

#include <string_view>
#include <utility>

#include <gantry/epilogue/fusion/operations.hpp>

#include "harness.hpp"

namespace gantry::test {

inline constexpr int kOperationCount = static_cast<int>(std::size(fusion::kOperations));

// A number below `choices` that depends on the operation, the variant and what is chosen.
constexpr int choice_of(int operation, int variant, int what, int choices) {
  auto x = static_cast<std::uint32_t>(operation * 7919 + variant * 104729 + what * 1299709 + 12345);
  x ^= x >> 15;
  x *= 0x2C1B3C6Du;
  x ^= x >> 12;
  x *= 0x297A2D39u;
  x ^= x >> 15;
  return static_cast<int>(x % static_cast<std::uint32_t>(choices));
}

// What a variant of an operation is.
struct Variant {
  TileMNK tile;
  TileMN epi_tile;  // where it is not the builder's
  ElementType c, d;
  LayoutTag layout_c, layout_d;
  bool two_warpgroups;
  Choice reuse, delay;
  ElementType compute;
  fusion::OperationOptions options;
};

constexpr Variant variant_of(int k, int v) {
  using E = ElementType;
  using F = fusion::Function;
  constexpr TileMNK kTiles[] = {{64, 64, 64},  {128, 64, 64}, {64, 128, 64}, {128, 96, 64},
                                {64, 192, 64}, {256, 32, 64}, {192, 48, 64}, {64, 32, 64}};
  constexpr E kSources[] = {E::bf16, E::f16, E::f32, E::e4m3, E::s8, E::e5m2};
  constexpr E kResults[] = {E::bf16, E::f16, E::f32, E::e5m2, E::e4m3};
  constexpr E kAuxiliaries[] = {E::bf16, E::f16, E::f32, E::e4m3, E::u1};
  constexpr E kBiases[] = {E::f32, E::bf16, E::f16};
  constexpr F kActivations[] = {F::relu,    F::gelu, F::silu,       F::gelu_tanh,
                                F::sigmoid, F::tanh, F::leaky_relu, F::hardswish};
  constexpr Choice kChoices[] = {Choice::automatic, Choice::no, Choice::yes};
  const auto choose = [&](int what, int choices) { return choice_of(k, v, what, choices); };
  const bool fp8 = std::string_view(fusion::kOperations[k].name).substr(0, 6) == "Scaled" && k > 0;

  Variant out{};
  out.tile = kTiles[choose(0, 8)];
  out.two_warpgroups = out.tile.m % 128 == 0 && choose(1, 2) == 0;
  out.c = k == 0 ? E::void_ : kSources[choose(2, 6)];
  out.d = fp8 ? kResults[3 + choose(3, 2)] : kResults[choose(3, 5)];
  out.layout_c = choose(5, 2) == 0 ? kRowMajor : kColumnMajor;
  out.layout_d = choose(6, 2) == 0 ? kRowMajor : kColumnMajor;
  out.reuse = element_bits(out.c) == element_bits(out.d) ? kChoices[choose(7, 3)] : Choice::automatic;
  out.delay = kChoices[choose(8, 3)];
  out.options.aux = kAuxiliaries[choose(4, 5)];
  // A mask says what relu left as it was, so it goes with relu.
  out.options.activation = out.options.aux == E::u1 ? F::relu : kActivations[choose(9, 8)];
  out.options.bias = kBiases[choose(10, 3)];
  out.options.scale = kBiases[choose(11, 2)];
  out.options.aux_row_major = choose(12, 2) == 0;
  out.options.top_k = choose(14, 2) == 0 ? 2 : 4;
  constexpr E kComputes[] = {E::f32, E::f16, E::bf16};
  out.compute = kComputes[choose(15, 3)];
  if (std::string_view(fusion::kOperations[k].name) == "LinCombTopKSoftmaxCol") {  // rows lie in one tile, and subtile
    out.tile = {64, choose(0, 2) == 0 ? 160 : 192, 64};
    out.epi_tile = {64, out.tile.n};
    out.two_warpgroups = false;
    out.c = out.d = choose(3, 2) == 0 ? E::bf16 : E::f16;
    out.reuse = kChoices[choose(7, 3)];
  }
  return out;
}

template <int k, int v>
struct NamedVariant {
  static constexpr Variant variant = variant_of(k, v);
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = variant.two_warpgroups ? EpilogueSchedule::tma_warp_specialized_cooperative
                                                           : EpilogueSchedule::tma_warp_specialized,
                        .tile = variant.tile,
                        .epi_tile = variant.epi_tile,
                        .c = variant.c,
                        .d = variant.d,
                        .layout_c = variant.layout_c,
                        .layout_d = variant.layout_d,
                        .compute = variant.compute,
                        .reuse_smem_c = variant.reuse,
                        .delay_tma_store = variant.delay}
          .policy();
  static_assert(policy.ok());
  static constexpr fusion::NamedOperation operation{.name = fusion::kOperations[k].name, .options = variant.options};
};

// Residues in M and N, problems smaller than a tile, batches with vectors of their own, arguments left out.
template <int k, int v>
void expect_operation_agrees() {
  SCOPED_TRACE(std::string(fusion::kOperations[k].name) + ", variant " + std::to_string(v));
  using Config = NamedVariant<k, v>;
  constexpr fusion::ProblemShape kShapes[] = {
      {.m = 144, .n = 80, .batch = 2}, {.m = 48, .n = 144}, {.m = 272, .n = 16}};
  const auto seed = static_cast<std::uint64_t>(v * 1000 + k);
  const auto run = [&](const ProblemOptions& options) {
    constexpr fusion::Graph graph = fusion::CallbacksBuilder<Config>::graph;
    Problem problem(graph, options_for<Config>(options));
    expect_agreement<Config>(problem, problem.expected());
  };
  run({.shape = kShapes[0], .seed = seed, .by_batch = k % 3 == 0, .scalar_by_value = k % 2 == 0});
  run({.shape = kShapes[1 + choice_of(k, v, 13, 2)], .seed = 100 + seed, .leave_out = true});
}

template <int v, int... ks>
void expect_operations_agree(std::integer_sequence<int, ks...>) {
  (expect_operation_agrees<ks, v>(), ...);
}

}  // namespace gantry::test
