// Which memory TMA touches where boxes reach beyond a tensor map's extents. A matrix lies in memory of its own, with
// nothing mapped before and behind it; each case is a process of its own, since an illegal access ends it. Prints a
// line for each case, and "N passed, N failed" last.
//
//   nvcc -std=c++20 -Iinclude -gencode arch=compute_90a,code=sm_90a tests/tma/mapped_ends_gpu.cu -lcuda
//        -o mapped_ends && ./mapped_ends
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/arch.hpp>
#include <gantry/tma/encode.hpp>
#include <gantry/tma/ragged.hpp>

namespace {

using namespace gantry;

constexpr int kColumns = 64, kBoxRows = 64, kPitch = 256;  // elements of a row and of the box; bytes from row to row
constexpr std::size_t kBlock = std::size_t{64} << 20;
constexpr int kRows = static_cast<int>(kBlock / kPitch);

template <int Rank>
struct Coordinates {
  std::int32_t at[Rank];
};

template <int Rank>
__global__ void copy_box(const __grid_constant__ TmaDescriptor map, Coordinates<Rank> c, std::uint16_t* out,
                         bool store) {
  __shared__ alignas(1024) std::uint16_t tile[kBoxRows * kColumns];
  __shared__ std::uint64_t full;
  if (threadIdx.x == 0) {
    arch::mbarrier_init(&full, 1);
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &full, sizeof tile);
    arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, tile, &map, c.at, &full);
  }
  __syncthreads();
  arch::wait(&full, 0);
  for (int i = threadIdx.x; i < kBoxRows * kColumns; i += blockDim.x) out[i] = tile[i];
  if (!store) return;
  __syncthreads();
  for (int i = threadIdx.x; i < kBoxRows * kColumns; i += blockDim.x) tile[i] = static_cast<std::uint16_t>(tile[i] + 1);
  arch::fence_proxy_async(arch::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &map, c.at, tile);
    arch::cp_async_bulk_commit_group();
    arch::cp_async_bulk_wait_group(arch::n32<0>);
  }
}

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name);
  std::exit(3);
}

std::uint16_t value_of(int row, int column) { return static_cast<std::uint16_t>(row * 3 + column); }

// kBlock bytes with nothing mapped for 2 GiB before and behind them.
std::uint16_t* alone() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle memory;
  check(cuMemCreate(&memory, kBlock, &prop, 0), "cuMemCreate");
  const std::size_t gap = std::size_t{2} << 30;
  CUdeviceptr range = 0;
  check(cuMemAddressReserve(&range, 2 * gap + kBlock, std::size_t{2} << 20, 0, 0), "cuMemAddressReserve");
  const CUdeviceptr at = range + gap + (std::size_t{10} << 20);
  check(cuMemMap(at, kBlock, 0, memory, 0), "cuMemMap");
  CUmemAccessDesc access{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check(cuMemSetAccess(at, kBlock, &access, 1), "cuMemSetAccess");
  std::vector<std::uint16_t> host(kBlock / 2);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) host[static_cast<std::size_t>(r) * kPitch / 2 + c] = value_of(r, c);
  }
  check(cuMemcpyHtoD(at, host.data(), kBlock), "cuMemcpyHtoD");
  return reinterpret_cast<std::uint16_t*>(at);
}

enum class Form { plain, before, wrapped };

TmaDescriptorParams params_of(Form form, const void* matrix) {
  const auto address = reinterpret_cast<std::uint64_t>(matrix);
  TmaDescriptorParams p{.data_type = TmaDataType::u16, .rank = 2, .address = address};
  p.dims[0] = kColumns;
  p.dims[1] = kRows;
  p.strides[0] = kPitch;
  p.box[0] = kColumns;
  p.box[1] = kBoxRows;
  if (form == Form::before) {
    p.rank = 3;
    p.address -= std::uint64_t{kRows} * kPitch;
    p.dims[2] = kRows + 1;
    p.strides[1] = kPitch;
  }
  if (form == Form::wrapped) {
    p.rank = 3;
    return ragged(p);
  }
  return p;
}

