#include "sparsity.hpp"

#include <gantry/arch/mma_types.hpp>

namespace gantry::sim {
namespace {

// The four bits of a group of columns of a row.
std::uint32_t bits_of_group(const Wgmma& mma, const std::array<std::uint32_t, kWarpgroupThreads>& metadata,
                            std::uint32_t row, std::uint32_t group) {
  const std::uint32_t upper = row % 16 / 8, first = row / 16 * 32 + row % 8 * 4;
  if (arch::mma_bits(mma.a) == 8) return metadata[first + upper + 2 * (group / 8)] >> (4 * (group % 8)) & 15;
  const auto pair = static_cast<std::uint32_t>(2 * mma.selector);
  return metadata[first + pair + group / 4] >> (16 * upper + 4 * (group % 4)) & 15;
}

std::string told(std::uint32_t row, std::uint32_t group, std::uint32_t bits, const char* rule) {
  std::string binary;
  for (int i = 3; i >= 0; --i) binary += (bits >> i & 1) != 0 ? '1' : '0';
  return "The metadata of row " + std::to_string(row) + ", group of columns " + std::to_string(group) + ", are 0b" +
         binary + ": " + rule;
}

}  // namespace

StoredColumns stored_columns(const Wgmma& mma, const std::array<std::uint32_t, kWarpgroupThreads>& metadata) {
  StoredColumns out;
  const bool pairs = mma.a == MmaType::tf32;  // groups of two columns, of which one is stored
  const std::uint32_t groups = arch::mma_bits(mma.a) == 8 ? 16 : 8;
  for (std::uint32_t row = 0; row < 64; ++row) {
    for (std::uint32_t group = 0; group < groups; ++group) {
      const std::uint32_t bits = bits_of_group(mma, metadata, row, group);
      if (pairs) {
        if (bits != 0b0100 && bits != 0b1110 && out.problem.empty()) {
          out.problem = told(row, group, bits, "0b0100 stands for the first column of two and 0b1110 for the second.");
        }
        out.columns.push_back(static_cast<std::uint8_t>(2 * group + bits / 8));
        continue;
      }
      const std::uint32_t low = bits & 3, high = bits >> 2;
      if (low >= high && out.problem.empty()) {
        out.problem = told(row, group, bits,
                           "the low two bits name the first stored column of four and the high two a later one.");
      }
      out.columns.push_back(static_cast<std::uint8_t>(4 * group + low));
      out.columns.push_back(static_cast<std::uint8_t>(4 * group + high));
    }
  }
  return out;
}

}  // namespace gantry::sim
