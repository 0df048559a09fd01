// Tensor copies: loads, stores and im2col loads of random legal maps, and the copies that the hardware's fact sheet
// speaks of.
#pragma once

#include <algorithm>
#include <string>

#include <gantry/tma/rules.hpp>

#include "copy_kernels.hpp"
#include "suite.hpp"

namespace gantry::conformance {

// A map without its address, the bytes behind it, and where a copy starts.
struct Copy {
  TmaDescriptorParams map;
  std::size_t bytes = 0;  // of global memory
  std::int32_t at[5] = {};
  std::uint16_t offsets[3] = {};
};

inline std::uint32_t up(std::uint64_t value, std::uint64_t multiple) {
  return static_cast<std::uint32_t>((value + multiple - 1) / multiple * multiple);
}

// Bytes of shared memory that a box covers, with a margin that it must leave alone.
inline std::uint32_t image_bytes(const TmaDescriptorParams& map, std::uint32_t offset = 0) {
  if (map.interleave != TmaInterleave::none) return up(offset + transaction_bytes(map), 128) + 128;
  const auto element = static_cast<std::uint64_t>(element_bytes(map.data_type));
  const bool im2col = map.mode == TmaMode::im2col;
  const std::uint64_t inner = (im2col ? map.channels_per_pixel : map.box[0]) * element;
  const std::uint64_t rows = transaction_bytes(map) / inner;
  const std::uint64_t pitch =
      std::max<std::uint64_t>(inner, static_cast<std::uint64_t>(swizzle_span_bytes(map.swizzle)));
  return up(offset + std::max(rows * pitch, transaction_bytes(map)), 128) + 128;
}

inline bool legal(const TmaDescriptorParams& map) { return validate(map).ok() && image_bytes(map, 1024) <= kTileBytes; }

inline constexpr TmaDataType kTypes[] = {
    TmaDataType::u8,      TmaDataType::u16,  TmaDataType::u32,     TmaDataType::s32, TmaDataType::u64,
    TmaDataType::s64,     TmaDataType::f16,  TmaDataType::f32,     TmaDataType::f64, TmaDataType::bf16,
    TmaDataType::f32_ftz, TmaDataType::tf32, TmaDataType::tf32_ftz};
inline constexpr TmaSwizzle kSwizzles[] = {TmaSwizzle::none, TmaSwizzle::bytes_32, TmaSwizzle::bytes_64,
                                           TmaSwizzle::bytes_128};

// Rows one after another with a gap, and the size of it all.
inline void lay_out(Copy& copy, Dice& dice) {
  TmaDescriptorParams& map = copy.map;
  std::uint64_t bytes = map.dims[0] * static_cast<std::uint64_t>(element_bytes(map.data_type));
  for (int i = 1; i < static_cast<int>(map.rank); ++i) {
    map.strides[i - 1] = up(bytes, 16) + (dice.chance(30) ? 16u : 0u);
    bytes = map.strides[i - 1] * map.dims[i];
  }
  copy.bytes = up(bytes, 16);
}

inline Copy random_tiled(Dice& dice, int rank, bool store) {
  for (;;) {
    Copy copy;
    TmaDescriptorParams& map = copy.map;
    map.data_type = dice.one_of(kTypes);
    map.rank = static_cast<std::uint32_t>(rank);
    map.swizzle = dice.one_of(kSwizzles);
    const int element = element_bytes(map.data_type), span = swizzle_span_bytes(map.swizzle);
    const bool whole_span = span != 0 && dice.chance(60);
    map.box[0] =
        static_cast<std::uint32_t>((whole_span ? span : 16 * dice.between(1, span ? span / 16 : 12)) / element);
    map.dims[0] = static_cast<std::uint64_t>(dice.between(1, 3 * static_cast<int>(map.box[0])));
    const int most = rank == 2 ? 64 : rank == 3 ? 9 : 4;
    for (int i = 1; i < rank; ++i) {
      map.box[i] = static_cast<std::uint32_t>(dice.between(1, most));
      map.dims[i] = static_cast<std::uint64_t>(dice.between(1, 2 * static_cast<int>(map.box[i])));
      if (dice.chance(25)) map.element_strides[i] = static_cast<std::uint32_t>(dice.between(1, 3));
    }
    if (is_floating(map.data_type) && dice.chance(40)) map.fill = TmaFill::nan;
    map.l2_promotion = dice.chance(50) ? TmaL2Promotion::bytes_256 : TmaL2Promotion::none;
    lay_out(copy, dice);
    if (!legal(map)) continue;
    const int unit = 16 / element, low = store ? 0 : -1;
    copy.at[0] =
        unit * dice.between(low * static_cast<int>(map.box[0]) / unit, static_cast<int>(map.dims[0]) / unit + 1);
    for (int i = 1; i < rank; ++i) copy.at[i] = dice.between(3 * low, static_cast<int>(map.dims[i]));
    if (dice.chance(50)) std::fill_n(copy.at, 5, 0);
    return copy;
  }
}

inline Copy random_im2col(Dice& dice, int rank) {
  for (;;) {
    Copy copy;
    TmaDescriptorParams& map = copy.map;
    map.mode = TmaMode::im2col;
    map.data_type = dice.one_of(kTypes);
    map.rank = static_cast<std::uint32_t>(rank);
    map.swizzle = dice.one_of(kSwizzles);
    const int element = element_bytes(map.data_type), span = swizzle_span_bytes(map.swizzle);
    map.channels_per_pixel = static_cast<std::uint32_t>(16 * dice.between(1, span ? span / 16 : 8) / element);
    map.pixels_per_column = static_cast<std::uint32_t>(dice.between(1, 48));
    map.dims[0] = static_cast<std::uint64_t>(16 * dice.between(1, 12) / element);
    copy.at[0] = 16 / element * dice.between(0, static_cast<int>(map.dims[0]) * element / 16);
    bool in_box = true;
    for (int i = 1; i < rank - 1; ++i) {
      const int extent = dice.between(2, 7), low = dice.between(-2, 1), high = dice.between(-2, 1);
      const int step = dice.chance(30) ? dice.between(1, 3) : 1, last = extent - 1 + high;
      map.dims[i] = static_cast<std::uint64_t>(extent);
      map.lower_corner[i - 1] = low;
      map.upper_corner[i - 1] = high;
      map.element_strides[i] = static_cast<std::uint32_t>(step);
      in_box = in_box && low <= last;
      if (!in_box) break;
      copy.at[i] = low + step * dice.between(0, (last - low) / step);
      copy.offsets[i - 1] = static_cast<std::uint16_t>(dice.between(0, 3));
    }
    map.dims[rank - 1] = static_cast<std::uint64_t>(dice.between(1, 3));
    copy.at[rank - 1] = dice.between(0, static_cast<int>(map.dims[rank - 1]) - 1);
    if (is_floating(map.data_type) && dice.chance(30)) map.fill = TmaFill::nan;
    lay_out(copy, dice);
    if (in_box && legal(map)) return copy;
  }
}

// Calls f.operator()<Rank>() with the rank as a constant.
template <int Low, int High, class F>
void with_rank(int rank, F f) {
  if constexpr (Low <= High) {
    if (rank == Low)
      f.template operator()<Low>();
    else
      with_rank<Low + 1, High>(rank, f);
  }
}

template <class Kernel>
LaunchConfig one_cta(const char* name) {
  return {.block = {static_cast<std::uint32_t>(Kernel::kThreads)},
          .shared_bytes = sizeof(typename Kernel::Storage),
          .name = name};
}

// The load of `copy` into shared memory at `offset`; `data` lies behind the map.
template <class Kernel, class Machine>
void load_and_show(Machine& machine, Copy copy, const Bytes& data, std::uint32_t offset = 0) {
  copy.map.address = reinterpret_cast<std::uint64_t>(machine.buffer(data));
  const std::uint32_t bytes = image_bytes(copy.map, offset);
  typename Kernel::Params params{};
  params.map = machine.map(copy.map);
  std::copy_n(copy.at, 5, params.at);
  std::copy_n(copy.offsets, 3, params.offsets);
  params.expected_bytes = static_cast<std::uint32_t>(transaction_bytes(copy.map));
  params.offset = offset;
  params.image = machine.buffer(Bytes(bytes));
  params.image_bytes = bytes;
  machine.template launch<Kernel>(one_cta<Kernel>("load_box"), params);
  machine.result(params.image, bytes);
}

template <class Machine>
void load_and_show(Machine& machine, const Copy& copy, const Bytes& data, std::uint32_t offset = 0) {
  if (copy.map.mode == TmaMode::im2col) {
    with_rank<3, 5>(static_cast<int>(copy.map.rank),
                    [&]<int Rank>() { load_and_show<LoadBox<Rank, true>>(machine, copy, data, offset); });
  } else {
    with_rank<1, 5>(static_cast<int>(copy.map.rank),
                    [&]<int Rank>() { load_and_show<LoadBox<Rank>>(machine, copy, data, offset); });
  }
}

// The store of `tile` to memory that holds `before`.
template <class Kernel, class Machine>
void store_and_show(Machine& machine, Copy copy, const Bytes& before, const Bytes& tile) {
  std::uint8_t* const to = machine.buffer(before);
  copy.map.address = reinterpret_cast<std::uint64_t>(to);
  typename Kernel::Params params{};
  params.map = machine.map(copy.map);
  std::copy_n(copy.at, 5, params.at);
  params.source = machine.buffer(tile);
  params.source_bytes = static_cast<std::uint32_t>(tile.size());
  machine.template launch<Kernel>(one_cta<Kernel>("store_box"), params);
  machine.result(to, before.size());
}

template <class Machine>
void store_and_show(Machine& machine, const Copy& copy, const Bytes& before, const Bytes& tile) {
  with_rank<1, 5>(static_cast<int>(copy.map.rank),
                  [&]<int Rank>() { store_and_show<StoreBox<Rank>>(machine, copy, before, tile); });
}

inline std::string text_of(const Copy& copy, const char* what, int number) {
  const TmaDescriptorParams& map = copy.map;
  return std::string(what) + " " + std::to_string(number) + ": " + to_text(map.data_type) + ", rank " +
         std::to_string(map.rank) + ", swizzle " + to_text(map.swizzle) +
         (map.fill == TmaFill::nan ? ", NaN fill" : "");
}

template <class Machine>
void add_random_copies(Cases<Machine>& cases) {
  Dice dice(1);
  for (int i = 0; i < 150; ++i) {
    const Copy copy = random_tiled(dice, 1 + i % 5, false);
    const Bytes data = dice.bytes(copy.bytes);
    cases.push_back({text_of(copy, "load", i), [=](Machine& m) { load_and_show(m, copy, data); }});
  }
  for (int i = 0; i < 100; ++i) {
    const Copy copy = random_tiled(dice, 1 + i % 5, true);
    const Bytes before = dice.bytes(copy.bytes), tile = dice.bytes(image_bytes(copy.map));
    cases.push_back({text_of(copy, "store", i), [=](Machine& m) { store_and_show(m, copy, before, tile); }});
  }
  for (int i = 0; i < 120; ++i) {
    const Copy copy = random_im2col(dice, 3 + i % 3);
    const Bytes data = dice.bytes(copy.bytes);
    cases.push_back({text_of(copy, "im2col load", i), [=](Machine& m) { load_and_show(m, copy, data); }});
  }
}

// Columns of pixels that start inside of the tensor and may run past its last image. No padding and no steps: an im2col
// store takes no offsets, and may not start before the tensor.
template <class Machine>
void add_im2col_stores(Cases<Machine>& cases) {
  Dice dice(5);
  for (int i = 0; i < 24; ++i) {
    const bool adds = i % 4 == 3;
    Copy copy = random_im2col(dice, 3 + i % 3);
    while (adds && copy.map.data_type != TmaDataType::u32 && copy.map.data_type != TmaDataType::s32) {
      copy = random_im2col(dice, 3 + i % 3);
    }
    for (std::uint32_t axis = 1; axis + 1 < copy.map.rank; ++axis) {
      copy.map.lower_corner[axis - 1] = copy.map.upper_corner[axis - 1] = 0;
      copy.map.element_strides[axis] = 1;
      copy.at[axis] = dice.between(0, static_cast<int>(copy.map.dims[axis]) - 1);
    }
    const Bytes before = dice.bytes(copy.bytes), tile = dice.bytes(image_bytes(copy.map));
    const auto body = [=](Machine& m) {
      with_rank<3, 5>(static_cast<int>(copy.map.rank), [&]<int Rank>() {
        if (adds) {
          store_and_show<StoreBox<Rank, Im2colAdds>>(m, copy, before, tile);
        } else {
          store_and_show<StoreBox<Rank, Im2colStores>>(m, copy, before, tile);
        }
      });
    };
    cases.push_back({text_of(copy, adds ? "im2col add" : "im2col store", i), body});
  }
}

template <class Machine>
void add_multicasts(Cases<Machine>& cases) {
  struct Shape {
    std::uint32_t cluster, issuer;
    std::uint16_t mask;
    std::uint32_t offset;
  };
  constexpr Shape kShapes[] = {
      {2, 0, 0b11, 0}, {2, 1, 0b01, 0}, {4, 2, 0b1011, 1024}, {4, 3, 0b1111, 128}, {8, 5, 0b10100110, 0}};
  for (const Shape shape : kShapes) {
    const auto body = [shape](Machine& m) {
      Dice dice(2);
      TmaDescriptorParams map{.data_type = TmaDataType::bf16,
                              .rank = 2,
                              .dims = {128, 40},
                              .strides = {256},
                              .box = {64, 16},
                              .swizzle = TmaSwizzle::bytes_128};
      map.address = reinterpret_cast<std::uint64_t>(m.buffer(dice.bytes(40 * 256)));
      const std::uint32_t bytes = image_bytes(map, shape.offset);
      Multicast::Params params{};
      params.map = m.map(map);
      params.at[0] = 64, params.at[1] = 30;  // six rows lie outside
      params.box_bytes = static_cast<std::uint32_t>(transaction_bytes(map));
      params.offset = shape.offset, params.issuer = shape.issuer, params.mask = shape.mask;
      params.images = m.buffer(Bytes(bytes * shape.cluster));
      params.image_bytes = bytes;
      LaunchConfig config = one_cta<Multicast>("multicast");
      config.grid = config.cluster = {shape.cluster};
      m.template launch<Multicast>(config, params);
      m.result(params.images, bytes * shape.cluster);
    };
    cases.push_back(
        {"multicast to mask " + std::to_string(shape.mask) + " of a cluster of " + std::to_string(shape.cluster),
         body});
  }
}

}  // namespace gantry::conformance
