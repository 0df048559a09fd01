// GEMMs on a GPU through Gemm: CUDA graphs, streams, threads, and a soak of many launches over random sizes, all
// compared with a plain kernel's sums. Values are small integers, so that every sum is exact and every bit is checked.
//
//   host_on_gpu [--launches N] [--streams N] [--seed N]     10000 launches in 8 streams, unless given
//
// Exits with 77 where there is no GPU.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gantry/gemm.hpp>

#include "../gpu_checks.cuh"
#include "host_on_gpu_reference.cuh"

long allocations_so_far();  // count_allocations.cpp

namespace {

using namespace gantry;
using namespace gantry_test;

constexpr int kMostRows = 1024, kMostDepth = 1024, kMostBatch = 2;
constexpr std::size_t kMostElements = std::size_t{kMostBatch} * (kMostRows + 16) * (kMostRows + 64);

// ---- What is multiplied

struct Plain {};
struct Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16};
  static constexpr fusion::Graph graph = fusion::graph(
      "aux:bf16 = acc + c + row(bias); d = relu(aux); top = reduce_max(acc); sums deterministic = reduce_row_add(acc)");
};
struct HalfTransposed {
  static constexpr GemmOptions options{.a = ElementType::f16,
                                       .b = ElementType::f16,
                                       .d = ElementType::f32,
                                       .major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .layout_d = kColumnMajor,
                                       .tile = {.m = 128, .n = 128},
                                       .cluster = {2, 2},
                                       .schedule = GemmSchedule::cooperative};
};
struct Promoted {
  static constexpr GemmOptions options{
      .a = ElementType::e4m3, .b = ElementType::e5m2, .d = ElementType::bf16, .promote = true};
};
struct Integers {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::u8,
                                       .d = ElementType::s32,
                                       .tile = {.m = 64, .n = 128},
                                       .schedule = GemmSchedule::pingpong};
};
struct Added {
  static constexpr GemmOptions options{.a = ElementType::tf32,
                                       .b = ElementType::tf32,
                                       .d = ElementType::f32,
                                       .tile = {.m = 128, .n = 64},
                                       .cluster = {1, 2},
                                       .split = SplitMode::reduce_add};
};

// ---- A stream and everything that its GEMMs use

template <class T>
T* allocate(std::size_t count) {
  T* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc");
  return data;
}

using Random = std::mt19937;
int below(Random& random, int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }

// A planned GEMM that can be run, and checked on the GPU.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run(cudaStream_t stream) = 0;  // D is poisoned, the product runs, the result is compared
  virtual LaunchResult launch(cudaStream_t stream) const = 0;
  virtual std::string name() const = 0;
};

struct Memory {
  unsigned char *a, *b, *d, *c, *aux;
  float *bias, *top, *columns;
  double* sums;
  unsigned long long* wrong;

  Memory()
      : a(allocate<unsigned char>(4 * kMostElements)),
        b(allocate<unsigned char>(4 * kMostElements)),
        d(allocate<unsigned char>(4 * kMostElements)),
        c(allocate<unsigned char>(2 * kMostElements)),
        aux(allocate<unsigned char>(2 * kMostElements)),
        bias(allocate<float>(kMostRows)),
        top(allocate<float>(1)),
        columns(allocate<float>(kMostRows)),
        sums(allocate<double>(kMostElements)),
        wrong(allocate<unsigned long long>(1)) {
    check(cudaMemset(wrong, 0, sizeof *wrong), "cudaMemset");
  }
};

template <class Spec>
typename Gemm<Spec>::Plan planned(const typename Gemm<Spec>::Arguments& args) {
  auto plan = Gemm<Spec>::plan(args);
  if (plan) return std::move(*plan);
  for (const ArgumentReason& reason : plan.error()) std::fprintf(stderr, "%s\n", describe(reason).c_str());
  std::exit(1);
}

template <class Spec>
class Product : public Job {
 public:
  using Args = typename Gemm<Spec>::Arguments;
  using A = typename Args::A;
  using B = typename Args::B;
  using D = typename Args::D;
  static constexpr GemmOptions kOptions = GemmDesignOf<Spec>::design.options;
  static constexpr bool kEverything = __is_same(Spec, Everything);

