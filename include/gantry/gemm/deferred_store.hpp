// Stores a tile of D behind the main loop of the next one.
//
// take() converts the accumulators to bf16 or f16, in registers, and so frees them for the next tile at once. step()
// moves a slab of 64 columns to shared memory with stmatrix and on to global memory by TMA; the kernel calls it while
// products of the next tile run. tail() stores what is left and waits until shared memory has been read.
//
// Invariant: a slab's buffer is written only after a barrier that follows the wait for its last store.
//
// Example at namespace scope:
//     using Store = gantry::DeferredStore<gantry::CooperativeConfig>;
//     template <class Acc>
//     GANTRY_HD void store_one(const Store::Params& params, Store::Storage& storage, Acc& acc, const gantry::Work& work) {
//       Store::Consumer store(params, storage);
//       store.take(acc, work);
//       store.tail();
//     }
#pragma once

#include <gantry/arch.hpp>
#include <gantry/atom.hpp>
#include <gantry/gemm/math_warpgroup.hpp>

namespace gantry {

template <class Config, ElementType kElement = ElementType::bf16>
struct DeferredStore : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  using Mine = MathWarpgroup<Config>;
  using Shape::kTileM, Shape::kTileN;
  using Shape::kTileWarpgroups;
  using Loop = Mainloop<Config>;
  using Mma = typename Loop::Mma;
  using Element = element_t<kElement>;
  static constexpr int kSlabM = 64, kSlabN = 64;
  static constexpr int kSteps = kTileN / kSlabN;
  static constexpr int kBuffers = Config::kStoreBuffers;
  static_assert(kTileM == kSlabM * kTileWarpgroups, "gantry: a warpgroup stores slabs of its own 64 rows");
  static_assert(kElement == ElementType::bf16 || kElement == ElementType::f16, "gantry: D is of bf16 or f16");
  static_assert(kTileN % kSlabN == 0, "gantry: D is stored in slabs of 64 columns");
  static_assert(
      kBuffers >= 2 && kSteps % kBuffers == 0,
      "gantry: a tile fills its store buffers a whole number of times, two at least: one is written while another is "
      "being read; kTileN is a multiple of 64 kStoreBuffers");

  static constexpr ComposedLayout kAtom = smem_atom(Major::K, SwizzleMode::b128, 16);
  struct SharedD {
    static constexpr ComposedLayout value =
        tile_to_shape(kAtom, make_shape(Int::fixed(kTileM), Int::fixed(kSlabN), Int::fixed(kBuffers)));
  };
  struct StoreD {
    static constexpr TmaPlan value =
        plan_structure({.op = TmaOp::store,
                        .gtensor = {.element = kElement, .layout = Shape::matrices(Major::K)},
                        .smem = tile_to_shape(kAtom, make_shape(Int::fixed(kSlabM), Int::fixed(kSlabN)))});
  };

  struct Params {
    TmaDescriptor d;
  };
  // The copy of a problem's result, or why it cannot be.
  static TmaPlan bind_d(const GemmProblem& p) { return Loop::bind_result(StoreD::value, p); }
  template <class Encode>
  static Params make_params(const GemmProblem& p, Encode encode) {
    return {encode(bind_d(p).descriptor)};
  }

  struct Storage {
    alignas(1024) Element d[cosize(SharedD::value)];
  };

  // A warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, Storage& storage) : p_(params), s_(storage) {}

    // The accumulators are free afterwards. Requires that every step of the tile before has been made.
    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      const TileCoordinate at = Mine::part_of(work);
      m_ = at.m;
      n_ = at.n * kSteps;
      l_ = at.l;
      convert(coalesce(to_shared().retile_S(acc)), values_);
    }

    template <int i>
    GANTRY_INLINE void step(Constant<i> slab) {
      if (m_ < 0) return;
      constexpr int buffer = i % kBuffers;
      if (issues()) arch::cp_async_bulk_wait_group_read(arch::n32<kBuffers - 2>);
      const auto buffers =
          to_shared().partition_D(as_position_independent_swizzle_tensor(shared()));  // (8, M, N, buffer)
      copy(TiledStore{}, local_tile(values_, Tile<kValues>{}, coord(slab)), buffers(_, _, _, Constant<buffer>{}));
      arch::fence_proxy_async(arch::space_shared);
      Mine::meet();
      if (issues()) {
        const TmaCopy<StoreD> store{&p_.d};
        // Extents do not enter coordinates: the tensor map clips.
        const auto matrix = store.get_tma_tensor(1 << 30, 1 << 30, 1 << 30)(_, _, l_);
        const auto slabs = local_tile(matrix, Tile<kSlabM, kSlabN>{}, coord(m_, _));
        const auto half = local_tile(shared(), Tile<kSlabM, kSlabN>{}, coord(Mine::number(), 0));
        const auto parts = tma_partition(store, 0, group_modes<0, 2>(half), group_modes<0, 2>(slabs));
        copy(store, parts.smem(_, buffer), parts.gmem(_, n_ + slab));
        arch::cp_async_bulk_commit_group();
      }
      if constexpr (i == kSteps - 1) m_ = -1;
    }

    GANTRY_INLINE void tail() {
      for_each_index<kSteps>([&](auto i) { step(i); });
      if (issues()) arch::cp_async_bulk_wait_group_read(arch::n32<0>);
    }

   private:
    static constexpr int kValues = kSlabN / 2;  // of a slab, in a thread
    using TiledStore = decltype(make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, Element>{}, TiledMma<Mma>{}));

    GANTRY_INLINE static bool issues() { return Mine::thread() == 0; }
    GANTRY_INLINE auto to_shared() const { return TiledStore{}.get_slice(Mine::math_thread()); }
    GANTRY_INLINE auto shared() const { return make_tensor(make_smem_ptr(s_.d), SharedD{}); }

    const Params& p_;
    Storage& s_;
    int m_ = -1, n_ = 0, l_ = 0;  // where the tile that was taken goes, in slabs; -1: it has gone
    decltype(make_tensor<Element>(Tile<kValues * kSteps>{})) values_;
  };
};

}  // namespace gantry
