// wgmma with N = 48. Written by tools/generate_wgmma.py; included by arch/wgmma.hpp alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {

template <>
struct WgmmaInstruction<48> {
#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23}"
#define GANTRY_WGMMA_OPERANDS \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), \
  "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), \
  "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), \
  "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[24], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n48k%27%28.f32.%29.%30 " GANTRY_WGMMA_REGISTERS
                 ", %24, %25, p%31%32%33%34;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[24], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %29, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n48k%30%31.f32.%32.%33 " GANTRY_WGMMA_REGISTERS
                 ", {%24,%25,%26,%27}, %28, p%34%35%36;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), \
  "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[12], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %14, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n48k%15%16.f16.%17.%18 " GANTRY_WGMMA_REGISTERS
                 ", %12, %13, p%19%20%21%22;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[12], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %17, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n48k%18%19.f16.%20.%21 " GANTRY_WGMMA_REGISTERS
                 ", {%12,%13,%14,%15}, %16, p%22%23%24;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), \
  "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), \
  "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), \
  "+r"(d[21]), "+r"(d[22]), "+r"(d[23])
  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[24], std::uint64_t a, std::uint64_t b,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %26, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n48k%27%28.s32.%29.%30 " GANTRY_WGMMA_REGISTERS
                 ", %24, %25, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }

  template <class Op>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[24], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %29, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n48k%30%31.s32.%32.%33 " GANTRY_WGMMA_REGISTERS
                 ", {%24,%25,%26,%27}, %28, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
};

}  // namespace gantry::arch::detail
