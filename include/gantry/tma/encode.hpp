// From arguments to the 128 bytes of a tensor map, or to the sentences that say why not. Host code.
//
// `encode_packed` needs nothing and serves machines without a GPU. `encode_with_driver` asks the CUDA driver, which it
// finds through the runtime, so that nothing links libcuda; it is there where the CUDA headers are. Both validate
// first: the driver answers every mistake with one code, the rules say which.
//
// Example:
//     constexpr gantry::EncodedTmaDescriptor a = gantry::encode_packed({.dims = {4096}, .box = {100}});
//     static_assert(!a.ok());
//     static_assert(gantry::describe(a) ==
//                   "box[0] is 100, 100 bytes: the innermost extent spans a multiple of 16 bytes; "
//                   "the nearest value that works is 96");
#pragma once

#include <cstdint>

#include <gantry/tma/rules.hpp>

#if __has_include(<cuda_runtime_api.h>)
#define GANTRY_HAVE_TMA_DRIVER 1
#if GANTRY_DEFINES_HOST
#include <cuda_runtime_api.h>
#endif
#else
#define GANTRY_HAVE_TMA_DRIVER 0
#endif

namespace gantry {

enum class [[nodiscard]] TmaEncodeStatus : std::uint8_t{
    encoded,
    refused_by_rules,   // see the violations
    no_driver,          // the runtime found no driver with this entry point
    refused_by_driver,  // the rules found nothing, and the driver answered `driver_code`
};

struct [[nodiscard]] EncodedTmaDescriptor {
  TmaDescriptor map{};
  TmaEncodeStatus status = TmaEncodeStatus::encoded;
  int driver_code = 0;
  TmaViolations violations{};  // pitfalls stand here too when the map was encoded

  constexpr bool ok() const noexcept { return status == TmaEncodeStatus::encoded; }
};

// Why there is no map: the first violation, and how many more there are.
GANTRY_COLD constexpr Sentence describe(const EncodedTmaDescriptor& encoded) {
  Sentence out;
  switch (encoded.status) {
    case TmaEncodeStatus::encoded:
      return out.append("the tensor map was encoded");
    case TmaEncodeStatus::no_driver:
      return out.append("no CUDA driver that encodes tensor maps was found; it needs version 12.0 or newer");
    case TmaEncodeStatus::refused_by_driver:
      return out.append("the driver refused the tensor map with code ")
          .append(encoded.driver_code)
          .append(", and no rule known here is broken");
    case TmaEncodeStatus::refused_by_rules:
      break;
  }
  int refusals = 0;
  for (const TmaViolation& violation : encoded.violations) {
    if (violation.severity() != TmaSeverity::driver_rejects) continue;
    if (refusals++ == 0) out.append(describe(violation));
  }
  if (refusals > 1) out.append(" (and ").append(refusals - 1).append(" more)");
  return out;
}

namespace tma_detail {

constexpr EncodedTmaDescriptor validated(const TmaDescriptorParams& params) noexcept {
  EncodedTmaDescriptor result;
  result.violations = validate(params);
  if (result.violations.has(TmaSeverity::driver_rejects)) result.status = TmaEncodeStatus::refused_by_rules;
  return result;
}

constexpr EncodedTmaDescriptor packed(const TmaDescriptorParams& params) noexcept {
  EncodedTmaDescriptor result = validated(params);
  if (result.ok()) result.map = pack(params);
  return result;
}

// The same at run time.
GANTRY_LINKAGE EncodedTmaDescriptor validated_now(const TmaDescriptorParams& params) noexcept;
GANTRY_LINKAGE EncodedTmaDescriptor packed_now(const TmaDescriptorParams& params) noexcept;

}  // namespace tma_detail

// Guarantees: the map unpacks to `canonical(params)`, or no map and the violations.
constexpr EncodedTmaDescriptor encode_packed(const TmaDescriptorParams& params) noexcept {
  return is_constant_evaluated() ? tma_detail::packed(params) : tma_detail::packed_now(params);
}

#if GANTRY_HAVE_TMA_DRIVER

namespace tma_detail {

// The driver's functions, with int for its enumerations: every source that nvcc compiles would read 200 KB of <cuda.h>
// and <cudaTypedefs.h> for them. tests/tma/gpu_encode_conformance.cu compares them with those.
using EncodeTiled = int (*)(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* dims,
                            const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                            int interleave, int swizzle, int promotion, int fill);
using EncodeIm2col = int (*)(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* dims,
                             const std::uint64_t* strides, const int* lower, const int* upper, std::uint32_t channels,
                             std::uint32_t pixels, const std::uint32_t* steps, int interleave, int swizzle,
                             int promotion, int fill);
using ReplaceAddress = int (*)(void* map, void* address);
inline constexpr int kDriverSuccess = 0;
inline constexpr int kNoDriver = -1;

// Calls the encoder with the arguments as they are. Returns the driver's code, or kNoDriver.
int call_encoder(const TmaDescriptorParams& p, TmaDescriptor& map) noexcept;

}  // namespace tma_detail

// Encodes for the GPU of the current device.
EncodedTmaDescriptor encode_with_driver(const TmaDescriptorParams& params) noexcept;
// Moves a map that the driver encoded to another address.
TmaEncodeStatus replace_address_with_driver(TmaDescriptor& map, void* address) noexcept;

#if GANTRY_DEFINES_HOST

namespace tma_detail {

// A driver function by name, or null. The runtime has loaded the driver by the time it answers.
template <class Function>
Function driver_entry(const char* name) noexcept {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault, &found);
#endif
  const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return usable ? reinterpret_cast<Function>(entry) : nullptr;
}

// The encoder's arrays. Wider than any rank, so that a rank of 6 reads zeros and not past the end.
struct DriverArrays {
  std::uint64_t dims[8] = {}, strides[8] = {};
  std::uint32_t box[8] = {}, steps[8] = {};
  int lower[8] = {}, upper[8] = {};

