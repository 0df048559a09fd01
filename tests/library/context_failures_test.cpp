// What goes wrong in a context on the pretended GPU: kernels that cannot be had, sizes that cannot be, workers that
// fail.
#include <atomic>
#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <gantry/gemm/tuning.hpp>

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
    threads.reserve(8);
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

TEST_F(ContextFailuresTest, WarmUpGivesAReasonForEachSizeThatCannotBe) {
  const Context context(options());
  const auto gemm = context.gemm({});
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  const Status refused =
      gemm->warm_up({{-1, 64, 64, 1}, {512, 512, 512, 1}, {kHuge, 64, 64, 1}, {64, 64, 64, -3}, {0, 64, 64, 1}});
  ASSERT_EQ(refused.reasons().size(), 3U) << refused.describe();
  EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
  EXPECT_EQ(refused.reasons()[0].rule, "size_negative");
  EXPECT_EQ(refused.reasons()[0].actual, -1);
  EXPECT_EQ(refused.reasons()[1].rule, "size_too_large");
  EXPECT_EQ(refused.reasons()[1].actual, kHuge);
  EXPECT_THAT(refused.reasons()[2].sentence, HasSubstr("64 x 64 x 64, batch -3: "));
  EXPECT_EQ(gemm->kernels(), 1) << "of the size that can be";
}

TEST_F(ContextFailuresTest, OptionsOutOfTheirRangesAreAReasonEach) {
  ContextOptions wrong = options();
  wrong.most_kernels = 0;
  wrong.most_plans = -1;
  wrong.compile_threads = -2;
  wrong.simulated.sms = std::numeric_limits<int>::max();
  wrong.simulated.progress_seconds = std::numeric_limits<double>::quiet_NaN();
  const Context context(wrong);
  const std::vector<StatusReason>& reasons = context.status().reasons();
  ASSERT_EQ(reasons.size(), 5U) << context.status().describe();
  for (const StatusReason& reason : reasons) EXPECT_EQ(reason.rule, to_text(RuntimeRule::context_option));
  EXPECT_EQ(reasons[0].operand, "most_kernels");
  EXPECT_EQ(reasons[0].nearest, 1);
  EXPECT_EQ(reasons[1].sentence, "most_plans is -1: it is 1 to 2147483647; the nearest value that works is 1");
  EXPECT_EQ(reasons[2].operand, "compile_threads");
  EXPECT_EQ(reasons[2].nearest, 0);
  EXPECT_EQ(reasons[3].operand, "simulated.sms");
  EXPECT_EQ(reasons[3].actual, std::numeric_limits<int>::max());
  EXPECT_EQ(reasons[3].nearest, 4096);
  EXPECT_EQ(reasons[4].operand, "simulated.progress_seconds");
  EXPECT_EQ(context.gemm({}).error().code(), StatusCode::invalid_argument);
  wrong = options();
  wrong.simulated.sms = 0;
  EXPECT_TRUE(is_only(Context(wrong).status(), RuntimeRule::context_option));
  wrong.simulated.sms = 4096;
  EXPECT_TRUE(Context(wrong).status()) << Context(wrong).status().describe();
}

TEST_F(ContextFailuresTest, NamesOfACallersAreFitForATerminalInEveryPartOfAReason) {
  const Context context(options());
  const auto gemm = context.gemm({.epilogue = "d = acc + row(bias)"});
  GemmCall wrong = call(512, 512, 512);
  wrong.arguments = {{"bias", address(4)}, {"b\x1b[31m\n", address(4)}};
  const Status refused = gemm->run(wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.reasons()[0].operand, "b\\x1b[31m\\x0a");
  EXPECT_EQ(refused.describe().find('\x1b'), std::string::npos);
}

