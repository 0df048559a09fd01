// cp.async: every size with every number of valid bytes, waited for by groups and by an mbarrier.
#pragma once

#include <string>

#include <gantry/arch.hpp>

#include "suite.hpp"

namespace gantry::conformance {

enum class CopyWait { groups, all, arrival, expected_arrival };

// Each thread copies 28 bytes of its 32 in pieces of 4, 8 and 16, of which `valid` are taken; then everybody shows what
// another thread copied.
template <CopyWait Wait>
struct ThreadCopies {
  static constexpr int kThreads = 64;
  struct Params {
    const std::uint8_t* from;    // 32 bytes of each thread
    const std::uint32_t* valid;  // 3 of each thread: of the pieces of 16, 8 and 4 bytes
    std::uint8_t* out;           // 32 bytes of each thread
  };
  struct Storage {
    alignas(16) std::uint8_t tile[32 * kThreads];
    std::uint64_t barrier;
  };
  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    using namespace arch;
    Storage& s = shared.as<Storage>();
    const std::uint32_t rank = thread_rank();
    if (rank == 0) mbarrier_init(&s.barrier, Wait == CopyWait::expected_arrival ? 1 : kThreads);
    st(space_shared, reinterpret_cast<std::uint32_t*>(s.tile + 32 * rank + 28), 0xEEEEEEEEu);
    syncthreads();
    const std::uint32_t* valid = p.valid + 3 * rank;
    const std::uint8_t* from = p.from + 32 * rank;
    std::uint8_t* to = s.tile + 32 * rank;
    cp_async_cg(space_shared, space_global, to, from, n32<16>, ld(space_global, valid));
    cp_async_commit_group();
    cp_async_ca<64>(space_shared, space_global, to + 16, from + 16, n32<8>, ld(space_global, valid + 1));
    cp_async_ca(space_shared, space_global, to + 24, from + 24, n32<4>, ld(space_global, valid + 2), kEvictFirst);
    finish(s);
    const std::uint32_t other = (rank + 37) % kThreads;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto word = ld(space_shared, reinterpret_cast<const std::uint32_t*>(s.tile + 32 * other) + i);
      st(space_global, reinterpret_cast<std::uint32_t*>(p.out + 32 * other) + i, word);
    }
  }

 private:
  GANTRY_HD static void finish(Storage& s) {
    using namespace arch;
    if constexpr (Wait == CopyWait::groups) {
      cp_async_commit_group();
      cp_async_wait_group(n32<1>), cp_async_wait_group(n32<0>);
    } else if constexpr (Wait == CopyWait::all) {
      cp_async_wait_all();
    } else if constexpr (Wait == CopyWait::arrival) {
      cp_async_mbarrier_arrive_noinc(&s.barrier);
      wait(&s.barrier, 0);
    } else {
      cp_async_mbarrier_arrive(&s.barrier);
      syncthreads();
      if (thread_rank() == 0) mbarrier_arrive(&s.barrier);
      wait(&s.barrier, 0);
    }
    syncthreads();
  }
};

template <CopyWait Wait, class Machine>
void add_thread_copies(Cases<Machine>& cases, const char* name) {
  using Kernel = ThreadCopies<Wait>;
  cases.push_back({std::string("cp.async, ") + name, [](Machine& m) {
                     constexpr std::size_t kThreads = Kernel::kThreads;
                     Dice dice(static_cast<std::uint64_t>(Wait) + 40);
                     typename Kernel::Params params{};
                     params.from = m.buffer(dice.bytes(32 * kThreads));
                     Bytes valid(12 * kThreads);
                     for (std::size_t i = 0; i < 3 * kThreads; ++i) {
                       valid[4 * i] = static_cast<std::uint8_t>(dice.between(0, 16 >> i % 3));
                     }
                     params.valid = reinterpret_cast<const std::uint32_t*>(m.buffer(valid));
                     params.out = m.buffer(Bytes(32 * kThreads));
                     m.template launch<Kernel>(
                         {.block = {kThreads},
                          .shared_bytes = static_cast<std::uint32_t>(sizeof(typename Kernel::Storage)),
                          .name = "thread_copies"},
                         params);
                     m.result(params.out, 32 * kThreads);
                   }});
}

template <class Machine>
void add_copies_of_threads(Cases<Machine>& cases) {
  add_thread_copies<CopyWait::groups>(cases, "waited for by groups");
  add_thread_copies<CopyWait::all>(cases, "waited for together");
  add_thread_copies<CopyWait::arrival>(cases, "arriving on an mbarrier");
  add_thread_copies<CopyWait::expected_arrival>(cases, "arriving on an mbarrier that is told to expect it");
}

}  // namespace gantry::conformance
