// The main loop of a GEMM: one thread loads K tiles of A and B by TMA into a ring of stages, warpgroups multiply them
// with wgmma.
//
// Multicast: CTAs in one column of the cluster share their tile of B, CTAs in one row their tile of A. Each loads a
// part and multicasts it; a stage is released to every CTA that fills it.
//
// B stays: where consecutive tiles lie in one column and all their K tiles fit into the ring, a stage still holds its
// part of B when its turn comes again, and only A is loaded.
//
// Tensor cores idle during whatever a warpgroup does between two wgmmas, so that is a few instructions. Stage numbers
// are constants in the loop, so that matrix descriptors are too. A stage is released after the first wgmma of the next
// stage has been issued, and the barrier of the stage after that is tested at the same point. A tile starts at the
// stage after the last tile's, so that its first loads wait for nothing but a free stage; the steps before the loop
// lead to where the constants begin.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Plain {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, gantry::fusion::graph("d = acc"));
//     };
//     using Loop = gantry::Mainloop<Plain>;
//     GANTRY_HD inline void load_one(const Loop::Params& params, gantry::SharedMemory shared, const gantry::Work& work) {
//       Loop::Producer producer(params, shared, work.steps);
//       producer.load(work, work.steps);
//       producer.tail();
//     }
#pragma once

#include <gantry/arch/bulk_group.hpp>
#include <gantry/arch/control.hpp>
#include <gantry/arch/fence.hpp>
#include <gantry/arch/kernel.hpp>
#include <gantry/arch/mbarrier.hpp>
#include <gantry/arch/tensormap.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/arch/wgmma.hpp>
#include <gantry/atom/accumulator.hpp>
#include <gantry/atom/gemm.hpp>
#include <gantry/atom/tma_copy.hpp>
#include <gantry/gemm/gather.hpp>
#include <gantry/gemm/group_maps.hpp>
#include <gantry/gemm/promotion_scales.hpp>
#include <gantry/pipeline/tma_async.hpp>

namespace gantry {

namespace detail {

template <bool scaled, bool gathers = false>
struct MainloopParams {
  TmaDescriptor a, b;
};
template <>
struct MainloopParams<true> {
  TmaDescriptor a, b;
  alignas(128) GemmScaleParams scales;
};
template <>
struct MainloopParams<false, true> {
  GatherParams a;
  TmaDescriptor b;
};

}  // namespace detail

template <class Design>
struct Mainloop : GemmShape<Design> {
  using Shape = GemmShape<Design>;
  using Shape::kClusterM, Shape::kClusterN, Shape::kClusterK, Shape::kMulticast;
  using Shape::kTileM, Shape::kTileN, Shape::kTileK;
  using Shape::kTileWarpgroups, Shape::kStages;

  using ElementA = element_t<Shape::kA>;
  using ElementB = element_t<Shape::kB>;

