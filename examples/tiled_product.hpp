// The GEMM of `tile_product.hpp` written with layouts: D = A B^T, A is M x K, B is N x K, D is M x N, all
// row-major bf16.
//
// Nothing here computes an address, a box or a descriptor. Shared layouts and the tiled MMA are stated once; from them
// follow, at compile time, the TMA boxes and coordinates (plan, tma_partition), the matrix descriptors (partition_A and
// _B), the accumulators' registers and the order in which stmatrix takes them (make_tiled_copy_C_atom). The roles, the
// pipeline and the overlap of stores with the next tile's loads are those of `tile_product.hpp`.
#pragma once

#include <gantry/arch.hpp>
#include <gantry/atom.hpp>
#include <gantry/pipeline/tma_async.hpp>
#include <gantry/tma.hpp>

namespace gantry::examples {

struct TiledProductConfig {
  static constexpr int kTileN = 256;
  static constexpr int kStages = 4;
  static constexpr int kCluster = 2;  // CTAs along M that share a tile of B
};

template <class Config = TiledProductConfig>
struct TiledProduct {
  static constexpr int kTileM = 128, kTileN = Config::kTileN, kTileK = 64;
  static constexpr int kStages = Config::kStages;
  static constexpr int kCluster = Config::kCluster;
  static constexpr int kMathWarpgroups = 2;
  static constexpr int kThreads = 128 * (1 + kMathWarpgroups);
  static constexpr int kSlabM = 64, kSlabN = 64;  // what a warpgroup stores at once
  static constexpr int kStoreBuffers = 2;
  static constexpr int kGroupM = 16;  // rows of tiles that run at about the same time, for L2

  // ---- Layouts

