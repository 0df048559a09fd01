// Pairs of columns, for rotary embeddings: which of a thread's values is the partner of another.
//
// Heads of `head` columns follow each other from column 0 on. The partner of column i of a head's first half is column
// i + head / 2; with heads of 2 columns, partners are neighbours. rotate(x, head) is -x[partner] in the first half and
// x[partner] in the second, so that x · cos + rotate(x) · sin turns each pair by its angle.
//
// A thread has columns 8 j + 2 (lane % 4) + {0, 1} of a row, for every j. Both of a pair are its own where half of a
// head is 1 column or a multiple of 8, and are visited at once where a fragment has whole heads.
//
// Example:
//     using namespace gantry;
//     using namespace gantry::fusion;
//     constexpr Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//     static_assert(partner_of(tile, 2, 0).value == 1 && partner_of(tile, 2, 0).first_half);
//     static_assert(partner_of(tile, 32, 9).value == 1 && !partner_of(tile, 32, 9).first_half);  // columns 17 and 1
#pragma once

#include <gantry/epilogue/fusion/spans.hpp>

namespace gantry::fusion {

GANTRY_HD constexpr bool is_head(int head) { return head == 2 || (head >= 16 && head % 16 == 0 && head <= kMostSpan); }

// Of value i of a thread in a subtile: its partner's number, and whether i is in the first half of its head.
struct Partner {
  int value;
  bool first_half;
};
// Requires a head that divides the subtile's columns.
GANTRY_HD constexpr Partner partner_of(const Subtiles& tile, int head, int i) {
  if (head == 2) return {i ^ 1, i % 2 == 0};
  const int half = head / 16;  // in runs of four values, one for every 8 columns
  const int run = i % tile.values_of_block() / 4;
  const bool first_half = run % (2 * half) < half;
  return {first_half ? i + 4 * half : i - 4 * half, first_half};
}

// The column of D that is the partner of column n.
GANTRY_HD constexpr long long partner_column(int head, long long n) {
  return n % head < head / 2 ? n + head / 2 : n - head / 2;
}

}  // namespace gantry::fusion