  Product(GemmExtents e, Memory& memory, Random& random, cudaStream_t stream) : memory_(memory), args_(e) {
    size_ = {static_cast<int>(e.m), static_cast<int>(e.n), static_cast<int>(e.k), static_cast<int>(e.batch)};
    const auto a = view<A>(memory.a, kOptions.major_a == Major::K, size_.x, size_.z, random);
    const auto b = view<B>(memory.b, kOptions.major_b == Major::K, size_.y, size_.z, random);
    const auto c = view<bf16>(memory.c, true, size_.x, size_.y, random);
    d_ = view<D>(memory.d, kOptions.layout_d == kRowMajor, size_.x, size_.y, random);
    aux_ = view<bf16>(memory.aux, true, size_.x, size_.y, random);
    const auto seed = static_cast<unsigned>(random());
    fill<<<256, 256, 0, stream>>>(a.data, kMostElements, seed);
    fill<<<256, 256, 0, stream>>>(b.data, kMostElements, seed + 1);
    args_.a = matrix<const A>(a);
    args_.b = matrix<const B>(b);
    args_.d = matrix<D>(d_);
    if constexpr (kEverything) {
      fill<<<256, 256, 0, stream>>>(c.data, kMostElements, seed + 2);
      fill<<<4, 256, 0, stream>>>(memory.bias, kMostRows, seed + 3);
      args_.c = matrix<const bf16>(c);
      args_.fusion["bias"] = static_cast<const float*>(memory.bias);
      args_.fusion["aux"].tensor(aux_.data, stride(aux_), aux_.batch_stride);
      args_.fusion["top"] = memory.top;
      args_.fusion["sums"] = memory.columns;
    }
    expected_ = {memory.sums, {c.data, c.row, c.column, c.batch_stride}, memory.bias, kEverything};
    multiply<<<grid(), dim3(32, 8), 0, stream>>>(View<const A>{a.data, a.row, a.column, a.batch_stride},
                                                 View<const B>{b.data, b.row, b.column, b.batch_stride}, memory.sums,
                                                 size_);
    plan_ = std::make_unique<typename Gemm<Spec>::Plan>(planned<Spec>(args_));
  }

  LaunchResult launch(cudaStream_t stream) const override { return plan_->run(Gpu{stream}); }

  void run(cudaStream_t stream) override {
    const int poison = kOptions.split == SplitMode::reduce_add ? 0 : 0xee;
    check(cudaMemsetAsync(memory_.d, poison, 4 * kMostElements, stream), "poisoning");
    const LaunchResult result = launch(stream);
    if (!result) {
      std::fprintf(stderr, "%s: %s", name().c_str(), describe(result).c_str());
      std::exit(1);
    }
    compare<D><<<grid(), dim3(32, 8), 0, stream>>>(
        expected_, View<const D>{d_.data, d_.row, d_.column, d_.batch_stride},
        View<const bf16>{aux_.data, aux_.row, aux_.column, aux_.batch_stride}, size_, memory_.wrong);
    if constexpr (kEverything) {
      compare_reductions<<<1, 1024, 0, stream>>>(memory_.sums, memory_.top, memory_.columns, size_, memory_.wrong);
    }
  }

  std::string name() const override {
    return std::string(to_text(kOptions).c_str()) + ", " + std::to_string(size_.x) + " x " + std::to_string(size_.y) +
           " x " + std::to_string(size_.z) + ", " + std::to_string(size_.w) + " of them";
  }

 private:
  dim3 grid() const { return dim3((size_.y + 31) / 32, (size_.x + 7) / 8, size_.w); }

  // With room between lines and between matrices.
  template <class T>
  View<T> view(unsigned char* data, bool rows, int m, int n, Random& random) const {
    constexpr int chunk = 16 / sizeof(T);
    const std::int64_t line = ((rows ? n : m) + chunk - 1) / chunk * chunk + chunk * below(random, 3);
    const std::int64_t batch_stride = line * (rows ? m : n) + chunk * below(random, 3);
    return {reinterpret_cast<T*>(data), rows ? line : 1, rows ? 1 : line, batch_stride};
  }
  template <class T>
  static std::int64_t stride(const View<T>& x) {
    return x.row == 1 ? x.column : x.row;
  }
  template <class To, class T>
  static GemmMatrix<To> matrix(const View<T>& x) {
    return {x.data, stride(x), x.batch_stride};
  }

  Memory& memory_;
  int4 size_{};
  View<D> d_{};
  View<bf16> aux_{};
  ExpectedValues expected_{};
  Args args_;
  std::unique_ptr<typename Gemm<Spec>::Plan> plan_;
};

struct Lane {
  cudaStream_t stream = nullptr;
  Memory memory;
  std::unique_ptr<Job> job;
  int left = 0;  // runs of this plan

  Lane() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream"); }

