// ldmatrix and stmatrix with one, two and four matrices, plain and transposed, rows at scattered addresses.
#pragma once

#include <algorithm>
#include <string>

#include "copy_cases.hpp"

namespace gantry::conformance {

enum class MatrixMove { load, store };

// Matrices lie in 64 rows of 16 bytes; lane l names row `rows[l]`. A load shows its registers, a store shared memory.
template <MatrixMove Move, int Count, bool Transposed>
struct MoveMatrices {
  static constexpr int kThreads = 32;
  static constexpr int kRows = 64;

  struct Params {
    const Chunk* memory;  // kRows
    std::uint32_t rows[32];
    const std::uint32_t* registers;  // 4 of each lane
    std::uint32_t* out;              // 4 of each lane, or kRows * 4
  };
  struct Storage {
    Chunk rows[kRows];
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    const std::uint32_t lane = lane_rank();
    for (std::uint32_t i = lane; i < kRows; i += 32) st(space_shared, &s.rows[i], ld(space_global, p.memory + i));
    syncwarp();
    Chunk* row = &s.rows[p.rows[lane]];
    std::uint32_t registers[Count];
    if constexpr (Move == MatrixMove::load) {
      if constexpr (Transposed)
        ldmatrix(registers, row, trans);
      else
        ldmatrix(registers, row);
      GANTRY_UNROLL
      for (int j = 0; j < Count; ++j) st(space_global, p.out + 4 * lane + j, registers[j]);
    } else {
      GANTRY_UNROLL
      for (int j = 0; j < Count; ++j) registers[j] = ld(space_global, p.registers + 4 * lane + j);
      if constexpr (Transposed)
        stmatrix(row, registers, trans);
      else
        stmatrix(row, registers);
      syncwarp();
      for (std::uint32_t i = lane; i < kRows; i += 32) {
        st(space_global, reinterpret_cast<Chunk*>(p.out) + i, ld(space_shared, &s.rows[i]));
      }
    }
  }
};

template <MatrixMove Move, int Count, bool Transposed, class Machine>
void add_matrix_move(Cases<Machine>& cases) {
  using Kernel = MoveMatrices<Move, Count, Transposed>;
  const auto body = [](Machine& m) {
    Dice dice(Count);
    typename Kernel::Params params{};
    params.memory = reinterpret_cast<const Chunk*>(m.buffer(dice.bytes(sizeof(typename Kernel::Storage))));
    params.registers = reinterpret_cast<const std::uint32_t*>(m.buffer(dice.bytes(512)));
    params.out = reinterpret_cast<std::uint32_t*>(m.buffer(Bytes(1024, 0xEE)));
    // Distinct rows, in no order that a formula would give.
    std::uint32_t order[Kernel::kRows];
    for (std::uint32_t i = 0; i < Kernel::kRows; ++i) order[i] = i;
    for (int i = Kernel::kRows - 1; i > 0; --i) std::swap(order[i], order[dice.between(0, i)]);
    std::copy_n(order, 32, params.rows);
    m.template launch<Kernel>(one_cta<Kernel>("move_matrices"), params);
    m.result(reinterpret_cast<const std::uint8_t*>(params.out), 1024);
  };
  cases.push_back({std::string(Move == MatrixMove::load ? "ldmatrix.x" : "stmatrix.x") + std::to_string(Count) +
                       (Transposed ? ".trans" : ""),
                   body});
}

template <class Machine>
void add_matrices(Cases<Machine>& cases) {
  const auto both = [&]<MatrixMove Move, int Count>() {
    add_matrix_move<Move, Count, false>(cases);
    add_matrix_move<Move, Count, true>(cases);
  };
  both.template operator()<MatrixMove::load, 1>();
  both.template operator()<MatrixMove::load, 2>();
  both.template operator()<MatrixMove::load, 4>();
  both.template operator()<MatrixMove::store, 1>();
  both.template operator()<MatrixMove::store, 2>();
  both.template operator()<MatrixMove::store, 4>();
}

}  // namespace gantry::conformance
