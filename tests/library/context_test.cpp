// A context on a GPU that only pretends: which kernel runs, what is kept, and what is refused.
#include <array>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/gantry.h>

#include "context_fixture.hpp"
#include "counted_allocations.hpp"

namespace gantry::runtime::test {
namespace {

using testing::HasSubstr;

TEST_F(ContextTest, RunsSizesThatComeAtRunTime) {
  const Context context(options());
  ASSERT_TRUE(context.status().ok()) << context.status().describe();
  const auto gemm = context.gemm({.epilogue = "d = gelu(acc + row(bias))"});
  ASSERT_TRUE(gemm) << gemm.error().describe();
  GemmCall big = call(8192, 8192, 8192), small = call(64, 256, 512);
  big.arguments = small.arguments = {{"bias", address(4)}};
  ASSERT_TRUE(gemm->run(big, {.stream = address(9)}));
  ASSERT_TRUE(gemm->run(small));
  const std::vector<FakeLaunch> ran = launches();
  ASSERT_EQ(ran.size(), 2U);
  EXPECT_EQ(ran[0].function, "gantry_gemm");
  EXPECT_EQ(ran[0].stream, address(9));
  EXPECT_EQ(ran[0].address(0), address(1));
  EXPECT_EQ(ran[0].address(128), address(2));
  EXPECT_EQ(ran[0].grid % ran[0].cluster, 0U);
  EXPECT_EQ(gemm->kernels(), 2) << "the sizes are for different tiles";
  EXPECT_NE(ran[0].shared_bytes, 0U);
}

TEST_F(ContextTest, ASecondRunNeitherPlansNorAllocates) {
  const Context context(options());
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(512, 512, 512)));
  const int encoded = fake_gpu().encoded, allocations = fake_gpu().allocations;
  const int synchronizations = fake_gpu().synchronizations;
  GemmCall other = call(512, 512, 512);
  other.a.data = address(5);
  other.d.data = address(6);
  {
    fake_gpu().launches.reserve(100);
    const std::uint64_t before = allocations_of_this_thread();
    ASSERT_TRUE(gemm->run(other));
    // The stand-in keeps a launch's name and parameters: that much is its own.
    EXPECT_LE(allocations_of_this_thread() - before, 2U);
  }
  EXPECT_EQ(fake_gpu().encoded, encoded) << "tensor maps are moved";
  EXPECT_EQ(fake_gpu().allocations, allocations);
  EXPECT_EQ(fake_gpu().synchronizations, synchronizations);
  EXPECT_EQ(launches()[1].address(0), address(5));
  EXPECT_EQ(launches()[1].address(256), address(5)) << "the map of the last rows of A";
  EXPECT_EQ(launches()[1].address(384), address(2)) << "of B";
  EXPECT_EQ(gemm->plans(), 1);
}

TEST_F(ContextTest, ASecondRunMovesTheMapOfD) {
  const Context context(options());
  const auto gemm = context.gemm({.options = {.major_a = Major::MN, .major_b = Major::MN}});
  GemmCall asked = call(512, 512, 512);
  ASSERT_TRUE(gemm->run(asked));
  asked.d.data = address(6);
  ASSERT_TRUE(gemm->run(asked));
  const std::size_t d = launches()[0].address(256) == address(3) ? 256 : 384;
  EXPECT_EQ(launches()[1].address(d), address(6));
}

TEST_F(ContextTest, ChecksGroupsOnTheDeviceBeforeALaunchAndNeverInARecording) {
  const Context context(options());
  const auto gemm = context.gemm({.options = {.groups = GemmGrouping::along_m}});
  const std::int32_t wrong[] = {0, 300, 200, 512}, right[] = {0, 100, 200, 512};  // the pretended device's memory
  GemmCall grouped = call(512, 512, 512);
  grouped.batch = 3;
  grouped.groups.offsets = wrong;
  ASSERT_TRUE(gemm->run(grouped));
  const Status refused = gemm->run(grouped, {.check = RunCheck::device});
  ASSERT_EQ(refused.reasons().size(), 2U);
  EXPECT_EQ(refused.reasons()[0].rule, "offset_falls");
  EXPECT_EQ(launches().size(), 1U);
  grouped.groups.offsets = right;
  const int synchronizations = fake_gpu().synchronizations;
  ASSERT_TRUE(gemm->run(grouped, {.stream = address(9), .check = RunCheck::device}));
  EXPECT_EQ(fake_gpu().synchronizations, synchronizations + 1) << "what writes the offsets has ended";
  fake_gpu().capturing[address(9)] = true;
  const Status recording = gemm->run(grouped, {.stream = address(9), .check = RunCheck::device});
  EXPECT_TRUE(is_only(recording, RuntimeRule::check_while_recording));
  EXPECT_TRUE(gemm->run(grouped, {.stream = address(9)}));
  EXPECT_EQ(launches().size(), 3U);
}

