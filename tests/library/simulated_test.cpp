// A context on the simulated SM: the same calls, results compared with sums on the host, the checker on.
#include <gtest/gtest.h>

#include <gantry/context.hpp>
#include <gantry/numeric.hpp>
#include <gantry/runtime/host_compiler.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

struct Matrices {
  std::int64_t m, n, k;
  std::vector<bf16> a = std::vector<bf16>(static_cast<std::size_t>(m * k)),
                    b = std::vector<bf16>(static_cast<std::size_t>(n * k));
  std::vector<float> bias = std::vector<float>(static_cast<std::size_t>(n)),
                     d = std::vector<float>(static_cast<std::size_t>(m * n), -1),
                     sums = std::vector<float>(static_cast<std::size_t>(m), -1);

  void fill() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(static_cast<int>(i * 7 % 9) - 4));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(static_cast<float>(static_cast<int>(i * 5 % 7) - 3));
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 5);
  }
  float acc(std::int64_t i, std::int64_t j) const {
    float out = 0;
    for (std::int64_t x = 0; x < k; ++x) {
      out += static_cast<float>(a[static_cast<std::size_t>(i * k + x)]) *
             static_cast<float>(b[static_cast<std::size_t>(j * k + x)]);
    }
    return out;
  }
  GemmCall call() {
    GemmCall out{.m = m, .n = n, .k = k, .a = a.data(), .b = b.data(), .d = d.data()};
    out.arguments = {{"bias", bias.data()}, {"sums", sums.data()}};
    return out;
  }
};

class SimulatedContextTest : public testing::Test {
 protected:
  ContextOptions options() const {
    ContextOptions out;
    out.machine = MachineKind::simulated;
    out.policy = CompilePolicy::wait;
    out.cache_directory = folder_ / "cache";
    out.most_kernels = 1;
    return out;
  }

  // Each run begins at 0, does not go back, and ends at 1; between them some were told how far they are.
  void check_progress(int runs) const {
    int begun = 0, ended = 0, between = 0;
    double before = 1;
    for (const RunProgress& p : told_) {
      if (before == 1) {
        EXPECT_EQ(p.share, 0) << "of run " << begun;
        ++begun;
      }
      EXPECT_GE(p.share, before == 1 ? 0 : before);
      if (p.share > 0.01 && p.share < 1) {
        ++between;
        EXPECT_NEAR(p.seconds / (p.seconds + p.seconds_left()), p.share, 1e-12) << "the rest goes on as it did";
      }
      if (p.share == 1) ++ended;
      before = p.share;
    }
    EXPECT_EQ(begun, runs);
    EXPECT_EQ(ended, runs);
    EXPECT_GT(between, 0);
  }
  Folder folder_;
  std::vector<RunProgress> told_;  // one run at a time
};

TEST_F(SimulatedContextTest, SaysThatATraceCannotBeWritten) {
  const Context context(options());
  const auto gemm = context.gemm({.options = {.d = ElementType::f32}, .epilogue = "d = acc"});
  ASSERT_TRUE(gemm) << gemm.error().describe();
  Matrices x{64, 64, 64};
  x.fill();
  GemmCall call = x.call();
  call.arguments = {};
  SimulatedRun run{.trace_file = folder_ / "none/trace\x1b[31m"};
  const Status refused = gemm->run(call, {.simulated = &run});
  ASSERT_TRUE(is_only(refused, RuntimeRule::trace_not_written));
  EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
  EXPECT_NE(refused.describe().find("trace\\x1b[31m"), std::string::npos) << refused.describe();
  EXPECT_EQ(refused.describe().find('\x1b'), std::string::npos);
  run.trace_file.clear();
  EXPECT_TRUE(gemm->run(call, {.simulated = &run}));
}

TEST_F(SimulatedContextTest, RunsAnySizesOfOneFunction) {
  ASSERT_TRUE(HostCompiler::find().status());  // what built this test is there
  ContextOptions with_progress = options();
  with_progress.simulated.progress = [this](const RunProgress& told) { told_.push_back(told); };
  with_progress.simulated.progress_seconds = 0;
  const Context context(with_progress);
  ASSERT_TRUE(context.status().ok()) << context.status().describe();
  EXPECT_TRUE(context.is_simulated());
  const auto gemm =
      context.gemm({.options = {.d = ElementType::f32, .tile = {64, 64, 64}, .cluster = {1, 1}},
                    .epilogue = "x = acc + row(bias); sums deterministic = reduce_col_add(x); d = relu(x)"});
  if (!gemm) FAIL() << gemm.error().describe();
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{64, 64, 64}, {100, 72, 200}, {1, 8, 8}, {70, 64, 2048}, {67, 71, 33}}) {
    Matrices x{m, n, k};
    x.fill();
    GemmCall call = x.call();
    std::vector<float> unused(static_cast<std::size_t>(m * n));
    call.arguments.add({"x", unused.data()});
    const Status ran = gemm->run(call);
    ASSERT_TRUE(ran) << ran.describe();
    for (std::int64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const float value = x.acc(i, j) + x.bias[static_cast<std::size_t>(j)];
        sum += value;
        ASSERT_EQ(x.d[static_cast<std::size_t>(i * n + j)], value > 0 ? value : 0) << i << " " << j;
      }
      ASSERT_EQ(x.sums[static_cast<std::size_t>(i)], sum) << i;
    }
  }
  EXPECT_EQ(gemm->kernels(), 2) << "one for each way of writing D";
  check_progress(5);
  // A number stands for a vector of it.
  Matrices x{64, 64, 64};
  x.fill();
  std::vector<float> unused(64 * 64);
  GemmCall call = x.call();
  call.arguments = {{"bias", 2.5F}, {"sums", x.sums.data()}, {"x", unused.data()}};
  const Status ran = gemm->run(call);
  ASSERT_TRUE(ran) << ran.describe();
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      ASSERT_EQ(unused[static_cast<std::size_t>(i * x.n + j)], x.acc(i, j) + 2.5F) << i << ", " << j;
    }
  }
}

TEST_F(SimulatedContextTest, IsTheAutomaticChoiceWhereThereIsNoGpu) {
  ContextOptions automatic = options();
  automatic.machine = MachineKind::automatic;
  const Context context(automatic);
  ASSERT_TRUE(context.status().ok());
  if (!context.is_simulated()) GTEST_SKIP() << "there is a GPU";
  ASSERT_FALSE(context.notes());
  const StatusReason& note = context.notes().reasons().front();
  EXPECT_EQ(note.code, StatusCode::no_device) << note.sentence;
  EXPECT_NE(note.sentence.find("the simulated SM is used"), std::string::npos) << note.sentence;
}

TEST_F(SimulatedContextTest, SaysThatThereIsNoCompiler) {
  const Variable none("GANTRY_CXX", "/no/compiler");
  const Context context(options());
  Matrices x{64, 64, 64};
  const auto gemm = context.gemm({.options = {.d = ElementType::f32}});
  GemmCall call = x.call();
  call.arguments = {};
  const Status refused = gemm->run(call);
  EXPECT_EQ(refused.code(), StatusCode::compile_failed);
  EXPECT_NE(refused.describe().find("/no/compiler"), std::string::npos) << refused.describe();
}

}  // namespace
}  // namespace gantry::runtime::test
