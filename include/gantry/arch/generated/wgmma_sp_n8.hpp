// Sparse wgmma with N = 8. Written by tools/generate_wgmma.py; included by arch/wgmma_sparse.hpp alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {

template <>
struct WgmmaSpInstruction<8> {
#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3}"
#define GANTRY_WGMMA_OPERANDS \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[4], std::uint64_t a, std::uint64_t b, std::uint32_t metadata,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %8, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n8k%9%10.f32.%11.%12 " GANTRY_WGMMA_REGISTERS
                 ", %4, %5, %6, %7, p%13%14%15%16;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[4], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, std::uint32_t metadata, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %11, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n8k%12%13.f32.%14.%15 " GANTRY_WGMMA_REGISTERS
                 ", {%4,%5,%6,%7}, %8, %9, %10, p%16%17%18;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1])
  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[2], std::uint64_t a, std::uint64_t b, std::uint32_t metadata,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n8k%7%8.f16.%9.%10 " GANTRY_WGMMA_REGISTERS
                 ", %2, %3, %4, %5, p%11%12%13%14;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[2], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, std::uint32_t metadata, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n8k%10%11.f16.%12.%13 " GANTRY_WGMMA_REGISTERS
                 ", {%2,%3,%4,%5}, %6, %7, %8, p%14%15%16;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[4], std::uint64_t a, std::uint64_t b, std::uint32_t metadata,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %8, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n8k%9%10.s32.%11.%12 " GANTRY_WGMMA_REGISTERS
                 ", %4, %5, %6, %7, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }

  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[4], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, std::uint32_t metadata, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %11, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n8k%12%13.s32.%14.%15 " GANTRY_WGMMA_REGISTERS
                 ", {%4,%5,%6,%7}, %8, %9, %10, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
};

}  // namespace gantry::arch::detail