struct Case {
  const char* name;
  int begin, size, row;  // rows of the group, and where the box begins in it
  int column = 0;
};
constexpr Case kCases[] = {
    {"inside", 1000, 100, 0},
    {"reaches beyond the group", 1000, 100, 64},
    {"beyond the group", 1000, 100, 128},
    {"beyond the columns", 1000, 100, 0, 64},
    {"partly beyond the columns", 1000, 100, 0, 32},
    {"the first rows", 0, 100, 0},
    {"the last rows, reaches beyond", kRows - 100, 100, 64},
    {"the last rows, beyond", kRows - 100, 100, 128},
    {"the whole matrix, its end", 0, kRows, kRows - 32},
    {"an empty group at the end", kRows, 0, 0},
    {"an empty group", 500, 0, 0},
};

template <int Rank>
int launch(const TmaDescriptorParams& params, const Coordinates<Rank>& c, std::uint16_t* out, bool store) {
  TmaDescriptor map{};
  if (tma_detail::call_encoder(params, map) != CUDA_SUCCESS) {
    std::puts("the driver refuses the map");
    return 3;
  }
  copy_box<Rank><<<1, 128>>>(map, c, out, store);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
}

// 0: as expected; 1: another value; 2: an error of the device; 3: not run.
int run(Form form, const Case& c, bool store) {
  cudaFree(nullptr);
  std::uint16_t* const matrix = alone();
  std::uint16_t* out = nullptr;
  cudaMalloc(&out, kBoxRows * kColumns * 2);
  const TmaDescriptorParams params = params_of(form, matrix);
  int result = 0;
  if (form == Form::plain) {
    result = launch<2>(params, {{c.column, c.begin + c.row}}, out, store);
  } else if (form == Form::before) {
    result = launch<3>(params, {{c.column, kRows - c.size + c.row, c.begin + c.size}}, out, store);
  } else {
    const GroupLines group = group_lines(kRows, c.begin, c.begin + c.size);
    result = launch<4>(params, {{c.column, group.origin + c.row, group.end, kRaggedLines}}, out, store);
  }
  if (result != 0) return result;
  std::vector<std::uint16_t> got(kBoxRows * kColumns), after(kBlock / 2);
  cudaMemcpy(got.data(), out, got.size() * 2, cudaMemcpyDeviceToHost);
  cudaMemcpy(after.data(), matrix, kBlock, cudaMemcpyDeviceToHost);
  const int end = form == Form::plain ? kRows : c.begin + c.size;
  const auto boxed = [&](int row, int column) {
    return row >= c.begin + c.row && row < c.begin + c.row + kBoxRows && row < end && column >= c.column;
  };
  for (int i = 0; i < kBoxRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const int row = c.begin + c.row + i, column = c.column + j;
      const bool inside = row < end && column < kColumns;
      if (got[static_cast<std::size_t>(i) * kColumns + j] != (inside ? value_of(row, column) : 0)) return 1;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int column = 0; column < kColumns; ++column) {
      const int expected = value_of(r, column) + (store && boxed(r, column) ? 1 : 0);
      if (after[static_cast<std::size_t>(r) * kPitch / 2 + column] != static_cast<std::uint16_t>(expected)) return 1;
    }
  }
  return 0;
}

struct Run {
  Form form;
  bool store;
  const Case* of;
  pid_t process;
};

void start(Run& run_of) {
  std::fflush(stdout);
  run_of.process = fork();
  if (run_of.process == 0) _exit(run(run_of.form, *run_of.of, run_of.store));
}

int result_of(const Run& run_of) {
  int status = 0;
  waitpid(run_of.process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;  // the form that begins before the matrix, too
  int passed = 0, failed = 0;
  const char* const names[] = {"plain", "from before the matrix", "wrapped"};
  const char* const results[] = {"right", "WRONG VALUES", "ILLEGAL ACCESS", "not run"};
  std::vector<Run> runs;
  for (const Form form : {Form::plain, Form::before, Form::wrapped}) {
    for (const bool store : {false, true}) {
      for (const Case& c : kCases) {
        if (form != Form::before || all) runs.push_back({form, store, &c, 0});
      }
    }
  }
  constexpr std::size_t kAtOnce = 11;
  for (std::size_t i = 0; i < runs.size() + kAtOnce; ++i) {
    if (i < runs.size()) start(runs[i]);
    if (i < kAtOnce) continue;
    const Run& done = runs[i - kAtOnce];
    const int result = result_of(done);
    std::printf("%-22s  %-5s  %-30s  %s\n", names[static_cast<int>(done.form)], done.store ? "store" : "load",
                done.of->name, results[result]);
    (result == 0 ? passed : failed) += 1;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
