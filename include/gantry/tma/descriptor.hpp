// A tensor map in two forms: its arguments with names (`TmaDescriptorParams`), and the 128 opaque
// bytes that a copy instruction is given (`TmaDescriptor`).
//
// On a machine with a GPU the bytes come from the driver (`tma/encode.hpp`). Everywhere else `pack`
// writes the arguments themselves into the same 128 bytes, so that a map can be stored, copied,
// edited field by field and tracked as bytes without a GPU. Invariant: for arguments that the rules
// accept, `unpack(pack(p)) == canonical(p)`; bytes that `pack` did not write (zeros, ones, garbage,
// an overwritten map) unpack to nothing.
//
// Example:
//     constexpr gantry::TmaDescriptorParams a{
//         .data_type = gantry::TmaDataType::bf16,
//         .rank = 2,
//         .dims = {8192, 4096},       // elements, innermost first
//         .strides = {16384},         // bytes, of dimension 1 and up
//         .box = {64, 128},
//         .swizzle = gantry::TmaSwizzle::bytes_128};
//     constexpr gantry::TmaDescriptor map = gantry::pack(a);
//     static_assert(gantry::unpack(map)->box[1] == 128);
#pragma once

#include <gantry/tma/enums.hpp>

namespace gantry {

inline constexpr int kTmaMaxRank = 5;
inline constexpr int kTmaMaxSpatialRank = 3;

// Every argument of the driver's tiled and im2col encoders. Index 0 of `dims`, `box` and
// `element_strides` is the innermost dimension; `strides[i]` is the byte stride of dimension i + 1
// (that of dimension 0 is the element size). Dimensions of an im2col map are C, W, H, D, N; those of an interleaved
// map, tiled or im2col, are W, H, D, C, N: a position along W is a slice of channels, 16 or 32 bytes, and C counts
// slices, of which a copy moves one (docs/measurements/hardware.md). Im2col corners are in W, H, D order. Entries
// beyond the rank, `box` of an im2col map and the im2col fields of a tiled map are not read.
struct TmaDescriptorParams {
  TmaMode mode = TmaMode::tiled;
  TmaDataType data_type = TmaDataType::u8;
  std::uint32_t rank = 1;
  std::uint64_t address = 0;
  std::uint64_t dims[kTmaMaxRank] = {1, 1, 1, 1, 1};
  std::uint64_t strides[kTmaMaxRank - 1] = {0, 0, 0, 0};
  std::uint32_t box[kTmaMaxRank] = {1, 1, 1, 1, 1};
  std::uint32_t element_strides[kTmaMaxRank] = {1, 1, 1, 1, 1};
  TmaInterleave interleave = TmaInterleave::none;
  TmaSwizzle swizzle = TmaSwizzle::none;
  TmaL2Promotion l2_promotion = TmaL2Promotion::bytes_128;
  TmaFill fill = TmaFill::zero;
  std::int32_t lower_corner[kTmaMaxSpatialRank] = {0, 0, 0};
  std::int32_t upper_corner[kTmaMaxSpatialRank] = {0, 0, 0};
  std::uint32_t channels_per_pixel = 1;
  std::uint32_t pixels_per_column = 1;

  friend constexpr bool operator==(const TmaDescriptorParams&, const TmaDescriptorParams&) noexcept = default;
};

// What the driver's CUtensorMap is: 128 bytes that only an encoder understands. The driver asks for
// 64-byte alignment; 128 keeps a map within one line and agrees with CUDA 13's own type.
struct alignas(128) TmaDescriptor {
  std::uint64_t words[16];  // no initialiser: a trivial type may live in shared memory

