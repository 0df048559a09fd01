// Random tensor-map arguments for property tests: legal ones, and ones with any number of fields
// out of range.
#pragma once

#include <random>

#include <gantry/tma/descriptor.hpp>

namespace gantry::testing {

class ParamsGenerator {
 public:
  explicit ParamsGenerator(std::uint32_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>{0, bound - 1}(engine_);
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>{low, high}(engine_);
  }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }

  // Arguments that satisfy every rule the driver enforces, chosen from the rules' definitions,
  // unused entries at their defaults.
  TmaDescriptorParams legal() {
    TmaDescriptorParams p;
    p.mode = chance(30) ? TmaMode::im2col : TmaMode::tiled;
    const bool im2col = p.mode == TmaMode::im2col;
    p.data_type = static_cast<TmaDataType>(below(13));
    p.rank = static_cast<std::uint32_t>(between(im2col ? 3 : 1, 5));
    if (p.rank >= 3 && chance(20)) p.interleave = static_cast<TmaInterleave>(below(3));
    p.swizzle = p.interleave == TmaInterleave::bytes_32 ? TmaSwizzle::bytes_32 : static_cast<TmaSwizzle>(below(4));
    p.l2_promotion = static_cast<TmaL2Promotion>(below(4));
    p.fill = is_floating(p.data_type) && chance(30) ? TmaFill::nan : TmaFill::zero;
    const std::uint64_t alignment = p.interleave == TmaInterleave::bytes_32 ? 32 : 16;
    p.address = below(std::uint64_t{1} << 47) / alignment * alignment;
    for (std::uint32_t i = 0; i < p.rank; ++i) {
      p.dims[i] = std::uint64_t{1} << below(33);
      if (chance(50)) p.dims[i] = 1 + below(p.dims[i]);
      if (im2col && i > 0 && i < p.rank - 1 && p.dims[i] >> 31 != 0) p.dims[i] = 1 + below(1 << 30);
      if (i > 0) p.strides[i - 1] = below((std::uint64_t{1} << between(6, 40)) / alignment) * alignment;
      if (i > 0 || p.interleave != TmaInterleave::none) {
        p.element_strides[i] = static_cast<std::uint32_t>(between(1, 8));
      }
    }
    if (im2col) {
      set_pixels(p);
    } else {
      set_box(p);
    }
    return p;
  }

  // Legal arguments with each field, by `percent`, overwritten by a value near a limit or anywhere
  // at all.
  TmaDescriptorParams damaged(int percent) {
    TmaDescriptorParams p = legal();
    damage(p.mode, percent / 4);
    damage(p.data_type, percent);
    damage(p.rank, percent);
    damage(p.address, percent);
    for (auto& v : p.dims) damage(v, percent);
    for (auto& v : p.strides) damage(v, percent);
    for (auto& v : p.box) damage(v, percent);
    for (auto& v : p.element_strides) damage(v, percent);
    damage(p.interleave, percent);
    damage(p.swizzle, percent);
    damage(p.l2_promotion, percent);
    damage(p.fill, percent);
    for (auto& v : p.lower_corner) damage(v, percent);
    for (auto& v : p.upper_corner) damage(v, percent);
    damage(p.channels_per_pixel, percent);
    damage(p.pixels_per_column, percent);
    return p;
  }

 private:
  std::uint32_t inner_extent(const TmaDescriptorParams& p) {
    const auto bytes = static_cast<std::uint64_t>(element_bytes(p.data_type));
    const bool interleaved = p.interleave != TmaInterleave::none;
    const auto span = interleaved ? 0 : static_cast<std::uint64_t>(swizzle_span_bytes(p.swizzle));
    const std::uint64_t limit = span > 0 ? span : 256 * bytes;
    return static_cast<std::uint32_t>((1 + below(limit / 16)) * 16 / bytes);
  }

  void set_box(TmaDescriptorParams& p) {
    p.box[0] = inner_extent(p);
    std::uint64_t room = 232448 / (p.box[0] * static_cast<std::uint64_t>(element_bytes(p.data_type)));
    for (std::uint32_t i = 1; i < p.rank; ++i) {
      p.box[i] = static_cast<std::uint32_t>(1 + below(room < 256 ? room : 256));
      room /= p.box[i];
    }
  }

  void set_pixels(TmaDescriptorParams& p) {
    p.channels_per_pixel = inner_extent(p);
    const std::uint64_t room = 232448 / (p.channels_per_pixel * static_cast<std::uint64_t>(element_bytes(p.data_type)));
    p.pixels_per_column = static_cast<std::uint32_t>(1 + below(room < 1024 ? room : 1024));
    const int high = p.rank == 3 ? 32767 : p.rank == 4 ? 127 : 15;
    for (std::uint32_t i = 0; i < p.rank - 2; ++i) {
      p.lower_corner[i] = static_cast<std::int32_t>(between(-high - 1, high));
      p.upper_corner[i] = static_cast<std::int32_t>(between(-high - 1, high));
      const std::int64_t shortest = std::int64_t{p.lower_corner[i]} - p.upper_corner[i] + 1;
      if (static_cast<std::int64_t>(p.dims[i + 1]) < shortest) {
        p.dims[i + 1] = static_cast<std::uint64_t>(shortest);
      }
    }
  }

  template <class T>
  void damage(T& value, int percent) {
    if (!chance(percent)) return;
    const std::uint64_t near_a_power = (std::uint64_t{1} << below(64)) + below(5) - 2;
    const std::uint64_t chosen = chance(40) ? below(34) : chance(80) ? near_a_power : engine_();
    value = static_cast<T>(chosen);
  }

  std::mt19937_64 engine_;
};

}  // namespace gantry::testing
