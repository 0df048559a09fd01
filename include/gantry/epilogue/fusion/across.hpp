// Values combined over the columns of a row: sums, maxima, the k-th largest.
//
// A fragment has all columns of a span that its warp has (spans.hpp): the four lanes of a quad have 2 of every 8
// columns. A thread combines its own, then the quad combines by two shuffles; no shared memory is touched. Columns
// beyond the problem are set to what changes nothing before they are combined: they are nobody's.
//
// Example at namespace scope:
//     GANTRY_INLINE void divide_by_largest(float (&x)[16], int columns) {  // of a row's 32 columns, `columns` count
//       constexpr gantry::Subtiles tile{.m = 64, .n = 32, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//       float top[16];
//       gantry::fusion::across<gantry::fusion::Function::across_max>({tile, 32, columns}, x, top);
//       for (int k = 0; k < 16; ++k) x[k] /= top[k];
//     }
#pragma once

#include <gantry/epilogue/fusion/callback_contract.hpp>
#include <gantry/epilogue/fusion/reductions.hpp>
#include <gantry/epilogue/fusion/row_exchange.hpp>
#include <gantry/epilogue/fusion/spans.hpp>

namespace gantry::fusion {

struct AcrossColumns {
  Subtiles tile;
  int span;     // columns that are combined
  int columns;  // of the problem, from the thread's first column in the subtile on

