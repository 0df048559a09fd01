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
// Promotion of 8-bit floats: registers are read between wgmmas, so that each K tile has wgmmas of its own. Where
// registers suffice there are two sets of partial accumulators, and the next K tile's wgmmas run while one is promoted.
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
#include <gantry/atom/matrix_coordinates.hpp>
#include <gantry/atom/tma_copy.hpp>
#include <gantry/gemm/gather.hpp>
#include <gantry/gemm/group_boxes.hpp>
#include <gantry/gemm/group_maps.hpp>
#include <gantry/gemm/promotion_scales.hpp>
#include <gantry/pipeline/tma_async.hpp>

namespace gantry {

namespace detail {

// What the parameters consist of.
template <bool gathers>
struct OperandParams {
  TmaDescriptor a, b;
};
template <>
struct OperandParams<true> {
  GatherParams a;
  TmaDescriptor b;
};
template <bool edges>
struct EdgeParams {};
template <>
struct EdgeParams<true> {
  GemmEdgeParams edges;
};
template <int boxes>
struct GroupBoxParams {
  TmaDescriptor group_boxes[boxes];
};
template <>
struct GroupBoxParams<0> {};
template <bool scaled>
struct ScaleParams {};
template <>
struct ScaleParams<true> {
  alignas(128) GemmScaleParams scales;
};

template <bool gathers, bool edges, int group_boxes, bool scaled>
struct MainloopParams : OperandParams<gathers>, EdgeParams<edges>, GroupBoxParams<group_boxes>, ScaleParams<scaled> {};

}  // namespace detail

template <class Design>
struct Mainloop : GemmShape<Design> {
  using Shape = GemmShape<Design>;
  using Shape::kClusterM, Shape::kClusterN, Shape::kClusterK, Shape::kMulticast;
  using Shape::kTileM, Shape::kTileN, Shape::kTileK;
  using Shape::kTileWarpgroups, Shape::kStages;

  using ElementA = element_t<Shape::kA>;
  using ElementB = element_t<Shape::kB>;

  static constexpr GemmGrouping kGroups = Design::design.options.groups;

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

  using Params =
      detail::MainloopParams<Shape::kGathers, Design::design.has_edges(), Design::design.group_boxes, Shape::kScaled>;
  static constexpr std::uint32_t kStageBytesA = Design::design.stage_bytes_a();
  static constexpr std::uint32_t kStageBytes = Design::design.stage_bytes();
  static constexpr std::uint32_t kStageBytesB = kStageBytes - kStageBytesA;
  static constexpr std::uint32_t kRowBytes = kStageBytesA / kTileM;  // of a K tile

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
      // Maps that are not used delay the first loads.
      if constexpr (Design::design.edge_a) {
        if (params.edges.a.last < kTileM / kClusterN) arch::prefetch_tensormap(&params.edges.map_a);
      }
      if constexpr (Design::design.edge_b) {
        if (params.edges.b.last < kTileN / kClusterM) arch::prefetch_tensormap(&params.edges.map_b);
      }
    }
    Pipeline::init(barriers(s), pipeline_params(PipelineRole::both, arrivals), "stage");
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  }

  // A matrix of the batch, or a group of rows or of K of a ragged map, as coordinates.
  template <bool group_of_rows, class Copy>
  GANTRY_INLINE static auto matrix(const Copy& load, const Work& work) {
    if constexpr (group_of_rows) {
      return domain_offset(coord(work.group.origin, 0), matrix_coordinates<true>(load, work.group.end));
    } else if constexpr (kGroups == GemmGrouping::along_k) {
      return domain_offset(coord(0, work.group.origin), matrix_coordinates<true>(load, work.group.end));
    } else {
      return matrix_coordinates<false>(load, Shape::kOwnMaps ? 0 : work.batch);
    }
  }

  // K tiles of the tile's rows of A, (tile, K tiles), `shift` rows on.
  template <class Copy>
  GANTRY_INLINE static auto tiles_of_a(const Copy& load, const Work& work, const Place& place, int shift = 0) {
    const auto rows = domain_offset(coord(shift, 0), matrix<kGroups == GemmGrouping::along_m>(load, work));
    return group_modes<0, 2>(local_tile(rows, Tile<kTileM, kTileK>{}, coord(work.m * kClusterM + place.m, _)));
  }

  // K tiles of the tile's columns of B, likewise.
  template <class Copy>
  GANTRY_INLINE static auto tiles_of_b(const Copy& load, const Work& work, const Place& place,
                                       [[maybe_unused]] int shift = 0) {
    const int column = work.n * kClusterN + place.n;
    if constexpr (Design::design.gated()) {
      const auto all = load.get_tma_tensor(1 << 30, 1 << 30, 1 << 30);
      return group_modes<0, 4>(local_tile(all(_, _, _, _, work.batch), Tile<kGateRun, 2, kTileN / kGatedRows, kTileK>{},
                                          coord(0, 0, column, _)));
    } else {
      const auto columns = domain_offset(coord(shift, 0), matrix<kGroups == GemmGrouping::along_n>(load, work));
      return group_modes<0, 2>(local_tile(columns, Tile<kTileN, kTileK>{}, coord(column, _)));
    }
  }

  class Producer;  // one thread
  class Consumer;  // a warpgroup
};

}  // namespace gantry

#include <gantry/gemm/detail/mainloop_consumer.hpp>
#include <gantry/gemm/detail/mainloop_producer.hpp>
