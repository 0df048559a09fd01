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

template <int k, int v>
struct NamedVariant {
  using E = ElementType;
  static constexpr int choose(int what, int choices) { return choice_of(k, v, what, choices); }
  static constexpr bool kFp8 = std::string_view(fusion::kOperations[k].name).substr(0, 6) == "Scaled" && k > 0;

  static constexpr TileMNK kTiles[] = {{64, 64, 64},  {128, 64, 64}, {64, 128, 64}, {128, 96, 64},
                                       {64, 192, 64}, {256, 32, 64}, {192, 48, 64}, {64, 32, 64}};
  static constexpr E kSources[] = {E::bf16, E::f16, E::f32, E::e4m3, E::s8, E::e5m2};
  static constexpr E kResults[] = {E::bf16, E::f16, E::f32, E::e5m2, E::e4m3};
  static constexpr E kAuxiliaries[] = {E::bf16, E::f16, E::f32, E::e4m3, E::u1};
  static constexpr E kBiases[] = {E::f32, E::bf16, E::f16};
  static constexpr fusion::Function kActivations[] = {
      fusion::Function::relu,    fusion::Function::gelu, fusion::Function::silu,       fusion::Function::gelu_tanh,
      fusion::Function::sigmoid, fusion::Function::tanh, fusion::Function::leaky_relu, fusion::Function::hardswish};
  static constexpr Choice kChoices[] = {Choice::automatic, Choice::no, Choice::yes};

  static constexpr TileMNK kTile = kTiles[choose(0, 8)];
  static constexpr bool kTwo = kTile.m % 128 == 0 && choose(1, 2) == 0;
  static constexpr E kC = k == 0 ? E::void_ : kSources[choose(2, 6)];
  static constexpr E kD = kFp8 ? kResults[3 + choose(3, 2)] : kResults[choose(3, 5)];
  static constexpr E kAux = kAuxiliaries[choose(4, 5)];
  static constexpr bool kEqualWidths = element_bits(kC) == element_bits(kD);

  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = kTwo ? EpilogueSchedule::tma_warp_specialized_cooperative
                                         : EpilogueSchedule::tma_warp_specialized,
                        .tile = kTile,
                        .c = kC,
                        .d = kD,
                        .layout_c = choose(5, 2) == 0 ? kRowMajor : kColumnMajor,
                        .layout_d = choose(6, 2) == 0 ? kRowMajor : kColumnMajor,
                        .reuse_smem_c = kEqualWidths ? kChoices[choose(7, 3)] : Choice::automatic,
                        .delay_tma_store = kChoices[choose(8, 3)]}
          .policy();
  static_assert(policy.ok());
  // A mask says what relu left as it was, so it goes with relu.
  static constexpr fusion::NamedOperation operation{
      .name = fusion::kOperations[k].name,
      .options = {.activation = kAux == E::u1 ? fusion::Function::relu : kActivations[choose(9, 8)],
                  .bias = kBiases[choose(10, 3)],
                  .scale = kBiases[choose(11, 2)],
                  .aux = kAux,
                  .aux_row_major = choose(12, 2) == 0}};
};

// Residues in M and N, problems smaller than a tile, batches with vectors of their own, arguments left out.
template <int k, int v>
void expect_operation_agrees() {
  SCOPED_TRACE(std::string(fusion::kOperations[k].name) + ", variant " + std::to_string(v));
  using Config = NamedVariant<k, v>;
  constexpr fusion::ProblemShape kShapes[] = {{.m = 144, .n = 80, .l = 2}, {.m = 48, .n = 144}, {.m = 272, .n = 16}};
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