TEST_F(ContextTest, KeepsAsManyPlansAsItIsTold) {
  ContextOptions few = options();
  few.most_plans = 3;
  const Context context(few);
  const auto gemm = context.gemm({});
  for (std::int64_t m = 128; m <= 128 * 10; m += 128) ASSERT_TRUE(gemm->run(call(m, 512, 512)));
  EXPECT_EQ(gemm->plans(), 3);
  const int encoded = fake_gpu().encoded;
  ASSERT_TRUE(gemm->run(call(128 * 10, 512, 512)));
  EXPECT_EQ(fake_gpu().encoded, encoded) << "the last ones are kept";
  ASSERT_TRUE(gemm->run(call(128, 512, 512)));
  EXPECT_GT(fake_gpu().encoded, encoded) << "the first is gone";
}

TEST_F(ContextTest, RefusesAnArgumentThatWasGivenBeforeAndNowIsNot) {
  const Context context(options());
  const auto gemm = context.gemm({.epilogue = "d = alpha * acc"});
  GemmCall with = call(512, 512, 512);
  with.arguments = {{"alpha", 0.0F}};
  ASSERT_TRUE(gemm->run(with));
  const auto bias = context.gemm({.epilogue = "d = acc + row(bias)"});
  GemmCall given = call(512, 512, 512);
  given.arguments = {{"bias", address(4)}};
  ASSERT_TRUE(bias->run(given));
  const Status missing = bias->run(call(512, 512, 512));
  ASSERT_EQ(missing.reasons().size(), 1U);
  EXPECT_EQ(missing.reasons()[0].rule, "argument_missing");
  EXPECT_EQ(missing.reasons()[0].operand, "bias");
  given.arguments = {{"bias", 2.0F}};
  EXPECT_TRUE(bias->run(given)) << "a number stands for a vector of it";
  given.arguments = {{"bais", address(4)}};
  const Status misspelt = bias->run(given);
  ASSERT_FALSE(misspelt.ok());
  EXPECT_EQ(misspelt.reasons()[0].rule, "unknown_name");
  EXPECT_EQ(misspelt.reasons()[0].operand, "bais");
}

TEST_F(ContextTest, TellsAddressesThatAPlanWasNotMadeFor) {
  const Context context(options());
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(512, 512, 512)));
  GemmCall odd = call(512, 512, 512);
  odd.a.data = static_cast<const char*>(odd.a.data) + 1;
  EXPECT_EQ(gemm->run(odd).code(), StatusCode::invalid_argument) << "inside of an element";
  GemmCall overlapping = call(512, 512, 512);
  overlapping.d.data = static_cast<char*>(address(1)) + 512;
  const Status shared = gemm->run(overlapping);
  ASSERT_EQ(shared.reasons().size(), 1U);
  EXPECT_EQ(shared.reasons()[0].rule, "read_while_written");
  EXPECT_EQ(shared.reasons()[0].operand, "D");
  EXPECT_EQ(shared.reasons()[0].actual, 512);
  EXPECT_EQ(launches().size(), 1U);
  odd.a.data = static_cast<const char*>(odd.a.data) + 7;
  ASSERT_TRUE(gemm->run(odd));
  ASSERT_EQ(launches().size(), 3U);
  EXPECT_EQ(launches()[1].function, "gantry_pack") << "8 bytes beyond a multiple of 16";
}

TEST_F(ContextTest, LetsDTakeThePlaceOfC) {
  const Context context(options());
  const auto gemm = context.gemm({.epilogue = "d = acc + c"});
  GemmCall apart = call(512, 512, 512), in_place = apart;
  apart.c.data = address(5);
  in_place.c.data = address(3);
  ASSERT_TRUE(gemm->run(apart));
  ASSERT_TRUE(gemm->run(in_place)) << gemm->run(in_place).describe();
  in_place.c.data = static_cast<char*>(address(3)) + 1024;
  EXPECT_FALSE(gemm->run(in_place));
}