TEST_F(ContextFailuresTest, AFunctionThatNoContextMadeSaysSo) {
  const GemmFunction none;
  EXPECT_TRUE(is_only(none.run({}), RuntimeRule::function_empty));
  EXPECT_TRUE(is_only(none.can_implement({}), RuntimeRule::function_empty));
  EXPECT_TRUE(is_only(none.workspace_bytes({}).error(), RuntimeRule::function_empty));
  EXPECT_TRUE(is_only(none.explain({}).error(), RuntimeRule::function_empty));
  EXPECT_TRUE(is_only(none.warm_up({{64, 64, 64, 1}}), RuntimeRule::function_empty));
  none.wait_for_compilations();
  EXPECT_EQ(none.kernels() + none.plans(), 0);
  EXPECT_EQ(none.options().tile.m, 0);
  EXPECT_EQ(none.graph().argument_count, 0);
}

TEST_F(ContextFailuresTest, ACheckedRunOfNoGroupsFindsNothingWrong) {
  const Context context(options());
  const auto gemm =
      context.gemm({.options = {.groups = GemmGrouping::along_m}, .epilogue = "d = acc; s:f32 = reduce_col_add(acc)"});
  ASSERT_TRUE(gemm) << gemm.error().describe();
  const std::int32_t counts[] = {0};
  GemmCall none = call(0, 512, 512);
  none.batch = 0;
  none.groups.counts = counts;
  none.arguments = {{"s", address(4)}};
  const Status ran = gemm->run(none, {.check = RunCheck::device});
  EXPECT_TRUE(ran) << ran.describe();
}

TEST_F(ContextFailuresTest, AWorkerThatRunsOutOfMemoryEndsInAStatus) {
  const Context context(options());
  const auto gemm = context.gemm({});
  fake_nvrtc().out_of_memory = true;
  const Status failed = gemm->run(call(512, 512, 512));
  EXPECT_EQ(failed.code(), StatusCode::out_of_memory) << failed.describe();
  EXPECT_TRUE(is_only(failed, RuntimeRule::host_out_of_memory));
  fake_nvrtc().out_of_memory = false;
  EXPECT_TRUE(gemm->run(call(512, 512, 512))) << "the next run tries again";
}

TEST_F(ContextFailuresTest, WhereNoThreadCanBeStartedTheRunSaysSo) {
  const Context context(options());
  const auto gemm = context.gemm({});
  no_more_threads = true;
  const Status failed = gemm->run(call(512, 512, 512));
  const Status warmed = gemm->warm_up({{512, 512, 512, 1}});
  no_more_threads = false;
  EXPECT_EQ(failed.code(), StatusCode::out_of_memory) << failed.describe();
  EXPECT_TRUE(is_only(failed, RuntimeRule::thread_not_started));
  EXPECT_EQ(warmed.code(), StatusCode::out_of_memory) << warmed.describe();
  gemm->wait_for_compilations();
  EXPECT_TRUE(gemm->run(call(512, 512, 512)));
}

// The worker is there already; the thread that shows that the cache's lock is held is not.
TEST_F(ContextFailuresTest, ALockOfTheCacheIsHeldWithoutAThreadToo) {
  const Context context(options());
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(8192, 8192, 8192)));
  no_more_threads = true;
  const Status ran = gemm->run(call(64, 256, 8192));
  no_more_threads = false;
  EXPECT_TRUE(ran) << ran.describe();
}

TEST_F(ContextFailuresTest, AKernelIsLoadedOutsideOfWhatAnyThreadRecords) {
  ASSERT_TRUE(Context(options()).gemm({})->run(call(8192, 8192, 8192)));
  const Context context(options(CompilePolicy::never));
  const int before = fake_gpu().guarded_loads;
  ASSERT_TRUE(context.gemm({})->run(call(8192, 8192, 8192))) << "found in the cache, and loaded by this thread";
  EXPECT_EQ(fake_gpu().guarded_loads, before + 1);
}