  explicit DriverArrays(const TmaDescriptorParams& p) noexcept {
    for (int i = 0; i < kTmaMaxRank; ++i) {
      dims[i] = p.dims[i];
      box[i] = p.box[i];
      steps[i] = p.element_strides[i];
      if (i < kTmaMaxRank - 1) strides[i] = p.strides[i];
      if (i < kTmaMaxSpatialRank) {
        lower[i] = p.lower_corner[i];
        upper[i] = p.upper_corner[i];
      }
    }
  }
};

inline int call_encoder(const TmaDescriptorParams& p, TmaDescriptor& map) noexcept {
  if (cudaFree(nullptr) != cudaSuccess) return kNoDriver;  // the encoder needs a context
  const DriverArrays arrays(p);
  auto* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(p.address));
  const auto type = static_cast<int>(p.data_type);
  const auto interleave = static_cast<int>(p.interleave);
  const auto swizzle = static_cast<int>(p.swizzle);
  const auto promotion = static_cast<int>(p.l2_promotion);
  const auto fill = static_cast<int>(p.fill);
  if (p.mode == TmaMode::im2col) {
    const auto encode = driver_entry<EncodeIm2col>("cuTensorMapEncodeIm2col");
    if (encode == nullptr) return kNoDriver;
    return encode(&map, type, p.rank, address, arrays.dims, arrays.strides, arrays.lower, arrays.upper,
                  p.channels_per_pixel, p.pixels_per_column, arrays.steps, interleave, swizzle, promotion, fill);
  }
  const auto encode = driver_entry<EncodeTiled>("cuTensorMapEncodeTiled");
  if (encode == nullptr) return kNoDriver;
  return encode(&map, type, p.rank, address, arrays.dims, arrays.strides, arrays.box, arrays.steps, interleave, swizzle,
                promotion, fill);
}

}  // namespace tma_detail

inline EncodedTmaDescriptor encode_with_driver(const TmaDescriptorParams& params) noexcept {
  EncodedTmaDescriptor result = tma_detail::validated_now(params);
  if (!result.ok()) return result;
  result.driver_code = tma_detail::call_encoder(params, result.map);
  if (result.driver_code == tma_detail::kNoDriver) {
    result.status = TmaEncodeStatus::no_driver;
  } else if (result.driver_code != tma_detail::kDriverSuccess) {
    result.status = TmaEncodeStatus::refused_by_driver;
  }
  return result;
}

inline TmaEncodeStatus replace_address_with_driver(TmaDescriptor& map, void* address) noexcept {
  const auto replace = tma_detail::driver_entry<tma_detail::ReplaceAddress>("cuTensorMapReplaceAddress");
  if (replace == nullptr) return TmaEncodeStatus::no_driver;
  const bool moved = replace(&map, address) == tma_detail::kDriverSuccess;
  return moved ? TmaEncodeStatus::encoded : TmaEncodeStatus::refused_by_driver;
}

#endif

#endif  // GANTRY_HAVE_TMA_DRIVER

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/tma/detail/encode_definitions.hpp>
#endif
