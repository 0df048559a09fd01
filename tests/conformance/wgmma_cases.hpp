// wgmmas of every type: integers exactly, floating point within a bound.
//
// The bound is relative to a bound of the sum of |a| |b| over the products of one element: 2^-20 of it for f16, bf16
// and tf32 into f32, whose products are aligned with about 25 bits; 2^-10 for fp8 into f32, aligned with 13 bits; 2^-8
// for f16 accumulators, which are rounded at every step. How many results agree in every bit is counted besides.
#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include <gantry/numeric/float_types.hpp>

#include "copy_cases.hpp"
#include "wgmma_kernels.hpp"

namespace gantry::conformance {

using arch::MmaType;

struct OperandFormat {
  const char* name;
  int bytes;
  TmaDataType tma;
};
inline OperandFormat format_of(MmaType type) {
  switch (type) {
    case MmaType::f16:
      return {"f16", 2, TmaDataType::f16};
    case MmaType::bf16:
      return {"bf16", 2, TmaDataType::bf16};
    case MmaType::tf32:
      return {"tf32", 4, TmaDataType::f32};
    case MmaType::e4m3:
      return {"e4m3", 1, TmaDataType::u8};
    case MmaType::e5m2:
      return {"e5m2", 1, TmaDataType::u8};
    case MmaType::s8:
      return {"s8", 1, TmaDataType::u8};
    case MmaType::u8:
      return {"u8", 1, TmaDataType::u8};
    case MmaType::f32:
      return {"f32", 4, TmaDataType::f32};
    case MmaType::s32:
      return {"s32", 4, TmaDataType::s32};
  }
  return {"", 1, TmaDataType::u8};
}

// Operand elements as bytes: integers are any, floating-point numbers have any sign, any fraction and exponents within
// a few powers of two of one, zeros among them.
inline Bytes operand(Dice& dice, MmaType type, int count) {
  const int bytes = format_of(type).bytes;
  Bytes out = dice.bytes(static_cast<std::size_t>(count * bytes));
  const auto shape = [&](int fraction_bits, int exponent_bits, unsigned bias, unsigned reach) {
    for (int i = 0; i < count; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, &out[static_cast<std::size_t>(i * bytes)], static_cast<std::size_t>(bytes));
      const std::uint32_t mask = ((1u << exponent_bits) - 1) << fraction_bits;
      const auto exponent = static_cast<std::uint32_t>(bias - reach + dice.bits() % (2 * reach + 1));
      word = dice.chance(5) ? 0 : (word & ~mask) | exponent << fraction_bits;
      std::memcpy(&out[static_cast<std::size_t>(i * bytes)], &word, static_cast<std::size_t>(bytes));
    }
  };
  if (type == MmaType::f16) shape(10, 5, 15, 4);
  if (type == MmaType::bf16) shape(7, 8, 127, 6);
  if (type == MmaType::tf32) shape(23, 8, 127, 6);
  if (type == MmaType::e4m3) shape(3, 4, 7, 4);
  if (type == MmaType::e5m2) shape(2, 5, 15, 5);
  return out;
}

inline double magnitude(MmaType type, const std::uint8_t* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, static_cast<std::size_t>(format_of(type).bytes));
  switch (type) {
    case MmaType::f16:
      return std::fabs(float(f16::from_bits(static_cast<std::uint16_t>(word))));
    case MmaType::bf16:
      return std::fabs(float(bf16::from_bits(static_cast<std::uint16_t>(word))));
    case MmaType::e4m3:
      return std::fabs(float(e4m3::from_bits(static_cast<std::uint8_t>(word))));
    case MmaType::e5m2:
      return std::fabs(float(e5m2::from_bits(static_cast<std::uint8_t>(word))));
    default:
      return std::fabs(__builtin_bit_cast(float, word));
  }
}

// How the elements of an operand of `rows` x `depth` lie in memory.
struct Order {
  int rows, depth, row_step, depth_step;
};

