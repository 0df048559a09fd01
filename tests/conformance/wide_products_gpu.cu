// The wgmmas of every width, translated for a GPU.
#include "gpu_machine.cuh"
#include "wgmma_cases.hpp"

namespace gantry::conformance {

void add_wide_products_on_gpu(Cases<GpuMachine>& cases) { add_products_of_every_width(cases); }

}  // namespace gantry::conformance
