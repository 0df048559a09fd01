// EpilogueKernel against the tile copy with the same boxes and against cudaMemcpyAsync, in the same process.
//
//   epilogue_bench [ROWS]
//
// Four jobs over a matrix of 32768 (or ROWS) x 16384 of bf16: D alone, C to D, C to D and an auxiliary output, and C to
// D through GELU (tanh form). Every configuration is checked element by element first; then it, the tile copy and
// cudaMemcpyAsync take turns, kRounds times, and medians are compared. Rates count bytes read and written. Exits with
// 77 where there is no GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <examples/maps.hpp>
#include <examples/tile_copy.hpp>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/kernel.hpp>
#include <gantry/tma/encode.hpp>

namespace {

using namespace gantry;

constexpr int kN = 16384;
constexpr int kRounds = 7, kRunsPerRound = 4;

enum class Job { d, c_to_d, c_to_d_aux, gelu };
constexpr const char* kJobs[] = {"D", "C->D", "C->D+aux", "C->D gelu"};

// Numbers between 1 and 2, in a handful of instructions.
GANTRY_HD inline float some_number(int m, int n) {
  const auto bits = static_cast<std::uint32_t>(m * 37 + n * 11);
  return bit_cast<float>((bits << 12 & 0x7FF000u) | 0x3F800000u);
}

struct SomeNumbers {
  GANTRY_HD static float at(int m, int n, int) { return some_number(m, n); }
};

constexpr const char* kExpressions[] = {"d = acc", "d = acc + c", "aux:bf16 = acc + c; d = -aux",
                                        "d = gelu_tanh(acc + c)"};

template <int TileM, int TileN, int EpiN, int Warpgroups, int StagesC, int StagesD, bool Reuse, bool Delay>
struct Tuning {
  static constexpr int kTileM = TileM, kTileN = TileN, kEpiN = EpiN, kWarpgroups = Warpgroups;
  static constexpr int kStagesC = StagesC, kStagesD = StagesD;
  static constexpr bool kReuse = Reuse, kDelay = Delay;
};

template <class T, Job kJob>
struct Config {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = T::kWarpgroups == 2 ? EpilogueSchedule::tma_warp_specialized_cooperative
                                                        : EpilogueSchedule::tma_warp_specialized,
                        .tile = {T::kTileM, T::kTileN, 64},
                        .epi_tile = {64 * T::kWarpgroups, T::kEpiN},
                        .c = kJob == Job::d ? ElementType::void_ : ElementType::bf16,
                        .d = ElementType::bf16,
                        .stages_c = T::kStagesC,
                        .stages_d = T::kStagesD,
                        .reuse_smem_c = T::kReuse && kJob != Job::d ? Choice::yes : Choice::no,
                        .delay_tma_store = T::kDelay ? Choice::yes : Choice::no}
          .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = fusion::graph(kExpressions[static_cast<int>(kJob)]);
  using Functions = fusion::UserFunctions<>;
  using Accumulators = SomeNumbers;
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void fill(bf16* data, std::size_t elements) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < elements;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const auto x = static_cast<unsigned>(i * 2654435761u) >> 16;
    data[i] = bf16(static_cast<float>(x % 2048) / 512 - 2);
  }
}

template <Job kJob>
__global__ void count_wrong(const bf16* c, const bf16* d, const bf16* aux, std::size_t elements,
                            unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < elements;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const float acc = some_number(static_cast<int>(i / kN), static_cast<int>(i % kN));
    float x = kJob == Job::d ? acc : acc + static_cast<float>(c[i]);
    if (kJob == Job::c_to_d_aux) {
      mine += aux[i].bits != bf16(x).bits;
      x = -x;
    }
    if (kJob == Job::gelu) x = fusion::apply<fusion::Function::gelu_tanh>(x);
    mine += d[i].bits != bf16(x).bits;
  }
  if (mine) atomicAdd(wrong, mine);
}

struct Setting {
  int m;
  std::size_t elements;
  bf16 *c, *d, *aux;
  unsigned long long* wrong;
  int sms, shared_per_sm;
  cudaEvent_t start, stop;
};