  // How many elements of all runs since the last time were wrong. Waits.
  unsigned long long wrong() {
    unsigned long long count = 0;
    check(cudaMemcpyAsync(&count, memory.wrong, sizeof count, cudaMemcpyDeviceToHost, stream), "reading");
    check(cudaMemsetAsync(memory.wrong, 0, sizeof count, stream), "clearing");
    check(cudaStreamSynchronize(stream), "running");
    return count;
  }
};

// Sizes that alignment allows: every residue of M and K, and of N where columns of D are contiguous.
template <class Spec>
std::unique_ptr<Job> product(Lane& lane, Random& random, GemmExtents e = {}) {
  constexpr GemmOptions o = GemmDesignOf<Spec>::design.options;
  constexpr int chunk = 128 / element_bits(o.d);
  if (e.m == 0) {
    const auto extent = [&](int most) { return 1 + below(random, below(random, 4) == 0 ? most : most / 4); };
    e = {extent(kMostRows), extent(kMostRows), below(random, 20) == 0 ? 0 : extent(kMostDepth),
         1 + below(random, kMostBatch)};
    std::int64_t& contiguous = o.layout_d == kRowMajor ? e.n : e.m;
    contiguous = (contiguous + 7) / 8 * 8;
    static_assert(chunk <= 8);
  }
  return std::make_unique<Product<Spec>>(e, lane.memory, random, lane.stream);
}

std::unique_ptr<Job> random_product(Lane& lane, Random& random) {
  switch (below(random, 6)) {
    case 0:
      return product<Plain>(lane, random);
    case 1:
      return product<Everything>(lane, random);
    case 2:
      return product<HalfTransposed>(lane, random);
    case 3:
      return product<Promoted>(lane, random);
    case 4:
      return product<Integers>(lane, random);
    default:
      return product<Added>(lane, random);
  }
}

int failures = 0;

void expect(bool right, const std::string& what) {
  std::printf("%s  %s\n", right ? "  ok  " : "WRONG ", what.c_str());
  std::fflush(stdout);
  failures += !right;
}

// ---- The tests

void captured_runs_repeat(Lane& lane, Random& random) {
  std::unique_ptr<Job> jobs[] = {product<Plain>(lane, random, {.m = 128, .n = 256, .k = 1024}), nullptr};
  for (int i = 0; i < 2; ++i) {
    if (i == 1) jobs[1] = product<Everything>(lane, random, {.m = 300, .n = 264, .k = 200});
    check(cudaStreamSynchronize(lane.stream), "preparing");
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t runs = nullptr;
    check(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeGlobal), "capture");
    for (int j = 0; j < 3; ++j) jobs[i]->run(lane.stream);
    check(cudaStreamEndCapture(lane.stream, &graph), "capture");
    check(cudaGraphInstantiate(&runs, graph, 0), "graph");
    for (int j = 0; j < 20; ++j) check(cudaGraphLaunch(runs, lane.stream), "graph");
    expect(lane.wrong() == 0, "60 captured runs: " + jobs[i]->name());
    check(cudaGraphExecDestroy(runs), "graph");
    check(cudaGraphDestroy(graph), "graph");
  }
}

void runs_allocate_nothing(Lane& lane, Random& random) {
  const std::unique_ptr<Job> job = product<Everything>(lane, random, {.m = 300, .n = 264, .k = 200});
  job->run(lane.stream);
  check(cudaStreamSynchronize(lane.stream), "running");
  std::size_t before = 0, after = 0, total = 0;
  check(cudaMemGetInfo(&before, &total), "memory");
  const long first = allocations_so_far();
  bool right = true;
  for (int i = 0; i < 100; ++i) right = right && static_cast<bool>(job->launch(lane.stream));
  const long count = allocations_so_far() - first;
  check(cudaStreamSynchronize(lane.stream), "running");
  check(cudaMemGetInfo(&after, &total), "memory");
  expect(right && count == 0 && before == after,
         "100 runs allocate nothing (" + std::to_string(count) + " on the host)");
}

__global__ void count_different(const bf16* x, const bf16* y, int count, unsigned long long* wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count && x[i].bits != y[i].bits) atomicAdd(wrong, 1ull);
}

