// Runs every case of the conformance suite on the simulated SM and writes the answers to a file.
//
//   conformance_simulate FILE
//
// A case fails where the simulator finds what the case does not say, or does not find what it says.
#include <cstdio>

#include "control_cases.hpp"
#include "copy_cases.hpp"
#include "cp_async_cases.hpp"
#include "example_cases.hpp"
#include "interleave_cases.hpp"
#include "math_cases.hpp"
#include "matrix_cases.hpp"
#include "mma_cases.hpp"
#include "record.hpp"
#include "reduce_cases.hpp"
#include "simulator_machine.hpp"
#include "statement_cases.hpp"
#include "thread_cases.hpp"
#include "wgmma_cases.hpp"
#include "wgmma_sparse_cases.hpp"

namespace {

using namespace gantry::conformance;
using Machine = SimulatorMachine;

Cases<Machine> all_cases() {
  Cases<Machine> cases;
  add_random_copies(cases);
  add_im2col_stores(cases);
  add_multicasts(cases);
  add_interleaved_copies(cases);
  add_reductions(cases);
  add_statements(cases);
  add_matrices(cases);
  add_products(cases);
  add_products_of_every_width(cases);
  add_sparse_products(cases);
  add_warp_products(cases);
  add_thread_operations(cases);
  add_copies_of_threads(cases);
  add_examples(cases);
  add_control(cases);
  add_approximations(cases);
  add_missing_reductions(cases);
  add_faults(cases);
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: conformance_simulate FILE\n");
    return 2;
  }
  Answers answers;
  int passed = 0, failed = 0;
  for (const Case<Machine>& c : all_cases()) {
    const std::string rule = c.breaks.rule;
    if (rule == kNotModelled) continue;
    Machine machine;
    c.body(machine);
    const bool good =
        machine.problem().empty() && machine.broken() == rule && (c.breaks.gpu_error != 0 || !machine.bytes().empty());
    ++(good ? passed : failed);
    if (!good) {
      std::printf("%s\n  expected %s, found %s\n%s%s", c.name.c_str(), rule.empty() ? "nothing" : rule.c_str(),
                  machine.broken().empty() ? "nothing" : machine.broken().c_str(), machine.problem().c_str(),
                  machine.findings().c_str());
    }
    if (!answers.emplace(c.name, Answer{machine.broken(), machine.bytes()}).second) {
      std::printf("two cases are called '%s'\n", c.name.c_str());
      ++failed;
    }
  }
  if (!write_answers(argv[1], answers)) {
    std::fprintf(stderr, "%s cannot be written\n", argv[1]);
    return 2;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