  static constexpr ComposedLayout kAtom = smem_atom(gantry::Major::K, SwizzleMode::b128, 16);
  static constexpr Layout kMatrix =
      make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));

  struct SharedA {
    static constexpr ComposedLayout value =
        tile_to_shape(kAtom, make_shape(Int::fixed(kTileM), Int::fixed(kTileK), Int::fixed(kStages)));
  };
  struct SharedB {
    static constexpr ComposedLayout value =
        tile_to_shape(kAtom, make_shape(Int::fixed(kTileN), Int::fixed(kTileK), Int::fixed(kStages)));
  };
  struct SharedD {
    static constexpr ComposedLayout value =
        tile_to_shape(kAtom, make_shape(Int::fixed(kTileM), Int::fixed(kSlabN), Int::fixed(kStoreBuffers)));
  };

  // ---- Operations

  struct LoadA {
    static constexpr TmaPlan value = plan_structure({.op = TmaOp::load,
                                                     .gtensor = {.element = ElementType::bf16, .layout = kMatrix},
                                                     .smem = SharedA::value(_, _, 0)});
  };
  struct LoadB {
    static constexpr TmaPlan value = plan_structure({.op = kCluster > 1 ? TmaOp::load_multicast : TmaOp::load,
                                                     .gtensor = {.element = ElementType::bf16, .layout = kMatrix},
                                                     .smem = SharedB::value(_, _, 0),
                                                     .num_multicast = kCluster});
  };
  struct StoreD {
    static constexpr TmaPlan value =
        plan_structure({.op = TmaOp::store,
                        .gtensor = {.element = ElementType::bf16, .layout = kMatrix},
                        .smem = tile_to_shape(kAtom, make_shape(Int::fixed(kSlabM), Int::fixed(kSlabN)))});
  };
  struct Mma {
    using Operation = ss_op_selector<bf16, bf16, float, Tile<kTileM, kTileN, kTileK>>;
    static constexpr TiledMmaLayout value =
        make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(kMathWarpgroups), _1, _1)));
  };
  using Pipeline = PipelineTmaAsync<kStages>;
  using State = PipelineState<kStages>;

  // ---- What a launch needs

  struct Params {
    TmaDescriptor a, b, d;
    int m, n, k;
  };

  struct Storage {
    alignas(1024) bf16 a[cosize(SharedA::value)];
    alignas(1024) bf16 b[cosize(SharedB::value)];
    alignas(1024) bf16 d[cosize(SharedD::value)];
    typename Pipeline::SharedStorage pipeline;
  };
  static constexpr std::uint32_t kStageBytes = (sizeof(Storage::a) + sizeof(Storage::b)) / kStages;

  // The maps of row-major matrices, encoded by `encode`, a function from TmaDescriptorParams to the map.
  template <class Encode>
  static Params make_params(const bf16* a, const bf16* b, const bf16* d, int m, int n, int k, Encode encode) {
    const auto map = [&encode](const TmaPlan& plan, const bf16* data, int rows, int columns) {
      GlobalTensor matrix{.address = reinterpret_cast<std::uint64_t>(data), .element = ElementType::bf16, .layout = {}};
      matrix.layout = make_layout(make_shape(rows, columns), make_stride(columns, _1));
      return encode(bind(plan, matrix).descriptor);
    };
    return {map(LoadA::value, a, m, k), map(LoadB::value, b, n, k), map(StoreD::value, d, m, n), m, n, k};
  }

  GANTRY_HD static constexpr int m_tiles(const Params& p) {
    return (p.m + kTileM * kCluster - 1) / (kTileM * kCluster) * kCluster;
  }
  GANTRY_HD static constexpr int n_tiles(const Params& p) { return (p.n + kTileN - 1) / kTileN; }

  GANTRY_HD static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const int warpgroup = static_cast<int>(arch::warpgroup_rank());
    if (arch::thread_rank() == 0) {
      Pipeline::init(s.pipeline, kMathWarpgroups * kCluster, "tile");
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    if constexpr (kCluster > 1) {
      arch::barrier_cluster_arrive();
      arch::barrier_cluster_wait();
    } else {
      arch::syncthreads();
    }
    if (warpgroup == 0) {
      arch::setmaxnreg_dec<40>();
      arch::name_role("producer");
      if (arch::warp_rank() == 0 && arch::elect_sync()) produce(params, s);
    } else {
      arch::setmaxnreg_inc<232>();
      arch::name_role("math");
      consume(params, s, warpgroup - 1);
    }
  }

 private:
  struct TileIndex {
    int m, n;
  };

  GANTRY_INLINE static int first_tile() { return static_cast<int>(arch::block_index().x) / kCluster; }
  GANTRY_INLINE static int tile_step() { return static_cast<int>(arch::grid_dim().x) / kCluster; }
  GANTRY_INLINE static int tile_count(const Params& p) { return m_tiles(p) / kCluster * n_tiles(p); }

  // Tile number `i` of this CTA's cluster: down a group of kGroupM rows first, then along N.
  GANTRY_INLINE static TileIndex tile_at(const Params& p, int i) {
    const int rows = m_tiles(p) / kCluster;
    const int group = kGroupM / kCluster;
    const int per_group = group * n_tiles(p);
    const int first = i / per_group * group;
    const int height = rows - first < group ? rows - first : group;
    const int within = i % per_group;
    return {(first + within % height) * kCluster + static_cast<int>(arch::cluster_block_rank()), within / height};
  }

  GANTRY_INLINE static auto shared_a(Storage& s) { return make_tensor(make_smem_ptr(s.a), SharedA{}); }
  GANTRY_INLINE static auto shared_b(Storage& s) { return make_tensor(make_smem_ptr(s.b), SharedB{}); }
  GANTRY_INLINE static auto shared_d(Storage& s) { return make_tensor(make_smem_ptr(s.d), SharedD{}); }

  GANTRY_INLINE static void produce(const Params& p, Storage& s) {
    Pipeline pipeline(s.pipeline);
    State write = make_producer_start_state<kStages>();
    const auto rank = static_cast<int>(arch::cluster_block_rank());
    constexpr auto kEveryCta = static_cast<std::uint16_t>((1u << kCluster) - 1);
    const TmaCopy<LoadA> load_a{&p.a};
    const TmaCopy<LoadB> load_b{&p.b};
    for (int i = first_tile(); i < tile_count(p); i += tile_step()) {
      const TileIndex tile = tile_at(p, i);
      const auto a_tiles = local_tile(load_a.get_tma_tensor(p.m, p.k), Tile<kTileM, kTileK>{}, coord(tile.m, _));
      const auto b_tiles = local_tile(load_b.get_tma_tensor(p.n, p.k), Tile<kTileN, kTileK>{}, coord(tile.n, _));
      const auto a = tma_partition(load_a, 0, group_modes<0, 2>(shared_a(s)), group_modes<0, 2>(a_tiles));
      const auto b = tma_partition(load_b, rank, group_modes<0, 2>(shared_b(s)), group_modes<0, 2>(b_tiles));
      GANTRY_NO_UNROLL
      for (int k = 0; k < size<2>(a_tiles); ++k, ++write) {
        pipeline.producer_acquire(write, kStageBytes);
        std::uint64_t* full = pipeline.producer_get_barrier(write);
        copy(load_a.with(full), a.gmem(_, k), a.smem(_, write.index()));
        copy(load_b.with(full, kEveryCta), b.gmem(_, k), b.smem(_, write.index()));
      }
    }
    pipeline.producer_tail(write);
  }

  // One thread of the warpgroup signals each CTA that fills this stage.
  GANTRY_INLINE static void release(Pipeline& pipeline, const State& state, int thread) {
    if constexpr (kCluster > 1) {
      if (thread < kCluster) pipeline.consumer_release(state, static_cast<std::uint32_t>(thread));
    } else {
      if (thread == 0) pipeline.consumer_release(state);
    }
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s, int group) {
    Pipeline pipeline(s.pipeline);
    State read = make_consumer_start_state<kStages>();
    const int thread = static_cast<int>(arch::thread_rank()) % 128;
    const int k_tiles = (p.k + kTileK - 1) / kTileK;
    const TiledMma<Mma> mma;
    const auto mine = mma.get_slice(group * 128);
    const auto a = mine.partition_fragment_A(shared_a(s));  // (1, M, K, stage)
    const auto b = mine.partition_fragment_B(shared_b(s));
    auto acc = partition_fragment_C(mma, Tile<kTileM, kTileN>{});
    int stored = 0;
    for (int i = first_tile(); i < tile_count(p); i += tile_step()) {
      State last = read;
      GANTRY_NO_UNROLL
      for (int k = 0; k < k_tiles; ++k, ++read) {
        pipeline.consumer_wait(read);
        warpgroup_fence_operand(acc);
        arch::wgmma_fence();
        gemm(mma, a(_, _, _, read.index()), b(_, _, _, read.index()), acc, k > 0);
        arch::wgmma_commit_group();
        warpgroup_fence_operand(acc);
        if (k > 0) {
          arch::wgmma_wait_group(arch::n32<1>);
          release(pipeline, last, thread);
        }
        last = read;
      }
      arch::wgmma_wait_group(arch::n32<0>);
      warpgroup_fence_operand(acc);
      release(pipeline, last, thread);
      store(p, s, acc, tile_at(p, i), group, stored);
      stored += kTileN / kSlabN;
    }
    if (thread == 0) arch::cp_async_bulk_wait_group_read(arch::n32<0>);
  }

  template <class Accumulators>
  GANTRY_INLINE static void store(const Params& p, Storage& s, Accumulators& acc, TileIndex tile, int group,
                                  int stored) {
    const int thread = static_cast<int>(arch::thread_rank()) % 128;
    const auto barrier = static_cast<std::uint32_t>(1 + group);
    const auto to_shared = make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, bf16>{}, TiledMma<Mma>{});
    const auto mine = to_shared.get_slice(group * 128 + thread);
    const auto buffers = mine.partition_D(as_position_independent_swizzle_tensor(shared_d(s)));  // (8, M, N, buffer)
    const auto ordered = coalesce(mine.retile_S(acc));

    const TmaCopy<StoreD> to_global{&p.d};
    const auto slabs = local_tile(to_global.get_tma_tensor(p.m, p.n), Tile<kSlabM, kSlabN>{},
                                  coord(tile.m * kMathWarpgroups + group, _));
    const auto half = local_tile(shared_d(s), Tile<kSlabM, kSlabN>{}, coord(group, 0));
    const auto parts = tma_partition(to_global, 0, group_modes<0, 2>(half), group_modes<0, 2>(slabs));

    for_each_index<kTileN / kSlabN>([&](auto slab) {
      const int buffer = (stored + slab) % kStoreBuffers;
      const auto target = buffers(_, _, _, buffer);
      auto values = make_tensor<bf16>(Tile<8, size_v<decltype(target), 1>, size_v<decltype(target), 2>>{});
      if (thread == 0) arch::cp_async_bulk_wait_group_read(arch::n32<kStoreBuffers - 1>);
      arch::barrier_sync(barrier, 128);
      convert(local_tile(ordered, Tile<size_v<decltype(values)>>{}, coord(slab)), values);
      copy(to_shared, values, target);
      arch::fence_proxy_async(arch::space_shared);
      arch::barrier_sync(barrier, 128);
      if (thread == 0) {
        copy(to_global, parts.smem(_, buffer), parts.gmem(_, tile.n * (kTileN / kSlabN) + slab));
        arch::cp_async_bulk_commit_group();
      }
    });
  }
};

}  // namespace gantry::examples
