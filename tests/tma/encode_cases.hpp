// What a driver (580, on an H200) was seen to take and to refuse, as argument lists. The host test compares the
// validator with these verdicts; the GPU program compares the driver with both.
#pragma once

#include <gantry/tma/descriptor.hpp>

namespace gantry::testing {

// `unobserved` cases are shown by the GPU program and judged by nobody.
enum class Verdict { accepts, rejects, unobserved };

struct EncodeCase {
  const char* name;
  Verdict verdict;
  bool im2col;
  void (*edit)(TmaDescriptorParams&);

  TmaDescriptorParams params() const;
};

// A matrix of 4096 x 4096 bf16 with a 64 x 64 box.
inline TmaDescriptorParams matrix_params() {
  TmaDescriptorParams p;
  p.data_type = TmaDataType::bf16;
  p.rank = 2;
  p.address = 0x7f0000000000;
  p.dims[0] = p.dims[1] = 4096;
  p.strides[0] = 8192;
  p.box[0] = p.box[1] = 64;
  return p;
}

// Eight 56 x 56 images of 64 f16 channels, for a 3 x 3 filter with padding 1.
inline TmaDescriptorParams image_params() {
  TmaDescriptorParams p;
  p.mode = TmaMode::im2col;
  p.data_type = TmaDataType::f16;
  p.rank = 4;
  p.address = 0x7f0000000000;
  const std::uint64_t dims[] = {64, 56, 56, 8};
  std::uint64_t stride = 2;
  for (int i = 0; i < 4; ++i) {
    p.dims[i] = dims[i];
    if (i > 0) p.strides[i - 1] = stride;
    stride *= dims[i];
  }
  p.lower_corner[0] = p.lower_corner[1] = -1;
  p.upper_corner[0] = p.upper_corner[1] = -1;
  p.channels_per_pixel = 64;
  p.pixels_per_column = 64;
  return p;
}

inline TmaDescriptorParams EncodeCase::params() const {
  TmaDescriptorParams p = im2col ? image_params() : matrix_params();
  edit(p);
  return p;
}

namespace cases {

using P = TmaDescriptorParams;

template <int rank>
void volume(P& p) {
  p.rank = rank;
  for (int i = 2; i < rank; ++i) {
    p.dims[i] = 4;
    p.strides[i - 1] = p.strides[i - 2] * p.dims[i - 1];
  }
}

template <TmaInterleave interleave, TmaSwizzle swizzle>
void interleaved(P& p) {
  volume<3>(p);
  p.interleave = interleave;
  p.swizzle = swizzle;
  p.box[0] = interleave == TmaInterleave::bytes_16 ? 8 : 16;
  p.box[2] = 2;
}

template <TmaDataType type>
void nan_filled(P& p) {
  p.data_type = type;
  p.fill = TmaFill::nan;
  p.strides[0] = 4096 * 8;
  p.box[0] = 16;
}

template <int code>
void typed(P& p) {
  p.data_type = static_cast<TmaDataType>(code);
  p.strides[0] = 4096 * 8;
  p.box[0] = 128;
}

template <TmaSwizzle swizzle, int inner>
void swizzled(P& p) {
  p.swizzle = swizzle;
  p.box[0] = inner;
}

template <TmaDataType type, int... extents>
void boxed(P& p) {
  constexpr std::uint32_t box[] = {extents...};
  volume<static_cast<int>(sizeof...(extents))>(p);
  p.data_type = type;
  p.strides[0] = 4096 * 8;
  for (std::size_t i = 0; i < sizeof...(extents); ++i) p.box[i] = box[i];
}

template <int rank, int lower, int upper>
void corners(P& p) {
  p.rank = rank;
  const std::uint64_t dims[] = {64, 70000, 300, 40, 8};
  std::uint64_t stride = 2;
  for (int i = 0; i < rank; ++i) {
    p.dims[i] = i == rank - 1 ? 8 : dims[i];
    if (i > 0) p.strides[i - 1] = stride;
    stride *= p.dims[i];
  }
  for (int i = 0; i < rank - 2; ++i) {
    p.lower_corner[i] = lower;
    p.upper_corner[i] = upper;
  }
}

template <TmaSwizzle swizzle, int channels>
void channelled(P& p) {
  p.dims[0] = 512;
  std::uint64_t stride = 1024;
  for (int i = 1; i < 4; ++i) {
    p.strides[i - 1] = stride;
    stride *= p.dims[i];
  }
  p.swizzle = swizzle;
  p.channels_per_pixel = channels;
}

}  // namespace cases

constexpr std::uint64_t kTwoTo32 = std::uint64_t{1} << 32;
constexpr std::uint64_t kTwoTo40 = std::uint64_t{1} << 40;
constexpr Verdict kTakes = Verdict::accepts, kRefuses = Verdict::rejects, kUnseen = Verdict::unobserved;

// clang-format off
inline const EncodeCase kEncodeCases[] = {
    {"the plain matrix", kTakes, false, [](cases::P&) {}},
    {"the plain image", kTakes, true, [](cases::P&) {}},

    {"address aligned to 8", kRefuses, false, [](cases::P& p) { p.address += 8; }},
    {"address aligned to 16", kTakes, false, [](cases::P& p) { p.address += 16; }},
    {"address aligned to 16, swizzle 32B", kTakes, false, [](cases::P& p) { p.address += 16; cases::swizzled<TmaSwizzle::bytes_32, 16>(p); }},
    {"address aligned to 16, swizzle 64B", kTakes, false, [](cases::P& p) { p.address += 16; cases::swizzled<TmaSwizzle::bytes_64, 32>(p); }},
    {"address aligned to 16, swizzle 128B", kTakes, false, [](cases::P& p) { p.address += 16; cases::swizzled<TmaSwizzle::bytes_128, 64>(p); }},
    {"null address", kTakes, false, [](cases::P& p) { p.address = 0; }},
    {"interleave 32B, address aligned to 16", kRefuses, false, [](cases::P& p) { cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::bytes_32>(p); p.address += 16; }},

    {"stride not a multiple of 16", kRefuses, false, [](cases::P& p) { p.strides[0] = 8200; }},
    {"stride 2^40", kRefuses, false, [](cases::P& p) { p.strides[0] = kTwoTo40; }},
    {"stride 2^40 - 16", kTakes, false, [](cases::P& p) { p.strides[0] = kTwoTo40 - 16; }},
    {"stride smaller than the row", kTakes, false, [](cases::P& p) { p.strides[0] = 4096; }},
    {"stride 16", kTakes, false, [](cases::P& p) { p.strides[0] = 16; }},
    {"stride 0", kTakes, false, [](cases::P& p) { p.strides[0] = 0; }},
    {"outer stride smaller than inner", kTakes, false, [](cases::P& p) { cases::volume<3>(p); p.strides[1] = 4096; }},
    {"interleave 32B, stride a multiple of 16 only", kRefuses, false, [](cases::P& p) { cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::bytes_32>(p); p.strides[0] = 8192 + 16; }},

    {"extent 0", kRefuses, false, [](cases::P& p) { p.dims[1] = 0; }},
    {"extent 2^32 + 1", kRefuses, false, [](cases::P& p) { p.dims[1] = kTwoTo32 + 1; }},
    {"extent 2^32", kTakes, false, [](cases::P& p) { p.dims[1] = kTwoTo32; }},
    {"odd extents", kTakes, false, [](cases::P& p) { p.dims[0] = 4095; p.dims[1] = 77; }},

    {"box 0", kRefuses, false, [](cases::P& p) { p.box[1] = 0; }},
    {"box 257", kRefuses, false, [](cases::P& p) { p.box[1] = 257; }},
    {"box 256", kTakes, false, [](cases::P& p) { p.box[1] = 256; }},
    {"box larger than the tensor", kTakes, false, [](cases::P& p) { p.dims[1] = 8; }},
    {"inner box 8 bytes", kRefuses, false, [](cases::P& p) { p.box[0] = 4; }},
    {"inner box 24 bytes", kRefuses, false, [](cases::P& p) { p.box[0] = 12; }},
    {"inner box 16 bytes", kTakes, false, [](cases::P& p) { p.box[0] = 8; }},
    {"box of 256 KiB, 256 x 256 f32", kRefuses, false, cases::boxed<TmaDataType::f32, 256, 256>},
    {"box of 1 MiB, 64 x 128 x 64 bf16", kRefuses, false, cases::boxed<TmaDataType::bf16, 64, 128, 64>},
    {"box of 128 KiB, 256 x 256 bf16", kTakes, false, cases::boxed<TmaDataType::bf16, 256, 256>},

    {"inner box 64 bytes, swizzle 32B", kRefuses, false, cases::swizzled<TmaSwizzle::bytes_32, 32>},
    {"inner box 128 bytes, swizzle 64B", kRefuses, false, cases::swizzled<TmaSwizzle::bytes_64, 64>},
    {"inner box 144 bytes, swizzle 128B", kRefuses, false, cases::swizzled<TmaSwizzle::bytes_128, 72>},
    {"inner box 32 bytes, swizzle 32B", kTakes, false, cases::swizzled<TmaSwizzle::bytes_32, 16>},
    {"inner box 64 bytes, swizzle 64B", kTakes, false, cases::swizzled<TmaSwizzle::bytes_64, 32>},
    {"inner box 128 bytes, swizzle 128B", kTakes, false, cases::swizzled<TmaSwizzle::bytes_128, 64>},
    {"inner box 32 bytes, swizzle 128B", kTakes, false, cases::swizzled<TmaSwizzle::bytes_128, 16>},
    {"inner box 16 bytes, swizzle 64B", kTakes, false, cases::swizzled<TmaSwizzle::bytes_64, 8>},

    {"element stride 0", kRefuses, false, [](cases::P& p) { p.element_strides[1] = 0; }},
    {"element stride 9", kRefuses, false, [](cases::P& p) { p.element_strides[1] = 9; }},
    {"element stride 0 of dimension 0", kRefuses, false, [](cases::P& p) { p.element_strides[0] = 0; }},
    {"element stride 9 of dimension 0", kRefuses, false, [](cases::P& p) { p.element_strides[0] = 9; }},
    {"element stride 8", kTakes, false, [](cases::P& p) { p.element_strides[1] = 8; }},
    {"element stride 2 of dimension 0", kTakes, false, [](cases::P& p) { p.element_strides[0] = 2; }},
    {"box not a multiple of the step", kTakes, false, [](cases::P& p) { p.element_strides[1] = 3; }},

    {"rank 0", kRefuses, false, [](cases::P& p) { p.rank = 0; }},
    {"rank 6", kRefuses, false, [](cases::P& p) { p.rank = 6; }},
    {"rank 1", kTakes, false, [](cases::P& p) { p.rank = 1; }},
    {"rank 5", kTakes, false, cases::volume<5>},

    {"interleave 16B, rank 2", kRefuses, false, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.box[0] = 8; }},
    {"interleave enum 3", kRefuses, false, [](cases::P& p) { cases::volume<3>(p); p.interleave = static_cast<TmaInterleave>(3); }},
    {"interleave 16B, no swizzle", kTakes, false, cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::none>},
    {"interleave 16B, swizzle 32B", kTakes, false, cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::bytes_32>},
    {"interleave 16B, swizzle 64B", kTakes, false, cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::bytes_64>},
    {"interleave 16B, swizzle 128B", kTakes, false, cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::bytes_128>},
    {"interleave 32B, no swizzle", kTakes, false, cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::none>},
    {"interleave 32B, swizzle 32B", kTakes, false, cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::bytes_32>},
    {"interleave 32B, swizzle 64B", kTakes, false, cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::bytes_64>},
    {"interleave 32B, swizzle 128B", kTakes, false, cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::bytes_128>},

