// What the collectives of epilogues are made of: how a matrix's subtiles travel, which threads wait for each other, and
// which subtiles a call takes.
#pragma once

#include <gantry/arch/barrier.hpp>
#include <gantry/epilogue/direct_tile.hpp>
#include <gantry/epilogue/staged_im2col_tile.hpp>

namespace gantry {

// Which subtiles of a tile a call loads or stores: all of them, or one, by its number (all, where that is negative).
struct AllSubtiles {};

namespace detail {

// All math threads synchronise at a named barrier.
struct MathSync {
  std::uint32_t barrier;
  std::uint32_t threads;
  GANTRY_INLINE void operator()(Site site = Site::here()) const { arch::barrier_sync(barrier, threads, site); }
};

template <bool first, class A, class B>
struct ChosenType {
  using type = A;
};
template <class A, class B>
struct ChosenType<false, A, B> {
  using type = B;
};

template <class Shape>
struct TileOf : ChosenType<(Shape::spatial_rank > 0), StagedIm2colTile<Shape>,
                           typename ChosenType<Shape::direct, DirectTile<Shape>, StagedTile<Shape>>::type> {};

// Whether a call takes subtile i of `count`, and whether it is its last one.
struct SubtileChoice {
  int count;
  GANTRY_HD static constexpr bool takes(AllSubtiles, int) { return true; }
  GANTRY_HD static constexpr bool takes(int chosen, int i) { return chosen < 0 || chosen == i; }
  GANTRY_HD constexpr bool is_last(AllSubtiles, int i) const { return i == count - 1; }
  GANTRY_HD constexpr bool is_last(int chosen, int i) const { return chosen == i || i == count - 1; }
};

}  // namespace detail

}  // namespace gantry
