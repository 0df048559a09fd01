// The main loop of a matrix product: one thread loads tiles of A and B by TMA into a ring of stages, warpgroups
// multiply them.
//
// In a cluster, CTAs in one column share their tile of B and CTAs in one row their tile of A: each loads a part and
// multicasts it. A stage is released to every CTA that fills it. One group of products is always in flight: a stage is
// released when the products of the next one have been issued.
//
// Example at namespace scope:
//     using Loop = gantry::Mainloop<gantry::CooperativeConfig>;
//     GANTRY_HD inline void load_one(const Loop::Params& params, Loop::Storage& storage, const gantry::Work& work) {
//       Loop::Producer producer(params, storage);
//       producer.load(work);
//       producer.tail();
//     }
#pragma once

#include <gantry/arch.hpp>
#include <gantry/atom.hpp>
#include <gantry/gemm/config.hpp>
#include <gantry/gemm/scheduler.hpp>
#include <gantry/pipeline/tma_async.hpp>

namespace gantry {

template <class Config>
struct Mainloop : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  using Shape::kClusterM, Shape::kClusterN, Shape::kCluster;
  using Shape::kMathWarpgroups;
  using Shape::kTileM, Shape::kTileN, Shape::kTileK;
  static constexpr int kStages = Config::kStages;

  struct SharedA {
    static constexpr ComposedLayout value =
        tile_to_shape(Shape::kAtom, make_shape(Int::fixed(kTileM), Int::fixed(kTileK), Int::fixed(kStages)));
  };
  struct SharedB {
    static constexpr ComposedLayout value =
        tile_to_shape(Shape::kAtom, make_shape(Int::fixed(kTileN), Int::fixed(kTileK), Int::fixed(kStages)));
  };

