// Which elements dropout keeps: a function of a seed and of an element's place in D, in integers alone, so that host,
// simulated SM and GPU agree bit for bit, whatever the tile, the cluster, the schedule and the order of operands.
//
// The generator is Philox-2x32 (Salmon et al., SC 2011) with 7 rounds: counters in, two words out. The words of a pair
// of columns (n, n + 1), n even, of row m come from the counter (n / 2, m) and a key that is itself a word of the
// generator: of the counter (batch, 0) and the seed. Each element of the pair takes one word, and is kept where that
// word is p · 2^32 or more.
//
// Example:
//     using namespace gantry::fusion;
//     constexpr std::uint32_t key = dropout_key(42, 0);  // seed 42, batch 0
//     static_assert(drop_threshold(0.25f) == 1u << 30);
//     static_assert(keeps({.threshold = 0, .key = key}, 3, 5));  // p = 0 keeps everything
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry::fusion {

struct PhiloxWords {
  std::uint32_t x, y;

  friend constexpr bool operator==(const PhiloxWords&, const PhiloxWords&) = default;
};

// 7 rounds pass TestU01's BigCrush; the paper takes 10 to be safe.
template <int rounds = 7>
GANTRY_HD constexpr PhiloxWords philox2x32(PhiloxWords counter, std::uint32_t key) {
  constexpr std::uint64_t kMultiplier = 0xD256D193;
  constexpr std::uint32_t kWeyl = 0x9E3779B9;  // the golden ratio
  GANTRY_UNROLL
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t product = kMultiplier * counter.x;
    counter = {static_cast<std::uint32_t>(product >> 32) ^ counter.y ^ key, static_cast<std::uint32_t>(product)};
    key += kWeyl;
  }
  return counter;
}

// The key of a batch.
GANTRY_HD constexpr std::uint32_t dropout_key(std::uint32_t seed, int batch) {
  return philox2x32({static_cast<std::uint32_t>(batch), 0}, seed).x;
}

// The words of columns 2 * pair and 2 * pair + 1 of a row.
GANTRY_HD constexpr PhiloxWords dropout_words(std::uint32_t key, int m, int pair) {
  return philox2x32({static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(m)}, key);
}

// Words below it are dropped. Exact: p is a float in [0, 1).
GANTRY_HD constexpr std::uint32_t drop_threshold(float p) {
  return static_cast<std::uint32_t>(static_cast<double>(p) * 0x1p32);
}

// What kept values are multiplied by, so that the expected value stays.
GANTRY_HD constexpr float dropout_scale(float p) { return static_cast<float>(1 / (1 - static_cast<double>(p))); }

struct Dropout {
  std::uint32_t threshold, key;
};

// Of element (m, n) of D.
GANTRY_HD constexpr bool keeps(const Dropout& dropout, int m, int n) {
  const PhiloxWords words = dropout_words(dropout.key, m, n / 2);
  return (n % 2 == 0 ? words.x : words.y) >= dropout.threshold;
}

// A seed that is given by value is a float, which holds whole numbers below 2^24.
inline constexpr float kMostSeed = 0x1p24f - 1;
GANTRY_HD constexpr bool is_seed_value(float x) {
  return x >= 0 && x <= kMostSeed && static_cast<float>(static_cast<std::uint32_t>(x)) == x;
}

}  // namespace gantry::fusion
