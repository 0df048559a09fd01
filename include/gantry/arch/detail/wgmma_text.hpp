// Which types the text of a wgmma names, for the generated code: macros from here to `wgmma_text_end.hpp`. Included
// once for the dense products and once for the sparse ones, which differ in GANTRY_WGMMA_K8, K16 and K32: the depth of
// a product of 32-, 16- and 8-bit elements.

// Each table picks the text by the operation's types. The names of the immediates' operands come from the generated
// code, which knows how many registers precede them.
#define GANTRY_WGMMA_IMMEDIATES_2 "n"(Op::kScaleA), "n"(Op::kScaleB)
#define GANTRY_WGMMA_SS_IMMEDIATES_4 GANTRY_WGMMA_IMMEDIATES_2, "n"(int{kTransA<Op>}), "n"(int{kTransB<Op>})
#define GANTRY_WGMMA_RS_IMMEDIATES_3 GANTRY_WGMMA_IMMEDIATES_2, "n"(int{kTransB<Op>})

#define GANTRY_WGMMA_FP8(EMIT, d, text)                                         \
  if constexpr (Op::kA == MmaType::e4m3 && Op::kB == MmaType::e4m3)             \
    EMIT(GANTRY_WGMMA_K32 "." d ".e4m3.e4m3", text, GANTRY_WGMMA_IMMEDIATES_2); \
  if constexpr (Op::kA == MmaType::e4m3 && Op::kB == MmaType::e5m2)             \
    EMIT(GANTRY_WGMMA_K32 "." d ".e4m3.e5m2", text, GANTRY_WGMMA_IMMEDIATES_2); \
  if constexpr (Op::kA == MmaType::e5m2 && Op::kB == MmaType::e4m3)             \
    EMIT(GANTRY_WGMMA_K32 "." d ".e5m2.e4m3", text, GANTRY_WGMMA_IMMEDIATES_2); \
  if constexpr (Op::kA == MmaType::e5m2 && Op::kB == MmaType::e5m2)             \
    EMIT(GANTRY_WGMMA_K32 "." d ".e5m2.e5m2", text, GANTRY_WGMMA_IMMEDIATES_2);

#define GANTRY_WGMMA_SS_F32(i0, i1, i2, i3)                                                                            \
  if constexpr (Op::kA == MmaType::f16)                                                                                \
    GANTRY_WGMMA_SS(GANTRY_WGMMA_K16 ".f32.f16.f16", ", " i0 ", " i1 ", " i2 ", " i3, GANTRY_WGMMA_SS_IMMEDIATES_4);   \
  if constexpr (Op::kA == MmaType::bf16)                                                                               \
    GANTRY_WGMMA_SS(GANTRY_WGMMA_K16 ".f32.bf16.bf16", ", " i0 ", " i1 ", " i2 ", " i3, GANTRY_WGMMA_SS_IMMEDIATES_4); \
  if constexpr (Op::kA == MmaType::tf32)                                                                               \
    GANTRY_WGMMA_SS(GANTRY_WGMMA_K8 ".f32.tf32.tf32", ", " i0 ", " i1, GANTRY_WGMMA_IMMEDIATES_2);                     \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_SS, "f32", ", " i0 ", " i1)

#define GANTRY_WGMMA_RS_F32(i0, i1, i2)                                                                        \
  if constexpr (Op::kA == MmaType::f16)                                                                        \
    GANTRY_WGMMA_RS(GANTRY_WGMMA_K16 ".f32.f16.f16", ", " i0 ", " i1 ", " i2, GANTRY_WGMMA_RS_IMMEDIATES_3);   \
  if constexpr (Op::kA == MmaType::bf16)                                                                       \
    GANTRY_WGMMA_RS(GANTRY_WGMMA_K16 ".f32.bf16.bf16", ", " i0 ", " i1 ", " i2, GANTRY_WGMMA_RS_IMMEDIATES_3); \
  if constexpr (Op::kA == MmaType::tf32)                                                                       \
    GANTRY_WGMMA_RS(GANTRY_WGMMA_K8 ".f32.tf32.tf32", ", " i0 ", " i1, GANTRY_WGMMA_IMMEDIATES_2);             \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_RS, "f32", ", " i0 ", " i1)

#define GANTRY_WGMMA_SS_F16(i0, i1, i2, i3)                                                                          \
  if constexpr (Op::kA == MmaType::f16)                                                                              \
    GANTRY_WGMMA_SS(GANTRY_WGMMA_K16 ".f16.f16.f16", ", " i0 ", " i1 ", " i2 ", " i3, GANTRY_WGMMA_SS_IMMEDIATES_4); \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_SS, "f16", ", " i0 ", " i1)

#define GANTRY_WGMMA_RS_F16(i0, i1, i2)                                                                      \
  if constexpr (Op::kA == MmaType::f16)                                                                      \
    GANTRY_WGMMA_RS(GANTRY_WGMMA_K16 ".f16.f16.f16", ", " i0 ", " i1 ", " i2, GANTRY_WGMMA_RS_IMMEDIATES_3); \
  GANTRY_WGMMA_FP8(GANTRY_WGMMA_RS, "f16", ", " i0 ", " i1)

#define GANTRY_WGMMA_INT8(EMIT, saturate)                                                                         \
  if constexpr (Op::kA == MmaType::s8 && Op::kB == MmaType::s8) EMIT(GANTRY_WGMMA_K32 saturate ".s32.s8.s8", ""); \
  if constexpr (Op::kA == MmaType::s8 && Op::kB == MmaType::u8) EMIT(GANTRY_WGMMA_K32 saturate ".s32.s8.u8", ""); \
  if constexpr (Op::kA == MmaType::u8 && Op::kB == MmaType::s8) EMIT(GANTRY_WGMMA_K32 saturate ".s32.u8.s8", ""); \
  if constexpr (Op::kA == MmaType::u8 && Op::kB == MmaType::u8) EMIT(GANTRY_WGMMA_K32 saturate ".s32.u8.u8", "");
#define GANTRY_WGMMA_SATURATED(EMIT)      \
  if constexpr (Op::kSaturate) {          \
    GANTRY_WGMMA_INT8(EMIT, ".satfinite") \
  } else {                                \
    GANTRY_WGMMA_INT8(EMIT, "")           \
  }
#define GANTRY_WGMMA_SS_S32(...) GANTRY_WGMMA_SATURATED(GANTRY_WGMMA_SS)
#define GANTRY_WGMMA_RS_S32(...) GANTRY_WGMMA_SATURATED(GANTRY_WGMMA_RS)
