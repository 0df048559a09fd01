// A kernel written with the names of cuda::ptx runs on the simulated SM once its namespace is changed.
#include "gantry/arch/ptx.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

namespace ptx = gantry::ptx;  // instead of cuda::ptx
#define KERNEL_FUNCTION inline
#include "ptx_kernel.hpp"

struct OnSimulator {
  static void store(std::uint32_t* to, std::uint32_t value) { arch::st(arch::space_shared, to, value); }
  static std::uint32_t load(const std::uint32_t* from) { return arch::ld(arch::space_shared, from); }
  static void show(std::uint32_t* to, std::uint32_t value) { arch::st(arch::space_global, to, value); }
  static void sync() { arch::syncthreads(); }
  static Storage* peer(Storage* s, std::uint32_t rank) { return arch::mapa(arch::space_cluster, s, rank); }
};

TEST(PtxNames, AKernelOfCudaPtxRunsByChangingItsNamespace) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    alignas(16) static std::uint32_t in[2 * kWords], out[2 * kWords], sums[kWords];
    for (std::uint32_t i = 0; i < 2 * kWords; ++i) in[i] = 3 * i + 1;
    std::fill(std::begin(sums), std::end(sums), 5u);
    std::vector<std::uint32_t> told(12);
    const Params params{in, out, sums, told.data()};
    const Report report = test::simulate(
        {.grid = {2}, .cluster = {2}, .block = {64}, .shared_bytes = sizeof(Storage)},
        [&](SharedMemory shared) { run_ptx_kernel<OnSimulator>(params, shared.as<Storage>()); }, {.seed = seed});
    EXPECT_TRUE(report.clean()) << report.text();
    for (std::uint32_t i = 0; i < 2 * kWords; ++i) ASSERT_EQ(out[i], 2 * in[i]);
    for (std::uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(sums[i], 5 + 2 * in[i] + 2 * in[kWords + i]);
    EXPECT_EQ(told, (std::vector<std::uint32_t>{kWords, 64, 30, 1, 8, 1, kWords, 64, 30, 1, 7, 1}));
  }
}

TEST(PtxNames, LanesAndMasksOfLanesFollowTheirDefinitions) {
  std::vector<int> wrong(32, 1);
  const Report report = test::simulate({.block = {32}}, [&](SharedMemory) {
    const std::uint32_t lane = ptx::get_sreg_laneid(), self = 1u << lane;
    const bool masks = ptx::get_sreg_lanemask_eq() == self && ptx::get_sreg_lanemask_lt() == self - 1 &&
                       ptx::get_sreg_lanemask_le() == (self | (self - 1)) &&
                       ptx::get_sreg_lanemask_gt() == ~(self | (self - 1)) &&
                       ptx::get_sreg_lanemask_ge() == ~(self - 1);
    wrong[lane] = masks && ptx::shfl_sync_idx(lane, 9, 31, 0xFFFFFFFFu) == 9 ? 0 : 1;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(wrong, std::vector<int>(32, 0));
}

// Lanes that come one by one are no mistake with these names, as they are none with cuda::ptx.
TEST(PtxNames, TheClusterBarrierIsJoinedLaneByLane) {
  const Report report = test::simulate({.grid = {2}, .cluster = {2}, .block = {32}}, [&](SharedMemory) {
    if (ptx::get_sreg_laneid() < 5) {
      ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    } else {
      ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    }
    ptx::barrier_cluster_wait();
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

// The numbers of element types are those of the instruction, of which bf16 is 10.
static_assert(ptx::detail::element_type(10) == TmaDataType::bf16 &&
              ptx::detail::element_type(8) == TmaDataType::f32_ftz &&
              ptx::detail::element_type(9) == TmaDataType::f64 && ptx::detail::element_type(6) == TmaDataType::f16);

}  // namespace
}  // namespace gantry
