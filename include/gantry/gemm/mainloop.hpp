// The main loop of a matrix product: one thread loads tiles of A and B by TMA into a ring of stages, warpgroups
// multiply them.
//
// In a cluster, CTAs in one column share their tile of B and CTAs in one row their tile of A: each loads a part and
// multicasts it, and a stage is released to every CTA that fills it.
//
// The tensor cores wait for whatever a warpgroup does between two products, so that is kept to a few instructions:
// stages are constants in the loop (a piece of work starts at stage 0), which leaves nothing of the descriptors to be
// computed; a stage is released behind the first product of the next one, and there the stage after that is looked at.
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

  GANTRY_HD static constexpr typename Pipeline::Params pipeline_params(PipelineRole role) {
    return {.role = role,
            .transaction_bytes = kStageBytes,
            .consumers = 128 * kMathWarpgroups,
            .cluster = {kClusterM, kClusterN}};
  }

  // `problem` has a, b, m, n and k.
  template <class Problem, class Encode>
  static Params make_params(const Problem& problem, Encode encode) {
    const auto map = [&encode](const TmaPlan& plan, const bf16* data, int rows, int columns) {
      GlobalTensor matrix{.address = reinterpret_cast<std::uint64_t>(data), .element = ElementType::bf16, .layout = {}};
      matrix.layout = make_layout(make_shape(rows, columns), make_stride(columns, _1));
      return encode(bind(plan, matrix).descriptor);
    };
    return {map(LoadA::value, problem.a, problem.m, problem.k), map(LoadB::value, problem.b, problem.n, problem.k),
            problem.m, problem.n, problem.k};
  }

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

  // The phase of each stage. Every piece of work starts at stage 0, so stages are not used equally often.
  class Phases {
   public:
    GANTRY_INLINE explicit Phases(std::uint32_t first) : bits_(first) {}

    GANTRY_INLINE State state(int stage) const { return State(stage, bits_ >> stage & 1, 0); }
    GANTRY_INLINE void use(int stage) { bits_ ^= 1u << stage; }

   private:
    std::uint32_t bits_;
  };

  // One thread of the CTA, before a barrier of the cluster.
  GANTRY_INLINE static void init(const Params& params, Storage& s) {
    arch::prefetch_tensormap(&params.a);
    arch::prefetch_tensormap(&params.b);
    Pipeline::init(s.pipeline, pipeline_params(PipelineRole::both), "stage");
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  }

  GANTRY_INLINE static auto shared_a(Storage& s) { return make_tensor(make_smem_ptr(s.a), SharedA{}); }
  GANTRY_INLINE static auto shared_b(Storage& s) { return make_tensor(make_smem_ptr(s.b), SharedB{}); }

  // One thread.
  class Producer {
   public:
    GANTRY_INLINE Producer(const Params& params, Storage& storage)
        : p_(params),
          s_(storage),
          pipeline_(storage.pipeline, pipeline_params(PipelineRole::producer)),
          place_(Place::mine()) {}

    GANTRY_INLINE void load(const Work& work) {
      const int k_steps = Shape::k_steps(p_.k);
      const TmaCopy<LoadA> load_a{&p_.a};
      const TmaCopy<LoadB> load_b{&p_.b};
      const auto a_tiles = local_tile(load_a.get_tma_tensor(p_.m, p_.k), Tile<kTileM, kTileK>{},
                                      coord(work.m * kClusterM + place_.m, _));
      const auto b_tiles = local_tile(load_b.get_tma_tensor(p_.n, p_.k), Tile<kTileN, kTileK>{},
                                      coord(work.n * kClusterN + place_.n, _));
      const auto a = tma_partition(load_a, place_.n, group_modes<0, 2>(shared_a(s_)), group_modes<0, 2>(a_tiles));
      const auto b = tma_partition(load_b, place_.m, group_modes<0, 2>(shared_b(s_)), group_modes<0, 2>(b_tiles));
      int k = work.k_begin;
      int stage = 0;
      GANTRY_NO_UNROLL
      for (int left = work.steps; left > 0; --left) {
        const State write = phases_.state(stage);
        pipeline_.producer_acquire(write);
        std::uint64_t* full = pipeline_.producer_get_barrier(write);
        copy(load_a.with(full, place_.row_mask()), a.gmem(_, k), a.smem(_, stage));
        copy(load_b.with(full, place_.column_mask()), b.gmem(_, k), b.smem(_, stage));
        phases_.use(stage);
        stage = stage + 1 < kStages ? stage + 1 : 0;
        k += work.k_step;
        if (k == k_steps) k = 0;
      }
    }

    // Waits until every stage has been released, so that no CTA leaves while others may still signal it.
    GANTRY_INLINE void tail() {
      for (int stage = 0; stage < kStages; ++stage) {
        arch::wait(&s_.pipeline.empty[stage], phases_.state(stage).phase());
      }
    }

   private:
    const Params& p_;
    Storage& s_;
    Pipeline pipeline_;
    Place place_;
    Phases phases_{(1u << kStages) - 1};
  };

  // A warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(Storage& storage, int warpgroup)
        : s_(storage),
          pipeline_(storage.pipeline, pipeline_params(PipelineRole::consumer)),
          warpgroup_(warpgroup),
          empty_(storage.pipeline.empty) {
      const Signal signal = signal_of_thread(arch::thread_rank() % 128, kCluster > 1 ? arch::cluster_block_rank() : 0,
                                             {kClusterM, kClusterN}, 128);
      signals_ = signal.sent;
      if constexpr (kCluster > 1) empty_ = arch::mapa(arch::space_cluster, empty_, signals_ ? signal.rank : 0);
    }

    GANTRY_INLINE static auto make_accumulators() {
      return partition_fragment_C(TiledMma<Mma>{}, Tile<kTileM, kTileN>{});
    }

    // acc = the sum over the K steps of `work`. behind(Constant<i>{}) is called for i < `count` while the products of
    // step i run, or, where there are fewer steps than that, before the first.
    template <int count, class Acc, class Behind>
    GANTRY_INLINE void multiply(const Work& work, Acc& acc, Behind behind) {
      multiply<count>(work, acc, behind, [] {});
    }
    // issued() is called when every product has been issued, before they are waited for.
    template <int count, class Acc, class Behind, class Issued>
    GANTRY_INLINE void multiply(const Work& work, Acc& acc, Behind behind, Issued issued) {
      constexpr int first = count > 0 ? count : 1;  // steps before the loop
      int left = work.steps;
      int stage = 0;  // the last one that was multiplied
      ready_ = {};
      if (left < first) {
        for_each_index<count>(behind);
        step<false>(acc, Constant<0>{});
        --left;
      } else {
        for_each_index<first>([&](auto i) {
          step<(i > 0)>(acc, uniform(i % kStages));
          if constexpr (i < count) behind(i);
        });
        GANTRY_NO_UNROLL
        for (left -= first; left >= kStages; left -= kStages) {
          for_each_index<kStages>([&](auto i) { step<true>(acc, Constant<(first + i) % kStages>{}); });
        }
        stage = (first + kStages - 1) % kStages;
      }
      GANTRY_NO_UNROLL
      for (; left > 0; --left) {
        stage = uniform(stage + 1 < kStages ? stage + 1 : 0);
        step<true>(acc, stage);
      }
      issued();
      arch::wgmma_wait_group(arch::n32<0>);
      warpgroup_fence_operand(acc);
      release(stage);
    }

    // Work that another warpgroup does: its stages go by.
    GANTRY_INLINE void skip(const Work& work) {
      for (int stage = 0; stage < kStages; ++stage) {
        if ((work.steps - stage + kStages - 1) / kStages % 2 != 0) phases_.use(stage);
      }
    }

   private:
    // Issues the products of a stage, a constant or a number that is uniform.
    template <bool accumulate, class Acc, class Stage>
    GANTRY_INLINE void step(Acc& acc, Stage stage) {
      const TiledMma<Mma> mma;
      const auto mine = mma.get_slice(warpgroup_ * 128);
      const auto a = mine.partition_fragment_A(shared_a(s_));  // (1, M, K, stage)
      const auto b = mine.partition_fragment_B(shared_b(s_));
      constexpr int blocks = size<2>(a);
      const auto issue = [&](auto k) { gemm(mma, a(_, _, k, stage), b(_, _, k, stage), acc, accumulate || k > 0); };
      pipeline_.consumer_wait(phases_.state(stage), ready_);
      warpgroup_fence_operand(acc);
      arch::wgmma_fence();
      issue(Constant<0>{});
      arch::wgmma_commit_group();
      if constexpr (accumulate) {
        arch::wgmma_wait_group(arch::n32<1>);
        release(stage > 0 ? stage - 1 : kStages - 1);
      }
      phases_.use(stage);
      ready_ = pipeline_.consumer_try_wait(phases_.state(stage + 1 < kStages ? stage + 1 : 0));
      arch::wgmma_fence();
      for_each_index<blocks - 1>([&](auto k) { issue(Constant<k + 1>{}); });
      arch::wgmma_commit_group();
      warpgroup_fence_operand(acc);
    }

    // The same in all lanes, and in a register that says so: matrix descriptors are made of such.
    GANTRY_INLINE static int uniform(int x) { return arch::redux_sync(arch::op_or_op, arch::kFullWarp, x); }

    // A stage in each CTA that fills it: one thread signals one of them.
    GANTRY_INLINE void release(int stage) {
      if (!signals_) return;
      if constexpr (kCluster > 1) {
        arch::mbarrier_arrive(arch::sem_release, arch::scope_cta, arch::space_cluster, empty_ + stage);
      } else {
        arch::mbarrier_arrive(empty_ + stage);
      }
    }

    Storage& s_;
    Pipeline pipeline_;
    int warpgroup_;
    bool signals_;
    std::uint64_t* empty_;  // barriers of the CTA that this thread signals
    Phases phases_{0};
    ConsumerToken ready_{};  // of the stage that is read next
  };
};

}  // namespace gantry