TEST_F(ContextTest, RefusesToLoadWhileAGraphIsRecorded) {
  const Context context(options());
  const auto gemm = context.gemm({});
  void* const stream = address(7);
  fake_gpu().capturing[stream] = true;
  const Status refused = gemm->run(call(512, 512, 512), {.stream = stream});
  EXPECT_EQ(refused.code(), StatusCode::no_kernel);
  EXPECT_TRUE(is_only(refused, RuntimeRule::kernel_while_recording));
  EXPECT_EQ(fake_nvrtc().compiled, 0);
  ASSERT_TRUE(gemm->warm_up({{512, 512, 512}}));
  ASSERT_TRUE(gemm->run(call(512, 512, 512), {.stream = stream}));
}

TEST_F(ContextTest, ServesSeveralGpusInOneProcess) {
  ContextOptions second = options();
  second.device = 1;
  const Context first(options()), other(second);
  ASSERT_TRUE(first.gemm({})->run(call(512, 512, 512)));
  ASSERT_TRUE(other.gemm({})->run(call(512, 512, 512)));
  EXPECT_EQ(launches()[0].device, 0);
  EXPECT_EQ(launches()[1].device, 1);
  EXPECT_EQ(fake_nvrtc().compiled, 1) << "the cache serves both";
  second.device = 7;
  EXPECT_TRUE(is_only(Context(second).status(), RuntimeRule::device_missing));
}

TEST_F(ContextTest, SaysWhyAGpuCannotBeUsed) {
  fake_gpu().compute_major = 8;
  const Context context(options());
  EXPECT_EQ(context.status().code(), StatusCode::no_device);
  EXPECT_TRUE(is_only(context.gemm({}).error(), RuntimeRule::device_unsupported));
}

TEST_F(ContextTest, WarmsUpInParallelWithProgress) {
  const Context context(options());
  const auto gemm = context.gemm({});
  std::vector<std::pair<int, int>> seen;
  ASSERT_TRUE(gemm->warm_up({{8192, 8192, 8192}, {64, 256, 8192}, {8192, 8192, 8192}},
                            [&](int done, int all) { seen.emplace_back(done, all); }));
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), std::pair(2, 2));
  const int compiled = fake_nvrtc().compiled;
  ASSERT_TRUE(gemm->run(call(8192, 8192, 8192)));
  EXPECT_EQ(fake_nvrtc().compiled, compiled);
}

TEST_F(ContextTest, GivesSplitGemmsAWorkspaceForEachStreamOrTakesTheCallers) {
  const Context context(options());
  const auto gemm = context.gemm({});
  const GemmCall deep = call(256, 256, 16384);
  const auto bytes = gemm->workspace_bytes(deep);
  ASSERT_TRUE(bytes);
  ASSERT_GT(*bytes, 0U) << "the size is chosen so that K is split";
  const int before = fake_gpu().allocations;
  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  EXPECT_EQ(fake_gpu().allocations, before + 1);
  ASSERT_TRUE(gemm->run(deep, {.stream = address(9)}));
  EXPECT_EQ(fake_gpu().allocations, before + 2);
  std::vector<unsigned char> own(*bytes + 16, 0xff);
  ASSERT_TRUE(gemm->run(deep, {.stream = address(9), .workspace = own.data(), .workspace_bytes = own.size()}));
  EXPECT_EQ(own[0], 0) << "its flags are cleared";
  EXPECT_EQ(fake_gpu().allocations, before + 2);
  const Status small = gemm->run(deep, {.workspace = own.data(), .workspace_bytes = 100});
  ASSERT_EQ(small.reasons().size(), 1U);
  EXPECT_EQ(small.reasons()[0].rule, "workspace_too_small");
  EXPECT_EQ(small.reasons()[0].nearest, static_cast<std::int64_t>(*bytes));
  const Status odd = gemm->run(deep, {.workspace = own.data() + 1, .workspace_bytes = own.size()});
  ASSERT_EQ(odd.reasons().size(), 1U);
  EXPECT_EQ(odd.reasons()[0].rule, "workspace_misaligned");
}

