// The copies of the conformance suite, translated for a GPU.
#include "copy_cases.hpp"
#include "gpu_machine.cuh"
#include "interleave_cases.hpp"
#include "matrix_cases.hpp"
#include "reduce_cases.hpp"
#include "statement_cases.hpp"

namespace gantry::conformance {

void add_copies_on_gpu(Cases<GpuMachine>& cases) {
  add_random_copies(cases);
  add_im2col_stores(cases);
  add_multicasts(cases);
  add_interleaved_copies(cases);
  add_reductions(cases);
  add_statements(cases);
  add_matrices(cases);
}

void add_faults_on_gpu(Cases<GpuMachine>& cases) {
  add_missing_reductions(cases);
  add_faults(cases);
}

}  // namespace gantry::conformance
