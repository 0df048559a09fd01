// Copies of interleaved maps: slices of 16 or 32 bytes as in NC/8HWC8, then boxes of several slices, steps along
// dimension 0, and starts inside of a slice.
//
// Every word of the source is its own number, so that a difference shows which bytes a GPU took instead.
#pragma once

#include <cstring>

#include "copy_cases.hpp"

namespace gantry::conformance {

// What dimension 0 of a map and of its box hold, in slices, the step along it, and the first element of the box.
struct SliceShape {
  int extent = 1, box = 1, step = 1, first = 0;
};

inline Bytes numbered_words(std::size_t bytes) {
  Bytes out(bytes);
  for (std::uint32_t i = 0; i < bytes / 4; ++i) std::memcpy(&out[4 * i], &i, 4);
  return out;
}

inline TmaDescriptorParams interleaved_map(Dice& dice, int rank) {
  constexpr TmaDataType kPlainTypes[] = {TmaDataType::u8,  TmaDataType::u16,  TmaDataType::u32,
                                         TmaDataType::f16, TmaDataType::bf16, TmaDataType::f32};
  TmaDescriptorParams map;
  map.data_type = dice.one_of(kPlainTypes);
  map.rank = static_cast<std::uint32_t>(rank);
  map.interleave = dice.chance(60) ? TmaInterleave::bytes_16 : TmaInterleave::bytes_32;
  map.swizzle = map.interleave == TmaInterleave::bytes_32 ? TmaSwizzle::bytes_32 : dice.one_of(kSwizzles);
  return map;
}

inline std::uint32_t slice_elements(const TmaDescriptorParams& map) {
  return static_cast<std::uint32_t>(address_alignment(map)) / static_cast<std::uint32_t>(element_bytes(map.data_type));
}

// Slices one after another, in some maps with a gap after each dimension.
inline void lay_out_slices(Copy& copy, Dice& dice) {
  TmaDescriptorParams& map = copy.map;
  const std::uint64_t alignment = address_alignment(map);
  std::uint64_t bytes = map.dims[0] * static_cast<std::uint64_t>(element_bytes(map.data_type));
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    map.strides[i - 1] = up(bytes, alignment) + (dice.chance(30) ? alignment : 0);
    bytes = map.strides[i - 1] * map.dims[i];
  }
  copy.bytes = up(bytes, 16);
}

inline Copy random_interleaved(Dice& dice, int rank, const SliceShape& shape, bool store) {
  for (;;) {
    Copy copy;
    TmaDescriptorParams& map = copy.map;
    map = interleaved_map(dice, rank);
    const std::uint32_t slice = slice_elements(map);
    map.dims[0] = static_cast<std::uint64_t>(shape.extent) * slice;
    map.box[0] = static_cast<std::uint32_t>(shape.box) * slice;
    map.element_strides[0] = static_cast<std::uint32_t>(shape.step);
    copy.at[0] = shape.first;
    for (int i = 1; i < rank; ++i) {
      map.box[i] = static_cast<std::uint32_t>(dice.between(1, rank == 3 ? 9 : 5));
      map.dims[i] = static_cast<std::uint64_t>(dice.between(1, 2 * static_cast<int>(map.box[i])));
      if (dice.chance(25)) map.element_strides[i] = static_cast<std::uint32_t>(dice.between(1, 3));
      copy.at[i] = dice.between(store ? 0 : -3, static_cast<int>(map.dims[i]) - 1);
    }
    lay_out_slices(copy, dice);
    if (legal(map)) return copy;
  }
}

inline Copy random_interleaved_im2col(Dice& dice, int rank, const SliceShape& shape) {
  for (;;) {
    Copy copy;
    TmaDescriptorParams& map = copy.map;
    map = interleaved_map(dice, rank);
    map.mode = TmaMode::im2col;
    const std::uint32_t slice = slice_elements(map);
    map.dims[0] = static_cast<std::uint64_t>(shape.extent) * slice;
    map.channels_per_pixel = static_cast<std::uint32_t>(shape.box) * slice;
    map.pixels_per_column = static_cast<std::uint32_t>(dice.between(4, 40));
    map.element_strides[0] = static_cast<std::uint32_t>(shape.step);
    copy.at[0] = shape.first;
    for (int i = 1; i < rank - 1; ++i) {
      const int low = dice.between(-2, 0), high = dice.between(-1, 1);
      map.dims[i] = static_cast<std::uint64_t>(dice.between(3, 7));
      map.lower_corner[i - 1] = low;
      map.upper_corner[i - 1] = high;
      copy.at[i] = dice.between(low, static_cast<int>(map.dims[i]) - 1 + high);
      copy.offsets[i - 1] = static_cast<std::uint16_t>(dice.between(0, 2));
    }
    map.dims[rank - 1] = static_cast<std::uint64_t>(dice.between(1, 3));
    lay_out_slices(copy, dice);
    if (legal(map)) return copy;
  }
}

template <class Machine>
class InterleavedCopies {
 public:
  explicit InterleavedCopies(Cases<Machine>& cases) : cases_(cases) {}

  void add_all() {
    loads(16, "interleaved load", {});
    stores(10);
    columns(12, "interleaved im2col load", {});
    loads(6, "interleaved load of several slices", {.extent = 6, .box = 3});
    columns(6, "interleaved im2col load of several slices", {.extent = 4, .box = 2});
    loads(4, "interleaved load with a step along dimension 0", {.extent = 4, .box = 4, .step = 2});
    loads(3, "interleaved load from inside of a slice", {.extent = 4, .box = 2, .first = 2});
  }

 private:
  void loads(int count, const char* what, const SliceShape& shape) {
    for (int i = 0; i < count; ++i) add_load(random_interleaved(dice_, 3 + i % 3, shape, false), what, i);
  }
  void columns(int count, const char* what, const SliceShape& shape) {
    for (int i = 0; i < count; ++i) add_load(random_interleaved_im2col(dice_, 3 + i % 3, shape), what, i);
  }
  void stores(int count) {
    for (int i = 0; i < count; ++i) {
      const Copy copy = random_interleaved(dice_, 3 + i % 3, {}, true);
      cases_.push_back({name(copy, "interleaved store", i), [copy](Machine& m) {
                          store_and_show(m, copy, Bytes(copy.bytes, 0x55), numbered_words(image_bytes(copy.map)));
                        }});
    }
  }
  void add_load(const Copy& copy, const char* what, int number) {
    cases_.push_back(
        {name(copy, what, number), [copy](Machine& m) { load_and_show(m, copy, numbered_words(copy.bytes)); }});
  }
  static std::string name(const Copy& copy, const char* what, int number) {
    return text_of(copy, what, number) + ", slices of " + to_text(copy.map.interleave);
  }

  Cases<Machine>& cases_;
  Dice dice_{8};
};

template <class Machine>
void add_interleaved_copies(Cases<Machine>& cases) {
  InterleavedCopies<Machine>(cases).add_all();
}

}  // namespace gantry::conformance