    {"NaN fill, u8", kRefuses, false, cases::nan_filled<TmaDataType::u8>},
    {"NaN fill, u16", kRefuses, false, cases::nan_filled<TmaDataType::u16>},
    {"NaN fill, s32", kRefuses, false, cases::nan_filled<TmaDataType::s32>},
    {"NaN fill, f16", kTakes, false, cases::nan_filled<TmaDataType::f16>},
    {"NaN fill, bf16", kTakes, false, cases::nan_filled<TmaDataType::bf16>},
    {"NaN fill, f32", kTakes, false, cases::nan_filled<TmaDataType::f32>},
    {"NaN fill, f64", kTakes, false, cases::nan_filled<TmaDataType::f64>},
    {"fill enum 2", kRefuses, false, [](cases::P& p) { p.fill = static_cast<TmaFill>(2); }},

    {"swizzle enum 4", kRefuses, false, cases::swizzled<static_cast<TmaSwizzle>(4), 64>},
    {"swizzle enum 5", kRefuses, false, cases::swizzled<static_cast<TmaSwizzle>(5), 64>},
    {"swizzle enum 6", kRefuses, false, cases::swizzled<static_cast<TmaSwizzle>(6), 64>},
    {"swizzle enum 7", kRefuses, false, cases::swizzled<static_cast<TmaSwizzle>(7), 64>},
    {"data type 13", kRefuses, false, cases::typed<13>},
    {"data type 14", kRefuses, false, cases::typed<14>},
    {"data type 15", kRefuses, false, cases::typed<15>},
    {"L2 promotion 4", kRefuses, false, [](cases::P& p) { p.l2_promotion = static_cast<TmaL2Promotion>(4); }},
    {"L2 promotion 3", kTakes, false, [](cases::P& p) { p.l2_promotion = TmaL2Promotion::bytes_256; }},

