// Epilogue tiles: the part of a CTA tile that one pass of the epilogue loads, computes and stores.
//
// By default a tile has 64 rows for each warpgroup that shares the CTA tile, and as many columns as divide the
// CTA tile: up to 32 as CUTLASS takes them (64 where one warpgroup stores bytes of a tile that is a multiple of it),
// or up to a row of 128 bytes.
//
// Example:
//     using namespace gantry;
//     constexpr TileMN tile = default_epi_tile(
//         {.cta_tile = {128, 208}, .d_bits = 16, .warpgroups = 2, .flavour = PolicyFlavour::cutlass_compatible});
//     static_assert(tile == TileMN{128, 16});  // 16 is what 32 and 208 have in common
#pragma once

#include <gantry/epilogue/subtiles.hpp>
#include <gantry/epilogue/tags.hpp>
#include <gantry/layout/int.hpp>

namespace gantry {

// Whether rows of D go where an index says: stored there, or added to what is there.
enum class RowScatter : std::uint8_t { none, store, add, ordered };

struct TileMN {
  int m = 0;
  int n = 0;

  GANTRY_HD friend constexpr bool operator==(TileMN, TileMN) noexcept = default;
  GANTRY_HD constexpr int size() const noexcept { return m * n; }
};

// An epilogue tile: its extents, and which rows and columns of the CTA tile they are. Made of extents, which take
// neighbours, or of a tiler of layouts as CUTLASS's EpilogueTile is. Layouts of one mode of neighbours, and of runs of
// neighbours a stride apart, are kept as TileRuns; of others EpiTile says what they have.
struct EpiTile {
  int m = 0;
  int n = 0;
  TileRuns rows{}, columns{};  // {}: neighbours
  // Of a layout that is neither: its first stride, where that is not 1, or else 1 and how many modes it has.
  struct Form {
    int step = 1, modes = 1;
    GANTRY_HD friend constexpr bool operator==(const Form&, const Form&) noexcept = default;
    GANTRY_HD constexpr bool runs() const noexcept { return step == 1 && modes <= 2; }
  };
  Form row_form{}, column_form{};

  EpiTile() = default;
  GANTRY_HD constexpr EpiTile(int rows_of_tile, int columns_of_tile) : m(rows_of_tile), n(columns_of_tile) {}
  GANTRY_HD constexpr EpiTile(TileMN extents) : EpiTile(extents.m, extents.n) {}
  // Of a tiler: tile_of_layouts.hpp has epi_tile_of. (A template, so that nothing of layouts is read here.)
  template <class T>
  requires requires(const T& tiler) { epi_tile_of(tiler); }
  GANTRY_HD constexpr EpiTile(const T& tiler) : EpiTile(epi_tile_of(tiler)) {}

  GANTRY_HD friend constexpr bool operator==(const EpiTile&, const EpiTile&) noexcept = default;
  GANTRY_HD constexpr int size() const noexcept { return m * n; }
  GANTRY_HD constexpr TileMN extents() const noexcept { return {m, n}; }
  GANTRY_HD constexpr bool has_runs() const noexcept { return rows.extent != 0 || columns.extent != 0; }
  // Whether the tiler that it was made of had extents or layouts of known numbers.
  GANTRY_HD constexpr bool is_known() const noexcept { return row_form.step != 0 && column_form.step != 0; }
  // The neighbours that one box of TMA has.
  GANTRY_HD constexpr TileMN box() const noexcept {
    return {rows.extent == 0 ? m : rows.extent, columns.extent == 0 ? n : columns.extent};
  }
};

struct TileMNK {
  int m = 128;
  int n = 128;
  int k = 64;

  GANTRY_HD friend constexpr bool operator==(TileMNK, TileMNK) noexcept = default;
};

inline constexpr int kMmaRows = 64;  // of one warpgroup's MMA
inline constexpr int kWarpgroupThreads = 128;

struct EpiTileQuestion {
  TileMN cta_tile{};
  int d_bits = 16;
  int warpgroups = 1;  // that share the CTA tile
  PolicyFlavour flavour = PolicyFlavour::gantry;
};

// The columns that a tile is given where the CTA tile has enough.
GANTRY_HD constexpr int preferred_columns(const EpiTileQuestion& q) noexcept {
  constexpr int kWidest = 64;  // wider ones keep too many registers alive
  if (q.flavour == PolicyFlavour::cutlass_compatible) {
    return q.d_bits == 8 && q.warpgroups == 1 && q.cta_tile.n % 64 == 0 ? 64 : 32;
  }
  const int row = q.d_bits > 0 ? 1024 / q.d_bits : kWidest;
  return row < kWidest ? row : kWidest;
}

// Requires positive extents.
GANTRY_HD constexpr TileMN default_epi_tile(const EpiTileQuestion& q) noexcept {
  const auto least = [](int a, int b) { return a < b ? a : b; };
  const int rows = least(kMmaRows * q.warpgroups, q.cta_tile.m);
  const int columns = least(preferred_columns(q), q.cta_tile.n);
  return {rows, static_cast<int>(detail::gcd_magnitude(columns, q.cta_tile.n))};
}

}  // namespace gantry
