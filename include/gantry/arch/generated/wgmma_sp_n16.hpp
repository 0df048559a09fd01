// Sparse wgmma with N = 16. Written by tools/generate_wgmma.py; included by arch/wgmma_sparse.hpp alone.
// clang-format off
#pragma once

namespace gantry::arch::detail {

template <>
struct WgmmaSpInstruction<16> {
#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define GANTRY_WGMMA_OPERANDS \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), \
  "+f"(d[7])
  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[8], std::uint64_t a, std::uint64_t b, std::uint32_t metadata,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %12, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n16k%13%14.f32.%15.%16 " GANTRY_WGMMA_REGISTERS
                 ", %8, %9, %10, %11, p%17%18%19%20;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue(float (&d)[8], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, std::uint32_t metadata, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %15, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n16k%16%17.f32.%18.%19 " GANTRY_WGMMA_REGISTERS
                 ", {%8,%9,%10,%11}, %12, %13, %14, p%20%21%22;\n}\n"
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
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[4], std::uint64_t a, std::uint64_t b, std::uint32_t metadata,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %8, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n16k%9%10.f16.%11.%12 " GANTRY_WGMMA_REGISTERS
                 ", %4, %5, %6, %7, p%13%14%15%16;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_SS_TEXTS);
  }

  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_f16(std::uint32_t (&d)[4], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, std::uint32_t metadata, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %11, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n16k%12%13.f16.%14.%15 " GANTRY_WGMMA_REGISTERS
                 ", {%4,%5,%6,%7}, %8, %9, %10, p%16%17%18;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_RS_TEXTS);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS

#define GANTRY_WGMMA_REGISTERS \
  "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define GANTRY_WGMMA_OPERANDS \
  "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), \
  "+r"(d[7])
  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b, std::uint32_t metadata,
                                                   int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %12, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n16k%13%14.s32.%15.%16 " GANTRY_WGMMA_REGISTERS
                 ", %8, %9, %10, %11, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "l"(a), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }

  template <class Op, int Selector>
  GANTRY_DEVICE __forceinline__ static void issue_s32(std::uint32_t (&d)[8], const std::uint32_t (&a)[4],
                                                   std::uint64_t b, std::uint32_t metadata, int accumulate) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %15, 0;\n"
                 "wgmma.mma_async.sp.sync.aligned.m64n16k%16%17.s32.%18.%19 " GANTRY_WGMMA_REGISTERS
                 ", {%8,%9,%10,%11}, %12, %13, %14, p;\n}\n"
                 : GANTRY_WGMMA_OPERANDS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata), "n"(Selector), "r"(accumulate), GANTRY_WGMMA_TYPES);
  }
#undef GANTRY_WGMMA_REGISTERS
#undef GANTRY_WGMMA_OPERANDS
};

}  // namespace gantry::arch::detail
