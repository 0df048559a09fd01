#include "gpu_run.cuh"

namespace gantry::test {

void run_cases_of_fusion(RunOnGpu& run) { visit_cases_of_fusion(run); }

}  // namespace gantry::test
