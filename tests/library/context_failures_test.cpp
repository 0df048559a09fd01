// What goes wrong in a context on the pretended GPU: kernels that cannot be had, sizes that cannot be, workers that
// fail.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "context_fixture.hpp"
#include "failing_threads.hpp"

namespace gantry::runtime::test {
namespace {

using testing::HasSubstr;

using ContextFailuresTest = ContextTest;

// A kernel that is looked up and not found is waited for by nobody.
TEST_F(ContextFailuresTest, ThreadsThatNeverCompileDoNotWaitForALookUpThatFindsNothing) {
  const Context context(options(CompilePolicy::never));
  std::atomic<int> refused = 0;
  for (int round = 0; round < 20; ++round) {
    const auto gemm = context.gemm({});
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        if (gemm->run(call(8192, 8192, 8192)).code() == StatusCode::no_kernel) ++refused;
        gemm->wait_for_compilations();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(refused, 20 * 8);
}

}  // namespace
}  // namespace gantry::runtime::test