    {"im2col: rank 2", kRefuses, true, [](cases::P& p) { p.rank = 2; }},
    {"im2col: rank 6", kRefuses, true, [](cases::P& p) { p.rank = 6; }},
    {"im2col: rank 3, corner -32769", kRefuses, true, cases::corners<3, -32769, 0>},
    {"im2col: rank 3, corner 32768", kRefuses, true, cases::corners<3, 0, 32768>},
    {"im2col: rank 3, corners at their limits", kTakes, true, cases::corners<3, -32768, 32767>},
    {"im2col: rank 4, corner -129", kRefuses, true, cases::corners<4, -129, 0>},
    {"im2col: rank 4, corner 128", kRefuses, true, cases::corners<4, 0, 128>},
    {"im2col: rank 4, corners at their limits", kTakes, true, cases::corners<4, -128, 127>},
    {"im2col: rank 5, corner -17", kRefuses, true, cases::corners<5, -17, 0>},
    {"im2col: rank 5, corner 16", kRefuses, true, cases::corners<5, 0, 16>},
    {"im2col: rank 5, corners at their limits", kTakes, true, cases::corners<5, -16, 15>},
    {"im2col: an empty box on one axis", kRefuses, true, [](cases::P& p) { p.lower_corner[0] = 0; p.upper_corner[0] = -56; }},
    {"im2col: lower above upper, box not empty", kTakes, true, [](cases::P& p) { p.lower_corner[0] = 10; p.upper_corner[0] = -10; }},
    {"im2col: 0 channels", kRefuses, true, cases::channelled<TmaSwizzle::none, 0>},
    {"im2col: 257 channels", kRefuses, true, cases::channelled<TmaSwizzle::none, 257>},
    {"im2col: 256 channels", kTakes, true, cases::channelled<TmaSwizzle::none, 256>},
    {"im2col: channels of 24 bytes", kRefuses, true, cases::channelled<TmaSwizzle::none, 12>},
    {"im2col: channels wider than the swizzle", kRefuses, true, cases::channelled<TmaSwizzle::bytes_64, 64>},
    {"im2col: more channels than the tensor has", kTakes, true, [](cases::P& p) { p.channels_per_pixel = 128; }},
    {"im2col: 0 pixels", kRefuses, true, [](cases::P& p) { p.pixels_per_column = 0; }},
    {"im2col: 1025 pixels", kRefuses, true, [](cases::P& p) { p.pixels_per_column = 1025; }},
    {"im2col: 1 pixel", kTakes, true, [](cases::P& p) { p.pixels_per_column = 1; }},
    {"im2col: 1024 pixels", kTakes, true, [](cases::P& p) { p.pixels_per_column = 1024; }},
    {"im2col: step 0", kRefuses, true, [](cases::P& p) { p.element_strides[1] = 0; }},
    {"im2col: step 9", kRefuses, true, [](cases::P& p) { p.element_strides[1] = 9; }},
    {"im2col: step 8", kTakes, true, [](cases::P& p) { p.element_strides[1] = 8; }},
    {"im2col: step 2 on the images", kTakes, true, [](cases::P& p) { p.element_strides[3] = 2; }},

