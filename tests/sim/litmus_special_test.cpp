// The litmus grid of what has rules of its own: remote stores, tensor maps, registers of products.
#include "litmus.hpp"

namespace gantry {
namespace {

using namespace arch;
using namespace litmus;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(1024) std::uint32_t b[64];
  std::uint64_t full, told;
};
alignas(128) std::uint32_t source[1024], target[1024];
alignas(128) TmaDescriptor slot;
std::uint32_t flag;

void sync() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}

// st.async into a peer, and an ordinary access of the peer to the same word, in either order.
enum Carrier { nothing, its_mbarrier, other_mbarrier, cluster_barrier, kCarriers };
constexpr Chain kCarriersOf[kCarriers] = {
    {"nothing", false, "PTX MCM, causality order: there is none"},
    {"the mbarrier that it completes", true, "st.async: complete-tx releases at cluster scope"},
    {"an arrival of the issuer on another mbarrier", false,
     "decision: an asynchronous operation is not ordered by later operations of its thread"},
    {"the cluster barrier", false, "barrier.cluster does not cover asynchronous operations"},
};

TEST(LitmusGrid, OfRemoteStoresAgreesWithTheTable) {
  Tally tally;
  for (const bool writes : {false, true}) {
    for (int carrier = 0; carrier < kCarriers; ++carrier) {
      const Kind first{"st.async", true, Proxy::async, Ends::by_mbarrier, false, false, "st.async is weak"};
      const Kind second{writes ? "st" : "ld", writes, Proxy::generic, Ends::at_once, false, false, "weak"};
      tally.add(std::string("st.async, ") + kCarriersOf[carrier].name + ", " + second.name,
                verdict(first, second, kCarriersOf[carrier], {}), [&](const SimulatorOptions& options) {
                  return test::simulate(
                      {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = sizeof(Storage)},
                      [&](SharedMemory shared) {
                        Storage& s = shared.as<Storage>();
                        if (thread_rank() == 0) {
                          mbarrier_init(&s.full, 1);
                          mbarrier_init(&s.told, 1);
                          fence_mbarrier_init(sem_release, scope_cluster);
                          st(space_shared, &s.tile[0], 0u);
                        }
                        sync();
                        const bool one = thread_rank() == 0, receives = cluster_block_rank() == 1;
                        if (one && receives) {
                          mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 4);
                        }
                        if (one && !receives) {
                          st_async(mapa(space_cluster, &s.tile[0], 1), 7u, mapa(space_cluster, &s.full, 1));
                          mbarrier_arrive(sem_release, scope_cluster, space_cluster, mapa(space_cluster, &s.told, 1));
                        }
                        if (carrier == cluster_barrier) sync();
                        if (one && receives) {
                          if (carrier == its_mbarrier) wait(&s.full, 0);
                          if (carrier == other_mbarrier) wait(&s.told, 0);
                          writes ? st(space_shared, &s.tile[0], 1u) : (void)ld(space_shared, &s.tile[0]);
                          wait(&s.full, 0);
                          wait(&s.told, 0);
                        }
                        sync();
                      },
                      options);
                });
    }
  }
  EXPECT_EQ(tally.cases(), 8);
}

// An edit of a map and a copy with it, of two CTAs.
TEST(LitmusGrid, OfEditedMapsAgreesWithTheTable) {
  int cases = 0;
  for (const bool released : {true, false}) {
    for (const bool handshake : {true, false}) {
      for (const bool acquired : {true, false}) {
        ++cases;
        // fence.proxy.tensormap::generic: release by the editor, acquire by the user, and between them an order of the
        // generic proxy. Host-written maps need none of it at the start of a kernel (decision: the launch publishes
        // them, as every kernel with a map among its parameters relies on).
        const char* rule = !released ? "tensor-map-unreleased" : "tensor-map-unacquired";
        const bool clean = released && handshake && acquired;
        for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
          flag = 0;
          slot = pack({.data_type = TmaDataType::u32,
                       .rank = 2,
                       .address = reinterpret_cast<std::uint64_t>(source),
                       .dims = {32, 32, 1, 1, 1},
                       .strides = {128},
                       .box = {32, 32, 1, 1, 1}});
          const Report report = test::simulate(
              {.grid = {2}, .block = {32}, .shared_bytes = sizeof(Storage)},
              [&](SharedMemory shared) {
                Storage& s = shared.as<Storage>();
                if (thread_rank() != 0) return;
                if (block_index().x == 0) {
                  tensormap_replace_global_address(space_global, &slot, target);
                  if (released) fence_proxy_tensormap_generic(sem_release, scope_gpu);
                  st(sem_release, scope_gpu, space_global, &flag, 1u);
                  return;
                }
                mbarrier_init(&s.full, 1);
                fence_mbarrier_init(sem_release, scope_cluster);
                if (handshake) {
                  while (ld(sem_acquire, scope_gpu, space_global, &flag) == 0) pause();
                }
                if (acquired) fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
                mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 4096);
                constexpr std::int32_t kOrigin[2] = {0, 0};
                cp_async_bulk_tensor(space_cluster, space_global, s.tile, &slot, kOrigin, &s.full);
                wait(&s.full, 0);
              },
              options_of(seed));
          if (clean) {
            EXPECT_TRUE(report.clean()) << report.text();
          } else if (handshake) {
            EXPECT_TRUE(report.has(rule)) << rule << ", seed " << seed << ": " << report.text();
          } else {
            // Without a handshake the copy may come first, and then the edit is what comes too early.
            EXPECT_TRUE(any_of(report, {rule, "tensor-map-in-flight", "tensor-map-unacquired"})) << report.text();
          }
        }
      }
    }
  }
  EXPECT_EQ(cases, 8);
}

// Registers that a product reads A from, written again after it.
TEST(LitmusGrid, OfRegistersOfProductsAgreesWithTheTable) {
  using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;
  for (const bool waited : {true, false}) {
    for (const bool fenced : {true, false}) {
      for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
        const Report report = test::simulate(
            {.block = {128}, .shared_bytes = sizeof(Storage)},
            [&](SharedMemory shared) {
              Storage& s = shared.as<Storage>();
              if (thread_rank() < 64) st(space_shared, &s.b[thread_rank()], 0u);
              fence_proxy_async(space_shared);
              syncthreads();
              const std::uint64_t b =
                  wgmma_descriptor(s.b, {.leading_bytes = 128, .stride_bytes = 256, .swizzle_bytes = 0});
              Accumulator<Op> acc;
              std::uint32_t a[4] = {1, 2, 3, 4};
              wgmma_fence();
              wgmma_mma_async<Op>(acc, a, b, false);
              wgmma_commit_group();
              if (waited) wgmma_wait_group(n32<0>);
              a[0] = thread_rank() + 9;
              if (fenced) wgmma_fence();
              wgmma_mma_async<Op>(acc, a, b, true);
              wgmma_commit_group();
              wgmma_wait_group(n32<0>);
            },
            options_of(seed));
        // wgmma.wait_group: registers may be accessed after it; wgmma.fence: required between an access to registers
        // and a wgmma that reads them.
        EXPECT_EQ(report.has("wgmma-operand-reused"), !waited) << report.text();
        EXPECT_EQ(report.has("wgmma-fence-missing"), !fenced) << report.text();
      }
    }
  }
}

}  // namespace
}  // namespace gantry
