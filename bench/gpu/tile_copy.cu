// The tile copy against cudaMemcpyAsync from device to device, in the same process: boxes x stages x CTAs.
//
//   tile_copy_bench [GiB]
//
// Every configuration is checked first. Then it and cudaMemcpyAsync take turns, kRounds times; the medians are
// compared. Bytes are counted read and written. Exits with 77 where there is no GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <examples/maps.hpp>
#include <examples/tile_copy.hpp>

#include <gantry/arch/launch.hpp>
#include <gantry/tma/encode.hpp>

namespace {

using namespace gantry;

constexpr int kRounds = 7, kCopiesPerRound = 4;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void fill(uint4* data, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const auto x = static_cast<unsigned>(i * 2654435761u);
    data[i] = {x, x ^ 0x5bd1e995u, x + 77, ~x};
  }
}

__global__ void count_differences(const uint4* a, const uint4* b, std::size_t count, unsigned long long* different) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const uint4 x = a[i], y = b[i];
    mine += x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w;
  }
  if (mine) atomicAdd(different, mine);
}

struct Setting {
  unsigned char *from, *to;
  std::size_t bytes;
  int sms, shared_per_sm;
  cudaEvent_t start, stop;
};

template <class Work>
double seconds(const Setting& s, Work work) {
  check(cudaEventRecord(s.start), "event");
  for (int i = 0; i < kCopiesPerRound; ++i) work();
  check(cudaEventRecord(s.stop), "event");
  check(cudaEventSynchronize(s.stop), "running");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, s.start, s.stop), "event");
  return milliseconds / 1e3 / kCopiesPerRound;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