  GANTRY_HD constexpr int values() const { return tile.values_of_block(); }
  GANTRY_HD constexpr int runs() const { return (span == kWholeRow ? tile.epi_n : span) / 8; }  // of a span
  GANTRY_HD constexpr int spans() const { return tile.epi_n / 8 / runs(); }
  // Of a fragment: value `column` (0 or 1) of run `run`, of row `row` (0 or 1) of the rows that share registers.
  GANTRY_HD constexpr int value(int block, int run, int row, int column) const {
    return block * values() + run * 4 + row * 2 + column;
  }
};

namespace detail {

template <int F>
GANTRY_INLINE void set_beyond(const AcrossColumns& of, float (&x)[F], float nothing) {
  // A thread's last column is 6 or 7 before its subtile's end.
  if (of.columns > of.tile.column_runs().at(of.tile.epi_n - 8) + 1) return;
  GANTRY_UNROLL
  for (int k = 0; k < F; ++k) {
    if (of.tile.column_of_value(k) >= of.columns) x[k] = nothing;
  }
}

template <Function f>
GANTRY_INLINE float across_two(float so_far, float x) {
  if constexpr (f == Function::across_add) {
    return so_far + x;
  } else if constexpr (f == Function::across_amax) {
    return arch::max_nan(so_far, arch::fabsf(x));
  } else {
    return arch::max_nan(so_far, x);
  }
}

// f(block, first run, row) for every row of every span of a fragment.
template <int F, class Each>
GANTRY_INLINE void for_spans(const AcrossColumns& of, const Each& each) {
  GANTRY_UNROLL
  for (int block = 0; block < F / of.values(); ++block) {
    GANTRY_UNROLL
    for (int span = 0; span < of.spans(); ++span) {
      GANTRY_UNROLL
      for (int row = 0; row < 2; ++row) each(block, span * of.runs(), row);
    }
  }
}

// Of a thread, in a fragment of whole rows.
template <class Exchange, int F>
GANTRY_HD constexpr int rows_of_fragment() {
  return F / Exchange::kTile.values_of_block() * 2;
}

}  // namespace detail

// Requires fragments of whole spans, and all lanes of the warp. Of whole rows, `exchange` brings what other CTAs have.
template <Function f, int F, class Exchange = NoExchange>
GANTRY_INLINE void across(const AcrossColumns& of, float (&in)[F], float (&out)[F], const Exchange& exchange = {}) {
  constexpr float kNothing = f == Function::across_max ? -__builtin_inff() : 0.0f;
  detail::set_beyond(of, in, kNothing);
  detail::for_spans<F>(of, [&](int block, int first, int row) {
    float x = kNothing;
    GANTRY_UNROLL
    for (int i = 0; i < 2 * of.runs(); ++i) {
      x = detail::across_two<f>(x, in[of.value(block, first + i / 2, row, i % 2)]);
    }
    GANTRY_UNROLL
    for (int lane = 1; lane <= 2; lane *= 2) {
      x = detail::across_two<f>(x, arch::shfl_xor_sync(arch::kFullWarp, x, lane));
    }
    GANTRY_UNROLL
    for (int i = 0; i < 2 * of.runs(); ++i) out[of.value(block, first + i / 2, row, i % 2)] = x;
  });
  if constexpr (Exchange::kExchanges) {
    constexpr int kRows = detail::rows_of_fragment<Exchange, F>();
    float mine[kRows][1], all[kRows];
    detail::for_spans<F>(of, [&](int block, int first, int row) {
      mine[block * 2 + row][0] = out[of.value(block, first, row, 0)];
      all[block * 2 + row] = kNothing;
    });
    exchange(mine, 1, [&](int row, const float(&part)[1]) { all[row] = detail::across_two<f>(all[row], part[0]); });
    detail::for_spans<F>(of, [&](int block, int first, int row) {
      GANTRY_UNROLL
      for (int i = 0; i < 2 * of.runs(); ++i) {
        out[of.value(block, first + i / 2, row, i % 2)] = all[block * 2 + row];
      }
    });
  }
}

// 1 where fewer than `most` values of the row are larger, else 0. A NaN goes to the end of the list and stays there:
// nothing is smaller than it.
template <int F, class Exchange = NoExchange>
GANTRY_INLINE void top_of(const AcrossColumns& of, int most, float (&in)[F], float (&out)[F],
                          const Exchange& exchange = {}) {
  detail::set_beyond(of, in, -__builtin_inff());
  const auto insert = [&](float(&best)[kMostTop], float x) {
    GANTRY_UNROLL
    for (int i = 0; i < most; ++i) {
      const float smaller = arch::min_nan(best[i], x);
      best[i] = arch::max_nan(best[i], x);
      x = smaller;
    }
  };
  const auto clear = [&](float(&best)[kMostTop]) {
    GANTRY_UNROLL
    for (int i = 0; i < most; ++i) best[i] = -__builtin_inff();
  };
  const auto best_of_quad = [&](int block, int first, int row, float(&best)[kMostTop]) {
    clear(best);
    GANTRY_UNROLL
    for (int i = 0; i < 2 * of.runs(); ++i) insert(best, in[of.value(block, first + i / 2, row, i % 2)]);
    GANTRY_UNROLL
    for (int lane = 1; lane <= 2; lane *= 2) {
      float others[kMostTop];
      GANTRY_UNROLL
      for (int i = 0; i < most; ++i) others[i] = arch::shfl_xor_sync(arch::kFullWarp, best[i], lane);
      GANTRY_UNROLL
      for (int i = 0; i < most; ++i) insert(best, others[i]);
    }
  };
  const auto mark = [&](int block, int first, int row, float least) {
    GANTRY_UNROLL
    for (int i = 0; i < 2 * of.runs(); ++i) {
      const int k = of.value(block, first + i / 2, row, i % 2);
      out[k] = in[k] < least ? 0.0f : 1.0f;
    }
  };
  if constexpr (Exchange::kExchanges) {
    constexpr int kRows = detail::rows_of_fragment<Exchange, F>();
    float mine[kRows][kMostTop], all[kRows][kMostTop];
    detail::for_spans<F>(of, [&](int block, int first, int row) {
      best_of_quad(block, first, row, mine[block * 2 + row]);
      clear(all[block * 2 + row]);
    });
    exchange(mine, most, [&](int row, const float(&part)[kMostTop]) {
      GANTRY_UNROLL
      for (int i = 0; i < most; ++i) insert(all[row], part[i]);
    });
    detail::for_spans<F>(
        of, [&](int block, int first, int row) { mark(block, first, row, all[block * 2 + row][most - 1]); });
  } else {
    detail::for_spans<F>(of, [&](int block, int first, int row) {
      float best[kMostTop];
      best_of_quad(block, first, row, best);
      mark(block, first, row, best[most - 1]);
    });
  }
}

// Calls each(row of the tile's rows, block of the subtile, value) for every element of an output by blocks that the
// thread writes, of each quad the first.
template <int F, class Each>
GANTRY_INLINE void for_blocks(const AcrossColumns& of, int thread, const float (&in)[F], const Each& each) {
  if (thread % 4 != 0) return;
  detail::for_spans<F>(of, [&](int block, int first, int row) {
    const int rows = of.tile.row_runs().at(block * of.tile.mma_m()) + row * 8 + Subtiles::row_of_thread(thread);
    const int column = of.tile.column_runs().at(first * 8);
    if (column < of.columns) each(rows, column / of.span, in[of.value(block, first, row, 0)]);
  });
}

// An output by blocks. `row` is counted from the problem's first one, or its group's.
struct BlockOutput {
  const Operand& operand;
  const TileContext& context;
  bool row_major;
  Rounding rounding;

  template <class Element>
  GANTRY_INLINE void put(int row, int block, float x) const {
    if (row >= context.m) return;
    const std::int64_t line = row_major ? context.at.first_row + row : block;
    const std::int64_t place = row_major ? block : context.at.first_row + row;
    auto* const batch = static_cast<Element*>(operand.pointer) + context.at.batch * operand.batch_stride;
    arch::st(arch::space_global, batch + line * operand.stride + place, as_output<Element>(x, rounding));
  }
};

}  // namespace gantry::fusion