template <class Work>
double seconds(const Setting& s, Work work) {
  check(cudaEventRecord(s.start), "event");
  for (int i = 0; i < kRunsPerRound; ++i) work();
  check(cudaEventRecord(s.stop), "event");
  check(cudaEventSynchronize(s.stop), "running");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, s.start, s.stop), "event");
  return milliseconds / 1e3 / kRunsPerRound;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

TmaDescriptor encode(const TmaDescriptorParams& params) {
  const EncodedTmaDescriptor encoded = encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

template <int Rows>
struct CopyShape {
  static constexpr int kStages = 4, kUnread = 1, kBoxes = Rows == 128 ? 1 : 2, kBoxBytes = 128, kRows = Rows;
  static constexpr int kElementBytes = 1;
  static constexpr TmaCacheHint kHint = TmaCacheHint::none;
};

// The tile copy of C to D with boxes of 128 bytes and `Rows` rows.
template <int Rows>
auto tile_copy(const Setting& s) {
  using Kernel = examples::TileCopy<CopyShape<Rows>>;
  constexpr int kShared = sizeof(typename Kernel::Storage);
  const auto entry = detail::kernel_entry<Kernel>;
  check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), "asking for shared memory");
  typename Kernel::Params params{};
  const auto map = [&s](const bf16* data) {
    return encode(examples::matrix_map(TmaDataType::u8, reinterpret_cast<std::uint64_t>(data), s.m, kN * 2, Rows, 128,
                                       TmaSwizzle::bytes_128));
  };
  params.from = map(s.c);
  params.to = map(s.d);
  params.row_tiles = s.m / Rows;
  params.column_tiles = kN * 2 / (CopyShape<Rows>::kBoxes * 128);
  const int ctas = 2 * s.sms;
  return [=] { entry<<<ctas, Kernel::kThreads, kShared>>>(params); };
}

struct Best {
  double of_memcpy = 0, of_tile_copy = 0, rate = 0;
};