TEST_F(ContextFailuresTest, AShippedKernelThatWasAlteredIsNamed) {
  ASSERT_TRUE(Context(options()).gemm({})->run(call(8192, 8192, 8192)));
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    if (entry.path().extension() == ".kernel")
      write(folder_ / "shipped/" + entry.path().filename().string(), "altered");
  }
  ContextOptions never = options(CompilePolicy::never);
  never.cache_directory = folder_ / "other";
  never.shipped = {folder_ / "shipped"};
  const auto gemm = Context(never).gemm({});
  for (const Status& refused : {gemm->run(call(8192, 8192, 8192)), gemm->warm_up({{8192, 8192, 8192, 1}})}) {
    EXPECT_EQ(refused.code(), StatusCode::no_kernel) << refused.describe();
    EXPECT_TRUE(has(refused, RuntimeRule::kernel_missing) && has(refused, RuntimeRule::entry_damaged));
    EXPECT_THAT(refused.describe(), HasSubstr(folder_ / "shipped/"));
    EXPECT_THAT(refused.describe(), HasSubstr("it was altered or cut off"));
  }
  never.policy = CompilePolicy::wait;
  EXPECT_TRUE(Context(never).gemm({})->run(call(8192, 8192, 8192)));
}

TEST_F(ContextFailuresTest, AKeptKernelThatTheDriverRefusesIsCompiledAnew) {
  ASSERT_TRUE(Context(options()).gemm({})->run(call(8192, 8192, 8192)));
  EXPECT_EQ(fake_nvrtc().compiled, 1);
  for (const CompilePolicy policy : {CompilePolicy::wait, CompilePolicy::background}) {
    const Context context(options(policy));
    fake_gpu().fail_loads = 2;  // where it is looked for, and where it would be compiled
    fake_nvrtc().compiled = 0;
    const Status ran = context.gemm({})->run(call(8192, 8192, 8192));
    EXPECT_TRUE(ran) << ran.describe();
    EXPECT_EQ(fake_nvrtc().compiled, 1);
  }
  fake_gpu().fail_load = 200;
  const Status refused = Context(options(CompilePolicy::never)).gemm({})->run(call(8192, 8192, 8192));
  EXPECT_EQ(refused.code(), StatusCode::device_failed);
  EXPECT_TRUE(has(refused, RuntimeRule::device_call_failed)) << refused.describe();
}

TEST_F(ContextFailuresTest, AnNvccThatIsNewerThanTheDriverIsSaid) {
  const StandIn newer("99.1.20");
  const Variable no_nvrtc("GANTRY_NVRTC", "/no/libnvrtc.so"), nvcc("GANTRY_NVCC", newer.program());
  const Context context(options());
  const Status refused = context.gemm({})->run(call(512, 512, 512));
  EXPECT_EQ(refused.code(), StatusCode::compile_failed);
  EXPECT_TRUE(has(refused, RuntimeRule::compiler_newer_than_driver)) << refused.describe();
  EXPECT_THAT(refused.describe(), HasSubstr("nvcc is version 99.1, and the driver knows CUDA up to 13.0"));
  EXPECT_EQ(newer.calls(), 0);
}

TEST_F(ContextFailuresTest, AFailureThatMayBeTheMachinesIsTriedAgain) {
  const Context context(options());
  const auto gemm = context.gemm({});
  fake_gpu().fail_load = 2;
  const Status full = gemm->run(call(8192, 8192, 8192));
  EXPECT_EQ(full.code(), StatusCode::out_of_memory);
  EXPECT_TRUE(is_only(full, RuntimeRule::device_out_of_memory));
  fake_gpu().fail_load = 0;
  const Status ran = gemm->run(call(8192, 8192, 8192));
  EXPECT_TRUE(ran) << ran.describe();
}

