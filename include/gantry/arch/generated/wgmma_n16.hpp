// wgmma with N = 16. Written by tools/generate_wgmma.py; included by arch/wgmma.hpp alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {

template <>
struct WgmmaInstruction<16> {
#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define GANTRY_WGMMA_OPERANDS \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), \
  "+f"(d[7])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[8], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k%11%12.f32.%13.%14 " GANTRY_WGMMA_REGISTERS
                 ", %8, %9, p%15%16%17%18;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[8], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k%14%15.f32.%16.%17 " GANTRY_WGMMA_REGISTERS
                 ", {%8,%9,%10,%11}, %12, p%18%19%20;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[4], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k%7%8.f16.%9.%10 " GANTRY_WGMMA_REGISTERS
                 ", %4, %5, p%11%12%13%14;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[4], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k%10%11.f16.%12.%13 " GANTRY_WGMMA_REGISTERS
                 ", {%4,%5,%6,%7}, %8, p%14%15%16;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), \
  "+r"(d[7])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k%11%12.s32.%13.%14 " GANTRY_WGMMA_REGISTERS
                 ", %8, %9, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[8], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k%14%15.s32.%16.%17 " GANTRY_WGMMA_REGISTERS
                 ", {%8,%9,%10,%11}, %12, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
};

}  // namespace gantry::arch::detail
