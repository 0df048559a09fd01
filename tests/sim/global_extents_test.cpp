// What a kernel may access of the host's memory: extents of buffers, of what was registered, and of nothing else.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/guarded_memory.hpp>
#include <gantry/gemm/device.hpp>

#include "every_seed_steps.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;

std::uint32_t unknown[32];

// Warp 0 stores words `first` to `last - 1`: by operations, or by plain C++.
Report store_words(std::uint32_t* words, std::uint32_t first, std::uint32_t last, bool plain = false) {
  return test::simulate({.block = {32}}, [=](SharedMemory) {
    for (std::uint32_t i = first + thread_rank(); i < last; i += 32) {
      if (plain) {
        words[i] = i;
      } else {
        st(space_global, words + i, i);
      }
    }
  });
}

bool says(const Report& report, const std::string& words) { return report.text().find(words) != std::string::npos; }

TEST(GlobalExtents, ABufferRegistersItself) {
  const Buffer<std::uint32_t> values(400);
  EXPECT_TRUE(store_words(values.data(), 0, 400).clean());
  const Report past = store_words(values.data(), 0, 401);
  EXPECT_TRUE(past.has("global-out-of-range")) << past.text();
  EXPECT_TRUE(says(past, "element 400 of 400")) << past.text();
  EXPECT_TRUE(says(past, "Thread 16 of CTA 0")) << past.text();
  EXPECT_TRUE(says(past, "global_extents_test.cpp")) << past.text();
  EXPECT_EQ(past.findings.size(), 1u) << past.text();
  const Report below = store_words(values.data() - 8, 0, 1);
  EXPECT_TRUE(says(below, "element -8 of 400")) << below.text();
  const Report a_row_too_far = store_words(values.data(), 1400, 1401);
  EXPECT_TRUE(says(a_row_too_far, "element 1400 of 400")) << a_row_too_far.text();
}

TEST(GlobalExtents, LoadsAtomicsAndCopiesAreHeldToABufferToo) {
  const Buffer<std::uint32_t> values(64);
  std::uint32_t* end = values.data() + 64;
  const auto expect_reported = [](const char* what, auto body) {
    const Report report = test::simulate({.block = {1}, .shared_bytes = sizeof(test::Storage)},
                                         [&](SharedMemory shared) { body(shared.as<test::Storage>()); });
    EXPECT_TRUE(report.has("global-out-of-range")) << what << ": " << report.text();
    EXPECT_TRUE(report.completed) << what << ": " << report.text();
    EXPECT_EQ(report.findings.size(), 1u) << what << ": " << report.text();
  };
  expect_reported("load", [&](test::Storage&) { ld(space_global, end); });
  expect_reported("atomic", [&](test::Storage&) { atom(op_add, sem_relaxed, scope_gpu, space_global, end, 1u); });
  expect_reported("cp.async", [&](test::Storage& s) {
    cp_async_ca(space_shared, space_global, s.tile, end, n32<16>);
    cp_async_wait_all();
  });
  expect_reported("bulk load", [&](test::Storage& s) {
    test::start_barrier(s);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 32);
    cp_async_bulk(space_cluster, space_global, s.tile, end - 4, 32, &s.full);
    wait(&s.full, 0);
  });
}

TEST(GlobalExtents, APlainStoreBesideABufferIsReportedAtTheEndOfTheRun) {
  const Buffer<std::uint32_t> values(400);
  EXPECT_TRUE(store_words(values.data(), 0, 400, true).clean());
  const Report past = store_words(values.data(), 400, 401, true);
  EXPECT_TRUE(past.has("global-out-of-range")) << past.text();
  EXPECT_TRUE(says(past, "Byte 1600 of the allocation")) << past.text();
  const Report below = store_words(values.data() - 1, 0, 1, true);
  EXPECT_TRUE(says(below, "Byte -4 of the allocation")) << below.text();
  // What one run has broken is not held against the next.
  EXPECT_TRUE(store_words(values.data(), 0, 400, true).clean());
}

