#include "wgmma_execute.hpp"

#include <algorithm>
#include <cstring>

#include "dot.hpp"
#include "grid.hpp"
#include "poison.hpp"
#include "sparsity.hpp"
#include "wgmma_operand.hpp"

namespace gantry::sim {
namespace {

std::uint32_t element_at(const Cta& cta, std::uint32_t address, std::uint32_t bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, cta.window + address, bytes);
  return value;
}

// Row-major elements of an operand, each in the low bits of a word.
std::vector<std::uint32_t> gather(const Cta& cta, const Operand& operand, std::uint32_t rows, std::uint32_t depth) {
  std::vector<std::uint32_t> out(std::size_t{rows} * depth);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t k = 0; k < depth; ++k) {
      out[std::size_t{i} * depth + k] = element_at(cta, operand.address(i, k), operand.element());
    }
  }
  return out;
}

// The same for A in registers: register r of lane l in warp w holds row 16 w + l / 4 + 8 (r % 2), and consecutive
// elements of the k half r / 2.
std::vector<std::uint32_t> gather_registers(const Product& product, std::uint32_t depth) {
  const auto bits = static_cast<std::uint32_t>(element_bits(product.what.a));
  const std::uint32_t per_register = 32 / bits;
  const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  std::vector<std::uint32_t> out(64 * depth);
  for (std::uint32_t t = 0; t < kWarpgroupThreads; ++t) {
    const std::uint32_t lane = t % 32;
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t row = 16 * (t / 32) + lane / 4 + 8 * (r % 2);
      for (std::uint32_t b = 0; b < per_register; ++b) {
        const std::uint32_t k = depth / 2 * (r / 2) + per_register * (lane % 4) + b;
        out[row * depth + k] = product.a_registers[t][r] >> (bits * b) & mask;
      }
    }
  }
  return out;
}

std::vector<Term> terms(const std::vector<std::uint32_t>& elements, MmaType type, int scale) {
  std::vector<Term> out(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out[i] = decode_term(elements[i], type);
    out[i].significand *= scale;
  }
  return out;
}

std::int64_t integer(std::uint32_t bits, MmaType type) {
  return type == MmaType::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits & 0xFF);
}

// Calls `f(row, column, word, half)` for every accumulator of a thread; half is 0 or 1 where two share a word.
template <class F>
void each_accumulator(const Wgmma& mma, int thread, F f) {
  const int lane = thread % 32;
  const bool packed = mma.d == MmaType::f16;
  for (int j = 0; j < mma.n / 8; ++j) {
    for (int h = 0; h < 2; ++h) {
      for (int b = 0; b < 2; ++b) {
        const int row = 16 * (thread / 32) + lane / 4 + 8 * h;
        const int column = 8 * j + 2 * (lane % 4) + b;
        f(row, column, packed ? 2 * j + h : 4 * j + 2 * h + b, packed ? b : 0);
      }
    }
  }
}

// Which element of a column of B each element of a row of A meets.
class Partners {
 public:
  explicit Partners(const Product& product) : depth_(depth_of(product.what)) {
    if (product.what.sparse) stored_ = stored_columns(product.what, product.metadata).columns;
  }
  bool in_order() const { return stored_.empty(); }
  std::uint32_t operator()(std::uint32_t row, std::uint32_t k) const {
    return in_order() ? k : stored_[row * depth_ + k];
  }

 private:
  std::uint32_t depth_;
  std::vector<std::uint8_t> stored_;
};

