// A kernel written with the names of cuda::ptx. The includer says whose they are: `namespace ptx = cuda::ptx;` or
// `namespace ptx = gantry::ptx;`. What is not PTX (plain accesses, the CTA's barrier, a peer's address) comes from
// `Machine`.
//
// Each CTA of a pair loads a tile in bulk, doubles it, stores it, adds it to sums in global memory, and tells its peer
// how many words it had, and which lane came before each of its lanes.

constexpr std::uint32_t kWords = 256, kBytes = 4 * kWords;

struct Storage {
  alignas(128) std::uint32_t tile[kWords];
  std::uint64_t full, heard;
  alignas(16) std::uint32_t counts[4];
  std::uint32_t votes;
};

struct Params {
  const std::uint32_t* in;  // kWords of each CTA
  std::uint32_t *out, *sums;
  std::uint32_t* told;  // 6 words of each CTA
};

template <class Machine>
KERNEL_FUNCTION void wait_for(std::uint64_t* barrier) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, 0)) {
  }
}

template <class Machine>
KERNEL_FUNCTION void run_ptx_kernel(const Params& p, Storage& s) {
  const std::uint32_t thread = ptx::get_sreg_tid_x(), threads = ptx::get_sreg_ntid_x();
  const std::uint32_t cta = ptx::get_sreg_cluster_ctarank();
  const std::uint32_t bytes = kBytes;  // cuda::ptx takes it by reference
  if (thread == 0) {
    ptx::mbarrier_init(&s.full, 1);
    ptx::mbarrier_init(&s.heard, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    Machine::store(&s.votes, 0u);
  }
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);

  if (thread == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.full, bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s.tile, p.in + cta * kWords, bytes, &s.full);
  }
  wait_for<Machine>(&s.full);
  for (std::uint32_t i = thread; i < kWords; i += threads) Machine::store(&s.tile[i], 2 * Machine::load(&s.tile[i]));
  ptx::fence_proxy_async(ptx::space_shared);
  Machine::sync();
  if (thread == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, p.out + cta * kWords, s.tile, bytes);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, p.sums, s.tile, bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }

  bool in_reach = false;
  const std::uint32_t before = ptx::shfl_sync_up(ptx::get_sreg_laneid(), in_reach, 1, 0, 0xFFFFFFFFu);
  if (thread == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.heard, 20);
  }
  if (thread == 31) {
    Storage* peer = Machine::peer(&s, 1 - cta);
    const std::uint32_t counts[4] = {kWords, threads, before, in_reach};
    ptx::st_async(peer->counts, counts, &peer->heard);
    ptx::red_async(ptx::op_add, &peer->votes, cta + 7, &peer->heard);
  }
  wait_for<Machine>(&s.heard);
  if (thread == 0) {
    for (int i = 0; i < 4; ++i) Machine::show(p.told + cta * 6 + i, Machine::load(&s.counts[i]));
    Machine::show(p.told + cta * 6 + 4, Machine::load(&s.votes));
    Machine::show(p.told + cta * 6 + 5, ptx::get_sreg_clock64() != 0);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}
