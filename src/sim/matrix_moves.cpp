// ldmatrix and stmatrix: loads and stores that a whole warp makes together.
#include <cstring>

#include "grid.hpp"
#include "memory.hpp"
#include "wgmma_registers.hpp"

namespace gantry::sim {
namespace {

// Row addresses of the lanes, exchanged.
void rows_of(const void* row, const char* operation, std::uint64_t (&rows)[32], Site site) {
  warp_exchange({.mask = ~0u, .value = reinterpret_cast<std::uint64_t>(row), .operation = operation, .aligned = true},
                rows, site);
}

bool rows_legal(const std::uint64_t (&rows)[32], int matrices, SiteId site) {
  for (int i = 0; i < 8 * matrices; ++i) {
    if (!legal(reinterpret_cast<const void*>(rows[i]), 16, Space::shared, site)) return false;
  }
  return true;
}

}  // namespace

void ldmatrix(std::uint32_t* registers, const void* row, int matrices, bool transposed, Site site) {
  const Call call = enter_call(site, Operation::ldmatrix);
  std::uint64_t rows[32] = {};
  rows_of(row, "ldmatrix", rows, site);
  if (!rows_legal(rows, matrices, call.site)) return;
  Thread& thread = self();
  const std::uint32_t lane = thread.rank % 32;
  note_loaded_registers(thread, registers, static_cast<std::size_t>(matrices));
  const auto fetch = [&](std::uint64_t address, void* to, std::uint32_t bytes) {
    const auto* from = reinterpret_cast<const std::byte*>(address);
    if (grid().checking()) grid().checker().thread_access(thread, from, bytes, {}, call.site);
    std::memcpy(to, grid().launches().data(from), bytes);
  };
  for (int j = 0; j < matrices; ++j) {
    if (!transposed) {
      fetch(rows[8 * j + static_cast<int>(lane / 4)] + 4 * (lane % 4), &registers[j], 4);
    } else {
      std::uint16_t halves[2];
      for (std::uint32_t b = 0; b < 2; ++b) {
        fetch(rows[8 * j + static_cast<int>(2 * (lane % 4) + b)] + 2 * (lane / 4), &halves[b], 2);
      }
      registers[j] = halves[0] | static_cast<std::uint32_t>(halves[1]) << 16;
    }
  }
}

void stmatrix(void* row, const std::uint32_t* registers, int matrices, bool transposed, Site site) {
  const Call call = enter_call(site, Operation::stmatrix);
  std::uint64_t rows[32] = {};
  rows_of(row, "stmatrix", rows, site);
  if (!rows_legal(rows, matrices, call.site)) return;
  Thread& thread = self();
  const std::uint32_t lane = thread.rank % 32;
  const auto put = [&](std::uint64_t address, const void* from, std::uint32_t bytes) {
    auto* to = reinterpret_cast<std::byte*>(address);
    if (grid().checking()) grid().checker().thread_access(thread, to, bytes, {.write = true}, call.site);
    std::memcpy(grid().launches().data(to), from, bytes);
  };
  for (int j = 0; j < matrices; ++j) {
    if (!transposed) {
      put(rows[8 * j + static_cast<int>(lane / 4)] + 4 * (lane % 4), &registers[j], 4);
    } else {
      for (std::uint32_t b = 0; b < 2; ++b) {
        const auto half = static_cast<std::uint16_t>(registers[j] >> (16 * b));
        put(rows[8 * j + static_cast<int>(2 * (lane % 4) + b)] + 2 * (lane / 4), &half, 2);
      }
    }
  }
}

}  // namespace gantry::sim
