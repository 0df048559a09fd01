// How a shared tile meets the banks when threads read it: along its rows, down its columns by 16-byte chunks, as
// ldmatrix does, and down a column element by element.
//
// Shared memory has 32 banks of 4 bytes. A warp is served in phases of 128 bytes: 8 lanes of 16 bytes, 32 lanes of 4. A
// phase whose lanes want d different words of one bank takes d wavefronts; 1 is free of conflicts. Addresses are those
// of a tile that starts at a multiple of the swizzle's period.
//
// Example:
//     using namespace gantry;
//     constexpr Layout rows = make_layout(make_shape(_16, _64), LayoutRight{});  // 128-byte rows of 16-bit elements
//     constexpr SharedTile plain = make_shared_tile(ComposedLayout(Swizzle(), _0, rows, 16), rows.shape());
//     static_assert(shared_reads(plain).row.worst == 1 && shared_reads(plain).column.worst == 8);
//     constexpr ComposedLayout swizzled(make_swizzle(SwizzleMode::b128), _0, rows, 16);
//     static_assert(shared_reads(make_shared_tile(swizzled, rows.shape())).column.worst == 1);
#pragma once

#include <gantry/layout/composed.hpp>

namespace gantry {

inline constexpr std::int64_t kSharedBanks = 32;
inline constexpr std::int64_t kSharedBankBytes = 4;
inline constexpr std::int64_t kSharedPhaseBytes = kSharedBanks * kSharedBankBytes;
inline constexpr std::int64_t kSharedChunkBytes = 16;

// A tile in shared memory as a picture: rows of contiguous elements, one row below the other. Both modes are modes of
// the tile; a tile of more modes is seen at the first index of the others.
struct SharedTile {
  ComposedLayout smem;   // the swizzle on bytes, so that it has an element width
  int row_mode = -1;     // the mode along which neighbours are contiguous; -1 if there is none
  int column_mode = -1;  // the first of the others that has more than one element
  std::int64_t row_elements = 1;
  std::int64_t rows = 1;
  std::int64_t row_step = 0;     // tile index of the next element of a row
  std::int64_t column_step = 0;  // and of the same element of the next row

  GANTRY_HD constexpr int element_bits() const { return smem.element_bits(); }
  GANTRY_HD constexpr std::int64_t chunk_elements() const { return kSharedChunkBytes * 8 / element_bits(); }
  GANTRY_HD constexpr std::int64_t row_chunks() const { return row_elements / chunk_elements(); }

  // The byte at which element `k` of row `r` lies.
  GANTRY_HD constexpr std::int64_t byte_of(std::int64_t r, std::int64_t k) const {
    const std::int64_t offset = smem.layout()(r * column_step + k * row_step) + smem.offset().value();
    return smem.swizzle()(offset * element_bits() / 8);
  }
  // Whether the elements of chunk `j` of row `r` are 16 bytes that one access can take.
  GANTRY_HD constexpr bool is_chunk(std::int64_t r, std::int64_t j) const {
    const std::int64_t n = chunk_elements();
    const std::int64_t first = byte_of(r, j * n);
    return first % kSharedChunkBytes == 0 && byte_of(r, j * n + n - 1) == first + (n - 1) * element_bits() / 8;
  }
};

// Offsets beyond this are no addresses of any memory.
inline constexpr std::int64_t kMostSharedElements = std::int64_t{1} << 32;

// Whether every offset of a layout is a plain number that is known and no larger than memory.
GANTRY_HD constexpr bool can_be_addressed(const Layout& l) {
  const TupleView s = l.shape();
  const TupleView d = l.stride();
  for (int i = 0; l.ok() && i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i)) continue;
    if (!s.node_leaf(i).is_known() || !d.node_leaf(i).is_known() || !d.node_leaf(i).is_plain()) return false;
  }
  return l.ok() && size(l) <= kMostSharedElements && cosize(l) <= kMostSharedElements;
}

// Bytes that a shared layout reaches over; the most that are counted where it cannot be addressed.
GANTRY_HD constexpr std::int64_t shared_bytes_of(const ComposedLayout& smem) {
  if (!can_be_addressed(smem.layout())) return kMostSharedElements;
  return (cosize(smem.layout()) * smem.element_bits() + 7) / 8;
}