  struct SharedA {
    static constexpr ComposedLayout value = operand_stages(tile_a(Design::design), kStages);
  };
  struct SharedB {
    static constexpr ComposedLayout value = operand_stages(tile_b(Design::design), kStages);
  };
  struct LoadA {
    static constexpr TmaPlan value = operand_plan(tile_a(Design::design), kClusterN);
  };
  struct LoadB {
    static constexpr TmaPlan value = operand_plan(tile_b(Design::design), kClusterM);
  };
  struct LoadConstant {
    static constexpr TmaPlan value = Shape::kConstant == ConstantOperand::a ? LoadA::value : LoadB::value;
  };
  struct Mma {
    using Operation = ss_op_selector<ElementA, ElementB, element_t<Shape::kAccumulator>, Tile<kTileM, kTileN, kTileK>,
                                     Shape::kMajorA, Shape::kMajorB>;
    // A warpgroup's rows are next to each other, however many instructions they take.
    static constexpr Layout kRows =
        make_layout(make_shape(_64, Int::fixed(kTileWarpgroups), Int::fixed(Shape::kWarpgroupM / 64)),
                    make_stride(_1, Int::fixed(Shape::kWarpgroupM), _64));
    static constexpr TiledMmaLayout value =
        make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(kTileWarpgroups), _1, _1)),
                       Shape::kWarpgroupM == 64 ? make_tile(_, _, _) : make_tile(kRows, _, _));
  };
  using Pipeline = PipelineTmaAsync<kStages>;
  using State = PipelineState<kStages>;

  using Params = detail::MainloopParams<Shape::kScaled, Shape::kGathers>;
  static constexpr std::uint32_t kStageBytesA = Design::design.stage_bytes_a();
  static constexpr std::uint32_t kStageBytes = Design::design.stage_bytes();

  // The stages in the CTA's shared memory.
  GANTRY_INLINE static auto shared_a(SharedMemory s) {
    return make_tensor(make_smem_ptr(s.template at<ElementA>(Design::design.shared.a)), SharedA{});
  }
  GANTRY_INLINE static auto shared_b(SharedMemory s) {
    return make_tensor(make_smem_ptr(s.template at<ElementB>(Design::design.shared.b)), SharedB{});
  }
  GANTRY_INLINE static typename Pipeline::SharedStorage& barriers(SharedMemory s) {
    return *s.template at<typename Pipeline::SharedStorage>(Design::design.shared.pipeline);
  }

  GANTRY_HD static constexpr typename Pipeline::Params pipeline_params(PipelineRole role, int arrivals = 1) {
    return {.role = role,
            .transaction_bytes = kStageBytes,
            .consumers = 128 * kTileWarpgroups,
            .cluster = {kClusterM, kClusterN},
            .arrivals = static_cast<std::uint32_t>(arrivals)};
  }

  // Where a CTA is in its cluster, M fastest. CTAs that share K tiles have one tile.
  struct Place {
    int m, n;
    GANTRY_INLINE explicit Place(int rank) : m(rank % kClusterM), n(rank / kClusterM) {}
    GANTRY_INLINE static Place mine() {
      return Place(kMulticast > 1 ? static_cast<int>(arch::cluster_block_rank()) : 0);
    }

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

  // This CTA's part of a piece of work: all of it, or its share of the K tiles.
  GANTRY_INLINE static void take_share(Work& work) {
    if constexpr (kClusterK > 1) {
      const int rank = static_cast<int>(arch::cluster_block_rank());
      const int each = work.steps / kClusterK, one_more = work.steps % kClusterK;
      work.k_begin += work.k_step * (rank * each + (rank < one_more ? rank : one_more));
      work.steps = each + (rank < one_more ? 1 : 0);
    }
  }

  // One thread of the CTA, before a barrier of the cluster. `arrivals`: of the operand source, at a full barrier.
  template <int arrivals = 1>
  GANTRY_INLINE static void init(const Params& params, SharedMemory s, int k_steps) {
    if (k_steps > 0) {
      if constexpr (!Shape::kGathers) arch::prefetch_tensormap(&params.a);
      arch::prefetch_tensormap(&params.b);
    }
    Pipeline::init(barriers(s), pipeline_params(PipelineRole::both, arrivals), "stage");
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  }

  // A matrix of the batch, or a group of rows or of K of a ragged map, as coordinates. Extents do not enter them: the
  // tensor map clips.
  template <bool group_of_rows, bool group_of_k, class Copy>
  GANTRY_INLINE static auto matrix(const Copy& load, const Work& work) {
    const auto all = load.get_tma_tensor(1 << 30, 1 << 30, 1 << 30);
    if constexpr (group_of_rows) {
      return domain_offset(coord(work.group.origin, 0), all(_, _, work.group.end));
    } else if constexpr (group_of_k) {
      return domain_offset(coord(0, work.group.origin), all(_, _, work.group.end));
    } else {
      return all(_, _, Shape::kOwnMaps ? 0 : work.batch);
    }
  }

  // K tiles of the tile's columns of B, (tile, K tiles).
  template <bool group_of_k, class Copy>
  GANTRY_INLINE static auto tiles_of_b(const Copy& load, const Work& work, const Place& place) {
    const int column = work.n * kClusterN + place.n;
    if constexpr (Design::design.gated()) {
      const auto all = load.get_tma_tensor(1 << 30, 1 << 30, 1 << 30);
      return group_modes<0, 4>(local_tile(all(_, _, _, _, work.batch), Tile<kGateRun, 2, kTileN / kGatedRows, kTileK>{},
                                          coord(0, 0, column, _)));
    } else {
      return group_modes<0, 2>(
          local_tile(matrix<false, group_of_k>(load, work), Tile<kTileN, kTileK>{}, coord(column, _)));
    }
  }

  // One thread.
  class Producer {
   public:
    // `k_steps`: K tiles of every tile, 0 where they differ.
    GANTRY_INLINE Producer(const Params& params, SharedMemory shared, const int& k_steps)
        : p_(params),
          s_(shared),
          pipeline_(barriers(shared), pipeline_params(PipelineRole::producer)),
          place_(Place::mine()),
          repeating_steps_(kClusterK == 1 && k_steps > 0 && k_steps <= kStages && kStages % k_steps == 0 ? k_steps
                                                                                                         : -1) {}

    // `k_steps`: of this tile, where K wraps around.
    GANTRY_INLINE void load(const Work& work, const int& k_steps) {
      if constexpr (Shape::kOwnMaps) enter(work.one);
      const TmaCopy<LoadA> load_a{Shape::kOwnMaps ? work.one.maps + GroupMapIndex::kA : &p_.a};
      const TmaCopy<LoadB> load_b{Shape::kOwnMaps ? work.one.maps + GroupMapIndex::kB : &p_.b};
      constexpr bool kGroupsM = Design::design.options.groups == GemmGrouping::along_m;
      constexpr bool kGroupsK = Design::design.options.groups == GemmGrouping::along_k;
      const auto a_tiles = local_tile(matrix<kGroupsM, kGroupsK>(load_a, work), Tile<kTileM, kTileK>{},
                                      coord(work.m * kClusterM + place_.m, _));
      const auto a = tma_partition(load_a, place_.n, group_modes<0, 2>(shared_a(s_)), group_modes<0, 2>(a_tiles));
      const auto b =
          tma_partition(load_b, place_.m, group_modes<0, 2>(shared_b(s_)), tiles_of_b<kGroupsK>(load_b, work, place_));
      int k = work.k_begin;
      const bool repeats = stays_in_column(work);
      GANTRY_NO_UNROLL
      for (int left = work.steps; left > 0; --left) {
        const bool holds_b = repeats && steps_in_column_ >= kStages;
        const bool is_early = take_early();
        if (!is_early) pipeline_.producer_acquire(write_, holds_b ? kStageBytesA : kStageBytes);
        std::uint64_t* full = pipeline_.producer_get_barrier(write_);
        if (!is_early || Shape::kConstant != ConstantOperand::a) {
          copy(load_a.with(full, place_.row_mask()), a.gmem(_, k), a.smem(_, write_.index()));
        }
        if (!holds_b) {
          if (!is_early || Shape::kConstant != ConstantOperand::b) {
            copy(load_b.with(full, place_.column_mask()), b.gmem(_, k), b.smem(_, write_.index()));
          }
          ++steps_in_column_;
        }
        ++write_;
        k += work.k_step;
        if (k == k_steps) k = 0;
      }
    }

    // The constant operand of the first K tiles, as many as there are stages: load() of the same work, which comes
    // next, brings the other. Requires stages that nobody has used.
    GANTRY_INLINE void load_early(const Work& work, const int& k_steps) {
      constexpr bool is_a = Shape::kConstant == ConstantOperand::a;
      const TmaCopy<LoadConstant> load{is_a ? &p_.a : &p_.b};
      const auto tiles = [&] {
        if constexpr (is_a) {
          return group_modes<0, 2>(local_tile(matrix<false, false>(load, work), Tile<kTileM, kTileK>{},
                                              coord(work.m * kClusterM + place_.m, _)));
        } else {
          return tiles_of_b<false>(load, work, place_);
        }
      }();
      const auto stages = [&] {
        if constexpr (is_a) return shared_a(s_);
        if constexpr (!is_a) return shared_b(s_);
      }();
      const auto part = tma_partition(load, is_a ? place_.n : place_.m, group_modes<0, 2>(stages), tiles);
      int k = work.k_begin;
      State stage = write_;
      early_ = work.steps < kStages ? work.steps : kStages;
      GANTRY_NO_UNROLL
      for (int left = early_; left > 0; --left) {
        pipeline_.producer_acquire(stage, kStageBytes);
        copy(load.with(pipeline_.producer_get_barrier(stage), is_a ? place_.row_mask() : place_.column_mask()),
             part.gmem(_, k), part.smem(_, stage.index()));
        ++stage;
        k += work.k_step;
        if (k == k_steps) k = 0;
      }
    }

    // Waits until every stage has been released, so that no CTA leaves while others may still signal it.
    GANTRY_INLINE void tail() {
      for (int i = 0; i < kStages; ++i, ++write_) arch::wait(&barriers(s_).empty[write_.index()], write_.phase());
    }

   private:
    // True if the constant operand of the next K tile has been loaded.
    GANTRY_INLINE bool take_early() {
      if constexpr (Shape::kConstant == ConstantOperand::none) return false;
      if (early_ == 0) return false;
      --early_;
      return true;
    }

    // True if stages come round with the same part of B. They hold it once a whole ring has been loaded for the column.
    GANTRY_INLINE bool stays_in_column(const Work& work) {
      const bool repeats = work.steps == repeating_steps_ && work.k_begin == 0 && work.k_step == 1;
      if (!repeats || work.n != n_ || work.batch != batch_) steps_in_column_ = 0;
      n_ = repeats ? work.n : -1;
      batch_ = work.batch;
      return repeats;
    }

    // Before the first load by the maps of another GEMM of a pointer array. Loads of a GEMM are a bulk group, which
    // says when they have read their maps: afterwards those of the third GEMM before this one have, and maps may come
    // round (pointer_scheduler.hpp). Barriers do not say so much: a load is multicast to other CTAs, too.
    GANTRY_INLINE void enter(const WorkOfArray& gemm) {
      if (gemm.slot == slot_) return;
      slot_ = gemm.slot;
      arch::cp_async_bulk_commit_group();
      arch::cp_async_bulk_wait_group_read(arch::n32<2>);
      acquire_map(gemm.maps + GroupMapIndex::kA);
      acquire_map(gemm.maps + GroupMapIndex::kB);
    }

    const Params& p_;
    SharedMemory s_;
    Pipeline pipeline_;
    Place place_;
    State write_ = make_producer_start_state<kStages>();
    int repeating_steps_;  // K tiles of every tile, if a stage then has the same one whenever its turn comes; else -1
    int n_ = -1, batch_ = -1;  // the column, if the next tile may be in it
    int steps_in_column_ = 0;
    int early_ = 0;  // K tiles whose constant operand load_early() has loaded
    int slot_ = -1;  // of a pointer array: of the GEMM that is loaded
  };

  // A warpgroup.
  class Consumer {
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
      constexpr bool kGroupsM = Design::design.options.groups == GemmGrouping::along_m;
      const int row = (work.m * kClusterM + place.m) * kTileM + warpgroup_ * Shape::kWarpgroupM;
      scales_.aim(params.scales, {.row = kGroupsM ? work.group.first() + row : row,
                                  .column = (work.n * kClusterN + place.n) * kTileN,
                                  .batch_a = kGroupsM ? 0 : work.batch,
                                  .batch_b = work.batch});
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
      warpgroup_fence_operand(acc);
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
      warpgroup_fence_operand(acc);
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
};

}  // namespace gantry
