// The overlapped store: D of a tile is stored while the next tile is multiplied.
//
// take() converts the accumulators to bf16 or f16 in registers, which frees them for the next tile at once. step()
// moves a slab of 64 columns to shared memory with stmatrix and on to global memory by TMA; the kernel calls it between
// the wgmmas of the next tile. tail() stores what is left and waits until shared memory has been read.
//
// Invariant: a slab's buffer is written only after a barrier that follows the wait for its last store.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Plain {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, gantry::fusion::graph("d = acc"));
//     };
//     using Store = gantry::OverlappedStore<Plain>;
//     template <class Acc>
//     GANTRY_HD void store_one(const Store::Params& params, gantry::SharedMemory shared, Acc& acc, const gantry::Work& work) {
//       Store::Consumer store(params, shared);
//       store.take(acc, work);
//       store.tail();
//     }
#pragma once

#include <gantry/arch.hpp>
#include <gantry/atom/convert.hpp>
#include <gantry/atom/copy.hpp>
#include <gantry/atom/copy_operations.hpp>
#include <gantry/atom/matrix_coordinates.hpp>
#include <gantry/atom/mma_copy.hpp>
#include <gantry/atom/tma_copy.hpp>
#include <gantry/gemm/math_warpgroup.hpp>

namespace gantry {

template <class Design>
struct OverlappedStore : GemmShape<Design> {
  using Shape = GemmShape<Design>;
  using Mine = MathWarpgroup<Design>;
  using Shape::kTileM, Shape::kTileN;
  using Shape::kTileWarpgroups;
  using Mma = typename Mainloop<Design>::Mma;
  static constexpr ElementType kElement = Design::design.options.d;
  using Element = element_t<kElement>;
  static constexpr int kSlabM = Design::design.part.epi_tile.m, kSlabN = Design::design.part.epi_tile.n;
  static constexpr bool kRagged = Design::design.part.ragged;
  static constexpr int kSteps = kTileN / kSlabN;
  static constexpr int kBuffers = kSlabBuffers;
  static_assert(Design::design.store == GemmStore::overlapped || Design::design.store == GemmStore::own,
                "gantry: the design has another epilogue; overlapped stores are those of a plain, row-major 16-bit D");
  static_assert(kTileM == kSlabM * kTileWarpgroups && kTileN % (kSlabN * kBuffers) == 0);

  struct SharedD {
    static constexpr ComposedLayout value =
        tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16),
                      make_shape(Int::fixed(kTileM), Int::fixed(kSlabN), Int::fixed(kBuffers)));
  };
  struct StoreD {
    static constexpr TmaPlan value = subtile_plan(kElement, true, {kSlabM, kSlabN}, TmaOp::store, kRagged);
  };
  static_assert(Design::design.store == GemmStore::own || compact(StoreD::value) == Design::design.d,
                "gantry: the box that is stored is not the one that the design has a tensor map of");

  struct Params {
    TmaDescriptor d;
  };

  // A warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, SharedMemory shared) : p_(params), s_(shared) {}

    // While the wgmmas of `work` run: the thread that stores acquires the map of another GEMM of a pointer array. A
    // step waits until the stores before have been read, and with them their maps.
    GANTRY_INLINE void prepare(const Work& work) requires(Shape::kOwnMaps) {
      static_assert(kBuffers == 2);
      if (issues() && work.one.slot != slot_) acquire_map(map(work.one.slot));
    }

    // The accumulators are free afterwards. Requires that every step of the tile before has been made.
    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      const TileCoordinate at = Mine::part_of(work);
      m_ = at.m;
      n_ = at.n * kSteps;
      batch_ = at.map_batch;
      row_ = at.map_row;
      if constexpr (Shape::kOwnMaps) slot_ = work.one.slot;
      convert(coalesce(to_shared().retile_S(acc)), values_);
    }

    // Instead of taking any. Requires that every step of the tile before has been made.
    GANTRY_INLINE void forget() {
      GANTRY_UNROLL
      for (int i = 0; i < kSteps * kValues; ++i) values_.data()[i] = Element{};
      m_ = -1;
      n_ = batch_ = row_ = 0;
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
      Mine::sync();
      if (issues()) {
        const TmaCopy<StoreD> store{map(slot_)};
        const auto matrix = matrix_coordinates<kRagged>(store, batch_);
        const auto slabs = local_tile(domain_offset(coord(row_, 0), matrix), Tile<kSlabM, kSlabN>{}, coord(m_, _));
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
    // Found when it is asked for: the number of the slot is all that is kept while the next tile is multiplied.
    GANTRY_INLINE const TmaDescriptor* map([[maybe_unused]] int slot) const {
      if constexpr (Shape::kOwnMaps) {
        constexpr GemmParameterMap at = Design::design.params;
        const auto* const params = reinterpret_cast<const unsigned char*>(&p_) - at.epilogue;
        const auto& schedule = *reinterpret_cast<const PointerSchedule*>(params + at.schedule);
        return GroupMapWriter<Design>::slot_of(schedule, slot) + GroupMapIndex::kD;
      } else {
        return &p_.d;
      }
    }
    GANTRY_INLINE auto to_shared() const { return TiledStore{}.get_slice(Mine::math_thread()); }
    GANTRY_INLINE auto shared() const {
      return make_tensor(make_smem_ptr(s_.template at<Element>(Design::design.shared.epilogue)), SharedD{});
    }

    const Params& p_;
    SharedMemory s_;
    int m_ = -1, n_ = 0, batch_ = 0;  // where the tile that was taken goes, in slabs; -1: it has gone
    int row_ = 0;                     // from which m_ counts
    int slot_ = -1;                   // of a pointer array: of the maps of that tile's GEMM
    decltype(make_tensor<Element>(Tile<kValues * kSteps>{})) values_;
  };
};

}  // namespace gantry
