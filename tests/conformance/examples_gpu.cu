// The example kernels, and those about registers, dependent launches and approximations, in the conformance suite,
// translated for a GPU.
#include "control_cases.hpp"
#include "example_cases.hpp"
#include "gpu_machine.cuh"
#include "math_cases.hpp"

namespace gantry::conformance {

void add_examples_on_gpu(Cases<GpuMachine>& cases) {
  add_examples(cases);
  add_control(cases);
  add_approximations(cases);
}

}  // namespace gantry::conformance
