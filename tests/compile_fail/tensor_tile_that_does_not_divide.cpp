// A divide that no layout can express names its numbers.
// EXPECT: gantry: one must divide the other
// EXPECT-REGEX: composition_stride.*(stride 4 of the right layout meets extent 6|actual<4L?>, gantry::said::wanted<6L?>)
// NO_PLACEHOLDERS
#include <gantry/tensor.hpp>

struct Uneven {
  static constexpr gantry::Layout value = make_layout(gantry::make_shape(gantry::make_shape(gantry::_6, gantry::_2)),
                                                      gantry::make_stride(gantry::make_stride(gantry::_8, gantry::_2)));
};
float first(const float* data) {
  return local_tile(make_tensor(gantry::make_gmem_ptr(data), Uneven{}), gantry::Tile<4>{}, gantry::coord(0))(0);
}
