// C and D in global memory, as layouts of the tags that name them.
//
// Example:
//     using namespace gantry;
//     static_assert(gmem_stride(kRowMajor) == make_stride(Int::unknown(), _1, Int::unknown()));
#pragma once

#include <gantry/epilogue/tags.hpp>
#include <gantry/layout/layout.hpp>

namespace gantry {

// The strides (M,N,batch) of a tensor: unknown() is given at run time. With strides for each group there is no batch
// mode, and the rows of a convolution's tensor are a tuple of pixels.
GANTRY_HD constexpr IntTuple gmem_stride(LayoutTag tag) {
  const Int given = Int::unknown();
  const Int batch = tag.per_group ? Int::fixed(0) : given;
  const Int one = Int::fixed(1);
  const Int none = Int::fixed(0);
  switch (tag.kind) {
    case LayoutKind::row_major:
      return make_stride(given, one, batch);
    case LayoutKind::column_major:
      return make_stride(one, given, batch);
    case LayoutKind::tensor_nwc:
      return make_stride(make_stride(given, given), one, none);
    case LayoutKind::tensor_nhwc:
      return make_stride(make_stride(given, given, given), one, none);
    case LayoutKind::tensor_ndhwc:
      return make_stride(make_stride(given, given, given, given), one, none);
  }
  return make_stride(given, one, batch);
}

// The layout of C or D in global memory. Of a convolution's tensor, that of the matrix (pixels, channels).
GANTRY_HD constexpr Layout gmem_layout(LayoutTag tag) {
  const Int given = Int::unknown(), one = Int::fixed(1);
  return is_im2col(tag) ? make_layout(make_shape(given, given), make_stride(given, one))
                        : Layout(make_shape(given, given, given), gmem_stride(tag));
}

}  // namespace gantry
