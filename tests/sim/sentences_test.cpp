// How reports speak of operations, barriers and polls.
#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

TEST(Sentences, AnOperationIsNotCalledAThread) {
  const Report report = test::simulate({.block = {128}, .shared_bytes = kShared}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() != 0) return;
    cp_async_bulk(space_global, space_shared, target, s.tile, 64);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group_read(n32<0>);
  });
  ASSERT_TRUE(report.has("uninitialised-shared-read")) << report.text();
  EXPECT_EQ(report.findings.front().text.find("Thread"), std::string::npos) << report.text();
  EXPECT_NE(report.findings.front().text.find("A bulk store issued"), std::string::npos) << report.text();
}

TEST(Sentences, NobodyIsAdvisedToWaitOnABarrierOfAnotherCta) {
  reset();
  encode_slot();
  const Report report =
      test::simulate({.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared}, [](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() == 0) start_barrier(s);
        sync();
        if (thread_rank() == 0 && cluster_block_rank() == 1) {
          load_tile(s, &slot);
          wait(&s.full, 0);
          st(sem_relaxed, scope_gpu, space_global, &flag, 1u);
        }
        if (thread_rank() == 0 && cluster_block_rank() == 0) {
          while (ld(sem_relaxed, scope_gpu, space_global, &flag) == 0) pause();
          ld(space_cluster, mapa(space_cluster, &s.tile[0], 1));
        }
        sync();
      });
  ASSERT_TRUE(report.has("tma-data-early")) << report.text();
  EXPECT_NE(report.text().find("CTA 1, where the bytes land, waits"), std::string::npos) << report.text();
}

TEST(Sentences, APollThatDoesNotEndSaysWhereAndWhat) {
  reset();
  const Report report = test::simulate({.block = {32}}, [](SharedMemory) {
    if (thread_rank() != 0) return;
    name(&flag, 4, "ready");
    while (ld(sem_acquire, scope_gpu, space_global, &flag) != 5) pause();
  });
  ASSERT_TRUE(report.has("livelock")) << report.text();
  EXPECT_NE(report.text().find("'ready', which holds 0"), std::string::npos) << report.text();
}

TEST(Sentences, EveryPollThatDoesNotEndSaysWhatItLooksAt) {
  for (const Schedule schedule : {Schedule::round_robin, Schedule::random, Schedule::pct, Schedule::directed}) {
    reset();
    const Report report = test::simulate({.grid = {4}, .block = {32}},
                                         [](SharedMemory) {
                                           if (thread_rank() != 0) return;
                                           name(&flag, 4, "ready");
                                           while (ld(sem_acquire, scope_gpu, space_global, &flag) != 5) pause();
                                         },
                                         {.schedule = schedule});
    ASSERT_TRUE(report.has("livelock")) << report.text();
    EXPECT_EQ(report.text().find("something that does not come."), std::string::npos) << report.text();
  }
}

// No fence and no order makes a load over its own barrier right.
TEST(Sentences, ALoadOverItsOwnBarrierIsNotAdvisedToFence) {
  const Report report = test::simulate({.block = {32}, .shared_bytes = kShared}, [](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() != 0) return;
    auto* barrier = reinterpret_cast<std::uint64_t*>(&s.tile[256]);
    mbarrier_init(barrier, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, barrier, kTileBytes);
    cp_async_bulk(space_cluster, space_global, s.tile, source, kTileBytes, barrier);
    wait(barrier, 0);
  });
  ASSERT_TRUE(report.has("mbarrier-overwritten")) << report.text();
  EXPECT_FALSE(report.has("proxy-fence-missing")) << report.text();
  EXPECT_NE(report.text().find("the mbarrier at bytes 1024..1031"), std::string::npos) << report.text();
}

TEST(Sentences, ARunThatTakesTooManyStepsSaysWhereItsThreadsAre) {
  const Report report = test::simulate({.block = {32}},
                                       [](SharedMemory) {
                                         for (;;) syncthreads();
                                       },
                                       {.max_steps = 10'000});
  ASSERT_TRUE(report.has("livelock")) << report.text();
  EXPECT_NE(report.text().find("max_steps"), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("are at sentences_test.cpp:"), std::string::npos) << report.text();
  EXPECT_EQ(report.text().find("poll"), std::string::npos) << report.text();
}

// What is wrong with one operation is told with the thread that executed it, the line, and the address or the value.
TEST(Sentences, OfOneOperationNameItsThreadAndItsValue) {
  static std::uint32_t outside;
  static std::uint64_t no_barrier;
  struct Case {
    const char* rule;
    const char* value;
    void (*body)(Storage&);
  };
  const Case cases[] = {
      {"wrong-space", "0x", [](Storage&) { st(space_shared, &outside, 1u); }},
      {"wrong-space", "byte 4096 of", [](Storage& s) { st(space_global, s.other, 1u); }},
      {"misaligned-access", "0x",
       [](Storage& s) { st(space_shared, reinterpret_cast<std::uint64_t*>(&s.tile[1]), std::uint64_t{1}); }},
      {"shared-out-of-range", "offset 40960 ", [](Storage& s) { st(space_shared, std::data(s.tile) + 10240, 1u); }},
      {"mbarrier-placement", "0x", [](Storage&) { mbarrier_init(&no_barrier, 1); }},
      {"mbarrier-uninitialised", "The mbarrier at bytes", [](Storage& s) { mbarrier_arrive(&s.full); }},
      {"mbarrier-count", "a count of 0", [](Storage& s) { mbarrier_init(&s.full, 0); }},
      {"mbarrier-reinitialised", "The mbarrier at bytes",
       [](Storage& s) { mbarrier_init(&s.full, 1), mbarrier_init(&s.full, 1); }},
      {"mbarrier-tx-overflow", "1048576 bytes",
       [](Storage& s) {
         mbarrier_init(&s.full, 1);
         mbarrier_expect_tx(sem_relaxed, scope_cta, space_shared, &s.full, 1 << 20);
       }},
      {"bulk-alignment", "0x", [](Storage& s) { cp_async_bulk(space_global, space_shared, target + 1, s.tile, 16); }},
      {"bulk-address", "0x", [](Storage&) { cp_async_bulk(space_global, space_shared, target, source, 16); }},
      {"tensor-map-invalid", "0x",
       [](Storage& s) { cp_async_bulk_tensor(space_global, space_shared, &target[0], kOrigin, s.tile); }},
      {"illegal-address", "0x0",
       [](Storage& s) { cp_async_bulk_tensor(space_global, space_shared, nullptr, kOrigin, s.tile); }},
      {"tensor-map-space", "bytes 8192..",
       [](Storage& s) { cp_async_bulk_tensor(space_global, space_shared, &s.map, kOrigin, s.tile); }},
      {"cluster-rank", "rank 3", [](Storage& s) { mapa(space_cluster, &s.full, 3); }},
      {"named-barrier-misuse", "Barrier 17", [](Storage&) { barrier_sync(17, 32); }},
  };
  for (const Case& c : cases) {
    const Report report = test::simulate({.block = {32}, .shared_bytes = kShared}, [&](SharedMemory shared) {
      if (thread_rank() == 5) c.body(shared.as<Storage>());
    });
    ASSERT_TRUE(report.has(c.rule)) << c.rule << ": " << report.text();
    const std::string& text = report.findings.front().text;
    EXPECT_NE(text.find("(thread 5 of CTA 0 at sentences_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find(c.value), std::string::npos) << c.rule << ": " << text;
  }
}

}  // namespace
}  // namespace gantry::test
