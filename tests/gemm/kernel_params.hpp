// A kernel's parameters and launch for a problem, made without the host surface: for tests that drive kernels
// themselves.
#pragma once

#include <gantry/gemm/bind.hpp>
#include <gantry/tma/encode.hpp>

namespace gantry_test {

inline constexpr auto kEncodePacked = [](const gantry::TmaDescriptorParams& p) { return gantry::encode_packed(p).map; };

// The parameters of a store that has the map of D alone.
template <class Kernel, class Encode = decltype(kEncodePacked)>
auto map_of_d(const gantry::GemmProblem& p, Encode encode = kEncodePacked) {
  return decltype(Kernel::Params::epilogue){encode(bind_d(Kernel::design(), p))};
}

// For a machine that holds `ctas` CTAs at once, a multiple of the cluster's.
template <class Kernel, class EpilogueParams, class Encode = decltype(kEncodePacked)>
typename Kernel::Params kernel_params(const gantry::GemmProblem& p, const EpilogueParams& epilogue, int ctas,
                                      Encode encode = kEncodePacked) {
  constexpr const gantry::GemmDesign& design = Kernel::design();
  typename Kernel::Params out{};
  if (p.k > 0) bind_loads(design, p, encode, out.loop);
  out.epilogue = epilogue;
  out.schedule = schedule_of(design, p, {.clusters = ctas / Kernel::kCluster, .workspace = p.workspace != nullptr});
  out.workspace = p.workspace;
  return out;
}

template <class Kernel>
gantry::LaunchConfig config_of(const typename Kernel::Params& params) {
  return launch_config_of(Kernel::design(), params.schedule);
}

}  // namespace gantry_test
