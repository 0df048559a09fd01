// Kinds of GEMMs, from one another.
#pragma once

#include "sums_of_types.hpp"

namespace gantry_test {

constexpr Kind of_majors(ElementType element, Major a, Major b) {
  return {.a = element, .b = element, .major_a = a, .major_b = b};
}
constexpr Kind in_turn(Kind kind, int rows) {
  kind.kernel = Kernel::pingpong;
  kind.tile_m = rows;
  return kind;
}
constexpr Kind in_cluster(Kind kind, int m, int n) {
  kind.cluster_m = m;
  kind.cluster_n = n;
  return kind;
}
constexpr Kind with_tile(Kind kind, int m, int n) {
  kind.tile_m = m;
  kind.tile_n = n;
  return kind;
}

}  // namespace gantry_test
