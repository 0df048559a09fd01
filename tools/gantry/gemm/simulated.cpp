#include "gemm/simulated.hpp"

#include <utility>

#include <fmt/format.h>

#include <gantry/gemm/open_options.hpp>

#include "option_rules.hpp"

namespace gantry::tool {

namespace {

// Zero and automatic match anything.
bool is_a(const GemmOptions& there, const GemmOptions& wanted) {
  const bool elements = there.a == wanted.a && there.b == wanted.b && there.d == wanted.d &&
                        (wanted.c == ElementType::void_ || there.c == wanted.c);
  const bool majors = there.major_a == wanted.major_a && there.major_b == wanted.major_b &&
                      there.layout_d == wanted.layout_d &&
                      (wanted.c == ElementType::void_ || there.layout_c == wanted.layout_c);
  const bool tile = keeps_tile(there, wanted) && (wanted.stages == 0 || there.stages == wanted.stages);
  const bool split = wanted.split == SplitMode::automatic || there.split == wanted.split;
  const bool tma = !direct_c(wanted) && !direct_d(wanted) && wanted.align_aux == 0;  // addresses all tensors
  return tma && elements && majors && tile && split && there.promote == wanted.promote &&
         there.groups == wanted.groups && there.gate == wanted.gate && there.gather_a == wanted.gather_a &&
         there.scatter_d == wanted.scatter_d && there.swapped == wanted.swapped;
}

std::string name_of(const GemmOptions& o) {
  GemmOptions without_c = o;
  without_c.c = ElementType::void_;
  return fmt::format("{} with {} stages", to_text(without_c).c_str(), o.stages);
}

}  // namespace

const std::vector<BuiltInGemm>& built_in_gemms() {
  static const std::vector<BuiltInGemm> all{kSimulatedBf16, kSimulatedBf16Pingpong};
  return all;
}

std::vector<BuiltInGemm> built_in_for(const AskedGemm& asked) {
  std::vector<BuiltInGemm> out;
  for (const BuiltInGemm& kernel : built_in_gemms()) {
    if (is_a(kernel.design.options, asked.options) && kernel.takes(asked.graph)) out.push_back(kernel);
  }
  return out;
}

void take_result(const LaunchResult& result, SimulatedRun& out) {
  out.report = result.report();
  const bool ran = !out.report.findings.empty() || !out.report.kernel.empty();
  for (const LaunchReason& reason : result.reasons) {
    if (!ran) refuse(out.status, {}, reason);
  }
}

std::string not_built_in(const GemmOptions& wanted) {
  std::string there;
  for (const BuiltInGemm& asked : built_in_gemms())
    there += (there.empty() ? " " : ", ") + name_of(asked.design.options);
  return fmt::format(
      "no kernel with these element types, layouts and tile is built in for the simulated SM (asked for: A {}, B {}, "
      "D {}; built in, each with K-major A and B, row-major C and D, and auxiliary tensors of f32, bf16 and u1:{})",
      info(wanted.a).name, info(wanted.b).name, info(wanted.d).name, there);
}

}  // namespace gantry::tool
