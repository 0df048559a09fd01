// A tile that no block has shared memory for does not become a kernel's.
// EXPECT: gantry: a tile fits into the shared memory of a block
// EXPECT-REGEX: shared_bytes is 2097152, and a block has 232448|actual<2097152L?>, gantry::said::second<232448L?>
// NO_PLACEHOLDERS
#include <gantry/layout/parse.hpp>
#include <gantry/tma/kernel_tile.hpp>

using namespace gantry;
struct LoadA {
  static constexpr TmaPlan value = plan_structure(
      {.gtensor = {.element = ElementType::bf16, .layout = layout("(?,?):(?,_1)")},
       .smem = composed_layout("Sw<3,4,3> o smem_ptr[16b](unset) o ((_256,_4),(_64,_16)):((_64,_262144),(_1,_16384))"),
       .cta_tiler = make_tile(Int::fixed(1024), Int::fixed(1024))});
};
static_assert(TmaKernelTile<LoadA>::count > 0);
