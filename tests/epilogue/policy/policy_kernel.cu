// A kernel that reads its policy: every decision must be a constant, with nothing on the stack.
#include <gantry/epilogue/policy_static_check.hpp>
#include <gantry/tensor/index.hpp>

namespace {

struct Config {
  static constexpr gantry::EpiloguePolicy policy =
      gantry::CollectiveBuilder{.schedule = gantry::EpilogueSchedule::tma_warp_specialized_cooperative,
                                .tile = {128, 256, 64},
                                .c = gantry::ElementType::bf16,
                                .d = gantry::ElementType::bf16,
                                .layout_d = gantry::kColumnMajor}
          .policy();
};
GANTRY_EPILOGUE_STATIC_CHECK(Config::policy);

// Where element (0, n) of the first buffer of D lies.
template <int n>
struct PlaceInD {
  static constexpr int value = static_cast<int>(Config::policy.d.smem_layout()(0, n, 0));
};

template <int... n>
__device__ void write(int* out, gantry::Sequence<n...>) {
  ((out[n] = PlaceInD<n>::value + static_cast<int>(threadIdx.x) * Config::policy.stages_c), ...);
}

}  // namespace

__global__ void write_row(int* out) {
  static_assert(Config::policy.storage.bytes <= 232448);
  write(out, gantry::make_sequence<Config::policy.epi_tile.n>{});
}
