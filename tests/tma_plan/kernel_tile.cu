// A kernel that loads tiles as its plan says: coordinates and shared offsets must be constants, with nothing on the
// stack.
#include <gantry/arch/bulk_tensor.hpp>
#include <gantry/arch/mbarrier.hpp>
#include <gantry/tma/kernel_tile.hpp>

namespace {

using namespace gantry;

struct LoadA {
  static constexpr Layout rows = make_layout(make_shape(Int::unknown(), Int::unknown(), Int::unknown()),
                                             make_stride(Int::unknown(), _1, Int::unknown()));
  static constexpr Layout slabs =
      make_layout(make_shape(_64, make_shape(_64, _2)), make_stride(_64, make_stride(_1, _4096)));
  static constexpr TmaPlan value = plan_structure({.op = TmaOp::load_multicast,
                                                   .gtensor = {.element = ElementType::bf16, .layout = rows},
                                                   .smem = ComposedLayout(Swizzle(3, 4, 3), _0, slabs, 16),
                                                   .cta_tiler = make_tile(_64, _128),
                                                   .num_multicast = 2});
};

}  // namespace

__global__ void load_tiles(const __grid_constant__ TmaDescriptor map, int k_tiles, int cta) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ std::uint64_t full;
  using Tile = TmaKernelTile<LoadA>;
  for (int k = 0; k < k_tiles; ++k) {
    std::int32_t at[Tile::rank];
    Tile::origin(at, blockIdx.x, k, blockIdx.y);
    Tile::for_each(at, cta, [&](const std::int32_t(&coordinates)[Tile::rank], std::int32_t offset) {
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, tile + offset, &map, coordinates, &full,
                                 std::uint16_t{3});
    });
  }
}
