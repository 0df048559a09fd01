// Copies of interleaved maps: slices of 16 or 32 bytes as in NC/8HWC8, dimensions W, H, D, C, N. Boxes ask for any
// number of channels; a copy moves one slice of them.
//
// Every word of the source is its own number, so that a difference shows which bytes a GPU took instead.
#pragma once

#include <cstring>

#include "copy_cases.hpp"

namespace gantry::conformance {

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

// Slices one after another, in some maps with a gap after each dimension.
inline void lay_out_slices(Copy& copy, Dice& dice) {
  TmaDescriptorParams& map = copy.map;
  const std::uint64_t slice = slice_bytes(map);
  std::uint64_t bytes = map.dims[0] * slice;
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    map.strides[i - 1] = bytes + (dice.chance(30) ? slice : 0);
    bytes = map.strides[i - 1] * map.dims[i];
  }
  copy.bytes = up(bytes, 16);
}

// What the driver wants of the elements of dimension 0 of a box and of a pixel's channels: whole chunks.
inline std::uint32_t chunk_elements(const TmaDescriptorParams& map) {
  return 16 / static_cast<std::uint32_t>(element_bytes(map.data_type));
}

inline Copy random_interleaved(Dice& dice, int rank, bool store) {
  for (;;) {
    Copy copy;
    TmaDescriptorParams& map = copy.map;
    map = interleaved_map(dice, rank);
    for (int i = 0; i < rank; ++i) {
      map.box[i] = static_cast<std::uint32_t>(dice.between(1, rank == 3 ? 9 : 5));
      if (i == 0) map.box[0] = chunk_elements(map) * static_cast<std::uint32_t>(dice.between(1, 3));
      map.dims[i] = static_cast<std::uint64_t>(dice.between(1, 2 * static_cast<int>(map.box[i])));
      if (dice.chance(25)) map.element_strides[i] = static_cast<std::uint32_t>(dice.between(1, 3));
      const int last = static_cast<int>(map.dims[i]) - (!store && dice.chance(10) ? 0 : 1);
      copy.at[i] = dice.between(store ? 0 : -3, last);
    }
    lay_out_slices(copy, dice);
    if (legal(map)) return copy;
  }
}

inline Copy random_interleaved_im2col(Dice& dice, int rank) {
  for (;;) {
    Copy copy;
    TmaDescriptorParams& map = copy.map;
    map = interleaved_map(dice, rank);
    map.mode = TmaMode::im2col;
    map.channels_per_pixel = chunk_elements(map) * static_cast<std::uint32_t>(dice.between(1, 3));
    map.pixels_per_column = static_cast<std::uint32_t>(dice.between(4, 40));
    for (int i = 0; i < rank - 2; ++i) {
      const int low = dice.between(-2, 0), high = dice.between(-1, 1);
      map.dims[i] = static_cast<std::uint64_t>(dice.between(3, 7));
      if (dice.chance(25)) map.element_strides[i] = static_cast<std::uint32_t>(dice.between(1, 3));
      map.lower_corner[i] = low;
      map.upper_corner[i] = high;
      copy.at[i] = dice.between(low, static_cast<int>(map.dims[i]) - 1 + high);
      copy.offsets[i] = static_cast<std::uint16_t>(dice.between(0, 2));
    }
    map.dims[rank - 2] = static_cast<std::uint64_t>(dice.between(1, 4));
    copy.at[rank - 2] = dice.between(0, static_cast<int>(map.dims[rank - 2]) - 1);
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
    for (int i = 0; i < 24; ++i) add_load(random_interleaved(dice_, 3 + i % 3, false), "interleaved load", i);
    for (int i = 0; i < 12; ++i) add_store(random_interleaved(dice_, 3 + i % 3, true), i);
    for (int i = 0; i < 21; ++i) add_load(random_interleaved_im2col(dice_, 3 + i % 3), "interleaved im2col load", i);
  }

 private:
  void add_load(const Copy& copy, const char* what, int number) {
    cases_.push_back(
        {name(copy, what, number), [copy](Machine& m) { load_and_show(m, copy, numbered_words(copy.bytes)); }});
  }
  void add_store(const Copy& copy, int number) {
    cases_.push_back({name(copy, "interleaved store", number), [copy](Machine& m) {
                        store_and_show(m, copy, Bytes(copy.bytes, 0x55), numbered_words(image_bytes(copy.map)));
                      }});
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
