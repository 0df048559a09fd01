// The consumer of mainloop.hpp: a warpgroup multiplies K tiles by wgmma.
#pragma once

#include <gantry/gemm/mainloop.hpp>

namespace gantry {

template <class Design>
class Mainloop<Design>::Consumer {
 public:
  GANTRY_INLINE Consumer(SharedMemory shared, int warpgroup)
      : s_(shared),
        pipeline_(barriers(shared), pipeline_params(PipelineRole::consumer)),
        warpgroup_(warpgroup),
        empty_(barriers(shared).empty) {
    const Signal signal = signal_of_thread(arch::thread_rank() % 128, kMulticast > 1 ? arch::cluster_block_rank() : 0,
                                           {kClusterM, kClusterN}, 128);
    signals_ = signal.sent;
    if constexpr (Shape::kScaled) arch::griddepcontrol_wait();  // scales may come from the kernel before
    if constexpr (kMulticast > 1) empty_ = arch::mapa(arch::space_cluster, empty_, signals_ ? signal.rank : 0);
  }

  GANTRY_INLINE static auto make_accumulators() {
    return partition_fragment_C(TiledMma<Mma>{}, Tile<kTileM, kTileN>{});
  }
  template <class Acc>
  GANTRY_INLINE static void clear(Acc& acc) {
    GANTRY_UNROLL
    for (int i = 0; i < kSums; ++i) acc.data()[i] = 0;
  }

  // acc = the accumulators over the K tiles of `work`. behind(Constant<i>{}) is called for i < `count` while the
  // wgmmas of K tile i run, or before the first where there are fewer. issued() is called when every wgmma has been
  // issued, before they are waited for.
  template <int count, class Acc, class Behind, class Issued>
  GANTRY_INLINE void multiply(const Work& work, Acc& acc, Behind behind, Issued issued) {
    if constexpr (Shape::kPromote) {
      multiply_promoted<count>(work, acc, behind, issued);
    } else if (work.steps > 0) {
      multiply_some<count>(work, acc, behind, issued);
    } else {
      for_each_index<count>(behind);
      clear(acc);
      issued();
    }
  }

  // Where the scales of `work`'s tile are, which has been placed. `k_steps`: of this tile, where K wraps around.
  GANTRY_INLINE void aim(const Params& params, const Work& work, int k_steps) {
    const Place place = Place::mine();
    constexpr bool kShareA = kGroups == GemmGrouping::along_m, kShareB = kGroups == GemmGrouping::along_n;
    const int row = (work.m * kClusterM + place.m) * kTileM + warpgroup_ * Shape::kWarpgroupM;
    const int column = (work.n * kClusterN + place.n) * kTileN;
    const typename PromotionScales<Design>::Corner corner{.row = kShareA ? work.group.first() + row : row,
                                                          .column = kShareB ? work.group.first() + column : column,
                                                          .batch_a = kShareA ? 0 : work.batch,
                                                          .batch_b = kShareB ? 0 : work.batch};
    if constexpr (Design::design.options.gather_a) {
      scales_.aim(params.scales, corner, params.a);
    } else {
      scales_.aim(params.scales, corner);
    }
    k_ = k_used_ = work.k_begin;
    k_step_ = work.k_step;
    k_steps_ = k_steps;
    GANTRY_UNROLL
    for (int i = 0; i < kScalesAhead; ++i) {
      if (i < work.steps) load_scales(i);
    }
  }

  // Passes over the stages of K tiles that another warpgroup multiplies.
  GANTRY_INLINE void skip(int steps) {
    const int moved = stage_ + steps;
    phase_ ^= static_cast<std::uint32_t>(moved / kStages) & 1;
    stage_ = moved % kStages;
  }

