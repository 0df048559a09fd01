// The example kernels in the conformance suite, translated for a GPU.
#include "example_cases.hpp"
#include "gpu_machine.cuh"

namespace gantry::conformance {

void add_examples_on_gpu(Cases<GpuMachine>& cases) { add_examples(cases); }

}  // namespace gantry::conformance
