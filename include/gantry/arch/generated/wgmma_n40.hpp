// wgmma with N = 40. Written by tools/generate_wgmma.py; included by arch/wgmma.hpp alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {

template <>
struct WgmmaInstruction<40> {
#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19}"
#define GANTRY_WGMMA_OPERANDS \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), \
  "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), \
  "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[20], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %22, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n40k%23%24.f32.%25.%26 " GANTRY_WGMMA_REGISTERS
                 ", %20, %21, p%27%28%29%30;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[20], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %25, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n40k%26%27.f32.%28.%29 " GANTRY_WGMMA_REGISTERS
                 ", {%20,%21,%22,%23}, %24, p%30%31%32;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), \
  "+r"(d[7]), "+r"(d[8]), "+r"(d[9])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[10], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %12, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n40k%13%14.f16.%15.%16 " GANTRY_WGMMA_REGISTERS
                 ", %10, %11, p%17%18%19%20;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[10], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %15, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n40k%16%17.f16.%18.%19 " GANTRY_WGMMA_REGISTERS
                 ", {%10,%11,%12,%13}, %14, p%20%21%22;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
};

}  // namespace gantry::arch::detail