// The largest length of a row: by Cauchy's inequality the product of two bounds the sum of |a| |b|.
inline double longest_row(MmaType type, const Bytes& data, const Order& order) {
  const int bytes = format_of(type).bytes;
  double longest = 0;
  for (int i = 0; i < order.rows; ++i) {
    double squares = 0;
    for (int k = 0; k < order.depth; ++k) {
      const double x =
          magnitude(type, &data[static_cast<std::size_t>((i * order.row_step + k * order.depth_step) * bytes)]);
      squares += x * x;
    }
    longest = std::max(longest, squares);
  }
  return std::sqrt(longest);
}

struct Operands {
  Bytes a, b;
};

template <class Op>
Operands make_operands(std::uint64_t seed, int depth) {
  Dice dice(seed);
  Bytes a = operand(dice, Op::kA, 64 * depth);
  return {std::move(a), operand(dice, Op::kB, Op::kN * depth)};
}

inline std::uint64_t seed_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

template <class Op>
Agreement agreement_of(double largest_sum) {
  if constexpr (Op::kD == MmaType::s32) return {};
  if constexpr (Op::kD == MmaType::f16) return {Agreement::Kind::f16_within, std::ldexp(largest_sum, -8)};
  return {Agreement::Kind::f32_within, std::ldexp(largest_sum, format_of(Op::kA).bytes == 1 ? -10 : -20)};
}

template <class Machine>
TmaDescriptor operand_map(Machine& m, const std::uint8_t* data, MmaType type, int columns, int rows, int box_columns,
                          int box_rows, TmaSwizzle swizzle) {
  const OperandFormat format = format_of(type);
  return m.map({.data_type = format.tma,
                .rank = 2,
                .address = reinterpret_cast<std::uint64_t>(data),
                .dims = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)},
                .strides = {static_cast<std::uint64_t>(columns * format.bytes)},
                .box = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows)},
                .swizzle = swizzle});
}

template <class Op>
std::string product_name(const char* how) {
  return "wgmma n" + std::to_string(Op::kN) + " " + format_of(Op::kD).name + " = " + format_of(Op::kA).name + " x " +
         format_of(Op::kB).name + how;
}

template <class Op, int Span = 128, bool InRegisters = false, class Machine>
void add_product(Cases<Machine>& cases, const char* how = "") {
  using Kernel = Product<Op, Span, InRegisters>;
  const int depth = Span / format_of(Op::kA).bytes;
  const std::string name = product_name<Op>(how);
  const Operands operands = make_operands<Op>(seed_of(name), depth);
  const auto body = [=](Machine& m) {
    const TmaSwizzle swizzle = Span == 128  ? TmaSwizzle::bytes_128
                               : Span == 64 ? TmaSwizzle::bytes_64
                                            : TmaSwizzle::bytes_32;
    const std::uint8_t *a = m.buffer(operands.a), *b = m.buffer(operands.b);
    constexpr std::size_t kOut = 128 * Op::kRegisters * 4;
    typename Kernel::Params params{};
    params.a = operand_map(m, a, Op::kA, depth, 64, depth, 64, swizzle);
    params.b = operand_map(m, b, Op::kB, depth, Op::kN, depth, Op::kN, swizzle);
    params.bytes = static_cast<std::uint32_t>((64 + Op::kN) * Span);
    params.a_rows = reinterpret_cast<const std::uint32_t*>(a);
    params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kOut)));
    m.template launch<Kernel>(one_cta<Kernel>("product"), params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), kOut);
  };
  const double bound = longest_row(Op::kA, operands.a, {64, depth, depth, 1}) *
                       longest_row(Op::kB, operands.b, {Op::kN, depth, depth, 1});
  cases.push_back({name, body, agreement_of<Op>(bound)});
}

template <class Base>
struct MnMajor : Base {
  static constexpr arch::Major kMajorA = arch::Major::mn, kMajorB = arch::Major::mn;
};
template <class Base>
struct Negated : Base {
  static constexpr int kScaleA = -1;
};
template <class Base>
struct Saturated : Base {
  static constexpr bool kSaturate = true;
};

