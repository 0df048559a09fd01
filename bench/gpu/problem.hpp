// A GEMM's operands on the GPU, for the benchmarks: D = A Bᵀ, with what its epilogues read and write.
//
//   const Problem p = Matrices(4096, 4096, 4096).problem();  // matrices.hpp allocates and fills
#pragma once

#include <gantry/numeric/float_types.hpp>

namespace gantry::bench {

struct Problem {
  int m, n, k;
  bf16 *a, *b, *c, *d, *theirs, *aux, *their_aux, *bias;
  int sms;
};

}  // namespace gantry::bench
