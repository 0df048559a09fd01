#include "gemm/origin.hpp"

#include <fmt/format.h>

namespace gantry::tool {

std::string origin_of(const runtime::CachedKernel& kernel) {
  if (!kernel.compiled) return "found in the cache";
  if (!kernel.note.empty()) return fmt::format("compiled in {:.1f} s; {}", kernel.seconds, kernel.note);
  return fmt::format("compiled in {:.1f} s{}", kernel.seconds,
                     kernel.repaired ? ", in place of a damaged cache entry" : " and kept in the cache");
}

}  // namespace gantry::tool