  friend constexpr bool operator==(const TmaDescriptor&, const TmaDescriptor&) noexcept = default;
};
static_assert(sizeof(TmaDescriptor) == 128 && alignof(TmaDescriptor) == 128);

// The rank, brought into the range that the arrays have.
GANTRY_HD constexpr int clamped_rank(const TmaDescriptorParams& params) noexcept {
  return params.rank > kTmaMaxRank ? kTmaMaxRank : static_cast<int>(params.rank);
}

// Spatial dimensions (W, H, D) of an im2col map: all but channels and images.
GANTRY_HD constexpr int spatial_rank(const TmaDescriptorParams& params) noexcept {
  const int rank = clamped_rank(params);
  return rank < 2 ? 0 : rank - 2;
}

// What the global address and every stride must be a multiple of, in bytes.
GANTRY_HD constexpr std::uint64_t address_alignment(const TmaDescriptorParams& params) noexcept {
  return params.interleave == TmaInterleave::bytes_32 ? 32 : 16;
}

// Bytes of a slice of channels; 0 where a map is not interleaved.
GANTRY_HD constexpr std::uint64_t slice_bytes(const TmaDescriptorParams& params) noexcept {
  return params.interleave == TmaInterleave::none ? 0 : address_alignment(params);
}

// The dimension of a convolution's channels, and that of W; H and D follow it.
GANTRY_HD constexpr int channel_dimension(const TmaDescriptorParams& params) noexcept {
  return params.interleave == TmaInterleave::none ? 0 : clamped_rank(params) - 2;
}
GANTRY_HD constexpr int first_pixel_dimension(const TmaDescriptorParams& params) noexcept {
  return params.interleave == TmaInterleave::none ? 1 : 0;
}

// Positions of the box of a tiled map along dimension `i`: a step of s keeps every s-th element of
// the box. Dimension 0 is only stepped when the map is interleaved.
GANTRY_HD constexpr std::uint64_t box_positions(const TmaDescriptorParams& params, int i) noexcept {
  const bool stepped = i > 0 || params.interleave != TmaInterleave::none;
  const std::uint64_t step = stepped && params.element_strides[i] > 0 ? params.element_strides[i] : 1;
  return (params.box[i] + step - 1) / step;
}

// Elements of the box or column in bytes: what the driver measures, whatever a copy delivers of them.
GANTRY_HD constexpr std::uint64_t encoded_bytes(const TmaDescriptorParams& params) noexcept {
  const auto bytes = static_cast<std::uint64_t>(element_bytes(params.data_type));
  if (params.mode == TmaMode::im2col) {
    return bytes * params.channels_per_pixel * params.pixels_per_column;
  }
  std::uint64_t total = bytes;
  for (int i = 0; i < clamped_rank(params); ++i) total *= box_positions(params, i);
  return total;
}

// Bytes that one copy instruction delivers and credits to its barrier, filled elements included.
GANTRY_HD constexpr std::uint64_t transaction_bytes(const TmaDescriptorParams& params) noexcept {
  if (params.interleave == TmaInterleave::none) return encoded_bytes(params);
  if (params.mode == TmaMode::im2col) return slice_bytes(params) * params.pixels_per_column;
  std::uint64_t total = slice_bytes(params);
  for (int i = 0; i < clamped_rank(params); ++i) total *= i == channel_dimension(params) ? 1 : box_positions(params, i);
  return total;
}

// The same map with every argument that is not read set to its default.
GANTRY_HD constexpr TmaDescriptorParams canonical(const TmaDescriptorParams& params) noexcept {
  constexpr TmaDescriptorParams unused{};
  TmaDescriptorParams p = params;
  for (int i = clamped_rank(p); i < kTmaMaxRank; ++i) {
    p.dims[i] = unused.dims[i];
    p.box[i] = unused.box[i];
    p.element_strides[i] = unused.element_strides[i];
    p.strides[i > 0 ? i - 1 : 0] = unused.strides[0];
  }
  const bool im2col = p.mode == TmaMode::im2col;
  for (int i = im2col ? spatial_rank(p) : 0; i < kTmaMaxSpatialRank; ++i) {
    p.lower_corner[i] = unused.lower_corner[i];
    p.upper_corner[i] = unused.upper_corner[i];
  }
  if (im2col) {
    for (int i = 0; i < kTmaMaxRank; ++i) p.box[i] = unused.box[i];
  } else {
    p.channels_per_pixel = unused.channels_per_pixel;
    p.pixels_per_column = unused.pixels_per_column;
  }
  return p;
}

// The result of `unpack`: the arguments, or nothing.
class UnpackedTmaDescriptor {
 public:
  constexpr UnpackedTmaDescriptor() noexcept = default;
  GANTRY_HD constexpr explicit UnpackedTmaDescriptor(const TmaDescriptorParams& params) noexcept
      : params_(params), has_value_(true) {}

  GANTRY_HD constexpr explicit operator bool() const noexcept { return has_value_; }
  GANTRY_HD constexpr bool has_value() const noexcept { return has_value_; }
  GANTRY_HD constexpr const TmaDescriptorParams& operator*() const noexcept { return params_; }
  GANTRY_HD constexpr const TmaDescriptorParams* operator->() const noexcept { return &params_; }

