// A kernel that reads its policy: every decision must be a constant, with nothing on the stack.
#include <gantry/epilogue/policy_static_check.hpp>

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

// The place of one row's elements in the first buffer of D, as constants.
template <class C>
struct RowOfD {
  static constexpr int kElements = C::policy.epi_tile.n;
  struct Offsets {
    int of[kElements];
  };
  static constexpr Offsets offsets = [] {
    Offsets out{};
    for (int n = 0; n < kElements; ++n) out.of[n] = static_cast<int>(C::policy.d.smem_layout(0, n, 0));
    return out;
  }();
};

}  // namespace

__global__ void write_row(int* out) {
  constexpr int kStages = Config::policy.stages_c;
  constexpr int kBytes = Config::policy.storage.bytes;
  static_assert(kStages == 4 && kBytes <= 232448);
#pragma unroll
  for (int n = 0; n < RowOfD<Config>::kElements; ++n) {
    out[n] = RowOfD<Config>::offsets.of[n] + static_cast<int>(threadIdx.x) * kStages;
  }
}