template <class Op, class Machine>
void add_transposed_product(Cases<Machine>& cases) {
  using Kernel = TransposedProduct<Op>;
  constexpr int kDepth = 64;
  const std::string name = product_name<Op>(", MN-major");
  const Operands operands = make_operands<Op>(seed_of(name), kDepth);  // rows of k: 64 x 64 and 64 x 128
  const auto body = [=](Machine& m) {
    const std::uint8_t *a = m.buffer(operands.a), *b = m.buffer(operands.b);
    constexpr std::size_t kOut = 128 * Op::kRegisters * 4;
    typename Kernel::Params params{};
    params.a = operand_map(m, a, Op::kA, 64, kDepth, 64, kDepth, TmaSwizzle::bytes_128);
    params.b = operand_map(m, b, Op::kB, 128, kDepth, 64, kDepth, TmaSwizzle::bytes_128);
    params.bytes = 3 * 8192;
    params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(kOut)));
    m.template launch<Kernel>(one_cta<Kernel>("transposed_product"), params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), kOut);
  };
  const double bound = longest_row(Op::kA, operands.a, {64, kDepth, 1, 64}) *
                       longest_row(Op::kB, operands.b, {Op::kN, kDepth, 1, Op::kN});
  cases.push_back({name, body, agreement_of<Op>(bound)});
}

template <class Machine>
void add_products(Cases<Machine>& cases) {
  using enum MmaType;
  using arch::WgmmaOp;
  add_product<WgmmaOp<64, f32, f16, f16>>(cases);
  add_product<WgmmaOp<64, f16, f16, f16>>(cases);
  add_product<WgmmaOp<64, f32, tf32, tf32>>(cases);
  add_product<WgmmaOp<64, f32, e4m3, e4m3>>(cases);
  add_product<WgmmaOp<64, f32, e4m3, e5m2>>(cases);
  add_product<WgmmaOp<64, f32, e5m2, e4m3>>(cases);
  add_product<WgmmaOp<64, f32, e5m2, e5m2>>(cases);
  add_product<WgmmaOp<64, f16, e4m3, e4m3>>(cases);
  add_product<WgmmaOp<64, f16, e4m3, e5m2>>(cases);
  add_product<WgmmaOp<64, f16, e5m2, e4m3>>(cases);
  add_product<WgmmaOp<64, f16, e5m2, e5m2>>(cases);
  add_product<WgmmaOp<64, s32, s8, s8>>(cases, ", one of several widths");
  add_product<WgmmaOp<64, s32, s8, u8>>(cases);
  add_product<WgmmaOp<64, s32, u8, s8>>(cases);
  add_product<WgmmaOp<64, s32, u8, u8>>(cases);
  add_product<Saturated<WgmmaOp<64, s32, s8, s8>>>(cases, ", saturating");
  add_product<Negated<WgmmaOp<64, f32, bf16, bf16>>>(cases, ", A negated");
  add_product<WgmmaOp<128, f32, bf16, bf16>, 64>(cases, ", 64-byte swizzle");
  add_product<WgmmaOp<96, f32, bf16, bf16>, 32>(cases, ", 32-byte swizzle");
  add_product<WgmmaOp<32, f32, tf32, tf32>, 64>(cases, ", 64-byte swizzle");
  add_product<WgmmaOp<64, f32, bf16, bf16>, 128, true>(cases, ", A in registers");
  add_product<WgmmaOp<64, f32, f16, f16>, 128, true>(cases, ", A in registers");
  add_product<WgmmaOp<64, f32, tf32, tf32>, 128, true>(cases, ", A in registers");
  add_product<WgmmaOp<64, f32, e4m3, e4m3>, 128, true>(cases, ", A in registers");
  add_product<WgmmaOp<64, s32, s8, s8>, 128, true>(cases, ", A in registers");
  add_transposed_product<MnMajor<WgmmaOp<128, f32, bf16, bf16>>>(cases);
  add_transposed_product<MnMajor<WgmmaOp<128, f32, f16, f16>>>(cases);
}

template <MmaType D, MmaType A, int N = 8, class Machine>
void add_every_width(Cases<Machine>& cases) {
  if constexpr (arch::wgmma_exists(N, D, A, A)) add_product<arch::WgmmaOp<N, D, A, A>>(cases, ", every N");
  if constexpr (N < 256) add_every_width<D, A, N + 8>(cases);
}

template <class Machine>
void add_products_of_every_width(Cases<Machine>& cases) {
  add_every_width<MmaType::f32, MmaType::bf16>(cases);
  add_every_width<MmaType::s32, MmaType::s8>(cases);
}

}  // namespace gantry::conformance
