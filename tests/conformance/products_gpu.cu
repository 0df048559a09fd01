// The wgmmas of the conformance suite, translated for a GPU.
#include "gpu_machine.cuh"
#include "wgmma_cases.hpp"

namespace gantry::conformance {

void add_products_on_gpu(Cases<GpuMachine>& cases) { add_products(cases); }

}  // namespace gantry::conformance
