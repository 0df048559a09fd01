// When a context on a pretended GPU compiles kernels: in the background, never, with a bound, and where it cannot.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "context_fixture.hpp"

namespace gantry::runtime::test {
namespace {

using testing::HasSubstr;

TEST_F(ContextTest, InTheBackgroundRunsWhatIsThereUntilTheBetterKernelComes) {
  const Context context(options(CompilePolicy::background));
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(8192, 8192, 8192))) << "the first kernel is waited for";
  EXPECT_EQ(fake_nvrtc().compiled, 1);
  {
    const std::lock_guard<std::mutex> gate(fake_nvrtc().gate);
    ASSERT_TRUE(gemm->run(call(64, 256, 8192))) << "with the tile that is there";
    EXPECT_EQ(launches()[0].shared_bytes, launches()[1].shared_bytes);
    EXPECT_EQ(gemm->kernels(), 1);
    EXPECT_THAT(gemm->explain(call(64, 256, 8192))->choice, HasSubstr("is being compiled"));
  }
  gemm->wait_for_compilations();
  EXPECT_EQ(gemm->kernels(), 2);
  ASSERT_TRUE(gemm->run(call(64, 256, 8192)));
  EXPECT_NE(launches()[2].shared_bytes, launches()[1].shared_bytes);
}

TEST_F(ContextTest, WaitsForTheCompilationsOfAllItsFunctions) {
  const Context context(options(CompilePolicy::background));
  context.wait_for_compilations();  // none
  const auto plain = context.gemm({}), relu = context.gemm({.epilogue = "d = relu(acc)"});
  for (const auto* gemm : {&plain, &relu}) ASSERT_TRUE((*gemm)->run(call(8192, 8192, 8192)));
  {
    const std::lock_guard<std::mutex> gate(fake_nvrtc().gate);
    for (const auto* gemm : {&plain, &relu}) ASSERT_TRUE((*gemm)->run(call(64, 256, 8192)));
    EXPECT_EQ(plain->kernels() + relu->kernels(), 2);
  }
  context.wait_for_compilations();
  EXPECT_EQ(plain->kernels(), 2);
  EXPECT_EQ(relu->kernels(), 2);
}

TEST_F(ContextTest, MayBeDroppedWhileItCompiles) {
  {
    const std::unique_lock<std::mutex> gate(fake_nvrtc().gate);
    auto context = std::make_unique<Context>(options(CompilePolicy::background));
    auto gemm = context->gemm({});
    std::thread waits([function = *gemm] { (void)function.warm_up({{4096, 4096, 4096}}); });
    waits.detach();
    context.reset();
    gemm = unexpected(Status());
  }
  while (fake_nvrtc().compiled == 0) std::this_thread::yield();
}

TEST_F(ContextTest, NeverCompilesWhenToldSo) {
  const Context never(options(CompilePolicy::never));
  const auto gemm = never.gemm({});
  const Status none = gemm->run(call(8192, 8192, 8192));
  EXPECT_EQ(none.code(), StatusCode::no_kernel);
  EXPECT_TRUE(is_only(none, RuntimeRule::kernel_missing));
  EXPECT_EQ(fake_nvrtc().compiled, 0);

  ASSERT_TRUE(Context(options()).gemm({})->run(call(8192, 8192, 8192)));
  const auto again = Context(options(CompilePolicy::never)).gemm({});
  ASSERT_TRUE(again->run(call(8192, 8192, 8192)));
  ASSERT_TRUE(again->run(call(64, 256, 8192))) << "with the only kernel that there is";
  EXPECT_EQ(fake_nvrtc().compiled, 1);
  EXPECT_TRUE(Context(options(CompilePolicy::never)).gemm({})->run(call(64, 256, 8192))) << "in a new process too";
}

TEST_F(ContextTest, UsesShippedKernelsWhereThereIsNoCompiler) {
  ASSERT_TRUE(Context(options()).gemm({})->warm_up({{8192, 8192, 8192}, {64, 256, 8192}}));
  const Variable no_nvrtc("GANTRY_NVRTC", "/no/libnvrtc.so"), no_nvcc("GANTRY_NVCC", "/no/nvcc");
  ContextOptions shipped;
  shipped.cache_directory = folder_ / "other";
  shipped.shipped = {folder_ / "cache"};
  const Context context(shipped);
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(8192, 8192, 8192))) << gemm->run(call(8192, 8192, 8192)).describe();
  const auto other = context.gemm({.epilogue = "d = relu(acc)"});
  const Status none = other->run(call(8192, 8192, 8192));
  EXPECT_EQ(none.code(), StatusCode::compile_failed);
  EXPECT_TRUE(has(none, RuntimeRule::named_compiler_missing)) << none.describe();
}

TEST_F(ContextTest, BoundsTheKernelsOfOneEpilogue) {
  ContextOptions two = options();
  two.most_kernels = 2;
  const Context context(two);
  const auto gemm = context.gemm({});
  for (const std::int64_t m : {16, 64, 200, 1000, 3000, 8192}) {
    for (const std::int64_t k : {64, 512, 8192}) ASSERT_TRUE(gemm->run(call(m, 4096, k)));
  }
  EXPECT_EQ(gemm->kernels(), 2);
}

// Sizes of docs/measurements/library.md: each has the kernel that a bench of it alone has.
TEST_F(ContextTest, ByDefaultHasRoomForTheKernelsOfManyDifferentSizes) {
  const auto kernels = [&](const ContextOptions& how) {
    const Context context(how);
    const auto gemm = context.gemm({});
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 4096, 4096},
                                  {16, 8192, 8192},
                                  {32, 28672, 8192},
                                  {5000, 5000, 5000},
                                  {1536, 1536, 1536},
                                  {3000, 1000, 7000},
                                  {512, 4096, 14336},
                                  {4096, 24576, 1536},
                                  {4096, 7168, 2048},
                                  {1000, 1000, 1000},
                                  {256, 256, 16384}}) {
      EXPECT_TRUE(gemm->run(call(m, n, k)));
    }
    return gemm->kernels();
  };
  ContextOptions unbounded = options();
  unbounded.most_kernels = 1000;
  EXPECT_EQ(kernels(options()), kernels(unbounded));
}

TEST_F(ContextTest, TakesTheNextBestWhereAKernelCannotBeCompiled) {
  fake_nvrtc().fails = true;
  const Context context(options());
  const auto gemm =
      context.gemm({.options = {.tile = {128, 256, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative}});
  const Status failed = gemm->run(call(512, 512, 512));
  EXPECT_EQ(failed.code(), StatusCode::compile_failed);
  EXPECT_THAT(failed.describe(), HasSubstr("refused on purpose"));
}

}  // namespace
}  // namespace gantry::runtime::test