 private:
  template <int count, class Acc, class Behind, class Issued>
  GANTRY_INLINE void multiply_some(const Work& work, Acc& acc, Behind behind, Issued issued) {
    constexpr int first = count > 0 ? count : 1;              // steps that are always before the loop
    constexpr int aligned = (first + kStages - 1) % kStages;  // the stage before the loop's first
    int left = work.steps;
    int stage = uniform(stage_);  // the last one that was multiplied, once one was
    ready_ = {};
    const auto one_more = [&] {
      stage = uniform(next(stage));
      step<true>(acc, stage);
      --left;
    };
    if (left < first) {
      for_each_index<count>(behind);
      step<false>(acc, stage);
      --left;
    } else {
      for_each_index<first>([&](auto i) {
        if constexpr (i > 0) stage = uniform(next(stage));
        step<(i > 0)>(acc, stage);
        if constexpr (i < count) behind(i);
      });
      left -= first;
      GANTRY_NO_UNROLL
      while (left >= kStages && stage != aligned) one_more();
      GANTRY_NO_UNROLL
      for (; left >= kStages; left -= kStages) {
        for_each_index<kStages>([&](auto i) { step<true>(acc, (first + i) % kStages); });
      }
    }
    GANTRY_NO_UNROLL
    while (left > 0) one_more();  // NOLINT(bugprone-infinite-loop): it counts down
    stage_ = next(stage);
    issued();
    arch::wgmma_wait_group(arch::n32<0>);
    warpgroup_fence_operand(acc);
    release(stage);
  }

  // Promotion: the tensor core accumulates FP8 with about 14 bits; the partial accumulators of each K tile are added
  // to `acc` in f32, times the scales of their block.
  template <int count, class Acc, class Behind, class Issued>
  GANTRY_INLINE void multiply_promoted(const Work& work, Acc& acc, Behind behind, Issued issued) {
    auto part = make_accumulators();
    clear(acc);
    ready_ = {};
    int left = work.steps;
    // `turn`: of the registers of scales, which takes their turns.
    const auto promote = [&](auto turn, auto during) {
      const int stage = uniform(stage_);
      step<false>(part, stage);
      [[maybe_unused]] Factors factors;
      if constexpr (Shape::kScaled) factors = take_factors(turn, left > kScalesAhead);
      during();
      if (left == 1) issued();
      arch::wgmma_wait_group(arch::n32<0>);
      warpgroup_fence_operand(part);
      release(stage);
      if constexpr (Shape::kScaled) {
        scales_.add(acc, part, factors);
      } else {
        add(acc, part);
      }
      stage_ = next(stage);
    };
    if (left < count || left == 0) {
      for_each_index<count>(behind);
      if (left == 0) issued();
      // The loop begins at the turn after those of the steps that were not made.
      if constexpr (count % kTurns != 0) {
        const auto first = loaded_[0];
        loaded_[0] = loaded_[kTurns - 1];
        loaded_[kTurns - 1] = first;
      }
    } else {
      for_each_index<count>([&](auto i) {
        promote(i % kTurns, [&] { behind(i); });
        --left;
      });
    }
    const auto one_more = [&](auto i) {
      promote((count + i) % kTurns, [] {});
      --left;
    };
    GANTRY_NO_UNROLL
    while (left >= kTurns) for_each_index<kTurns>(one_more);
    for_each_index<kTurns - 1>([&](auto i) {
      if (left > 0) one_more(i);
    });
  }

  using Scales = PromotionScales<Design>;
  using Factors = typename Scales::Factors;
  // Scales are loaded this many K tiles before they are used: a K tile of FP8 takes less time than a load. Where each
  // column has a scale there are no registers for a second set.
  static constexpr int kScalesAhead = Scales::kByColumn ? 1 : 2, kTurns = Shape::kScaled ? kScalesAhead : 1;

