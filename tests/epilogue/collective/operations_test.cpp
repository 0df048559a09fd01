// Every named operation, compiled as for a GPU, agrees with the reference.
#include <utility>

#include <gantry/epilogue/fusion/operations.hpp>

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;

constexpr int kOperationCount = static_cast<int>(std::size(fusion::kOperations));

constexpr fusion::Function kActivations[] = {fusion::Function::relu,    fusion::Function::gelu,
                                             fusion::Function::silu,    fusion::Function::gelu_tanh,
                                             fusion::Function::sigmoid, fusion::Function::tanh};

// Tiles, elements, majors, activations and buffers differ from one operation to the next.
template <int k>
struct Named : Plain {
  static constexpr bool kFp8 = std::string_view(fusion::kOperations[k].name).substr(0, 6) == "Scaled" && k > 0;
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = k % 4 == 3 ? EpilogueSchedule::tma_warp_specialized_cooperative
                                               : EpilogueSchedule::tma_warp_specialized,
                        .tile = {k % 4 == 3 ? 128 : 64, 64, 64},
                        .c = k == 0       ? E::void_
                             : k % 3 == 0 ? E::f32
                                          : E::bf16,
                        .d = kFp8         ? E::e4m3
                             : k % 3 == 1 ? E::f16
                                          : E::bf16,
                        .layout_c = k % 2 == 0 ? kRowMajor : kColumnMajor,
                        .layout_d = k % 5 == 4 ? kColumnMajor : kRowMajor}
          .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = fusion::kOperations[k].build({.activation = kActivations[k % 6],
                                                                       .bias = k % 2 == 0 ? E::f32 : E::bf16,
                                                                       .aux = k % 6 == 0   ? E::u1
                                                                              : k % 2 == 0 ? E::bf16
                                                                                           : E::f32,
                                                                       .aux_row_major = k % 3 != 0});
};

template <int k>
void expect_operation_agrees() {
  SCOPED_TRACE(fusion::kOperations[k].name);
  expect_agreement<Named<k>>(
      {.shape = {.m = 144, .n = 80, .l = 2}, .seed = k, .by_batch = k % 3 == 0, .scalar_by_value = k % 2 == 0});
  expect_agreement<Named<k>>({.shape = {.m = 48, .n = 144}, .seed = 100 + k, .leave_out = true});
}

template <int... ks>
void expect_operations_agree(std::integer_sequence<int, ks...>) {
  (expect_operation_agrees<ks>(), ...);
}

TEST(EpilogueOperations, EveryNamedOneAgrees) {
  expect_operations_agree(std::make_integer_sequence<int, kOperationCount>{});
}

}  // namespace
}  // namespace gantry::test
