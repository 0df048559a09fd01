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

  // acc = the accumulators over the K tiles of `work`. aim() is called where blocks are scaled, before the first scale
  // is needed: wgmmas run meanwhile. behind(Constant<i>{}) is called for i < `count` while the wgmmas of K tile i run,
  // or before the first where there are fewer. issued() is called when every wgmma has been issued, before they are
  // waited for.
  template <int count, class Acc, class Aim, class Behind, class Issued>
  GANTRY_INLINE void multiply(const Work& work, Acc& acc, [[maybe_unused]] Aim aim, Behind behind, Issued issued) {
    if constexpr (Shape::kPromote) {
      multiply_promoted<count>(work, acc, aim, behind, issued);
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
    const typename PromotionScales<Design>::Blocks blocks{work.k_begin, work.k_step, k_steps};
    if constexpr (Design::design.options.gather_a) {
      scales_.aim(params.scales, corner, blocks, params.a);
    } else {
      scales_.aim(params.scales, corner, blocks);
    }
    if (work.steps > 0) {
      scales_.load();
    } else {
      scales_.forget();
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
  // to `acc` in f32, times the scales of their block. Where registers hold partial accumulators twice, the wgmmas of
  // a K tile are issued before those of the one before are promoted, and tensor cores do not wait for that.
  template <int count, class Acc, class Aim, class Behind, class Issued>
  GANTRY_INLINE void multiply_promoted(const Work& work, Acc& acc, Aim aim, Behind behind, Issued issued) {
    if (work.steps == 0) {
      for_each_index<count>(behind);
      clear(acc);
      return issued();
    }
    auto even = make_accumulators(), odd = make_accumulators();
    ready_ = {};
    int left = work.steps;  // that have not been issued
    int stage = 0;          // that was issued last
    const auto issue = [&](auto i) {
      stage = issue_block(choose<i % kParts>(even, odd));
      --left;
    };
    // `newer`: K tiles that have been issued after this one. `more`: there are others after the next two.
    const auto promote = [&](auto i, auto newer, int held, bool more) {
      promote_block<i % kTurns>(acc, choose<i % kParts>(even, odd), newer, held, more);
    };
    const auto advance = [&](auto i, bool more) {
      if constexpr (kParts == 2) {
        const int held = stage;
        issue(Constant<i + 1>{});
        promote(i, arch::n32<1>, held, more);
      } else {
        promote(i, arch::n32<0>, stage, more);
        issue(Constant<i + 1>{});
      }
    };
    const auto finish = [&](auto i) {
      issued();
      promote(i, arch::n32<0>, stage, false);
    };
    // The overlapped store of the tile before is finished first: the accumulators need its registers.
    issue(Constant<0>{});
    for_each_index<count>(behind);
    aim();
    clear(acc);
    GANTRY_NO_UNROLL
    while (left >= kTurns) for_each_index<kTurns>([&](auto i) { advance(i, true); });
    if (kTurns > 1 && left > 0) {
      advance(Constant<0>{}, false);
      finish(Constant<1>{});
    } else {
      finish(Constant<0>{});
    }
  }

  // Issues the wgmmas of the next stage, and returns its number.
  template <class Acc>
  GANTRY_INLINE int issue_block(Acc& part) {
    const TiledMma<Mma> mma;
    const auto mine = mma.get_slice(warpgroup_ * 128);
    const auto a = mine.partition_fragment_A(shared_a(s_));  // (1, M, K, stage)
    const auto b = mine.partition_fragment_B(shared_b(s_));
    // A uniform stage spares instructions between the wgmmas, and takes a REDUX of some 90 cycles. Measured on an H200:
    // with scales and one set it pays before the wait, which hides a part of it, and with two sets it does not pay.
    const int before = Shape::kScaled && kParts == 1 ? uniform(stage_) : stage_;
    pipeline_.consumer_wait(State(stage_, phase_, 0), ready_);
    if constexpr (Shape::kGathers) arch::fence_proxy_async(arch::space_shared);  // threads wrote A (cp.async)
    const int stage = Shape::kScaled ? before : uniform(stage_);
    // The first wgmma does not read them, and ptxas drops this. Registers without a value before the loop would be
    // moved while the other set's wgmmas run.
    if constexpr (kParts == 2) clear(part);
    arch::wgmma_fence();
    gemm(mma, a(_, _, _, stage), b(_, _, _, stage), part, false);
    arch::wgmma_commit_group();
    stage_ = next(stage_);
    if (stage_ == 0) phase_ ^= 1;
    ready_ = {};
    return stage;
  }

  // Adds partial accumulators, those of `stage`.
  template <int turn, class Acc, int pending>
  GANTRY_INLINE void promote_block(Acc& acc, Acc& part, arch::n32_t<pending> newer, int stage, bool more) {
    [[maybe_unused]] typename Scales::Factors factors;
    const auto take_factors = [&] {
      if constexpr (turn == 0) scales_.take();
      factors = scales_.factors(turn);
      if (turn == 0 && more) scales_.load();
    };
    // With two sets tensor cores have work, and registers are few until the wait is over.
    constexpr bool late = kParts == 2;
    if constexpr (Shape::kScaled && !late) take_factors();
    arch::wgmma_wait_group(newer);
    warpgroup_fence_operand(part);
    release(stage);
    ready_ = pipeline_.consumer_try_wait(State(stage_, phase_, 0));
    if constexpr (Shape::kScaled && late) take_factors();
    if constexpr (Shape::kScaled) {
      scales_.add(acc, part, factors);
    } else {
      add(acc, part);
    }
    warpgroup_fence_operand(acc);  // or ptxas finds additions amid the next wgmmas, and serialises them (C7514)
  }

  template <int i, class Acc>
  GANTRY_INLINE static Acc& choose(Acc& even, Acc& odd) {
    if constexpr (i == 0) {
      return even;
    } else {
      return odd;
    }
  }

  static constexpr int kSums = Shape::kWarpgroupM * kTileN / 128;  // accumulators of a thread
  static constexpr int kOtherRegisters = 40;

  using Scales = PromotionScales<Design>;
  // Sets of partial accumulators, where registers hold two beside the accumulators and what else a warpgroup needs.
  static constexpr int kParts =
      3 * kSums + kOtherRegisters <= Design::design.roles.math_registers && !Scales::kByColumn ? 2 : 1;
  // K tiles in the loop: of each the registers are constants.
  static constexpr int kTurns = Shape::kScaled ? Scales::kTogether : kParts;

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
  Scales scales_;          // where blocks are scaled
};

}  // namespace gantry
