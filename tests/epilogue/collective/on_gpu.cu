// Epilogues on the GPU against the answers of the simulator and the reference.
//
//   epilogue_on_gpu FILE
//
// FILE is what epilogue_simulate wrote. Exits with 77 where there is no GPU.
#include "gpu_run.cuh"

namespace gantry::test {

void run_cases_of_fusion(RunOnGpu& run);

}  // namespace gantry::test

int main(int argc, char** argv) {
  using namespace gantry;
  if (argc != 2) {
    std::fprintf(stderr, "usage: epilogue_on_gpu FILE\n");
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("there is no GPU here\n");
    return 77;
  }
  conformance::Answers answers;
  if (!conformance::read_answers(argv[1], answers)) {
    std::fprintf(stderr, "%s has no answers of the simulator\n", argv[1]);
    return 2;
  }
  test::RunOnGpu run{answers};
  test::visit_cases_of_copies(run);
  test::run_cases_of_fusion(run);
  return run.failed == 0 ? 0 : 1;
}
