// Runs the cases of gpu_cases.hpp on the simulated SM and writes what they give to a file.
//
//   epilogue_simulate FILE
#include <cstdio>

#include <tests/conformance/record.hpp>

#include "gpu_cases.hpp"
#include "harness.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

struct Simulate {
  conformance::Answers answers;
  int failed = 0;

  template <class Config>
  void run(const MachineCase& c) {
    Problem problem(fusion::CallbacksBuilder<Config>::graph, options_for<Config>(c.options));
    KernelRun<Config> kernel(problem, 4);
    std::string problems;
    for (const ArgumentReason& reason : kernel.reasons()) problems += std::string(describe(reason).c_str()) + "\n";
    if (problems.empty()) {
      const Report report = kernel({.seed = c.options.seed});
      problems = report.clean() ? problem.wrong(problem.expected()) : report.text();
    }
    std::printf("%-60s %s\n", c.name, problems.empty() ? "ok" : problems.c_str());
    failed += problems.empty() ? 0 : 1;
    answers[c.name].bytes = outputs_of(problem);
  }
};

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): then the test fails
  if (argc != 2) {
    std::fprintf(stderr, "usage: epilogue_simulate FILE\n");
    return 2;
  }
  Simulate simulate;
  visit_cases_of_copies(simulate);
  visit_cases_of_fusion(simulate);
  return simulate.failed == 0 && conformance::write_answers(argv[1], simulate.answers) ? 0 : 1;
}