template <class T, Job kJob>
void measure(const Setting& s, Best& best) {
  using C = Config<T, kJob>;
  using Kernel = EpilogueKernel<C>;
  constexpr int kShared = sizeof(typename Kernel::Storage);
  const EpilogueProblem problem{.m = s.m, .n = kN, .k = 64, .batch = 1};
  EpilogueArguments<C> arguments;
  arguments.c = {s.c, kN, 0};
  arguments.d = {s.d, kN, 0};
  if constexpr (kJob == Job::c_to_d_aux) arguments.fusion["aux"] = s.aux;
  const typename Kernel::Params params{to_underlying_arguments<C>(problem, arguments, encode), nullptr};
  const auto entry = detail::kernel_entry<Kernel>;
  check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), "asking for shared memory");
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, entry, Kernel::kThreads, kShared), "occupancy");
  const int ctas = resident * s.sms;
  const auto run = [&] { entry<<<ctas, Kernel::kThreads, kShared>>>(params); };

  check(cudaMemset(s.d, 0, s.elements * 2), "clearing");
  check(cudaMemset(s.aux, 0, s.elements * 2), "clearing");
  check(cudaMemset(s.wrong, 0, sizeof *s.wrong), "clearing");
  run();
  check(cudaGetLastError(), "launching");
  count_wrong<kJob><<<1024, 256>>>(s.c, s.d, s.aux, s.elements, s.wrong);
  unsigned long long wrong = 0;
  check(cudaMemcpy(&wrong, s.wrong, sizeof wrong, cudaMemcpyDeviceToHost), "running");
  if (wrong) {
    bf16 some[3][4];
    check(cudaMemcpy(some[0], s.c, sizeof some[0], cudaMemcpyDeviceToHost), "reading");
    check(cudaMemcpy(some[1], s.d, sizeof some[1], cudaMemcpyDeviceToHost), "reading");
    check(cudaMemcpy(some[2], s.aux, sizeof some[2], cudaMemcpyDeviceToHost), "reading");
    std::printf("%s: %llu elements are wrong; the first are acc, c, d, aux =", kJobs[static_cast<int>(kJob)], wrong);
    for (int i = 0; i < 4; ++i) {
      std::printf(" (%g, %g, %g, %g)", some_number(0, i), static_cast<float>(some[0][i]),
                  static_cast<float>(some[1][i]), static_cast<float>(some[2][i]));
    }
    std::printf("\n");
    std::exit(1);
  }

  constexpr int kTensors = kJob == Job::d ? 1 : kJob == Job::c_to_d_aux ? 3 : 2;
  const auto copy = tile_copy<64 * T::kWarpgroups>(s);
  const auto vendor = [&] {
    check(cudaMemcpyAsync(s.d, s.c, s.elements * 2, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  };
  std::vector<double> ours, copies, theirs;
  for (int i = 0; i < kRounds; ++i) {
    theirs.push_back(seconds(s, vendor));
    copies.push_back(seconds(s, copy));
    ours.push_back(seconds(s, run));
  }
  const double bytes = static_cast<double>(s.elements) * 2 / 1e12;
  const double rate = kTensors * bytes / median(ours);
  const double copy_rate = 2 * bytes / median(copies), vendor_rate = 2 * bytes / median(theirs);
  std::printf("%-10s %4dx%-4d %4dx%-3d C%d D%d %s %s %d CTAs/SM %7.3f %7.3f %7.3f   %6.3f %6.3f\n",
              kJobs[static_cast<int>(kJob)], T::kTileM, T::kTileN, 64 * T::kWarpgroups, T::kEpiN, C::policy.stages_c,
              C::policy.stages_d, C::policy.reuse_smem_c ? "reuse" : "     ", T::kDelay ? "delay" : "     ", resident,
              rate, copy_rate, vendor_rate, rate / copy_rate, rate / vendor_rate);
  std::fflush(stdout);
  if (rate / vendor_rate > best.of_memcpy) best = {rate / vendor_rate, rate / copy_rate, rate};
}

template <Job kJob, class... Tunings>
Best best_of(const Setting& s) {
  Best best;
  (measure<Tunings, kJob>(s, best), ...);
  std::printf(
      "%-10s best: %.3f TB/s, %.3f of the tile copy (to reach: 0.97), %.3f of cudaMemcpyAsync (to reach: 0.90)\n\n",
      kJobs[static_cast<int>(kJob)], best.rate, best.of_tile_copy, best.of_memcpy);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  const int rows = argc > 1 ? std::atoi(argv[1]) : 32768;
  if (rows < 128 || rows % 128 != 0) {
    std::fprintf(stderr, "ROWS is a positive multiple of 128; %s was given\n", argv[1]);
    return 2;
  }
  Setting s{};
  s.m = rows;
  s.elements = std::size_t{kN} * static_cast<std::size_t>(rows);
  check(cudaDeviceGetAttribute(&s.sms, cudaDevAttrMultiProcessorCount, 0), "asking the device");
  check(cudaMalloc(&s.c, s.elements * 2), "cudaMalloc");
  check(cudaMalloc(&s.d, s.elements * 2), "cudaMalloc");
  check(cudaMalloc(&s.aux, s.elements * 2), "cudaMalloc");
  check(cudaMalloc(&s.wrong, sizeof *s.wrong), "cudaMalloc");
  check(cudaEventCreate(&s.start), "event");
  check(cudaEventCreate(&s.stop), "event");
  fill<<<1024, 256>>>(s.c, s.elements);
  check(cudaDeviceSynchronize(), "filling");
  std::printf("%d x %d, bf16, TB/s read and written: ours, tile copy, cudaMemcpyAsync, ratios\n", s.m, kN);

  using A = Tuning<128, 128, 64, 2, 4, 2, true, false>;
  using Wide = Tuning<128, 256, 128, 2, 4, 2, true, false>;
  using Wider = Tuning<64, 256, 256, 1, 3, 2, true, false>;
  using Wide1 = Tuning<64, 256, 128, 1, 4, 2, true, false>;
  using Separate = Tuning<64, 256, 128, 1, 3, 2, false, true>;
  using Delayed = Tuning<64, 128, 64, 1, 4, 2, false, true>;
  best_of<Job::d, A, Wide, Wider, Wide1, Separate, Delayed>(s);
  const Best plain = best_of<Job::c_to_d, A, Wide, Wider, Wide1, Separate, Delayed>(s);
  best_of<Job::c_to_d_aux, A, Wide1, Wider, Separate, Delayed>(s);
  const Best gelu = best_of<Job::gelu, A, Wide, Wider, Wide1, Separate, Delayed>(s);
  std::printf("GELU on top of C->D: %+.1f %% (to stay under: 3 %%)\n", 100 * (plain.rate / gelu.rate - 1));
  return 0;
}
