// Runs a configuration of EpilogueKernel on the GPU and compares what it gives with the simulator's answer and with the
// reference.
#pragma once

#include <tests/conformance/record.hpp>

#include "../../gpu_checks.cuh"
#include "gpu_cases.hpp"

namespace gantry::test {

using gantry_test::check;
using gantry_test::encode;

// Copies of buffers on the device, brought back by `fetch`.
class DeviceCopies {
 public:
  DeviceCopies() = default;
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;
  ~DeviceCopies() {
    for (const Copy& copy : copies_) cudaFree(copy.device);
  }

  void* of(std::vector<std::uint8_t>& bytes) {
    if (bytes.empty()) return nullptr;
    Copy copy{nullptr, &bytes};
    check(cudaMalloc(&copy.device, bytes.size()), "allocating");
    check(cudaMemcpy(copy.device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copying");
    copies_.push_back(copy);
    return copy.device;
  }
  void fetch() {
    for (const Copy& copy : copies_) {
      check(cudaMemcpy(copy.host->data(), copy.device, copy.host->size(), cudaMemcpyDeviceToHost), "running");
    }
  }

 private:
  struct Copy {
    void* device;
    std::vector<std::uint8_t>* host;
  };
  std::vector<Copy> copies_;
};

struct RunOnGpu {
  const conformance::Answers& answers;
  int failed = 0;

  template <class Config>
  void run(const MachineCase& c) {
    constexpr fusion::Graph graph =
        fusion::CallbacksBuilder<Config>::graph;  // a reference to the member would put its class on the device
    Problem problem(graph, options_for<Config>(c.options));
    const fusion::ReferenceResult expected = problem.expected();
    const std::string trouble = launch_and_fetch<Config>(problem);
    std::string text = trouble.empty() ? problem.wrong(expected) : trouble;
    std::size_t differ = 0;
    const auto answer = answers.find(c.name);
    if (text.empty() && answer == answers.end()) text = "the simulator gave no answer";
    if (text.empty()) {
      const std::vector<std::uint8_t> ours = outputs_of(problem);
      const std::vector<std::uint8_t>& theirs = answer->second.bytes;
      for (std::size_t i = 0; i < ours.size(); ++i) differ += i >= theirs.size() || ours[i] != theirs[i];
      if (c.exact && differ > 0) text = std::to_string(differ) + " bytes differ from the simulator's";
    }
    std::printf("%-60s %s", c.name, text.empty() ? "ok" : text.c_str());
    if (text.empty() && differ > 0) std::printf(", within bounds; %zu bytes differ from the simulator's", differ);
    std::printf("\n");
    failed += text.empty() ? 0 : 1;
  }

 private:
  template <class Config>
  static std::string launch_and_fetch(Problem& problem) {
    using Kernel = EpilogueKernel<Config>;
    const fusion::ProblemShape& s = problem.options().shape;
    const EpilogueProblem shape{static_cast<int>(s.m), static_cast<int>(s.n), 64, static_cast<int>(s.batch)};
    DeviceCopies copies;
    EpilogueArguments<Config> arguments;
    hand_over_c<Config>(arguments.c, problem.c(), copies.of(problem.c().bytes), s);
    hand_over_d<Config>(arguments.d, problem.d(), copies.of(problem.d().bytes), s);
    if constexpr (requires { arguments.fusion.graph(); }) {
      static_cast<fusion::FusionArguments&>(arguments.fusion) = problem.fusion();
      for (int i = 0; i < problem.graph().argument_count; ++i) {
        Buffer& b = problem.argument(i);
        if (b.bytes.empty()) continue;
        arguments.fusion[problem.graph().arguments[i].name.text].tensor(copies.of(b.bytes), b.stride, b.batch_stride);
      }
    }
    std::vector<std::uint8_t> scratch(get_workspace_size<Config>(shape, arguments), std::uint8_t{0xA5});
    void* workspace = copies.of(scratch);
    std::string reasons;
    for (const ArgumentReason& reason : can_implement<Config>(shape, arguments, workspace)) {
      reasons += std::string(describe(reason).c_str()) + "\n";
    }
    if (!reasons.empty()) return reasons;
    const LaunchResult initialised = initialize_workspace<Config>(Gpu{}, shape, arguments, workspace);
    if (!initialised) return describe(initialised);
    const typename Kernel::Params params{
        to_underlying_arguments<Config>(shape, arguments, encode, workspace),
        static_cast<const typename Kernel::Accumulator*>(copies.of(problem.accumulators().bytes))};
    const LaunchResult launched = launch(Gpu{},
                                         {.grid = {7},
                                          .block = {Kernel::kThreads},
                                          .shared_bytes = sizeof(typename Kernel::Storage),
                                          .name = "epilogue"},
                                         Kernel{}, params);
    if (!launched) return describe(launched);
    copies.fetch();
    return {};
  }
};

}  // namespace gantry::test
