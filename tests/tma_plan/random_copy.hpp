// Random TMA copies: a global tensor, a tile and a shared layout for it, most of them legal, all of them small enough
// to be executed element by element.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <gantry/tma.hpp>

namespace gantry::test {

class RandomCopy {
 public:
  explicit RandomCopy(std::uint64_t seed) : rng_(seed) {}

  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(rng_); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& v) {
    return v[static_cast<std::size_t>(below(static_cast<std::int64_t>(v.size())))];
  }

  // What is asked for, and the modes it was made from.
  struct Made {
    TmaCopyRequest request;
    std::vector<std::int64_t> extents;  // global, one for each leaf
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> tile;  // one for each leaf
    std::vector<int> mode_of;        // the top-level mode that each leaf belongs to
  };

  Made make(const std::vector<TmaOp>& ops) {
    Made m;
    const int leaves = static_cast<int>(1 + below(6));
    choose_elements(m, pick(ops));
    choose_extents(m, leaves);
    choose_strides(m);
    choose_nesting(m);
    m.request.gtensor.layout = nested(m.extents, m.strides, m.mode_of);
    choose_shared(m);
    return m;
  }

 private:
  Int leaf(std::int64_t v, int percent_fixed) { return chance(percent_fixed) ? Int::fixed(v) : Int(v); }

  void choose_elements(Made& m, TmaOp op) {
    m.request.op = op;
    const std::vector<ElementType> any = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
    m.request.gtensor.element = is_reduce(op) ? ElementType::u32 : pick(any);
    if (!is_reduce(op) && chance(15)) {
      // Moved as other elements: wider, narrower, or two packed values to a byte.
      m.request.gtensor.element =
          pick<ElementType>({ElementType::u8, ElementType::f16, ElementType::cf32, ElementType::s4});
      m.request.tma_element = m.request.gtensor.element == ElementType::s4     ? ElementType::u8
                              : m.request.gtensor.element == ElementType::cf32 ? ElementType::u64
                                                                               : ElementType::u32;
    }
    m.request.gtensor.address = 0x7f0000000000;
    m.request.num_multicast = is_multicast(op) ? static_cast<std::uint32_t>(1 << below(3)) : 1;
  }

  std::int64_t alignment() const {
    const int bits = element_bits(m_element_);
    return 128 / bits;
  }

  void choose_extents(Made& m, int leaves) {
    m_element_ = m.request.gtensor.element;
    const std::int64_t unit = alignment();
    std::int64_t budget = 2048;
    for (int i = 0; i < leaves; ++i) {
      std::int64_t tile = i == 0 ? unit * (1 << below(5)) : (chance(25) ? 1 : 1 + below(8));
      while (tile > budget) tile = (tile + 1) / 2;
      budget /= tile;
      m.tile.push_back(tile);
      // Ragged, exact, or smaller than the tile.
      const std::int64_t tiles = 1 + below(3);
      std::int64_t extent = chance(60)
                                ? tile * tiles
                                : std::max<std::int64_t>(1, tile * tiles - below(tile) - (chance(20) ? tile / 2 : 0));
      if (i == 0 && m.request.tma_element != ElementType::void_) extent = (extent + unit - 1) / unit * unit;
      m.extents.push_back(extent);
    }
  }

  // Leaf 0 is contiguous; the others follow in some order, with padding here and there, and broadcasts now and then.
  void choose_strides(Made& m) {
    const std::size_t n = m.extents.size();
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < n; ++i) order.push_back(i);
    std::shuffle(order.begin(), order.end(), rng_);
    m.strides.assign(n, 1);
    const std::int64_t unit = alignment();
    std::int64_t next = (m.extents[0] + unit - 1) / unit * unit;
    for (const std::size_t i : order) {
      if (chance(30)) next += unit * below(3);
      m.strides[i] = next;
      next *= m.extents[i];
    }
    if (!writes_global(m.request.op) && n > 1 && chance(8)) m.strides[n - 1] = 0;
  }

  void choose_nesting(Made& m) {
    int mode = 0;
    for (std::size_t i = 0; i < m.extents.size(); ++i) {
      if (i > 0 && !chance(25)) ++mode;
      m.mode_of.push_back(mode);
    }
  }

  template <class F>
  static IntTuple nest(const std::vector<int>& mode_of, const F& leaf_of) {
    IntTuple out;
    for (std::size_t i = 0; i < mode_of.size();) {
      std::size_t end = i + 1;
      while (end < mode_of.size() && mode_of[end] == mode_of[i]) ++end;
      if (end == i + 1) {
        out.push_back(leaf_of(i));
      } else {
        IntTuple inner;
        for (std::size_t k = i; k < end; ++k) inner.push_back(leaf_of(k));
        out.push_back(inner);
      }
      i = end;
    }
    return out;
  }

  Layout nested(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                const std::vector<int>& mode_of) {
    return Layout(nest(mode_of, [&](std::size_t i) { return leaf(extents[i], 40); }),
                  nest(mode_of, [&](std::size_t i) { return strides[i] == 1 ? Int::fixed(1) : leaf(strides[i], 40); }));
  }

  // The tile by leaf, with shared memory in an order of its own: dense, padded, or in slabs as wide as a swizzle.
  void choose_shared(Made& m) {
    const std::size_t n = m.tile.size();
    m.request.cta_tiler = Tiler(nest(m.mode_of, [&](std::size_t i) { return Int::fixed(m.tile[i]); }));
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < n; ++i) order.push_back(i);
    if (chance(40)) std::shuffle(order.begin(), order.end(), rng_);
    std::vector<std::int64_t> stride(n, 1);
    const int bits = element_bits(m.request.gtensor.element);
    const std::int64_t row = m.tile[0] * bits / 8;
    Swizzle swizzle;
    for (int b = 1; b <= 3; ++b) {
      if (row == 16 << b && chance(60)) swizzle = Swizzle(b, 4, 3);
    }
    // Rows wider than a swizzle lie in slabs of its width, one instruction each.
    const int slab_bits = static_cast<int>(1 + below(3));
    const std::int64_t slab = (std::int64_t{16} << slab_bits) * 8 / bits;
    const bool in_slabs = row > 16 << slab_bits && m.tile[0] % slab == 0 && chance(60);
    if (in_slabs) swizzle = Swizzle(slab_bits, 4, 3);
    std::int64_t next = in_slabs ? slab : m.tile[0];
    const bool padded = swizzle.is_identity() && chance(15);
    for (const std::size_t i : order) {
      if (padded && m.tile[i] > 1) next = (next * bits / 8 + 127) / 128 * 128 * 8 / bits;
      stride[i] = next;
      next *= m.tile[i];
    }
    const auto dense = [&](std::size_t i) {
      return i == 0 && in_slabs ? make_stride(Int::fixed(1), Int::fixed(next)) : IntTuple(Int::fixed(stride[i]));
    };
    const auto extent = [&](std::size_t i) {
      return i == 0 && in_slabs ? make_shape(Int::fixed(slab), Int::fixed(m.tile[0] / slab))
                                : IntTuple(Int::fixed(m.tile[i]));
    };
    m.request.smem =
        ComposedLayout(swizzle, Int::fixed(0), Layout(nest(m.mode_of, extent), nest(m.mode_of, dense)), bits);
  }

  std::mt19937_64 rng_;
  ElementType m_element_ = ElementType::u8;
};

}  // namespace gantry::test