TEST_F(ContextTest, GivesEachThreadsDefaultStreamAndEachRecordingAWorkspaceOfItsOwn) {
  const Context context(options());
  const auto gemm = context.gemm({});
  const GemmCall deep = call(256, 256, 16384);
  void* const per_thread = reinterpret_cast<void*>(2);  // NOLINT: CU_STREAM_PER_THREAD
  ASSERT_TRUE(gemm->run(deep, {.stream = per_thread}));
  int before = fake_gpu().allocations;
  ASSERT_TRUE(gemm->run(deep, {.stream = per_thread}));
  EXPECT_EQ(fake_gpu().allocations, before);
  std::thread([&] { EXPECT_TRUE(gemm->run(deep, {.stream = per_thread})); }).join();
  EXPECT_EQ(fake_gpu().allocations, before + 1) << "another thread's stream has the same handle";

  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  before = fake_gpu().allocations;
  fake_gpu().capturing[address(8)] = true;
  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  EXPECT_EQ(fake_gpu().allocations, before + 1) << "the graph may be launched into another stream";
  fake_gpu().capturing[address(8)] = false;
  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  EXPECT_EQ(fake_gpu().allocations, before + 1);

  const int freed = fake_gpu().frees;
  for (std::uintptr_t i = 100; i < 400; ++i) ASSERT_TRUE(gemm->run(deep, {.stream = address(i)}));
  EXPECT_GE(fake_gpu().frees, freed + 200) << "of streams that may be gone";
  fake_gpu().capturing[address(8)] = true;
  const int all = fake_gpu().allocations;
  ASSERT_TRUE(gemm->run(deep, {.stream = address(8)}));
  EXPECT_EQ(fake_gpu().allocations, all) << "what graphs have is kept";
}

TEST_F(ContextTest, PacksOperandsThatTmaCannotAddressBeforeTheKernelRuns) {
  const Context context(options());
  const auto gemm = context.gemm({});
  const GemmCall odd = call(4096, 4096, 4095);
  ASSERT_TRUE(gemm->run(odd));
  const auto all = launches();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].function, "gantry_pack");
  EXPECT_FALSE(all[0].dependent);
  EXPECT_EQ(all[1].function, "gantry_gemm");
  EXPECT_TRUE(all[1].dependent) << "its prologue overlaps the end of the packing";
  const auto bytes = gemm->workspace_bytes(odd);
  ASSERT_TRUE(bytes);
  EXPECT_GE(*bytes, 2U * 4096 * 8192);
  EXPECT_THAT(gemm->explain(odd)->plan, HasSubstr("Packing: TMA cannot address A and B"));
  ASSERT_TRUE(gemm->run(call(4096, 4096, 4096)));
  EXPECT_EQ(launches().size(), 3U);
  EXPECT_EQ(gemm->kernels(), 1) << "a kernel takes operands either way";
}

TEST_F(ContextTest, LaunchesShortGemmsAsDependentUnlessTheCallSaysOtherwise) {
  const Context context(options());
  const auto gemm = context.gemm({});
  GemmCall small = call(512, 512, 512), large = call(8192, 8192, 8192);
  ASSERT_TRUE(gemm->run(small));
  ASSERT_TRUE(gemm->run(large));
  EXPECT_EQ(gemm->explain(small)->gains_as_dependent, launches()[0].dependent);
  EXPECT_EQ(gemm->explain(large)->gains_as_dependent, launches()[1].dependent);
  EXPECT_THAT(gemm->explain(small)->choice, HasSubstr("as a dependent launch"));
  small.dependent = false;
  large.dependent = true;
  ASSERT_TRUE(gemm->run(small));
  ASSERT_TRUE(gemm->run(large));
  EXPECT_THAT(gemm->explain(small)->choice, Not(HasSubstr("as a dependent launch")));
  std::vector<bool> dependent;
  for (const FakeLaunch& one : launches()) dependent.push_back(one.dependent);
  EXPECT_EQ(dependent, (std::vector<bool>{true, false, false, true}));
}
// What a recording has before a launch may be no kernel, after which graphs are not known to take a dependent one.
TEST_F(ContextTest, LaunchesInARecordingAreDependentOnlyWhereThatIsAsked) {
  const Context context(options());
  const auto gemm = context.gemm({});
  GemmCall small = call(512, 512, 512);
  void* const stream = address(9);
  ASSERT_TRUE(gemm->run(small, {.stream = stream}));
  fake_gpu().capturing[stream] = true;
  ASSERT_TRUE(gemm->run(small, {.stream = stream}));
  small.dependent = true;
  ASSERT_TRUE(gemm->run(small, {.stream = stream}));
  std::vector<bool> dependent;
  for (const FakeLaunch& one : launches()) dependent.push_back(one.dependent);
  EXPECT_EQ(dependent, (std::vector<bool>{true, false, true}));
}

