// Callbacks: the points of an epilogue at which a fusion is asked, and what it is given there.
//
// Load side, by the one thread that loads: begin, for each subtile step, end. Store side, by every math thread:
//
//   begin                  then all synchronise, where begin_sync_needed()
//   for each subtile
//     begin_loop
//     previsit             auxiliary inputs have arrived in their stage
//     visit                fragment by fragment: accumulators and C in, D out
//     reduce               across threads; told how to synchronise, and whether this is the call's last subtile. One
//                          that takes them gets the thread's values of the subtile, and D's buffer to work in
//     postreduce           the store buffer is free: auxiliary outputs are written there
//     tma_store            by the issuing thread alone: what it copies joins the bulk group of D
//     end_loop
//   end
//
// reduce(values, buffer, em, en, is_last, sync) instead of reduce(em, en, is_last, sync) is CUTLASS's: what it leaves
// in `values`, in the order of visit's, goes to D. The buffer, as many bytes as a subtile of D has in shared memory, is
// free when reduce begins; D is written there after it, so that a thread that has read what others wrote
// synchronises with them before it returns. It takes the values of a whole subtile in registers, and D through shared
// memory.
//
// With delayed stores, tma_store of a subtile comes after the next one's visit. EmptyCallbacks has every point and does
// nothing there; callbacks of your own inherit it and say what differs, Store::visit at least. FusionCallbacks
// (callbacks.hpp) are those of a graph. The host's part (Arguments, can_implement, get_workspace_size,
// to_underlying_arguments) is called by the functions of the same names in epilogue/arguments.hpp; workspace is zero
// when a kernel starts.
//
// Example at namespace scope:
//     template <class Config>
//     struct Checkerboard : gantry::fusion::EmptyCallbacks {  // every second element changes its sign
//       struct Store : gantry::fusion::EmptyCallbacks::Store {
//         using EmptyCallbacks::Store::Store;
//         template <int F>
//         GANTRY_INLINE void visit(const float (&acc)[F], const float (&)[F], float (&d)[F], int first, int, int) {
//           constexpr gantry::Subtiles tile = Config::tile;
//           for (int k = 0; k < F; ++k) {
//             const int at = tile.row(context.thread, first + k) + tile.column(context.thread, first + k);
//             d[k] = at % 2 == 0 ? acc[k] : -acc[k];
//           }
//         }
//       };
//     };
#pragma once

#include <cstddef>
#include <cstdint>

#include <gantry/epilogue/subtiles.hpp>

namespace gantry::fusion {

// Buffers of a ring: filled by loads, emptied by stores.
struct Rings {
  int loads = 0, stores = 0;
};

// Where a tile lies in the problem, and who asks.
struct TileContext {
  TileCoordinate at;
  int m, n, batch;          // of the problem
  int tiles_m, tiles_n;     // that the problem has, for each batch
  int thread;               // of the math threads
  std::uint32_t tiles = 0;  // that these threads have had before
};

// Whether the reduce of these callbacks gets `count` values, and D's buffer.
struct AnySync {
  GANTRY_HD void operator()() const {}
};
template <class Store, class Value, int count>
inline constexpr bool kReducesValues = requires(Store& store, Value (&values)[count], unsigned char* buffer) {
  store.reduce(values, buffer, 0, 0, true, AnySync{});
};

struct EmptyCallbacks {
  using Value = float;                        // that is computed in
  static constexpr bool kUsesSource = false;  // C is visited
  static constexpr bool kGivesD = true;       // visit gives D
  static constexpr bool kMayLoad = false;     // step may issue copies
  static constexpr bool kMayStore = true;     // so may tma_store
  static constexpr bool kWholeTiles = false;  // a tile is stored in one call, never one subtile at a time
  static constexpr int kSharedBytes = 0;      // of its own, at the address that Load and Store are given
  static constexpr int kSharedAlignment = 1;

  struct Arguments {};
  struct Params {};

  // ---- Known before a tile: the same for every tile but for the batch

  template <class P>
  GANTRY_INLINE static int load_bytes(const P&) {  // that step brings to the barrier of a stage
    return 0;
  }
  template <class P>
  GANTRY_INLINE static bool is_producer_load_needed(const P&) {
    return false;
  }
  template <class P>
  GANTRY_INLINE static bool is_C_load_needed(const P&, int /*batch*/) {
    return true;
  }
  template <class P>
  GANTRY_INLINE static bool is_C_load_by_batch(const P&) {  // one batch may need C and another not
    return false;
  }
  template <class P>
  GANTRY_INLINE static void prefetch_descriptors(const P&) {}

  // ---- Load side

  struct Load {
    template <class P>
    GANTRY_INLINE Load(const P&, unsigned char*, const TileCoordinate&) {}
    GANTRY_INLINE void begin() {}
    // Issues what subtile (em, en) needs into `stage`; load_bytes(params) arrive on `full`.
    GANTRY_INLINE void step(int /*stage*/, std::uint64_t* /*full*/, int /*em*/, int /*en*/) {}
    GANTRY_INLINE void end() {}
  };

  // ---- Store side

  struct Store {
    TileContext context;

    template <class P>
    GANTRY_INLINE Store(const P&, unsigned char*, const TileContext& c) : context(c) {}
    GANTRY_HD static constexpr bool begin_sync_needed() { return false; }
    GANTRY_INLINE void begin() {}
    GANTRY_INLINE void begin_loop(int /*em*/, int /*en*/) {}
    GANTRY_INLINE void previsit(int /*stage*/, int /*em*/, int /*en*/) {}
    template <class Sync>
    GANTRY_INLINE void reduce(int /*em*/, int /*en*/, bool /*is_last*/, const Sync&) {}
    GANTRY_INLINE void postreduce(int /*stage*/, int /*em*/, int /*en*/) {}
    GANTRY_INLINE void tma_store(int /*stage*/, int /*em*/, int /*en*/) {}
    GANTRY_INLINE void end_loop(int /*em*/, int /*en*/) {}
    template <class Sync>
    GANTRY_INLINE void end(const Sync&) {}
  };
};

}  // namespace gantry::fusion