template <class Config>
TmaDescriptor map_of(const Setting& s, unsigned char* data, TmaSwizzle swizzle) {
  constexpr int kColumns = Config::kColumns, element_bytes = Config::kElementBytes;
  const TmaDataType type = element_bytes == 8 ? TmaDataType::u64 : TmaDataType::u8;
  const TmaDescriptorParams params =
      examples::matrix_map(type, reinterpret_cast<std::uint64_t>(data), static_cast<int>(s.bytes / kColumns),
                           kColumns / element_bytes, Config::kRows, Config::kBoxBytes / element_bytes, swizzle);
  const EncodedTmaDescriptor encoded = encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

template <int BoxBytes, int Rows, int Boxes, int Stages, int Unread, int Columns = 65536, bool Hint = false>
struct Shape {
  static constexpr int kColumns = Columns;  // bytes of a row of the matrix
  static constexpr TmaCacheHint kHint = Hint ? TmaCacheHint::evict_first : TmaCacheHint::none;
  static constexpr int kStages = Stages, kUnread = Unread, kBoxes = Boxes, kBoxBytes = BoxBytes, kRows = Rows;
  static constexpr int kElementBytes = BoxBytes > 256 ? 8 : 1;
};

// The best ratio to cudaMemcpyAsync, over CTAs per processor.
template <class Config>
double measure(const Setting& s) {
  using Kernel = examples::TileCopy<Config>;
  constexpr int kShared = sizeof(typename Kernel::Storage);
  constexpr TmaSwizzle kSwizzle = Config::kBoxBytes == 128 ? TmaSwizzle::bytes_128 : TmaSwizzle::none;
  const auto entry = detail::kernel_entry<Kernel>;
  check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), "asking for shared memory");
  typename Kernel::Params params{};
  params.from = map_of<Config>(s, s.from, kSwizzle);
  params.to = map_of<Config>(s, s.to, kSwizzle);
  params.row_tiles = static_cast<int>(s.bytes / Config::kColumns / Config::kRows);
  params.column_tiles = Config::kColumns / (Config::kBoxes * Config::kBoxBytes);
  double best = 0;
  for (int per_sm = 1; per_sm <= 4 && per_sm * (kShared + 1024) <= s.shared_per_sm; ++per_sm) {
    const int ctas = per_sm * s.sms;
    const auto copy = [&] { entry<<<ctas, Kernel::kThreads, kShared>>>(params); };
    const auto vendor = [&] {
      check(cudaMemcpyAsync(s.to, s.from, s.bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    };
    check(cudaMemset(s.to, 0, s.bytes), "clearing");
    copy();
    check(cudaGetLastError(), "launching");
    unsigned long long *different = nullptr, wrong = 0;
    check(cudaMalloc(&different, sizeof wrong), "cudaMalloc");
    check(cudaMemset(different, 0, sizeof wrong), "clearing");
    count_differences<<<1024, 256>>>(reinterpret_cast<uint4*>(s.from), reinterpret_cast<uint4*>(s.to), s.bytes / 16,
                                     different);
    check(cudaMemcpy(&wrong, different, sizeof wrong, cudaMemcpyDeviceToHost), "running");
    check(cudaFree(different), "cudaFree");
    if (wrong) {
      std::printf("%llu chunks of 16 bytes were copied wrongly\n", wrong);
      std::exit(1);
    }
    std::vector<double> ours, theirs;
    for (int i = 0; i < kRounds; ++i) {
      theirs.push_back(seconds(s, vendor));
      ours.push_back(seconds(s, copy));
    }
    const double rate = 2.0 * static_cast<double>(s.bytes) / median(ours) / 1e12;
    const double vendor_rate = 2.0 * static_cast<double>(s.bytes) / median(theirs) / 1e12;
    std::printf("%7d %5d %5d %6d %7d %7d %6d %9.3f %11.3f %7.3f%s\n", Config::kColumns, Config::kBoxBytes,
                Config::kRows, Config::kBoxes, Config::kStages, Config::kUnread, ctas, rate, vendor_rate,
                rate / vendor_rate, Config::kHint == TmaCacheHint::none ? "" : "  evict first");
    std::fflush(stdout);
    best = std::max(best, rate / vendor_rate);
  }
  return best;
}

template <class... Configs>
double best_of(const Setting& s) {
  double best = 0;
  ((best = std::max(best, measure<Configs>(s))), ...);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  const int gib = argc > 1 ? std::atoi(argv[1]) : 4;
  if (gib < 1 || gib > 32) {
    std::fprintf(stderr, "from 1 to 32 GiB are copied; %s was asked for\n", argv[1]);
    return 2;
  }
  Setting s{};
  s.bytes = static_cast<std::size_t>(gib) << 30;
  check(cudaDeviceGetAttribute(&s.sms, cudaDevAttrMultiProcessorCount, 0), "asking the device");
  check(cudaDeviceGetAttribute(&s.shared_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0), "asking the device");
  check(cudaMalloc(&s.from, s.bytes), "cudaMalloc");
  check(cudaMalloc(&s.to, s.bytes), "cudaMalloc");
  check(cudaEventCreate(&s.start), "event");
  check(cudaEventCreate(&s.stop), "event");
  fill<<<1024, 256>>>(reinterpret_cast<uint4*>(s.from), s.bytes / 16);
  check(cudaDeviceSynchronize(), "filling");
  std::printf("%d GiB, TB/s read and written\n", gib);
  std::printf("%7s %5s %5s %6s %7s %7s %6s %9s %11s %7s\n", "columns", "bytes", "rows", "boxes", "stages", "unread",
              "CTAs", "tile copy", "cudaMemcpy", "ratio");
  const double wide =
      best_of<Shape<2048, 8, 1, 4, 1>, Shape<1024, 16, 1, 4, 1>, Shape<1024, 16, 1, 4, 1, 16384>,
              Shape<1024, 16, 1, 4, 1, 32768>, Shape<1024, 16, 1, 4, 1, 131072>, Shape<1024, 16, 1, 4, 1, 262144>,
              Shape<1024, 16, 1, 4, 1, 1048576>, Shape<1024, 32, 1, 4, 1, 131072>, Shape<1024, 16, 1, 8, 4, 131072>,
              Shape<1024, 8, 1, 12, 1, 131072>, Shape<1024, 8, 1, 8, 1, 262144>, Shape<2048, 8, 1, 4, 1, 2048>,
              Shape<256, 16, 4, 4, 1>, Shape<256, 16, 4, 3, 1>, Shape<256, 16, 2, 6, 1>, Shape<256, 8, 4, 6, 1>,
              Shape<256, 8, 8, 4, 1>, Shape<256, 32, 2, 4, 1>, Shape<256, 32, 4, 4, 1>, Shape<256, 32, 1, 8, 2>,
              Shape<256, 64, 1, 4, 1>, Shape<256, 64, 1, 8, 2>>(s);
  const double swizzled =
      best_of<Shape<128, 16, 8, 4, 1>, Shape<128, 16, 8, 3, 1>, Shape<128, 8, 8, 6, 1>, Shape<128, 8, 16, 4, 1>,
              Shape<128, 32, 4, 4, 1>, Shape<128, 32, 8, 3, 1>, Shape<128, 64, 2, 4, 1>, Shape<128, 64, 1, 6, 1>>(s);
  std::printf("best boxes: %.3f of cudaMemcpyAsync (to reach: 0.96)\n", std::max(wide, swizzled));
  std::printf("best with 128-byte swizzled boxes: %.3f of cudaMemcpyAsync (to reach: 0.92)\n", swizzled);
  return 0;
}
