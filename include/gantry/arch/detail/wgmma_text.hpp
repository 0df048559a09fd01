// The parts of a wgmma's text that depend on its types, for the generated code: operands with the constraint "C". One
// statement then serves all types at an N, where a statement for each would make four fifths of what the compiler
// reads. Device code only.
#pragma once

#include <gantry/arch/wgmma.hpp>

namespace gantry::arch::detail {

template <MmaType Type>
struct WgmmaType;
template <int K>
struct WgmmaDepth;
template <bool Saturate>
struct WgmmaSaturate;

// A sign or a major, or nothing where the instruction has none in this place.
inline constexpr int kNoImmediate = 2;
template <int Value>
struct WgmmaImmediate;

#define GANTRY_WGMMA_TEXT(key, text)      \
  template <>                             \
  struct key {                            \
    static constexpr char value[] = text; \
  };
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::f16>, "f16")
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::bf16>, "bf16")
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::tf32>, "tf32")
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::e4m3>, "e4m3")
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::e5m2>, "e5m2")
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::s8>, "s8")
GANTRY_WGMMA_TEXT(WgmmaType<MmaType::u8>, "u8")
GANTRY_WGMMA_TEXT(WgmmaDepth<8>, "8")
GANTRY_WGMMA_TEXT(WgmmaDepth<16>, "16")
GANTRY_WGMMA_TEXT(WgmmaDepth<32>, "32")
GANTRY_WGMMA_TEXT(WgmmaDepth<64>, "64")
GANTRY_WGMMA_TEXT(WgmmaSaturate<false>, "")
GANTRY_WGMMA_TEXT(WgmmaSaturate<true>, ".satfinite")
GANTRY_WGMMA_TEXT(WgmmaImmediate<-1>, ", -1")
GANTRY_WGMMA_TEXT(WgmmaImmediate<0>, ", 0")
GANTRY_WGMMA_TEXT(WgmmaImmediate<1>, ", 1")
GANTRY_WGMMA_TEXT(WgmmaImmediate<kNoImmediate>, "")
#undef GANTRY_WGMMA_TEXT

// Only wgmmas of 16-bit elements say how their operands lie.
template <class Op, bool Transposed>
inline constexpr int kTransImmediate = mma_bits(Op::kA) == 16 ? (Transposed ? 1 : 0) : kNoImmediate;

}  // namespace gantry::arch::detail

// In the order of the operands that the generated code counts.
#define GANTRY_WGMMA_TYPES                                                                                 \
  "C"(WgmmaDepth<Op::kK>::value), "C"(WgmmaSaturate<Op::kSaturate>::value), "C"(WgmmaType<Op::kA>::value), \
      "C"(WgmmaType<Op::kB>::value)
#define GANTRY_WGMMA_RS_TEXTS                                                                           \
  GANTRY_WGMMA_TYPES, "C"(WgmmaImmediate<Op::kScaleA>::value), "C"(WgmmaImmediate<Op::kScaleB>::value), \
      "C"(WgmmaImmediate<kTransImmediate<Op, kTransB<Op>>>::value)
#define GANTRY_WGMMA_SS_TEXTS                                                                           \
  GANTRY_WGMMA_TYPES, "C"(WgmmaImmediate<Op::kScaleA>::value), "C"(WgmmaImmediate<Op::kScaleB>::value), \
      "C"(WgmmaImmediate<kTransImmediate<Op, kTransA<Op>>>::value),                                     \
      "C"(WgmmaImmediate<kTransImmediate<Op, kTransB<Op>>>::value)
