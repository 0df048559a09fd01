// A kernel's tile says why its plan does not run, in the words of the broken rule: rows of 256 bytes under a swizzle of
// 128.
// EXPECT: gantry: the innermost extent is not wider than its swizzle
// EXPECT-REGEX: box\[0\] is 128, 256 bytes, and the swizzle covers 128|first<256L?>, gantry::said::second<128L?>
// NO_PLACEHOLDERS
#include <gantry/tma/kernel_tile.hpp>

using namespace gantry;
struct LoadA {
  static constexpr Layout rows =
      make_layout(make_shape(Int::unknown(), Int::unknown()), make_stride(Int::unknown(), _1));
  static constexpr TmaPlan value = plan_structure(
      {.gtensor = {.element = ElementType::bf16, .layout = rows},
       .smem = ComposedLayout(Swizzle(3, 4, 3), _0, make_layout(make_shape(_64, _128), LayoutRight{}), 16)});
};
static_assert(TmaKernelTile<LoadA>::count > 0);