  GANTRY_INLINE void load_scales(int turn) {
    loaded_[turn] = scales_.load(k_);
    k_ += k_step_;
    if (k_ == k_steps_) k_ = 0;
  }
  // Of this K tile; those of a later one set out. A turn is a constant: a register that a load is on its way to
  // cannot be moved before it is there.
  GANTRY_INLINE Factors take_factors(int turn, bool more) {
    const Factors out = scales_.factors(loaded_[turn], k_used_);
    k_used_ += k_step_;
    if (k_used_ == k_steps_) k_used_ = 0;
    if (more) load_scales(turn);
    return out;
  }

  static constexpr int kSums = Shape::kWarpgroupM * kTileN / 128;  // of a thread

  template <class Acc>
  GANTRY_INLINE static void add(Acc& acc, const Acc& part) {
    GANTRY_UNROLL
    for (int i = 0; i < kSums; ++i) acc.data()[i] += part.data()[i];
  }

  // Issues the wgmmas of a stage. The number is uniform across the warp. A number and not a type: a type for each
  // stage and block makes nvcc an eighth slower, for no better kernel.
  template <bool accumulate, class Acc>
  GANTRY_INLINE void step(Acc& acc, int stage) {
    const TiledMma<Mma> mma;
    const auto mine = mma.get_slice(warpgroup_ * 128);
    const auto a = mine.partition_fragment_A(shared_a(s_));  // (1, M, K, stage)
    const auto b = mine.partition_fragment_B(shared_b(s_));
    constexpr int blocks = size<2>(a);
    const auto issue = [&](int k) { gemm(mma, a(_, _, k, stage), b(_, _, k, stage), acc, accumulate || k > 0); };
    pipeline_.consumer_wait(State(stage, phase_, 0), ready_);
    if constexpr (Shape::kGathers) arch::fence_proxy_async(arch::space_shared);  // threads wrote A (cp.async)
    // Between steps nothing but wgmma touches the accumulators. A fence of 128 registers is 128 statements for nvcc,
    // which makes the same kernel of fewer.
    if constexpr (!accumulate) warpgroup_fence_operand(acc);
    arch::wgmma_fence();
    issue(0);
    arch::wgmma_commit_group();
    if constexpr (accumulate) {
      arch::wgmma_wait_group(arch::n32<1>);
      release(previous(stage));
    }
    if (next(stage) == 0) phase_ ^= 1;
    ready_ = pipeline_.consumer_try_wait(State(next(stage), phase_, 0));
    arch::wgmma_fence();
    for_each_index<blocks - 1>([&](auto k) { issue(k + 1); });
    arch::wgmma_commit_group();
  }

  GANTRY_INLINE static constexpr int next(int stage) { return stage + 1 < kStages ? stage + 1 : 0; }
  GANTRY_INLINE static constexpr int previous(int stage) { return stage > 0 ? stage - 1 : kStages - 1; }

  // In a uniform register: matrix descriptors are computed from it.
  GANTRY_INLINE static int uniform(int x) { return arch::redux_sync(arch::op_or_op, arch::kFullWarp, x); }

  // Releases a stage to each CTA that fills it; one thread signals one of them.
  GANTRY_INLINE void release(int stage) {
    if (!signals_) return;
    if constexpr (kMulticast > 1) {
      arch::mbarrier_arrive(arch::sem_release, arch::scope_cta, arch::space_cluster, empty_ + stage);
    } else {
      arch::mbarrier_arrive(empty_ + stage);
    }
  }

  SharedMemory s_;
  Pipeline pipeline_;
  int warpgroup_;
  bool signals_;
  std::uint64_t* empty_;  // barriers of the CTA that this thread signals
  int stage_ = 0;         // that is read next
  std::uint32_t phase_ = 0;
  ConsumerToken ready_{};  // of the stage that is read next
  // Where blocks are scaled.
  Scales scales_;
  typename Scales::Loaded loaded_[kScalesAhead] = {};
  int k_ = 0, k_used_ = 0;  // the K tile whose scales are loaded, and taken, next
  int k_step_ = 1, k_steps_ = 0;
};

}  // namespace gantry
