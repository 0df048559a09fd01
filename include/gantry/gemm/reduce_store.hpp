// Adds the accumulators of a tile to D in global memory with TMA's reduce-add: D += A B^T.
//
// Every piece of work adds what it has, whole tiles as well as parts of split tiles. There is no workspace, and no
// cluster waits for another. D starts as zeros, or as what is added to. In return the order of additions is the order
// in which clusters arrive: f32 results may differ in their last bits from run to run, and a 16-bit D rounds once for
// every part. Results are the same bits where D is f32 or s32 and accumulation is exact, or where no tile is split.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Adding {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design(
//           {.d = gantry::ElementType::f32, .split = gantry::SplitMode::reduce_add}, gantry::fusion::graph("d = acc"));
//     };
//     static_assert(gantry::ReduceStore<Adding>::kAdds && Adding::design.shared.epilogue_bytes == 2 * 2 * 64 * 128);
#pragma once

#include <gantry/arch.hpp>
#include <gantry/epilogue/staged_tile.hpp>
#include <gantry/gemm/math_warpgroup.hpp>
#include <gantry/pipeline/tma_store.hpp>

namespace gantry {

template <class Design>
struct ReduceStore : GemmShape<Design> {
  using Shape = GemmShape<Design>;
  using Mine = MathWarpgroup<Design>;
  static_assert(Design::design.store == GemmStore::reduce_add, "gantry: the design does not add to D");
  static constexpr bool kAdds = true;
  static constexpr int kSteps = 0;  // all work is done while the accumulators are held
  static constexpr int kBuffers = kSlabBuffers;

  struct SlabShape {
    static constexpr Subtiles tile = Design::design.subtiles();
    static constexpr ElementType element = Design::design.options.d;
    static constexpr bool row_major = true;
    static constexpr int stages = kBuffers;
  };
  using Slabs = StagedTile<SlabShape>;
  using Element = typename Slabs::Element;
  using Stores = PipelineTmaStore<kBuffers>;

  struct Params {
    TmaDescriptor d;
  };

  // A math warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, SharedMemory shared) : p_(params), s_(shared) {}

    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      constexpr Subtiles tile = SlabShape::tile;
      const TileCoordinate at = Mine::part_of(work);
      Stores stores({.issues = Mine::thread() == 0});
      for_each_index<tile.count()>([&](auto i) {
        constexpr int em = i % tile.along_m(), en = i / tile.along_m();
        auto values = Slabs::make_registers();
        for_each_index<tile.values()>(
            [&](auto v) { values(v) = convert_written<Element>(acc(Constant<tile.register_of(em, en, v)>{})); });
        stores.producer_acquire(state_);
        Mine::sync();
        Slabs::write(values, buffers(), state_.index(), Mine::thread());
        arch::fence_proxy_async(arch::space_shared);
        Mine::sync();
        if (stores.issues()) {
          Slabs::template store<TmaOp::reduce_add>(&p_.d, buffers(), state_.index(), at, em, en);
        }
        stores.producer_commit(state_);
        ++state_;
      });
    }

    template <int i>
    GANTRY_INLINE void step(Constant<i>) {}

    GANTRY_INLINE void tail() { Stores({.issues = Mine::thread() == 0}).producer_tail(state_); }

   private:
    GANTRY_INLINE Element* buffers() const {
      return s_.template at<Element>(Design::design.shared.epilogue +
                                     Mine::number() * Design::design.shared.epilogue_part);
    }

    const Params& p_;
    SharedMemory s_;
    PipelineState<kBuffers> state_;
  };
};

}  // namespace gantry