TEST_F(ContextTest, TakesAllThreeKindsOfDependentLaunchFromC) {
  gantry_context* const context = context_in_c();
  gantry_gemm* gemm = nullptr;
  ASSERT_EQ(gantry_gemm_create(context, nullptr, &gemm), GANTRY_OK) << gantry_error_message();
  gantry_call small = small_call_in_c();
  EXPECT_EQ(small.dependent, GANTRY_DEPENDENT_AUTOMATIC);
  gantry_call large = small;
  large.m = large.n = large.k = 8192;
  for (const int32_t dependent : {GANTRY_DEPENDENT_OFF, GANTRY_DEPENDENT_ON, GANTRY_DEPENDENT_AUTOMATIC}) {
    small.dependent = large.dependent = dependent;
    EXPECT_EQ(gantry_gemm_run(gemm, &small), GANTRY_OK) << gantry_error_message();
    EXPECT_EQ(gantry_gemm_run(gemm, &large), GANTRY_OK) << gantry_error_message();
  }
  small.dependent = 3;
  EXPECT_EQ(gantry_gemm_run(gemm, &small), GANTRY_INVALID_ARGUMENT);
  EXPECT_THAT(gantry_error_message(), HasSubstr("dependent is 3: it is 0 to 2"));
  std::vector<bool> dependent;
  for (const FakeLaunch& one : launches()) dependent.push_back(one.dependent);
  EXPECT_EQ(dependent, (std::vector<bool>{false, false, true, true, true, false}));
  gantry_gemm_destroy(gemm);
  gantry_context_destroy(context);
}

TEST_F(ContextTest, TakesTheScheduleAndSwappedOperandsFromC) {
  gantry_context* const context = context_in_c();
  const gantry_call call = small_call_in_c();
  const auto explained = [&](const gantry_gemm_options& options) {
    gantry_gemm* gemm = nullptr;
    if (gantry_gemm_create(context, &options, &gemm) != GANTRY_OK) return std::string(gantry_error_message());
    std::string text(4000, ' ');
    EXPECT_EQ(gantry_gemm_explain(gemm, &call, text.data(), text.size(), nullptr), GANTRY_OK) << gantry_error_message();
    gantry_gemm_destroy(gemm);
    return text;
  };
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  options.tile_m = 192;
  options.tile_n = 96;
  EXPECT_THAT(explained(options), HasSubstr("192x96x64 pingpong"));
  options.schedule = GANTRY_SCHEDULE_COOPERATIVE;
  EXPECT_THAT(explained(options), HasSubstr("the tile has 192 rows: "));
  options.tile_m = 128;
  EXPECT_THAT(explained(options), HasSubstr("128x96x64 cooperative"));
  options.schedule = GANTRY_SCHEDULE_PINGPONG;
  EXPECT_THAT(explained(options), HasSubstr("128x96x64 pingpong"));
  options.schedule = 3;
  EXPECT_THAT(explained(options), HasSubstr("the schedule is 3: it is 0 to 2"));
  options = GANTRY_GEMM_OPTIONS;
  options.tile_m = 8;
  options.tile_n = 64;
  EXPECT_THAT(explained(options), HasSubstr("those of swapped operands"));
  options.swapped = 1;
  EXPECT_THAT(explained(options), HasSubstr("8x64x64 cooperative 1x1 bf16 swapped"));
  gantry_context_destroy(context);
}

TEST_F(ContextTest, HasAKernelOfItsOwnForADThatTmaCannotAddress) {
  const Context context(options());
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(4096, 50264, 4096)));
  ASSERT_TRUE(gemm->run(call(4096, 50257, 4096)));
  EXPECT_EQ(gemm->kernels(), 2);
  EXPECT_THAT(gemm->explain(call(4096, 50257, 4096))->plan, HasSubstr("TMA cannot address D; threads"));
  GemmCall shifted = call(4096, 4096, 4096);
  shifted.d.data = static_cast<char*>(shifted.d.data) + 2;
  EXPECT_THAT(gemm->explain(shifted)->plan, HasSubstr("TMA cannot address D; threads"));
  shifted.d.data = static_cast<char*>(shifted.d.data) + 1;
  const Status refused = gemm->run(shifted);
  ASSERT_EQ(refused.reasons().size(), 1U);
  EXPECT_EQ(refused.reasons()[0].rule, "element_misaligned");
}

