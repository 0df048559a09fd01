// Random tuples, layouts and swizzles for the tests of their texts: every kind of leaf, every nesting that fits.
#pragma once

#include <random>

#include <gantry/layout/composed.hpp>

namespace gantry::test {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  bool one_in(int n) { return between(1, n) == 1; }

  Int leaf() {
    if (one_in(12)) return Int::all();
    Int v = one_in(12) ? Int::unknown() : one_in(6) ? Int(between(-INT64_MAX, INT64_MAX)) : Int(between(-3, 300));
    if (one_in(2)) v = v.as_fixed();
    if (v.is_known() && one_in(8)) v = v.over(static_cast<int>(between(1, 65535)));
    return one_in(4) ? v.with_path(path()) : v;
  }
  Int extent() { return one_in(15) ? Int::unknown() : mark(Int(between(1, 12))); }
  Int stride() {
    const Int v = one_in(15) ? Int::unknown() : mark(Int(between(-20, 500)));
    if (!one_in(5)) return v;
    return (v.is_known() && one_in(3) ? v.over(8) : v).with_path(path());
  }

  // A tree of at most `nodes` nodes, a leaf or a tuple of modes.
  IntTuple tree(int nodes) {
    IntTuple out;
    out.clear();
    grow(out, nodes);
    return out;
  }
  template <class F>
  IntTuple on_tree(const IntTuple& profile, F&& make_leaf) {
    return transform_leaf(profile, [&](const Int&) { return make_leaf(); });
  }

  IntTuple tuple() {
    return on_tree(tree(static_cast<int>(between(1, IntTuple::kCapacity))), [this] { return leaf(); });
  }
  Layout layout() {
    const IntTuple profile = tree(static_cast<int>(between(1, IntTuple::kCapacity)));
    return Layout(on_tree(profile, [this] { return extent(); }), on_tree(profile, [this] { return stride(); }));
  }
  Swizzle swizzle() {
    const int bits = static_cast<int>(between(0, 5));
    const int shift = static_cast<int>(between(bits, 12));
    return Swizzle(bits, static_cast<int>(between(0, 20)), one_in(3) ? -shift : shift);
  }
  ComposedLayout composed_layout() {
    const Int offset = one_in(2) ? Int::fixed(0) : mark(Int(between(0, 1000)));
    return ComposedLayout(swizzle(), offset, layout(), one_in(2) ? 0 : static_cast<int>(between(1, 128)));
  }

 private:
  Int mark(const Int& v) { return one_in(2) ? v.as_fixed() : v; }

  BasisPath path() {
    BasisPath out = BasisPath();
    for (auto levels = between(1, BasisPath::kMaxDepth); levels > 0; --levels) {
      out = out.then(static_cast<int>(between(0, BasisPath::kMaxIndex)));
    }
    return out;
  }

  void grow(IntTuple& out, int nodes) {
    if (nodes == 1 || one_in(4)) return out.push(Int(1));
    const int at = out.open();
    for (int left = nodes - 1; left > 0 && !one_in(8);) {
      const int part = static_cast<int>(between(1, left));
      grow(out, part);
      left -= part;
    }
    out.close(at);
  }

  std::mt19937_64 engine_;
};

}  // namespace gantry::test
