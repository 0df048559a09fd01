// Sparse wgmmas: every type, both selectors, A from shared memory and from registers. The bounds are
// those of the dense ones.
#pragma once

#include <cstring>
#include <string>

#include "wgmma_cases.hpp"
#include "wgmma_sparse_kernels.hpp"

namespace gantry::conformance {

// Words of which every group of four bits names columns, whatever lane and row it belongs to.
inline Bytes metadata_of(Dice& dice, MmaType type) {
  constexpr std::uint32_t kFours[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110}, kTwos[] = {0b0100, 0b1110};
  Bytes out(4 * 128);
  for (std::size_t i = 0; i < 128; ++i) {
    std::uint32_t word = 0;
    for (int group = 0; group < 8; ++group) {
      word = word << 4 | (type == MmaType::tf32 ? dice.one_of(kTwos) : dice.one_of(kFours));
    }
    std::memcpy(&out[4 * i], &word, 4);
  }
  return out;
}

template <class Op, int Selector = 0, bool InRegisters = false, class Machine>
void add_sparse_product(Cases<Machine>& cases) {
  using Kernel = SparseProduct<Op, Selector, InRegisters>;
  const std::string name =
      "sparse " + product_name<Op>(InRegisters ? ", A in registers" : "") + ", selector " + std::to_string(Selector);
  Dice dice(seed_of(name));
  const int stored = 32 / format_of(Op::kA).bytes;
  const Bytes a = operand(dice, Op::kA, 64 * stored), b = operand(dice, Op::kB, 2 * Op::kN * stored),
              metadata = metadata_of(dice, Op::kA);
  const auto body = [=](Machine& m) {
    constexpr std::size_t kOut = 128 * Op::kRegisters * 4;
    typename Kernel::Params params{};
    params.a = reinterpret_cast<const std::uint32_t*>(m.buffer(a));
    params.b = reinterpret_cast<const std::uint32_t*>(m.buffer(b));
    params.metadata = reinterpret_cast<const std::uint32_t*>(m.buffer(metadata));
    params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kOut)));
    m.template launch<Kernel>(one_cta<Kernel>("sparse_product"), params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), kOut);
  };
  // Twice, because the product is added to itself.
  const double bound =
      2 * longest_row(Op::kA, a, {64, stored, stored, 1}) * longest_row(Op::kB, b, {Op::kN, 2 * stored, 2 * stored, 1});
  cases.push_back({name, body, agreement_of<Op>(bound)});
}

template <class Machine>
void add_sparse_products(Cases<Machine>& cases) {
  using enum MmaType;
  using arch::SparseWgmmaOp;
  add_sparse_product<SparseWgmmaOp<64, f32, bf16, bf16>>(cases);
  add_sparse_product<SparseWgmmaOp<64, f32, bf16, bf16>, 1>(cases);
  add_sparse_product<SparseWgmmaOp<64, f32, f16, f16>, 1, true>(cases);
  add_sparse_product<SparseWgmmaOp<32, f16, f16, f16>>(cases);
  add_sparse_product<SparseWgmmaOp<32, f32, tf32, tf32>>(cases);
  add_sparse_product<SparseWgmmaOp<32, f32, tf32, tf32>, 1, true>(cases);
  add_sparse_product<SparseWgmmaOp<64, f32, e4m3, e4m3>>(cases);
  add_sparse_product<SparseWgmmaOp<64, f32, e4m3, e5m2>, 0, true>(cases);
  add_sparse_product<SparseWgmmaOp<64, f16, e5m2, e4m3>>(cases);
  add_sparse_product<SparseWgmmaOp<64, s32, s8, s8>>(cases);
  add_sparse_product<SparseWgmmaOp<64, s32, u8, s8>, 0, true>(cases);
  add_sparse_product<Saturated<SparseWgmmaOp<64, s32, u8, u8>>>(cases);
}

}  // namespace gantry::conformance