TEST_F(ContextTest, TakesTilesThatHaveTheRowsWhichAnEpilogueCombines) {
  const Context context(options());
  const auto gemm = context.gemm({.epilogue = "d = softmax(acc)"});
  ASSERT_TRUE(gemm) << gemm.error().describe();
  for (const int n : {8, 100, 128, 200, 256, 1000, 64}) {  // a kernel that is there may be too narrow for the next
    const Status ran = gemm->run(call(300, n, 256));
    EXPECT_TRUE(ran) << n << " columns: " << ran.describe();
  }
  const Status wide = gemm->run(call(300, 2056, 256));
  ASSERT_EQ(wide.reasons().size(), 1U);
  EXPECT_EQ(wide.reasons()[0].rule, "row_in_one_tile");
  EXPECT_EQ(wide.reasons()[0].nearest, 2048);
}

TEST_F(ContextTest, PassesADriversRefusalOn) {
  const Context context(options());
  const auto gemm = context.gemm({});
  fake_gpu().fail_launch = 719;
  const Status failed = gemm->run(call(512, 512, 512));
  EXPECT_EQ(failed.code(), StatusCode::device_failed);
  ASSERT_TRUE(is_only(failed, RuntimeRule::device_call_failed));
  EXPECT_EQ(failed.reasons().front().actual, 719) << "the driver's code";
  EXPECT_THAT(failed.describe(), HasSubstr("refused on purpose")) << "the driver's words";
}

TEST_F(ContextTest, ComputesNothingWithoutAKernelWhereThereIsNothing) {
  const Context context(options());
  const auto gemm = context.gemm({});
  ASSERT_TRUE(gemm->run(call(0, 512, 512)));
  EXPECT_EQ(fake_nvrtc().compiled, 0);
  EXPECT_FALSE(gemm->run(call(-1, 512, 512)));
  EXPECT_FALSE(gemm->run(call(std::int64_t{1} << 40, 512, 512)));
  const auto sums = context.gemm({.epilogue = "d = acc; s:f32 = reduce_col_add(acc)"});
  ASSERT_TRUE(sums) << sums.error().describe();
  GemmCall empty = call(512, 0, 512);
  empty.arguments = {{"s", address(4)}};
  ASSERT_TRUE(sums->run(empty)) << sums->run(empty).describe();
  ASSERT_EQ(launches().size(), 1U);
  EXPECT_EQ(launches()[0].function, "gantry_fill");
}

TEST_F(ContextTest, ServesManyThreads) {
  ContextOptions bounded = options(CompilePolicy::background);
  bounded.most_kernels = 8;
  const Context context(bounded);
  const auto gemm = context.gemm({.epilogue = "d = gelu(acc + row(bias))"});
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 200; ++i) {
        GemmCall one = call(8 * (1 + (i * 7 + static_cast<std::int64_t>(t)) % 60), 8 * (1 + i % 40), 64 * (1 + i % 20));
        one.arguments = {{"bias", address(4)}};
        if (!gemm->run(one, {.stream = address(20 + t % 4)})) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  gemm->wait_for_compilations();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(launches().size(), 1600U);
  EXPECT_LE(gemm->kernels(), 8);
  EXPECT_LE(fake_nvrtc().compiled, 8);
}

TEST_F(ContextTest, TakesAnEpilogueAsAValue) {
  const Context context(options());
  const auto text = context.gemm({.epilogue = "d = relu(acc + row(bias))"});
  ASSERT_TRUE(text);
  const auto value = context.gemm({.graph = text->graph()});
  ASSERT_TRUE(value) << value.error().describe();
  EXPECT_TRUE(value->graph() == text->graph());
  GemmCall one = call(512, 512, 512);
  one.arguments = {{"bias", address(4)}};
  ASSERT_TRUE(text->run(one));
  ASSERT_TRUE(value->run(one));
  EXPECT_EQ(fake_nvrtc().compiled, 1) << "the same kernel";
  EXPECT_FALSE(context.gemm({.graph = fusion::Graph{}})) << "it has no output";
}

TEST_F(ContextTest, RefusesAnEpilogueThatCannotBeReadWithItsColumn) {
  const Context context(options());
  const auto wrong = context.gemm({.epilogue = "d = gulu(acc)"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), StatusCode::invalid_argument);
  EXPECT_EQ(wrong.error().reasons().front().rule, "there_is_no_such_function");
  EXPECT_EQ(wrong.error().reasons().front().actual, 5) << "the column";
  EXPECT_THAT(wrong.error().describe(), HasSubstr("gelu"));
  const auto impossible = context.gemm({.options = {.tile = {100, 100, 64}}});
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.error().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace gantry::runtime::test