    {"box of 256 KiB that steps reduce to 128 KiB", kTakes, false, [](cases::P& p) { cases::boxed<TmaDataType::f32, 256, 256>(p); p.element_strides[1] = 2; }},
    {"box of 240 KiB, 240 x 256 f32", kRefuses, false, cases::boxed<TmaDataType::f32, 240, 256>},
    {"box of 228 KiB, 228 x 256 f32", kTakes, false, cases::boxed<TmaDataType::f32, 228, 256>},
    {"box of 256 KiB - 1 KiB, 256 x 255 f32", kRefuses, false, cases::boxed<TmaDataType::f32, 256, 255>},
    {"interleave 16B, inner box 24 bytes", kRefuses, false, [](cases::P& p) { cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::none>(p); p.box[0] = 12; }},
    {"interleave 16B, inner box 128 bytes", kTakes, false, [](cases::P& p) { cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::none>(p); p.box[0] = 64; }},
    {"interleave 16B, inner box 128 bytes, swizzle 32B", kTakes, false, [](cases::P& p) { cases::interleaved<TmaInterleave::bytes_16, TmaSwizzle::bytes_32>(p); p.box[0] = 64; }},
    {"NaN fill, tf32", kTakes, false, cases::nan_filled<TmaDataType::tf32>},
    {"NaN fill, f32.ftz", kTakes, false, cases::nan_filled<TmaDataType::f32_ftz>},
    {"NaN fill, u64", kRefuses, false, cases::nan_filled<TmaDataType::u64>},
    {"data type 16", kRefuses, false, cases::typed<16>},
    {"im2col: 256 x 1024 pixels of 512 bytes (512 KiB)", kRefuses, true, [](cases::P& p) { cases::channelled<TmaSwizzle::none, 256>(p); p.pixels_per_column = 1024; }},
    {"im2col: 256 x 512 pixels of 512 bytes (256 KiB)", kRefuses, true, [](cases::P& p) { cases::channelled<TmaSwizzle::none, 256>(p); p.pixels_per_column = 512; }},
    {"im2col: 256 x 511 pixels of 512 bytes", kRefuses, true, [](cases::P& p) { cases::channelled<TmaSwizzle::none, 256>(p); p.pixels_per_column = 511; }},
    {"im2col: step 2 on the channels", kTakes, true, [](cases::P& p) { p.element_strides[0] = 2; }},
    {"im2col: interleave 16B", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.channels_per_pixel = 8; }},
    {"im2col: interleave 16B, channels of 24 bytes", kRefuses, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.channels_per_pixel = 12; }},
    {"box of 229 KiB, 229 x 256 f32", kRefuses, false, cases::boxed<TmaDataType::f32, 229, 256>},
    {"box of 232 KiB, 232 x 256 f32", kRefuses, false, cases::boxed<TmaDataType::f32, 232, 256>},
    {"box of 236 KiB, 236 x 256 f32", kRefuses, false, cases::boxed<TmaDataType::f32, 236, 256>},
    {"im2col: 256 channels x 456 pixels (228 KiB)", kTakes, true, [](cases::P& p) { cases::channelled<TmaSwizzle::none, 256>(p); p.pixels_per_column = 456; }},
    {"im2col: 256 channels x 457 pixels", kRefuses, true, [](cases::P& p) { cases::channelled<TmaSwizzle::none, 256>(p); p.pixels_per_column = 457; }},
    {"interleave 32B, inner box 16 bytes", kTakes, false, [](cases::P& p) { cases::interleaved<TmaInterleave::bytes_32, TmaSwizzle::bytes_32>(p); p.box[0] = 8; }},
    {"im2col: 2^31 pixels in a row", kRefuses, true, [](cases::P& p) { p.dims[1] = std::uint64_t{1} << 31; }},
    {"im2col: interleave 16B, swizzle none, channels of 32 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::none; p.channels_per_pixel = 16; }},
    {"im2col: interleave 16B, swizzle none, channels of 64 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::none; p.channels_per_pixel = 32; }},
    {"im2col: interleave 16B, swizzle none, channels of 128 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::none; p.channels_per_pixel = 64; }},
    {"im2col: interleave 16B, swizzle none, channels of 256 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::none; p.channels_per_pixel = 128; }},
    {"im2col: interleave 16B, swizzle none, channels of 512 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::none; p.channels_per_pixel = 256; }},
    {"im2col: interleave 16B, swizzle 32B, channels of 32 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_32; p.channels_per_pixel = 16; }},
    {"im2col: interleave 16B, swizzle 32B, channels of 64 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_32; p.channels_per_pixel = 32; }},
    {"im2col: interleave 16B, swizzle 32B, channels of 128 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_32; p.channels_per_pixel = 64; }},
    {"im2col: interleave 16B, swizzle 32B, channels of 256 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_32; p.channels_per_pixel = 128; }},
    {"im2col: interleave 16B, swizzle 32B, channels of 512 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_32; p.channels_per_pixel = 256; }},
    {"im2col: interleave 16B, swizzle 128B, channels of 32 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_128; p.channels_per_pixel = 16; }},
    {"im2col: interleave 16B, swizzle 128B, channels of 64 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_128; p.channels_per_pixel = 32; }},
    {"im2col: interleave 16B, swizzle 128B, channels of 128 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_128; p.channels_per_pixel = 64; }},
    {"im2col: interleave 16B, swizzle 128B, channels of 256 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_128; p.channels_per_pixel = 128; }},
    {"im2col: interleave 16B, swizzle 128B, channels of 512 bytes", kTakes, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::bytes_128; p.channels_per_pixel = 256; }},
    {"im2col: 2^31 channels in the tensor", kTakes, true, [](cases::P& p) { p.dims[0] = std::uint64_t{1} << 31; }},
    {"im2col: 2^31 images", kTakes, true, [](cases::P& p) { p.dims[3] = std::uint64_t{1} << 31; }},
    {"im2col: 2^31 - 1 pixels in a row", kTakes, true, [](cases::P& p) { p.dims[1] = (std::uint64_t{1} << 31) - 1; }},
    {"im2col: 2^31 - 100 pixels in a row", kTakes, true, [](cases::P& p) { p.dims[1] = (std::uint64_t{1} << 31) - 100; }},
};

// What nobody has seen yet.
inline const EncodeCase kOpenCases[] = {
    {"im2col: interleave 16B, channels of 528 bytes", kUnseen, true, [](cases::P& p) { p.data_type = TmaDataType::f32; p.interleave = TmaInterleave::bytes_16; p.swizzle = TmaSwizzle::none; p.channels_per_pixel = 132; p.strides[0] = 256; p.strides[1] = 256 * 56; p.strides[2] = 256 * 56 * 56; }},
    {"im2col: interleave 32B, channels of 448 bytes, 474 pixels", kUnseen, true, [](cases::P& p) { p.interleave = TmaInterleave::bytes_32; p.swizzle = TmaSwizzle::bytes_32; p.channels_per_pixel = 224; p.pixels_per_column = 474; }},
};
// clang-format on

}  // namespace gantry::testing
