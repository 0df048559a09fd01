// A graph's arguments as a kernel takes them: for each one a pointer or a value, and the tensor maps of the auxiliary
// tensors that travel by TMA.
//
// Example:
//     gantry::fusion::Operand alpha{.value = 2.0f};           // a value
//     float on_the_device = 0;
//     gantry::fusion::Operand beta{.pointer = &on_the_device};  // read when the kernel runs
#pragma once

#include <cstdint>

#include <gantry/numeric/element_type.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::fusion {

// In the place of a batch stride, of a scalar of a pointer array: the pointer is that of an array of addresses, one for
// each GEMM. CUTLASS calls such a scalar ScalarBroadcastPtrArray.
inline constexpr std::int64_t kByAddress = -0x7fffffffffffffff - 1;

struct Operand {
  void* pointer = nullptr;
  std::int64_t batch_stride = 0;           // in elements; 0: all batches share it
  std::int64_t stride = 0;                 // of a mask: bits from one row (column) to the next
  float value = 0;                         // where there is no pointer
  ElementType element = ElementType::f32;  // of the results of a reduction
  // Of a reduction that gives the same bits on every run: its partial results and how many have come.
  float* partials = nullptr;
  std::uint32_t* arrived = nullptr;
};

template <int kArguments, int kMaps>
struct Params {
  TmaDescriptor maps[kMaps == 0 ? 1 : kMaps];
  Operand operands[kArguments == 0 ? 1 : kArguments];
};

}  // namespace gantry::fusion
