// Random layouts for property tests, and the loop that runs a property over them: once from a fixed seed, once from a
// fresh one that is printed and can be given back as GANTRY_SEED.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout.hpp>

namespace gantry::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kScale = 20;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr int kScale = 20;
#else
inline constexpr int kScale = 1;
#endif
#else
inline constexpr int kScale = 1;
#endif

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // An integer in [low, high].
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<int>(from.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (int i = static_cast<int>(values.size()) - 1; i > 0; --i) {
      std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(between(0, i))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

// Runs property(random) `cases` times from the fixed seed and as often from a fresh one, until something fails. Fewer
// times where a sanitizer is watching.
template <class Property>
void for_random_cases(int cases, const Property& property) {
  const char* given = std::getenv("GANTRY_SEED");
  const std::uint64_t fresh = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "GANTRY_SEED=" << fresh << '\n';
  for (const std::uint64_t seed : {std::uint64_t{20240229}, fresh}) {
    Random random(seed);
    for (int i = 0; i < cases / kScale / 2; ++i) {
      property(random);
      if (testing::Test::HasFailure()) {
        std::cout << "in case " << i << " of seed " << seed << '\n';
        return;
      }
    }
  }
}

inline std::string text(const Layout& l) { return to_text(l).c_str(); }
inline std::string text(const IntTuple& t) { return to_text(t).c_str(); }

struct Mode {
  std::int64_t extent;
  std::int64_t stride;
};

// ---- Modes

inline std::vector<Mode> random_extents(Random& random, int most, std::int64_t max_size) {
  std::vector<Mode> modes;
  std::int64_t size = 1;
  const int count = random.between(1, most);
  for (int i = 0; i < count; ++i) {
    const std::int64_t extent = random.pick(std::vector<std::int64_t>{1, 2, 2, 2, 3, 4, 4, 5, 6, 8});
    if (size * extent > max_size) break;
    size *= extent;
    modes.push_back({extent, 0});
  }
  if (modes.empty()) modes.push_back({1, 0});
  return modes;
}

// Strides that walk the modes in a random order and are compact but for gaps, which come up as often as `gaps` percent:
// an injective layout in which every stride is a multiple of the smaller ones.
inline std::vector<Mode> random_digits(Random& random, int most, std::int64_t max_size, int gaps) {
  std::vector<Mode> modes = random_extents(random, most, max_size);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < modes.size(); ++i) order.push_back(i);
  if (random.chance(70)) random.shuffle(order);
  std::int64_t next = 1;
  for (const std::size_t i : order) {
    if (random.chance(gaps)) next *= random.between(2, 3);
    modes[i].stride = next;
    next *= modes[i].extent;
  }
  return modes;
}

// Any strides at all: small, zero, negative, repeated.
inline std::vector<Mode> random_modes(Random& random, int most, std::int64_t max_size) {
  if (random.chance(50)) {
    std::vector<Mode> modes = random_digits(random, most, max_size, 30);
    for (Mode& m : modes) {
      if (random.chance(10)) m.stride = 0;
    }
    return modes;
  }
  std::vector<Mode> modes = random_extents(random, most, max_size);
  for (Mode& m : modes) m.stride = random.chance(20) ? 0 : random.between(-3, 24);
  return modes;
}

// ---- Layouts

enum class Leaves { fixed, dynamic, mixed };

inline Int random_leaf(Random& random, std::int64_t v, Leaves leaves) {
  const bool is_fixed = leaves == Leaves::fixed || (leaves == Leaves::mixed && random.chance(60));
  return Int::known(v, is_fixed);
}

namespace detail {

inline void nest_into(Layout& out, Random& random, const std::vector<Mode>& modes, std::size_t begin, std::size_t end,
                      Leaves leaves, int depth) {
  while (begin < end) {
    if (depth < 3 && random.chance(25)) {
      const auto inner = begin + static_cast<std::size_t>(random.between(1, static_cast<int>(end - begin)));
      const int at = out.open();
      nest_into(out, random, modes, begin, inner, leaves, depth + 1);
      out.close(at);
      begin = inner;
    } else {
      const Mode& m = modes[begin++];
      out.push(random_leaf(random, m.extent, leaves), random_leaf(random, m.stride, leaves));
    }
  }
}

}  // namespace detail

// The modes in order, nested at random: a leaf, or a tuple of leaves and tuples.
inline Layout random_nesting(Random& random, const std::vector<Mode>& modes, Leaves leaves) {
  Layout out;
  out.clear();
  if (modes.size() == 1 && random.chance(50)) {
    out.push(random_leaf(random, modes[0].extent, leaves), random_leaf(random, modes[0].stride, leaves));
  } else {
    const int at = out.open();
    detail::nest_into(out, random, modes, 0, modes.size(), leaves, 1);
    out.close(at);
  }
  out.seal();
  return out;
}

inline Leaves random_leaves(Random& random) {
  return random.pick(std::vector<Leaves>{Leaves::fixed, Leaves::fixed, Leaves::mixed, Leaves::dynamic});
}

// Any layout.
inline Layout random_layout(Random& random, Leaves leaves, int most = 5, std::int64_t max_size = 256) {
  return random_nesting(random, random_modes(random, most, max_size), leaves);
}
// An injective layout whose strides divide one another.
inline Layout random_injective(Random& random, Leaves leaves, int most = 5, std::int64_t max_size = 256,
                               int gaps = 30) {
  return random_nesting(random, random_digits(random, most, max_size, gaps), leaves);
}

// A right side that divides evenly over any layout of the given shape: each extent is split in two factors, and some of
// the factors are taken, in any order.
inline Layout random_even_tile(Random& random, const Layout& a, Leaves leaves) {
  std::vector<Mode> factors;
  std::int64_t step = 1;
  const IntTuple flat = flatten(a.shape());
  for (TupleView s : TupleView(flat)) {
    const std::int64_t extent = s.leaf().value();
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= extent; ++d) {
      if (extent % d == 0) divisors.push_back(d);
    }
    const std::int64_t first = random.pick(divisors);
    factors.push_back({first, step});
    factors.push_back({extent / first, step * first});
    step *= extent;
  }
  random.shuffle(factors);
  factors.resize(static_cast<std::size_t>(random.between(1, static_cast<int>(factors.size()))));
  if (factors.size() > 6) factors.resize(6);
  return random_nesting(random, factors, leaves);
}

// ---- What layouts do

inline std::vector<std::int64_t> image(const Layout& l) {
  std::vector<std::int64_t> out;
  const std::int64_t n = size(l);
  out.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) out.push_back(l(i));
  return out;
}

// The offsets that a layout reaches, each once, in order.
inline std::vector<std::int64_t> offsets(const Layout& l) {
  std::vector<std::int64_t> out = image(l);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}
inline bool contains(const std::vector<std::int64_t>& sorted, std::int64_t v) {
  return std::binary_search(sorted.begin(), sorted.end(), v);
}

inline bool is_injective(const Layout& l) { return static_cast<std::int64_t>(offsets(l).size()) == size(l); }

}  // namespace gantry::test
