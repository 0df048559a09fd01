// An epilogue that stores behind the products of the next tile, in the kernel whose next tile is another warpgroup's.
// EXPECT: in the pingpong kernel an epilogue does all of its work in take()
#include <gantry/gemm/pingpong.hpp>

struct Config : gantry::PingpongConfig {
  static constexpr int kTileM = 64, kTileN = 128, kStoreBuffers = 2;
};
constexpr int bytes = sizeof(gantry::PingpongGemm<Config, gantry::DeferredStore<Config>>::Storage);
