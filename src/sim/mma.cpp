// mma.sync: the lanes of a warp converge, each sees the others' registers and computes its own share.
#include "mma.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <gantry/arch/detail/machine_mma.hpp>
#include <gantry/arch/mma_types.hpp>
#include <gantry/numeric/float_types.hpp>

#include "dot.hpp"
#include "grid.hpp"
#include "issue.hpp"

namespace gantry::sim {
namespace {

// The lanes' operands, as they met.
class Operands {
 public:
  explicit Operands(const std::uint64_t (&lanes)[32]) : lanes_(lanes) {}

  std::uint32_t a(std::uint32_t row, std::uint32_t k) const {
    const Place place = place_of(k, lane(0).a);
    return element(lane(4 * (row % 8) + place.lane).a_registers[2 * place.group + row / 8], place);
  }
  std::uint32_t b(std::uint32_t column, std::uint32_t k) const {
    const Place place = place_of(k, lane(0).b);
    return element(lane(4 * column + place.lane).b_registers[place.group], place);
  }

 private:
  // Where element k of a row of A or a column of B lies: 16 bytes are spread over four lanes, a word each.
  struct Place {
    std::uint32_t group, lane, shift, bits;
  };
  static Place place_of(std::uint32_t k, MmaType type) {
    const auto bits = static_cast<std::uint32_t>(arch::mma_bits(type));
    const std::uint32_t per_word = 32 / bits;
    return {k / (4 * per_word), k / per_word % 4, k % per_word * bits, bits};
  }
  static std::uint32_t element(std::uint32_t word, const Place& place) {
    return place.bits == 32 ? word : word >> place.shift & ((1u << place.bits) - 1);
  }
  const Mma& lane(std::uint32_t l) const { return *reinterpret_cast<const Mma*>(lanes_[l]); }

  const std::uint64_t (&lanes_)[32];
};

std::int64_t integer(std::uint32_t bits, MmaType type) {
  return type == MmaType::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits & 0xFF);
}

std::uint32_t integer_result(const Operands& operands, const Mma& mma, std::uint32_t row, std::uint32_t column,
                             std::uint32_t c) {
  std::int64_t sum = static_cast<std::int32_t>(c);
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(mma.k); ++k) {
    sum += integer(operands.a(row, k), mma.a) * integer(operands.b(column, k), mma.b);
  }
  if (mma.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

// Terms of the products that a tensor core adds at once.
struct Terms {
  Term a[16], b[16];
  int count = 0;

  void add(std::uint32_t x, MmaType x_type, std::uint32_t y, MmaType y_type) {
    a[count] = decode_term(x, x_type);
    b[count++] = decode_term(y, y_type);
  }
};

std::uint16_t f16_of_fp8(std::uint32_t bits, MmaType type) {
  const auto byte = static_cast<std::uint8_t>(bits);
  return f16(type == MmaType::e4m3 ? static_cast<float>(e4m3::from_bits(byte))
                                   : static_cast<float>(e5m2::from_bits(byte)))
      .bits;
}

constexpr DotFormat kFormat16{.product_fraction = 20, .alignment = 25, .result_fraction = 23};

// Hopper has no 8-bit floating-point product of a warp: the assembler widens the operands to f16 (exactly), multiplies
// the first pair of each four k, then the second, from zero, and adds C last.
std::uint32_t fp8_result(const Operands& operands, const Mma& mma, std::uint32_t row, std::uint32_t column,
                         std::uint32_t c) {
  Terms halves[2];
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(mma.k); ++k) {
    halves[k / 2 % 2].add(f16_of_fp8(operands.a(row, k), mma.a), MmaType::f16, f16_of_fp8(operands.b(column, k), mma.b),
                          MmaType::f16);
  }
  if (mma.d == MmaType::f32) {
    std::uint32_t sum = 0;
    for (const Terms& half : halves) sum = fused_dot(half.a, half.b, half.count, sum, kFormat16);
    const float total = std::bit_cast<float>(c) + std::bit_cast<float>(sum);
    return total == total ? std::bit_cast<std::uint32_t>(total) : 0x7FFFFFFF;
  }
  std::uint16_t sum = 0;
  for (const Terms& half : halves) sum = fused_dot_f16(half.a, half.b, half.count, sum, kFormat16);
  // In double the sum of two f16 is exact, so it is rounded once.
  const double total = static_cast<double>(static_cast<float>(f16::from_bits(static_cast<std::uint16_t>(c)))) +
                       static_cast<double>(static_cast<float>(f16::from_bits(sum)));
  return total == total ? f16(total).bits : 0x7FFF;
}

std::uint32_t floating_result(const Operands& operands, const Mma& mma, std::uint32_t row, std::uint32_t column,
                              std::uint32_t c) {
  if (arch::is_fp8(mma.a)) return fp8_result(operands, mma, row, column, c);
  Terms terms;
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(mma.k); ++k) {
    terms.add(operands.a(row, k), mma.a, operands.b(column, k), mma.b);
  }
  const DotFormat format{.product_fraction = 2 * fraction_bits(mma.a), .alignment = 25, .result_fraction = 23};
  if (mma.d == MmaType::f32) return fused_dot(terms.a, terms.b, terms.count, c, format);
  return fused_dot_f16(terms.a, terms.b, terms.count, static_cast<std::uint16_t>(c), format);
}

}  // namespace

void mma(const Mma& mma, std::uint32_t (&result)[4], Site site) {
  const Call call = enter_call(site, Operation::mma);
  Thread& thread = self();
  if (thread.rank / 32 * 32 + 32 > thread.cta->threads.size()) {
    fault("mma-partial-warp", call.site,
          "mma.sync was called by a warp of fewer than 32 threads: the CTA has " +
              std::to_string(thread.cta->threads.size()) + ".");
  }
  if (!thread.mma) thread.mma = std::make_unique<MmaOperands>();
  // A lane that comes to the product after the next one knows that all have left this one.
  Mma& brought = thread.mma->of_product[thread.mma->products++ % 2];
  brought = mma;
  std::uint64_t lanes[32] = {};
  warp_exchange(
      {.mask = ~0u, .value = reinterpret_cast<std::uint64_t>(&brought), .operation = "mma.sync", .aligned = true},
      lanes, site);
  const Operands operands(lanes);
  const std::uint32_t lane = thread.rank % 32;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
    if (mma.d == MmaType::f16) {
      std::uint32_t& word = result[i / 2];
      if (i % 2 == 0) word = 0;
      word |= floating_result(operands, mma, row, column, mma.c_registers[i / 2] >> (16 * (i % 2)) & 0xFFFF)
              << (16 * (i % 2));
    } else if (mma.d == MmaType::f32) {
      result[i] = floating_result(operands, mma, row, column, mma.c_registers[i]);
    } else {
      result[i] = integer_result(operands, mma, row, column, mma.c_registers[i]);
    }
  }
}

}  // namespace gantry::sim