TEST(GlobalExtents, ABufferThatIsGoneIsForgotten) {
  const auto known = [](const void* data) {
    bool found = false;
    gantry::detail::GuardedBlocks::all().each(
        [&](const gantry::detail::GuardedBlock& block) { found |= block.data == data; });
    return found;
  };
  const void* data = nullptr;
  {
    const Buffer<std::uint32_t> values(400);
    data = values.data();
    EXPECT_TRUE(known(data));
  }
  EXPECT_FALSE(known(data));
}

TEST(GlobalExtents, WhatIsRegisteredInABufferReplacesItsExtent) {
  const Buffer<std::uint32_t> values(400);
  SimulatorOptions options;
  options.global.push_back({values.data(), 200 * sizeof(std::uint32_t), "the first half"});
  const Report report = test::simulate(
      {.block = {32}}, [&](SharedMemory) { ld(space_global, &values[200 + thread_rank()]); }, options);
  EXPECT_TRUE(says(report, "'the first half'")) << report.text();
}

TEST(GlobalExtents, ATensorMapThatIsLargerThanItsBufferIsReportedAndMovesNothingBesideIt) {
  const Buffer<std::uint32_t> tensor(31 * 32);
  const TmaDescriptor map = test::map_of(tensor.data());
  for (const bool store : {false, true}) {
    const Report report = test::simulate({.block = {1}, .shared_bytes = test::kShared}, [&](SharedMemory shared) {
      auto& s = shared.as<test::Storage>();
      if (!store) {
        test::start_barrier(s);
        test::load_tile(s, &map);
        wait(&s.full, 0);
        return;
      }
      for (std::uint32_t& word : s.tile) st(space_shared, &word, 7u);
      fence_proxy_async(space_shared);
      cp_async_bulk_tensor(space_global, space_shared, &map, test::kOrigin, s.tile);
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group(n32<0>);
    });
    EXPECT_TRUE(report.has("global-out-of-range")) << report.text();
    EXPECT_EQ(report.findings.size(), 1u) << report.text();
    EXPECT_TRUE(report.completed) << report.text();
  }
  EXPECT_EQ(tensor[31 * 32 - 1], 7u);
}

TEST(GlobalExtents, AnAccessThatLeavesAnAllocationIsReported) {
  std::vector<std::uint32_t> values(512);
  for (const bool broken : {false, true}) {
    Simulator machine;
    machine.allow_global(values.data(), 400 * sizeof(std::uint32_t), "values");
    struct Params {
      std::uint32_t* values;
      std::uint32_t count;
    } params{values.data(), broken ? 401u : 400u};
    const Report report = machine.run(
        {.block = {32}},
        [](const void* p, SharedMemory) {
          const Params& given = *static_cast<const Params*>(p);
          for (std::uint32_t i = thread_rank(); i < given.count; i += 32) st(space_global, given.values + i, i);
        },
        &params);
    EXPECT_EQ(report.has("global-out-of-range"), broken) << report.text();
    if (!broken) continue;
    EXPECT_NE(report.text().find("'values'"), std::string::npos) << report.text();
    EXPECT_NE(report.text().find("element 400 of 400"), std::string::npos) << report.text();
    EXPECT_NE(report.text().find("Thread 16 of CTA 0"), std::string::npos) << report.text();
  }
}

TEST(GlobalExtents, WhatNobodyRegisteredIsReportedWhereTheRunIsStrict) {
  for (const bool strict : {false, true}) {
    const Report report = test::simulate(
        {.block = {32}}, [](SharedMemory) { ld(space_global, &unknown[thread_rank()]); }, {.strict_global = strict});
    EXPECT_EQ(report.has("global-out-of-range"), strict) << report.text();
  }
}

}  // namespace
}  // namespace gantry
