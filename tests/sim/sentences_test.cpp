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
        meet();
        if (thread_rank() == 0 && cluster_block_rank() == 1) {
          load_tile(s, &slot);
          wait(&s.full, 0);
          st(sem_relaxed, scope_gpu, space_global, &flag, 1u);
        }
        if (thread_rank() == 0 && cluster_block_rank() == 0) {
          while (ld(sem_relaxed, scope_gpu, space_global, &flag) == 0) pause();
          ld(space_cluster, mapa(space_cluster, &s.tile[0], 1));
        }
        meet();
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

}  // namespace
}  // namespace gantry::test
