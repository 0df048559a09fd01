// A swizzled layout of 16-bit elements says nothing about a buffer of floats.
// EXPECT: the swizzled layout is for elements of another width: recast the layout or the pointer
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tensor.hpp>

struct Halves {
  static constexpr gantry::ComposedLayout value = smem_atom(gantry::Major::K, gantry::SwizzleMode::b128, 16);
};
float first(float* data) { return make_tensor(gantry::make_smem_ptr(data), Halves{})(0); }
