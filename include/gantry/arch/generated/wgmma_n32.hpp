// wgmma with N = 32. Written by tools/generate_wgmma.py; included by arch/wgmma.hpp alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {

template <>
struct WgmmaInstruction<32> {
#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define GANTRY_WGMMA_OPERANDS \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), \
  "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), \
  "+f"(d[14]), "+f"(d[15])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[16], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k%19%20.f32.%21.%22 " GANTRY_WGMMA_REGISTERS
                 ", %16, %17, p%23%24%25%26;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[16], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k%22%23.f32.%24.%25 " GANTRY_WGMMA_REGISTERS
                 ", {%16,%17,%18,%19}, %20, p%26%27%28;\n}\n"
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
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k%11%12.f16.%13.%14 " GANTRY_WGMMA_REGISTERS
                 ", %8, %9, p%15%16%17%18;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[8], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %13, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k%14%15.f16.%16.%17 " GANTRY_WGMMA_REGISTERS
                 ", {%8,%9,%10,%11}, %12, p%18%19%20;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), \
  "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), \
  "+r"(d[14]), "+r"(d[15])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[16], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k%19%20.s32.%21.%22 " GANTRY_WGMMA_REGISTERS
                 ", %16, %17, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[16], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %21, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k%22%23.s32.%24.%25 " GANTRY_WGMMA_REGISTERS
                 ", {%16,%17,%18,%19}, %20, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
};

}  // namespace gantry::arch::detail