  // `sharers` CTAs load a part each and multicast it.
  GANTRY_HD static constexpr TmaPlan load_plan(const ComposedLayout& stage, int sharers) {
    return plan_structure({.op = sharers > 1 ? TmaOp::load_multicast : TmaOp::load,
                           .gtensor = {.element = ElementType::bf16, .layout = Shape::kMatrix},
                           .smem = stage,
                           .num_multicast = sharers});
  }
  struct LoadA {
    static constexpr TmaPlan value = load_plan(SharedA::value(_, _, 0), kClusterN);
  };
  struct LoadB {
    static constexpr TmaPlan value = load_plan(SharedB::value(_, _, 0), kClusterM);
  };
  struct Mma {
    using Operation = ss_op_selector<bf16, bf16, float, Tile<kTileM, kTileN, kTileK>>;
    static constexpr TiledMmaLayout value =
        make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(kMathWarpgroups), _1, _1)));
  };
  using Pipeline = PipelineTmaAsync<kStages>;
  using State = PipelineState<kStages>;

  struct Params {
    TmaDescriptor a, b;
    int m, n, k;
  };
  struct Storage {
    alignas(1024) bf16 a[cosize(SharedA::value)];
    alignas(1024) bf16 b[cosize(SharedB::value)];
    typename Pipeline::SharedStorage pipeline;
  };
  static constexpr std::uint32_t kStageBytes = (sizeof(Storage::a) + sizeof(Storage::b)) / kStages;

  // Where a CTA is in its cluster, M fastest.
  struct Place {
    int m, n;
    GANTRY_INLINE explicit Place(int rank) : m(rank % kClusterM), n(rank / kClusterM) {}
    GANTRY_INLINE static Place mine() { return Place(static_cast<int>(arch::cluster_block_rank())); }

    // The CTAs that share this one's tile of A, and of B.
    GANTRY_INLINE std::uint16_t row_mask() const {
      std::uint32_t mask = 0;
      for (int j = 0; j < kClusterN; ++j) mask |= 1u << (m + kClusterM * j);
      return static_cast<std::uint16_t>(mask);
    }
    GANTRY_INLINE std::uint16_t column_mask() const {
      return static_cast<std::uint16_t>(((1u << kClusterM) - 1) << (kClusterM * n));
    }
  };

  // One thread of the CTA, before a barrier of the cluster.
  GANTRY_INLINE static void init(Storage& s) {
    Pipeline::init(s.pipeline, kMathWarpgroups * (kClusterM + kClusterN - 1), "stage");
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  }

  GANTRY_INLINE static auto shared_a(Storage& s) { return make_tensor(make_smem_ptr(s.a), SharedA{}); }
  GANTRY_INLINE static auto shared_b(Storage& s) { return make_tensor(make_smem_ptr(s.b), SharedB{}); }

  // One thread.
  class Producer {
   public:
    GANTRY_INLINE Producer(const Params& params, Storage& storage)
        : p_(params), s_(storage), pipeline_(storage.pipeline), place_(Place::mine()) {}

    GANTRY_INLINE void load(const Work& work) {
      const TmaCopy<LoadA> load_a{&p_.a};
      const TmaCopy<LoadB> load_b{&p_.b};
      const auto a_tiles = local_tile(load_a.get_tma_tensor(p_.m, p_.k), Tile<kTileM, kTileK>{},
                                      coord(work.m * kClusterM + place_.m, _));
      const auto b_tiles = local_tile(load_b.get_tma_tensor(p_.n, p_.k), Tile<kTileN, kTileK>{},
                                      coord(work.n * kClusterN + place_.n, _));
      const auto a = tma_partition(load_a, place_.n, group_modes<0, 2>(shared_a(s_)), group_modes<0, 2>(a_tiles));
      const auto b = tma_partition(load_b, place_.m, group_modes<0, 2>(shared_b(s_)), group_modes<0, 2>(b_tiles));
      GANTRY_NO_UNROLL
      for (int k = work.k_begin; k < work.k_end; ++k, ++write_) {
        pipeline_.producer_acquire(write_, kStageBytes);
        std::uint64_t* full = pipeline_.producer_get_barrier(write_);
        copy(load_a.with(full, place_.row_mask()), a.gmem(_, k), a.smem(_, write_.index()));
        copy(load_b.with(full, place_.column_mask()), b.gmem(_, k), b.smem(_, write_.index()));
      }
    }

    GANTRY_INLINE void tail() { pipeline_.producer_tail(write_); }

   private:
    const Params& p_;
    Storage& s_;
    Pipeline pipeline_;
    Place place_;
    State write_ = make_producer_start_state<kStages>();
  };

  // A warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(Storage& storage, int warpgroup)
        : s_(storage),
          pipeline_(storage.pipeline),
          warpgroup_(warpgroup),
          thread_(static_cast<int>(arch::thread_rank()) % 128) {}

    GANTRY_INLINE static auto make_accumulators() {
      return partition_fragment_C(TiledMma<Mma>{}, Tile<kTileM, kTileN>{});
    }

    // acc = the sum over the K steps of `work`. behind(Constant<i>{}) is called for i < `count` while the products of
    // step i run, or, where there are fewer steps than that, before the first.
    template <int count, class Acc, class Behind>
    GANTRY_INLINE void multiply(const Work& work, Acc& acc, Behind behind) {
      int left = work.k_end - work.k_begin;
      State last = read_;
      if (left < count || count == 0) {
        for_each_index<count>(behind);
        step(acc, false, last);
        --left;
      } else {
        for_each_index<count>([&](auto i) {
          step(acc, i > 0, last);
          behind(i);
        });
        left -= count;
      }
      GANTRY_NO_UNROLL
      for (; left > 0; --left) step(acc, true, last);
      arch::wgmma_wait_group(arch::n32<0>);
      warpgroup_fence_operand(acc);
      release(last);
    }

   private:
    // Issues the products of a stage and releases the stage before it.
    template <class Acc>
    GANTRY_INLINE void step(Acc& acc, bool accumulate, State& last) {
      const TiledMma<Mma> mma;
      const auto mine = mma.get_slice(warpgroup_ * 128);
      const auto a = mine.partition_fragment_A(shared_a(s_));  // (1, M, K, stage)
      const auto b = mine.partition_fragment_B(shared_b(s_));
      pipeline_.consumer_wait(read_);
      warpgroup_fence_operand(acc);
      arch::wgmma_fence();
      gemm(mma, a(_, _, _, read_.index()), b(_, _, _, read_.index()), acc, accumulate);
      arch::wgmma_commit_group();
      warpgroup_fence_operand(acc);
      if (accumulate) {
        arch::wgmma_wait_group(arch::n32<1>);
        release(last);
      }
      last = read_;
      ++read_;
    }

    // One thread signals each CTA that fills this stage.
    GANTRY_INLINE void release(const State& state) {
      if constexpr (kCluster == 1) {
        if (thread_ == 0) pipeline_.consumer_release(state);
      } else {
        const Place mine = Place::mine();
        const Place other(thread_);
        if (thread_ < kCluster && (other.m == mine.m || other.n == mine.n)) {
          pipeline_.consumer_release(state, static_cast<std::uint32_t>(thread_));
        }
      }
    }

    Storage& s_;
    Pipeline pipeline_;
    int warpgroup_, thread_;
    State read_ = make_consumer_start_state<kStages>();
  };
};

}  // namespace gantry
