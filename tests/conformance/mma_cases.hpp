// Products of one warp: every shape and type of `mma.sync`, operands handed in register by register. Integers agree
// exactly, floating point within the bounds that the products of warpgroups keep.
#pragma once

#include <string>

#include "wgmma_cases.hpp"

namespace gantry::conformance {

template <class Op>
struct WarpProduct {
  static constexpr int kThreads = 32;
  struct Params {
    const std::uint32_t *a, *b, *c;  // of each lane its registers, one after another
    std::uint32_t* d;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory) {
    using namespace arch;
    const std::uint32_t lane = lane_rank();
    std::uint32_t a[Op::kRegistersA], b[Op::kRegistersB];
    MmaRegister<Op> c[Op::kRegistersD];
    GANTRY_UNROLL
    for (int i = 0; i < Op::kRegistersA; ++i) a[i] = ld(space_global, p.a + lane * Op::kRegistersA + i);
    GANTRY_UNROLL
    for (int i = 0; i < Op::kRegistersB; ++i) b[i] = ld(space_global, p.b + lane * Op::kRegistersB + i);
    GANTRY_UNROLL
    for (int i = 0; i < Op::kRegistersD; ++i) {
      c[i] = __builtin_bit_cast(MmaRegister<Op>, ld(space_global, p.c + lane * Op::kRegistersD + i));
    }
    mma_sync<Op>(c, a, b, c);
    GANTRY_UNROLL
    for (int i = 0; i < Op::kRegistersD; ++i) {
      st(space_global, p.d + lane * Op::kRegistersD + i, __builtin_bit_cast(std::uint32_t, c[i]));
    }
  }
};

template <class Op, class Machine>
void add_warp_product(Cases<Machine>& cases, const char* how = "") {
  using Kernel = WarpProduct<Op>;
  const std::string name = "mma m16n8k" + std::to_string(Op::kK) + " " + format_of(Op::kD).name + " = " +
                           format_of(Op::kA).name + " x " + format_of(Op::kB).name + how;
  Dice dice(seed_of(name));
  const Bytes a = operand(dice, Op::kA, 16 * Op::kK), b = operand(dice, Op::kB, 8 * Op::kK),
              c = operand(dice, Op::kD == MmaType::f32 ? MmaType::tf32 : Op::kD, 16 * 8);
  const auto body = [=](Machine& m) {
    constexpr std::size_t kOut = 32 * 4 * Op::kRegistersD;
    typename Kernel::Params params{};
    params.a = reinterpret_cast<const std::uint32_t*>(m.buffer(a));
    params.b = reinterpret_cast<const std::uint32_t*>(m.buffer(b));
    params.c = reinterpret_cast<const std::uint32_t*>(m.buffer(c));
    params.d = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kOut)));
    m.template launch<Kernel>({.block = {32}, .name = "warp_product"}, params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.d), kOut);
  };
  // Any order of the elements has the same bound: the length of all of them.
  const double bound = longest_row(Op::kA, a, {1, 16 * Op::kK, 0, 1}) * longest_row(Op::kB, b, {1, 8 * Op::kK, 0, 1});
  cases.push_back({name, body, agreement_of<Op>(bound)});
}

template <class Machine>
void add_warp_products(Cases<Machine>& cases) {
  using enum MmaType;
  using arch::MmaOp;
  add_warp_product<MmaOp<8, f32, f16, f16>>(cases);
  add_warp_product<MmaOp<16, f32, f16, f16>>(cases);
  add_warp_product<MmaOp<8, f16, f16, f16>>(cases);
  add_warp_product<MmaOp<16, f16, f16, f16>>(cases);
  add_warp_product<MmaOp<8, f32, bf16, bf16>>(cases);
  add_warp_product<MmaOp<16, f32, bf16, bf16>>(cases);
  add_warp_product<MmaOp<4, f32, tf32, tf32>>(cases);
  add_warp_product<MmaOp<8, f32, tf32, tf32>>(cases);
  add_warp_product<MmaOp<16, f32, e4m3, e4m3>>(cases);
  add_warp_product<MmaOp<32, f32, e4m3, e4m3>>(cases);
  add_warp_product<MmaOp<32, f32, e4m3, e5m2>>(cases);
  add_warp_product<MmaOp<32, f32, e5m2, e4m3>>(cases);
  add_warp_product<MmaOp<32, f32, e5m2, e5m2>>(cases);
  add_warp_product<MmaOp<16, f16, e4m3, e5m2>>(cases);
  add_warp_product<MmaOp<32, f16, e4m3, e4m3>>(cases);
  add_warp_product<MmaOp<32, f16, e5m2, e5m2>>(cases);
  add_warp_product<MmaOp<16, s32, s8, s8>>(cases);
  add_warp_product<MmaOp<32, s32, s8, s8>>(cases);
  add_warp_product<MmaOp<32, s32, s8, u8>>(cases);
  add_warp_product<MmaOp<32, s32, u8, s8>>(cases);
  add_warp_product<MmaOp<32, s32, u8, u8>>(cases);
  add_warp_product<Saturated<MmaOp<32, s32, u8, u8>>>(cases, ", saturating");
}

}  // namespace gantry::conformance
