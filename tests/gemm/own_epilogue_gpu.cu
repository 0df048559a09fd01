// GEMMs with callbacks of their own, with an operation by name and delayed stores, and with a step between registers:
// ptxas must report no spills, no stack and no serialised wgmma.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/fusion/operations.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry_test {

using namespace gantry;

template <class Config>
struct Scaled : fusion::EmptyCallbacks {
  struct Params {
    const float* factors;
  };
  struct Store : fusion::EmptyCallbacks::Store {
    const Params& params;

    GANTRY_INLINE Store(const Params& p, unsigned char* memory, const fusion::TileContext& c)
        : fusion::EmptyCallbacks::Store(p, memory, c), params(p) {}
    template <int F>
    GANTRY_INLINE void visit(const float (&acc)[F], const float (&)[F], float (&d)[F], int, int, int) {
      const float factor = arch::ld(arch::space_global, params.factors);
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) d[k] = acc[k] * factor;
    }
  };
};
struct Own {
  template <class FusionConfig>
  using Callbacks = Scaled<FusionConfig>;
};

struct Named {
  static constexpr GemmOptions options{.c = ElementType::bf16, .epilogue = {.delay_tma_store = Choice::yes}};
  static constexpr fusion::NamedOperation operation{.name = "LinCombPerRowBiasEltAct"};
};

struct SwapColumns {
  template <class Value, int N>
  GANTRY_INLINE static void copy(Value (&values)[N], int /*thread*/) {
    GANTRY_UNROLL
    for (int i = 0; i < N; i += 2) {
      const Value left = arch::shfl_xor_sync(arch::kFullWarp, values[i], 1);
      values[i] = arch::shfl_xor_sync(arch::kFullWarp, values[i + 1], 1);
      values[i + 1] = left;
    }
  }
};
struct Rearranged {
  using CopyOpR2R = SwapColumns;
};

template <class Spec>
const void* entry() {
  return reinterpret_cast<const void*>(detail::kernel_entry<typename GemmTypes<Spec>::Kernel>);
}
const void* kernels[] = {entry<Own>(), entry<Named>(), entry<Rearranged>()};

}  // namespace gantry_test
