// Compares the driver's verdict on every recorded argument list with the record and with the validator, on a machine
// with a Hopper GPU. Prints a line for each disagreement, what the driver says of the cases that nobody has recorded,
// and "N passed, N failed" last.
//
//   nvcc -std=c++20 -Iinclude -gencode arch=compute_90a,code=sm_90a tests/tma/gpu_encode_conformance.cu
//        -o gpu_encode_conformance && ./gpu_encode_conformance
#include <cstdio>
#include <type_traits>

#include <cuda.h>
#include <cudaTypedefs.h>

#include <gantry/tma/encode.hpp>

#include "encode_cases.hpp"
#include "random_params.hpp"

namespace {

using namespace gantry;

static_assert(sizeof(CUtensorMap) == sizeof(TmaDescriptor));
static_assert(static_cast<int>(TmaDataType::bf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 &&
              static_cast<int>(TmaDataType::f64) == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 &&
              static_cast<int>(TmaDataType::f32_ftz) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ &&
              static_cast<int>(TmaDataType::tf32_ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(static_cast<int>(TmaInterleave::bytes_32) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(static_cast<int>(TmaSwizzle::bytes_128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(static_cast<int>(TmaL2Promotion::bytes_256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(static_cast<int>(TmaFill::nan) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
static_assert(CUDA_SUCCESS == tma_detail::kDriverSuccess);

// A type of the driver's as ours are written: an enumeration is an int, and a map has no type.
template <class T>
struct Plain {
  static_assert(!std::is_enum_v<T> || sizeof(T) == sizeof(int));
  using Type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <>
struct Plain<CUtensorMap*> {
  using Type = void*;
};
template <class Result, class... Arguments>
struct Plain<Result (*)(Arguments...)> {
  using Type = typename Plain<Result>::Type (*)(typename Plain<Arguments>::Type...);
};
static_assert(std::is_same_v<tma_detail::EncodeTiled, Plain<PFN_cuTensorMapEncodeTiled_v12000>::Type>);
static_assert(std::is_same_v<tma_detail::EncodeIm2col, Plain<PFN_cuTensorMapEncodeIm2col_v12000>::Type>);
static_assert(std::is_same_v<tma_detail::ReplaceAddress, Plain<PFN_cuTensorMapReplaceAddress_v12000>::Type>);

struct Tally {
  int passed = 0;
  int failed = 0;

  void count(bool good) { (good ? passed : failed) += 1; }
};

const char* verdict(bool accepted) { return accepted ? "accepts" : "rejects"; }

bool driver_takes(const TmaDescriptorParams& params) {
  TmaDescriptor map{};
  return tma_detail::call_encoder(params, map) == CUDA_SUCCESS;
}

void print_violations(const TmaDescriptorParams& params) {
  for (const TmaViolation& violation : validate(params)) {
    std::printf("    %s: %s\n", to_text(violation.severity()), describe(violation).c_str());
  }
}

void print_params(const TmaDescriptorParams& p) {
  std::printf("    %s %s rank %u address %llx interleave %s swizzle %s fill %s\n", to_text(p.mode),
              to_text(p.data_type), p.rank, static_cast<unsigned long long>(p.address), to_text(p.interleave),
              to_text(p.swizzle), to_text(p.fill));
  for (int i = 0; i < kTmaMaxRank; ++i) {
    std::printf("    dim %llu stride %llu box %u step %u corners %d %d\n", static_cast<unsigned long long>(p.dims[i]),
                static_cast<unsigned long long>(i == 0 ? 0 : p.strides[i - 1]), p.box[i], p.element_strides[i],
                i < 3 ? p.lower_corner[i] : 0, i < 3 ? p.upper_corner[i] : 0);
  }
  std::printf("    channels %u pixels %u\n", p.channels_per_pixel, p.pixels_per_column);
}

// Whether every broken rule is one that some drivers keep and others do not. Driver 580.159 counts the elements of a
// box with steps downwards, so that it takes boxes that no shared memory holds, and takes im2col maps of 2^31 pixels in
// a row; an earlier one refused both. The rules stay with the earlier one.
bool drivers_differ(const TmaDescriptorParams& params) {
  bool any = false;
  for (const TmaViolation& violation : validate(params)) {
    if (violation.severity() != TmaSeverity::driver_rejects) continue;
    if (violation.rule != TmaRule::box_bytes_too_large && violation.rule != TmaRule::spatial_extent_too_large) {
      return false;
    }
    any = true;
  }
  return any;
}

void check_recorded(Tally& tally) {
  for (const testing::EncodeCase& c : testing::kEncodeCases) {
    const TmaDescriptorParams params = c.params();
    const bool driver = driver_takes(params);
    const bool recorded = c.verdict == testing::Verdict::accepts;
    const bool ours = driver_accepts(params);
    const bool good = (driver == recorded && driver == ours) || (recorded == ours && drivers_differ(params));
    tally.count(good);
    if (good) continue;
    std::printf("%s: the driver %s, the record %s, the rules %s\n", c.name, verdict(driver), verdict(recorded),
                verdict(ours));
    print_violations(params);
  }
}

void show_open() {
  for (const testing::EncodeCase& c : testing::kOpenCases) {
    const TmaDescriptorParams params = c.params();
    const bool driver = driver_takes(params), ours = driver_accepts(params);
    std::printf("open: %s: the driver %s, the rules %s%s\n", c.name, verdict(driver), verdict(ours),
                driver == ours ? "" : "  <-- differ");
  }
}

// Random arguments, whole and damaged: driver and rules must agree on each. At most ten disagreements are shown.
void check_random(Tally& tally) {
  testing::ParamsGenerator random(7);
  int shown = 0;
  for (int i = 0; i < 20000; ++i) {
    const TmaDescriptorParams params = i % 4 == 0 ? random.legal() : random.damaged(i % 4);
    // The driver reads as many entries of our arrays as the rank says.
    if (params.mode > TmaMode::im2col || params.rank > kTmaMaxRank + 1) continue;
    // The driver refuses some wide pixels of interleaved im2col maps; by which rule is not known.
    if (params.mode == TmaMode::im2col && params.interleave != TmaInterleave::none) continue;
    const bool driver = driver_takes(params), ours = driver_accepts(params);
    const bool good = driver == ours || drivers_differ(params);
    tally.count(good);
    if (good || ++shown > 10) continue;
    std::printf("random %d: the driver %s, the rules %s\n", i, verdict(driver), verdict(ours));
    print_params(params);
    print_violations(params);
  }
}

void check_replacement(Tally& tally) {
  EncodedTmaDescriptor encoded = encode_with_driver(testing::matrix_params());
  tally.count(encoded.ok());
  TmaDescriptorParams moved = testing::matrix_params();
  moved.address += 4096;
  const auto replaced = [&encoded](std::uint64_t address) {
    return replace_address_with_driver(encoded.map, reinterpret_cast<void*>(address));
  };
  tally.count(replaced(moved.address) == TmaEncodeStatus::encoded);
  tally.count(encoded.map == encode_with_driver(moved).map);
  tally.count(replaced(moved.address + 8) == TmaEncodeStatus::refused_by_driver);
}

}  // namespace

int main() {
  TmaDescriptor map{};
  if (tma_detail::call_encoder(testing::matrix_params(), map) == tma_detail::kNoDriver) {
    std::puts("no CUDA driver here");
    return 2;
  }
  Tally tally;
  check_recorded(tally);
  show_open();
  check_random(tally);
  check_replacement(tally);
  std::printf("%d passed, %d failed\n", tally.passed, tally.failed);
  return tally.failed == 0 ? 0 : 1;
}