// Requires a layout with an element width, whose domain is a tile of the given extents. One that cannot be
// addressed has neither rows nor columns.
GANTRY_HD constexpr SharedTile make_shared_tile(const ComposedLayout& smem, TupleView extents) {
  SharedTile out{.smem = smem};
  if (!smem.ok() || smem.element_bits() == 0 || !extents.ok()) return out;
  if (!can_be_addressed(smem.layout()) || !smem.offset().is_known()) return out;
  std::int64_t step = 1;
  int mode = 0;
  const int modes = extents.is_leaf() ? 1 : rank(extents);
  for (; mode < modes; ++mode) {
    const std::int64_t extent = product(extents.is_leaf() ? extents : extents[mode]).value();
    const bool contiguous = extent > 1 && smem.layout()(step) - smem.layout()(0) == 1;
    if (contiguous && out.row_mode < 0) {
      out.row_mode = mode;
      out.row_elements = extent;
      out.row_step = step;
    } else if (extent > 1 && out.column_mode < 0) {
      out.column_mode = mode;
      out.rows = extent;
      out.column_step = step;
    }
    step *= extent;
  }
  return out;
}

// How often the phases of one kind of read had to go back to a bank.
struct BankPasses {
  int worst = 0;            // wavefronts of the worst phase; 0 if the tile has no such read
  std::int64_t phases = 0;  // looked at
  std::int64_t passes = 0;  // that they took together
};

struct SharedReads {
  BankPasses row;      // 8 lanes, neighbouring 16-byte chunks
  BankPasses column;   // 8 lanes, the same 16-byte chunk of neighbouring rows
  BankPasses element;  // as many lanes as fill a phase, the same element of neighbouring rows
};

namespace tma_detail {

// Patterns repeat long before this many phases.
inline constexpr std::int64_t kMostPhases = 4096;

// The lanes of one phase, each with the word that it wants.
struct BankPhase {
  std::int64_t words[kSharedBanks] = {};
  int lanes = 0;
  int words_per_group = 1;

  GANTRY_HD constexpr void add(std::int64_t byte, std::int64_t width) {
    words[lanes++] = byte / width;
    words_per_group = static_cast<int>(kSharedPhaseBytes / width);
  }
  // Different words of the same bank: words as wide as an access, so `width` bytes are one bank here.
  GANTRY_HD constexpr int degree() const {
    int worst = 0;
    for (int i = 0; i < lanes; ++i) {
      int distinct = 0;
      for (int k = 0; k < lanes; ++k) {
        if (words[k] % words_per_group != words[i] % words_per_group) continue;
        bool seen = false;
        for (int before = 0; before < k; ++before) seen = seen || words[before] == words[k];
        if (!seen) ++distinct;
      }
      if (distinct > worst) worst = distinct;
    }
    return worst;
  }
};

GANTRY_HD constexpr void count(BankPasses& out, const BankPhase& phase) {
  if (phase.lanes == 0) return;
  const int d = phase.degree();
  out.worst = d > out.worst ? d : out.worst;
  out.passes += d;
  ++out.phases;
}

}  // namespace tma_detail

// Guarantees: `worst` is 0 for reads that the tile does not have, as where 16 bytes of a row are not contiguous.
GANTRY_HD constexpr SharedReads shared_reads(const SharedTile& tile) {
  using tma_detail::BankPhase;
  constexpr std::int64_t lanes = kSharedPhaseBytes / kSharedChunkBytes;
  SharedReads out;
  if (!tile.smem.ok() || tile.row_mode < 0) return out;
  const std::int64_t chunks = tile.row_chunks();
  const std::int64_t all = chunks * tile.rows;
  for (std::int64_t at = 0; at < all && out.row.phases < tma_detail::kMostPhases; at += lanes) {
    BankPhase phase;
    for (std::int64_t i = at; i < at + lanes && i < all; ++i) {
      if (!tile.is_chunk(i / chunks, i % chunks)) return out;
      phase.add(tile.byte_of(i / chunks, i % chunks * tile.chunk_elements()), kSharedChunkBytes);
    }
    tma_detail::count(out.row, phase);
  }
  if (tile.column_mode < 0) return out;
  const auto down = [&tile](BankPasses& passes, std::int64_t step, std::int64_t width) {
    const std::int64_t in_phase = kSharedPhaseBytes / width;
    for (std::int64_t r = 0; r < tile.rows; r += in_phase) {
      for (std::int64_t k = 0; k + step <= tile.row_elements && passes.phases < tma_detail::kMostPhases; k += step) {
        BankPhase phase;
        for (std::int64_t i = r; i < r + in_phase && i < tile.rows; ++i) phase.add(tile.byte_of(i, k), width);
        tma_detail::count(passes, phase);
      }
    }
  };
  if (chunks > 0) down(out.column, tile.chunk_elements(), kSharedChunkBytes);
  const std::int64_t bytes = tile.element_bits() / 8;
  down(out.element, 1, bytes < kSharedBankBytes ? kSharedBankBytes : bytes);
  return out;
}

}  // namespace gantry