void execute_integer(const Product& product, const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                     std::uint32_t depth) {
  const Wgmma& mma = product.what;
  const Partners partners(product);
  const std::uint32_t b_depth = b_depth_of(mma);
  for (int t = 0; t < kWarpgroupThreads; ++t) {
    std::uint32_t* d = product.accumulators->at(t);
    each_accumulator(mma, t, [&](int row, int column, int word, int) {
      const auto i = static_cast<std::uint32_t>(row), j = static_cast<std::uint32_t>(column);
      std::int64_t sum = mma.accumulate ? static_cast<std::int32_t>(d[word]) : 0;
      for (std::uint32_t k = 0; k < depth; ++k) {
        sum += integer(a[i * depth + k], mma.a) * integer(b[j * b_depth + partners(i, k)], mma.b);
      }
      if (mma.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      d[word] = static_cast<std::uint32_t>(sum);
    });
  }
}

void execute_floating(const Product& product, const std::vector<std::uint32_t>& a_bits,
                      const std::vector<std::uint32_t>& b_bits, std::uint32_t depth) {
  const Wgmma& mma = product.what;
  const std::vector<Term> a = terms(a_bits, mma.a, mma.a_scale), b = terms(b_bits, mma.b, mma.b_scale);
  const bool narrow = element_bits(mma.a) == 8;
  const DotFormat format{.product_fraction = fraction_bits(mma.a) + fraction_bits(mma.b),
                         .alignment = narrow ? 13 : 25,
                         .result_fraction = narrow ? 13 : 23};
  const Partners partners(product);
  const std::uint32_t b_depth = b_depth_of(mma);
  const auto k = static_cast<int>(depth);
  Term met[32];  // no product has more in a row
  for (int t = 0; t < kWarpgroupThreads; ++t) {
    std::uint32_t* d = product.accumulators->at(t);
    each_accumulator(mma, t, [&](int row, int column, int word, int half) {
      const Term* row_terms = a.data() + static_cast<std::size_t>(row) * depth;
      const Term* column_terms = b.data() + static_cast<std::size_t>(column) * b_depth;
      if (!partners.in_order()) {
        for (std::uint32_t i = 0; i < depth; ++i) met[i] = column_terms[partners(static_cast<std::uint32_t>(row), i)];
        column_terms = met;
      }
      if (mma.d == MmaType::f32) {
        d[word] = fused_dot(row_terms, column_terms, k, mma.accumulate ? d[word] : 0, format);
        return;
      }
      const auto old = static_cast<std::uint16_t>(mma.accumulate ? d[word] >> (16 * half) : 0);
      const std::uint32_t value = fused_dot_f16(row_terms, column_terms, k, old, format);
      d[word] = (d[word] & ~(0xFFFFu << (16 * half))) | value << (16 * half);
    });
  }
}

// The rows of an operand that hold bytes which nothing has written.
std::vector<bool> unwritten_rows(Cta& cta, const Operand& operand, std::uint32_t rows, std::uint32_t depth) {
  std::vector<bool> out(rows);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t k = 0; k < depth; ++k) {
      const std::uint32_t address = operand.address(i, k);
      const auto mask = static_cast<std::uint16_t>(((1u << operand.element()) - 1) << address % kChunk);
      if ((mask & ~cta.cells[address / kChunk].initialised) != 0) out[i] = true;
    }
  }
  return out;
}

void poison_results(Cta& cta, const Product& product) {
  const Wgmma& mma = product.what;
  const std::uint32_t depth = depth_of(mma);
  const Operand a(mma.a_descriptor, mma.a, mma.a_transposed), b(mma.b_descriptor, mma.b, mma.b_transposed);
  const std::vector<bool> rows = mma.a_in_registers ? std::vector<bool>(64) : unwritten_rows(cta, a, 64, depth);
  const std::vector<bool> columns = unwritten_rows(cta, b, static_cast<std::uint32_t>(mma.n), b_depth_of(mma));
  for (int t = 0; t < kWarpgroupThreads; ++t) {
    std::uint32_t* d = product.accumulators->at(t);
    each_accumulator(mma, t, [&](int row, int column, int word, int half) {
      if (!rows[static_cast<std::size_t>(row)] && !columns[static_cast<std::size_t>(column)]) return;
      d[word] = mma.d != MmaType::f16
                    ? kPoison
                    : (d[word] & ~(0xFFFFu << (16 * half))) | std::uint32_t{kPoisonHalf} << (16 * half);
    });
  }
  grid().poison().spread(product.site);
}

}  // namespace

void execute(Cta& cta, const Product& product) {
  const Wgmma& mma = product.what;
  const std::uint32_t depth = depth_of(mma);
  const std::vector<std::uint32_t> a = mma.a_in_registers
                                           ? gather_registers(product, depth)
                                           : gather(cta, Operand(mma.a_descriptor, mma.a, mma.a_transposed), 64, depth);
  const std::vector<std::uint32_t> b = gather(cta, Operand(mma.b_descriptor, mma.b, mma.b_transposed),
                                              static_cast<std::uint32_t>(mma.n), b_depth_of(mma));
  if (mma.d == MmaType::s32) {
    execute_integer(product, a, b, depth);
  } else {
    execute_floating(product, a, b, depth);
  }
  if (product.unwritten) poison_results(cta, product);
}

}  // namespace gantry::sim