 private:
  TmaDescriptorParams params_{};
  bool has_value_ = false;
};

namespace tma_detail {

inline constexpr std::uint64_t kTmaPackedMagic = 0x31'50'41'4d'41'4d'54'47;  // "GTMAMAP1", little-endian
inline constexpr int kTmaFirstFieldBit = 64;
inline constexpr int kTmaChecksumWord = 15;

// A packed field holds (value - bias) / unit in `width` bits; a value that this cannot hold is not
// representable.
struct PackedField {
  int width = 0;
  std::int64_t bias = 0;
  int shift = 0;
};

// The one description of the packed format: `pack` and `unpack` both walk it. `codec(field, value)`
// is called in bit order.
template <class Params, class Codec>
GANTRY_COLD GANTRY_HD constexpr void for_each_packed_field(Params& p, Codec& codec) noexcept {
  codec(PackedField{.width = 64}, p.address);
  for (auto& dim : p.dims) codec(PackedField{.width = 32, .bias = 1}, dim);
  for (auto& stride : p.strides) codec(PackedField{.width = 36, .shift = 4}, stride);
  for (auto& extent : p.box) codec(PackedField{.width = 8, .bias = 1}, extent);
  for (auto& step : p.element_strides) codec(PackedField{.width = 3, .bias = 1}, step);
  for (auto& corner : p.lower_corner) codec(PackedField{.width = 16, .bias = -32768}, corner);
  for (auto& corner : p.upper_corner) codec(PackedField{.width = 16, .bias = -32768}, corner);
  codec(PackedField{.width = 8, .bias = 1}, p.channels_per_pixel);
  codec(PackedField{.width = 10, .bias = 1}, p.pixels_per_column);
  codec(PackedField{.width = 3}, p.rank);
  codec(PackedField{.width = 1}, p.mode);
  codec(PackedField{.width = 4}, p.data_type);
  codec(PackedField{.width = 2}, p.interleave);
  codec(PackedField{.width = 3}, p.swizzle);
  codec(PackedField{.width = 2}, p.l2_promotion);
  codec(PackedField{.width = 1}, p.fill);
}

GANTRY_HD constexpr std::uint64_t low_mask(int width) noexcept {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

struct PackedWriter {
  TmaDescriptor map{};
  int at = kTmaFirstFieldBit;
  bool representable = true;

  template <class T>
  GANTRY_HD constexpr void operator()(PackedField field, T value) noexcept {
    const std::uint64_t shifted = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(field.bias);
    const std::uint64_t code = shifted >> field.shift;
    representable = representable && code << field.shift == shifted && code <= low_mask(field.width);
    const int word = at / 64, bit = at % 64;
    map.words[word] |= code << bit;
    if (bit + field.width > 64) map.words[word + 1] |= code >> (64 - bit);
    at += field.width;
  }
};

struct PackedReader {
  const TmaDescriptor& map;
  int at = kTmaFirstFieldBit;

  template <class T>
  GANTRY_HD constexpr void operator()(PackedField field, T& value) noexcept {
    const int word = at / 64, bit = at % 64;
    std::uint64_t code = map.words[word] >> bit;
    if (bit + field.width > 64) code |= map.words[word + 1] << (64 - bit);
    code = ((code & low_mask(field.width)) << field.shift) + static_cast<std::uint64_t>(field.bias);
    value = static_cast<T>(static_cast<std::int64_t>(code));
    at += field.width;
  }
};

GANTRY_HD constexpr std::uint64_t checksum(const TmaDescriptor& map) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < kTmaChecksumWord; ++i) {
    hash = (hash ^ map.words[i]) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

// Packs every field as it is, entries beyond the rank too: field-wise replacement may set those
// before it raises the rank.
GANTRY_HD constexpr TmaDescriptor pack_all(const TmaDescriptorParams& params) noexcept {
  PackedWriter writer;
  for_each_packed_field(params, writer);
  if (!writer.representable) return TmaDescriptor{};
  writer.map.words[0] = kTmaPackedMagic;
  writer.map.words[kTmaChecksumWord] = checksum(writer.map);
  return writer.map;
}

}  // namespace tma_detail

// Guarantees: arguments that the rules accept round-trip through `unpack`. Arguments that have no
// packed form (an extent of 0, a stride that is not a multiple of 16, ...) give the zero map, which
// `unpack` recognises as no map at all.
GANTRY_HD constexpr TmaDescriptor pack(const TmaDescriptorParams& params) noexcept {
  return tma_detail::pack_all(canonical(params));
}

GANTRY_HD constexpr UnpackedTmaDescriptor unpack(const TmaDescriptor& map) noexcept {
  if (map.words[0] != tma_detail::kTmaPackedMagic) return {};
  if (map.words[tma_detail::kTmaChecksumWord] != tma_detail::checksum(map)) return {};
  TmaDescriptorParams params;
  tma_detail::PackedReader reader{map};
  tma_detail::for_each_packed_field(params, reader);
  return UnpackedTmaDescriptor{params};
}

}  // namespace gantry