// The options can be designed for a D that TMA addresses, and not for the others.
TEST_F(ContextFailuresTest, OptionsThatNoDesignHasForACallAreReasons) {
  const Context context(options());
  const auto gemm = context.gemm({.options = {.epilogue = {.reuse = Choice::yes}}, .epilogue = "d = acc + c"});
  ASSERT_TRUE(gemm) << gemm.error().describe();
  GemmCall odd = call(512, 511, 512);
  odd.c.data = address(5);
  const Status refused = gemm->run(odd);
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  ASSERT_FALSE(refused.reasons().empty());
  EXPECT_EQ(refused.reasons()[0].rule, "reuse_direct");
  EXPECT_FALSE(gemm->explain(odd));
  EXPECT_FALSE(gemm->warm_up({{512, 511, 512, 1}}));
}

// Before anything is checked, a key is made of them; a sanitizer would tell.
TEST_F(ContextFailuresTest, RowsOfAnyNumberAreRefusedAndNotMultiplied) {
  const Context context(options());
  const auto gemm = context.gemm({});
  GemmCall scattered = call(512, 512, 512);
  const std::int32_t index[] = {0};
  scattered.scatter = {index, std::numeric_limits<std::int64_t>::max()};
  const Status refused = gemm->run(scattered);
  ASSERT_EQ(refused.reasons().size(), 1U);
  EXPECT_EQ(refused.reasons()[0].rule, "scatter_not_asked");
}

TEST_F(ContextFailuresTest, ATuningFileThatIsNoneIsANote) {
  const auto rules = [&](const std::string& path) {
    ContextOptions named = options();
    named.tuning_file = path;
    const Context context(named);
    std::vector<std::string> out;
    for (const StatusReason& note : context.notes().reasons()) out.push_back(note.rule);
    return out;
  };
  const auto only = [](TuningRule rule) { return std::vector<std::string>{entry_of(rule).name}; };
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(rules(pipe), only(TuningRule::not_plain));
  EXPECT_EQ(rules("/dev/zero"), only(TuningRule::not_plain));
  EXPECT_EQ(rules(folder_.path()), only(TuningRule::not_plain));
  EXPECT_EQ(rules(folder_ / "missing"), std::vector<std::string>{to_text(RuntimeRule::tuning_file_missing)});
  const Status by_variable = Context(options()).notes();
  EXPECT_TRUE(is_only(by_variable, RuntimeRule::tuning_file_missing));
  EXPECT_EQ(by_variable.describe(), "there is no tuning file " + folder_ / "tuning" + ", which GANTRY_TUNING names");
  write(folder_ / "empty", "");
  EXPECT_TRUE(rules(folder_ / "empty").empty());
  std::filesystem::resize_file(folder_ / "empty", (std::uintmax_t{64} << 20) + 1);
  EXPECT_EQ(rules(folder_ / "empty"), only(TuningRule::too_large));
}

TEST_F(ContextFailuresTest, OnlyAConfigurationThatIsRefusedIsFollowedByTheNext) {
  for (const CompilePolicy policy : {CompilePolicy::wait, CompilePolicy::background}) {
    const Context context(options(policy));
    fake_nvrtc().reset();
    fake_nvrtc().fails = true;
    const auto typo = context.gemm({.epilogue = "d = relu(acc)"});
    EXPECT_EQ(typo->run(call(512, 512, 512)).code(), StatusCode::compile_failed);
    EXPECT_EQ(fake_nvrtc().compiled, 1) << "another tile has the same mistake";
    fake_nvrtc().reset();
    fake_nvrtc().refuses = true;
    const auto refused = context.gemm({.options = {.tile = {128, 128, 64}}});
    EXPECT_EQ(refused->run(call(512, 512, 512)).code(), StatusCode::compile_failed);
    const int all = fake_nvrtc().compiled;
    if (policy == CompilePolicy::wait) {
      EXPECT_GT(all, 1);
    }
    EXPECT_EQ(refused->run(call(512, 512, 512)).code(), StatusCode::compile_failed);
    EXPECT_EQ(fake_nvrtc().compiled, all) << "a refusal stays one";
  }
}

}  // namespace
}  // namespace gantry::runtime::test