// Two GEMMs in a chain, the first of them of one or another A: what the second reads differs from run to run.
void dependent_runs_wait_for_what_they_read(Lane& lane) {
  constexpr int kSide = 512, kCount = kSide * kSide;
  bf16 *a[2] = {allocate<bf16>(kCount), allocate<bf16>(kCount)}, *b = allocate<bf16>(kCount);
  bf16 *between = allocate<bf16>(kCount), *d = allocate<bf16>(kCount);
  bf16* expected[2] = {allocate<bf16>(kCount), allocate<bf16>(kCount)};
  for (int i = 0; i < 2; ++i) fill<<<256, 256, 0, lane.stream>>>(a[i], kCount, 40u + static_cast<unsigned>(i));
  fill<<<256, 256, 0, lane.stream>>>(b, kCount, 50u);
  const auto plan = [&](const bf16* left, bf16* result, bool dependent) {
    Gemm<Plain>::Arguments args({.m = kSide, .n = kSide, .k = kSide});
    args.a = left;
    args.b = b;
    args.d = result;
    args.dependent = dependent;
    return planned<Plain>(args);
  };
  bool ran = true;
  for (int i = 0; i < 2; ++i) {
    ran = ran && plan(a[i], between, false).run(Gpu{lane.stream});
    ran = ran && plan(between, expected[i], false).run(Gpu{lane.stream});
    check(cudaStreamSynchronize(lane.stream), "running");
  }
  const Gemm<Plain>::Plan first[2] = {plan(a[0], between, true), plan(a[1], between, true)};
  const Gemm<Plain>::Plan second = plan(between, d, true);
  for (int i = 0; i < 100; ++i) {
    ran = ran && first[i % 2].run(Gpu{lane.stream}) && second.run(Gpu{lane.stream});
    count_different<<<kCount / 256, 256, 0, lane.stream>>>(d, expected[i % 2], kCount, lane.memory.wrong);
  }
  expect(lane.wrong() == 0 && ran, "200 dependent runs, each of which reads what the one before writes");
  for (bf16* memory : {a[0], a[1], b, between, d, expected[0], expected[1]}) check(cudaFree(memory), "cudaFree");
}

void threads_run_at_the_same_time(std::vector<std::unique_ptr<Lane>>& lanes, unsigned seed) {
  std::vector<std::thread> threads;
  std::atomic<unsigned long long> wrong{0};
  for (auto& lane : lanes) {
    threads.emplace_back([&wrong, &lane = *lane, thread_seed = seed++] {
      Random random(thread_seed);
      for (int plans = 0; plans < 3; ++plans) {
        const std::unique_ptr<Job> job = random_product(lane, random);
        for (int i = 0; i < 10; ++i) job->run(lane.stream);
        wrong += lane.wrong();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect(wrong == 0, std::to_string(lanes.size()) + " threads with plans of their own, 30 runs each");
}

void large_products(Lane& lane, Random& random) {
  for (const GemmExtents e : {GemmExtents{1024, 1024, 1024, 2}, GemmExtents{1000, 1016, 1023, 1}}) {
    for (int i = 0; i < 2; ++i) {
      const std::unique_ptr<Job> job = i == 0 ? product<Plain>(lane, random, e) : product<Everything>(lane, random, e);
      job->run(lane.stream);
      expect(lane.wrong() == 0, job->name());
    }
  }
}

void soak(std::vector<std::unique_ptr<Lane>>& lanes, int launches, Random& random) {
  int plans = 0;
  unsigned long long wrong = 0;
  for (int i = 0; i < launches; ++i) {
    Lane& lane = *lanes[static_cast<std::size_t>(below(random, static_cast<int>(lanes.size())))];
    if (lane.left == 0) {
      const unsigned long long count = lane.wrong();
      if (count > 0) std::printf("WRONG   %llu elements: %s\n", count, lane.job->name().c_str());
      wrong += count;
      lane.job = random_product(lane, random);
      lane.left = 1 + below(random, 20);
      ++plans;
    }
    --lane.left;
    lane.job->run(lane.stream);
  }
  for (auto& lane : lanes) wrong += lane->wrong();
  expect(wrong == 0, std::to_string(launches) + " launches of " + std::to_string(plans) + " plans in " +
                         std::to_string(lanes.size()) + " streams: " + std::to_string(wrong) + " wrong elements");
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  int launches = 10000, streams = 8, seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--launches") == 0) launches = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--streams") == 0) streams = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::atoi(argv[i + 1]);
  }
  Random random(static_cast<unsigned>(seed));
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < streams; ++i) lanes.push_back(std::make_unique<Lane>());
  captured_runs_repeat(*lanes[0], random);
  runs_allocate_nothing(*lanes[0], random);
  if (launches >= 1000) large_products(*lanes[0], random);  // the sanitizer would take minutes for the plain kernel
  dependent_runs_wait_for_what_they_read(*lanes[0]);
  threads_run_at_the_same_time(lanes, static_cast<unsigned>(seed) + 1000);
  soak(lanes, launches, random);
  std::printf(failures == 0 ? "all right\n" : "%d of the above are wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
