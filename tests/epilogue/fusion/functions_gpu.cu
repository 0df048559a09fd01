// Every element function of a fusion graph, and every element of a vector, as a kernel uses it. Assembled, not run:
// nothing may spill or use a stack.
#include <gantry/epilogue/fusion/callbacks.hpp>

using namespace gantry;
using namespace gantry::fusion;

struct Softsign {
  static constexpr const char* name = "softsign";
  GANTRY_INLINE static float call(float x) { return x / (1.0f + ::fabsf(x)); }
};

__global__ void every_function(float* out, const float* in) {
  const float a = in[3 * threadIdx.x];
  const float b = in[3 * threadIdx.x + 1];
  const float c = in[3 * threadIdx.x + 2];
#define GANTRY_X(id) *out++ = apply<Function::id>(a, b, c);
  GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
  *out++ = apply_user<0, UserFunctions<Softsign>>(a);
  *out++ = round_to<ElementType::bf16>(a);
  *out++ = round_to<ElementType::f16>(a);
  *out++ = round_to<ElementType::e4m3>(a);
  *out++ = round_to<ElementType::e5m2>(a);
  *out++ = round_to<ElementType::tf32>(a);
  *out++ = round_to<ElementType::s8>(a);
}

__global__ void complex_functions(cf32* out, const cf32* in) {
  const cf32 a = in[0];
  const cf32 b = in[1];
  out[0] = apply<Function::add>(a, b);
  out[1] = apply<Function::subtract>(a, b);
  out[2] = apply<Function::multiply>(a, b);
  out[3] = apply<Function::fma>(a, b, a);
  out[4] = apply<Function::neg>(a);
  out[5] = round_to<ElementType::bf16>(a);
}

namespace {

template <class Element>
__device__ void load_one(float*& out, const void* vector, int i) {
  if constexpr (Floating<Element> || AnyInteger<Element>) {
    *out++ = fusion::detail::load_value<float, Element>(vector, i);
  }
}

}  // namespace

__global__ void every_element(float* out, const void* vector, int i) {
#define GANTRY_X(id, type, ...) load_one<type>(out, vector, i);
  GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
}
