// Adds a tile of sums to D in global memory, by TMA: D += A B^T.
//
// Every piece of work adds what it has, whole tiles as well as parts of tiles that clusters share, so that nothing is
// handed over: no workspace, nobody waits for anybody. D starts as zeros, or as what the product is to be added to. In
// return the order of additions is that of the clusters' arrival: sums of f32 may differ in their last bits from launch
// to launch, and 16-bit D rounds once for every part. Results repeat where D is f32 or s32 and sums are exact, or where
// no tile is shared.
//
// Example at namespace scope:
//     #include <gantry/gemm/cooperative.hpp>
//     using Store = gantry::ReduceStore<gantry::CooperativeConfig, gantry::ElementType::f32>;
//     using Gemm = gantry::CooperativeGemm<gantry::CooperativeConfig, Store>;
//     static_assert(Gemm::kAdds && sizeof(Store::Storage) == 2 * 2 * 64 * 128);
#pragma once

#include <gantry/arch.hpp>
#include <gantry/epilogue/staged_tile.hpp>
#include <gantry/gemm/math_warpgroup.hpp>
#include <gantry/pipeline/tma_store.hpp>

namespace gantry {

template <class Config, ElementType kElement = ElementType::f32>
struct ReduceStore : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  using Mine = MathWarpgroup<Config>;
  using Shape::kTileWarpgroups, Shape::kWarpgroupM, Shape::kTileN;
  static_assert(kElement == ElementType::f32 || kElement == ElementType::bf16 || kElement == ElementType::f16 ||
                    kElement == ElementType::s32,
                "gantry: TMA adds f32, f16, bf16 and s32 to D");
  static_assert((kElement == ElementType::s32) == (Shape::kAccumulator == ElementType::s32),
                "gantry: sums of integers are added to D of s32, others to D of floats");
  static constexpr bool kAdds = true;
  static constexpr int kSteps = 0;  // all work is done while the accumulators are held
  static constexpr int kBuffers = 2;

  // As many columns as make rows of 128 bytes, or fewer where the tile is no multiple of that.
  static constexpr int kSlabN = [] {
    int columns = 1024 / element_bits(kElement);
    while (kTileN % columns != 0) columns /= 2;
    return columns;
  }();
  struct SlabShape {
    static constexpr Subtiles tile{.m = kWarpgroupM, .n = kTileN, .epi_m = 64, .epi_n = kSlabN, .warpgroups = 1};
    static constexpr ElementType element = kElement;
    static constexpr bool row_major = true;
    static constexpr int stages = kBuffers;
  };
  using Slabs = StagedTile<SlabShape>;
  using Element = typename Slabs::Element;
  using Plan = typename Slabs::template Plan<TmaOp::reduce_add>;
  using Stores = PipelineTmaStore<kBuffers>;

  struct Params {
    TmaDescriptor d;
  };
  // The copy of a problem's result, or why it cannot be.
  static TmaPlan bind_d(const GemmProblem& p) { return Mainloop<Config>::bind_result(Plan::value, p); }
  template <class Encode>
  static Params make_params(const GemmProblem& p, Encode encode) {
    return {encode(bind_d(p).descriptor)};
  }

  struct Storage {
    alignas(1024) Element d[kTileWarpgroups][Slabs::kBytes / sizeof(Element)];
  };

  // A math warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, Storage& storage) : p_(params), s_(storage) {}

    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      constexpr Subtiles tile = SlabShape::tile;
      const TileCoordinate at = Mine::part_of(work);
      Stores stores({.issues = Mine::thread() == 0});
      for_each_index<tile.count()>([&](auto i) {
        constexpr int em = i % tile.along_m(), en = i / tile.along_m();
        auto values = Slabs::make_registers();
        for_each_index<tile.values()>(
            [&](auto v) { values(v) = convert<Element>(acc(Constant<tile.register_of(em, en, v)>{})); });
        stores.producer_acquire(state_);
        Mine::meet();
        Slabs::write(values, s_.d[Mine::number()], state_.index(), Mine::thread());
        arch::fence_proxy_async(arch::space_shared);
        Mine::meet();
        if (stores.issues()) {
          Slabs::template store<TmaOp::reduce_add>(&p_.d, s_.d[Mine::number()], state_.index(), at, em, en);
        }
        stores.producer_commit(state_);
        ++state_;
      });
    }

    template <int i>
    GANTRY_INLINE void step(Constant<i>) {}

    GANTRY_INLINE void tail() { Stores({.issues = Mine::thread() == 0}).producer_tail(state_); }

   private:
    const Params& p_;
    Storage& s_;
    PipelineState<kBuffers> state_;
  };
};

}  // namespace gantry
