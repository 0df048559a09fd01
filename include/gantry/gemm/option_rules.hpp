// What can be wrong with the options of a GEMM: its rules, reasons as values, and the check of options that are set.
//
// Example:
//     using namespace gantry;
//     static_assert(problems(GemmOptions{.tile = {.m = 128, .n = 192}, .cluster = {2, 1}}).empty());
//     constexpr GemmOptions wrong{.tile = {.m = 96}};
//     static_assert(describe(problems(wrong)[0]) == "the tile has 96 rows: a tile of one warpgroup has 64, 128 or 192, one "
//                                                   "that two share has 128 or 256; the nearest value that works is 64");
#pragma once

#include <gantry/gemm/detail/options_check.hpp>

namespace gantry {

// Every reason why there is no GEMM of these options, as far as what is set says; make_gemm_design says the rest.
GANTRY_HD constexpr GemmReasons problems(const GemmOptions& options, const Sm90Limits& limits = kSm90) {
  GemmReasons out;
  if (options.groups == GemmGrouping::along_n) out.add({.rule = GemmRule::groups_along_n});
  if (!options.swapped) {
    const GemmReasons found = detail::GemmOptionsCheck(options, limits).check();
    for (const GemmReason& reason : found) out.add(reason);
    return out;
  }
  GemmOptions kernel = detail::with_swapped_tile(swapped(options));
  kernel.groups = GemmGrouping::none;  // which are refused below, and so are these
  kernel.gather_a = false;
  kernel.scatter_d = RowScatter::none;
  for (const GemmReason& reason : detail::said_of_swapped(detail::GemmOptionsCheck(kernel, limits).check())) {
    out.add(reason);
  }
  for (const GemmReason& reason : detail::swapped_refusals(options)) out.add(reason);
  return out;
}

}  // namespace gantry
