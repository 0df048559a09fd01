// The simulated SM as a machine of the conformance suite.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include <gantry/arch/launch.hpp>
#include <gantry/tma/encode.hpp>

#include "suite.hpp"

namespace gantry::conformance {

class SimulatorMachine {
 public:
  std::uint8_t* buffer(const Bytes& initial) {
    const std::size_t size = (initial.size() + 1023) / 1024 * 1024;
    memory_.emplace_back(static_cast<std::uint8_t*>(std::aligned_alloc(1024, size)), &std::free);
    std::memcpy(memory_.back().get(), initial.data(), initial.size());
    return memory_.back().get();
  }

  TmaDescriptor map(const TmaDescriptorParams& params) {
    const EncodedTmaDescriptor encoded = encode_packed(params);
    if (!encoded.ok()) problem_ += std::string(describe(encoded).c_str()) + "\n";
    return encoded.map;
  }

  template <class Kernel>
  void launch(const LaunchConfig& config, const typename Kernel::Params& params) {
    take(Simulator(SimulatorOptions{.seed = 1}).run<Kernel>(config, params));
  }
  template <class First, class Second>
  void launch_in_order(const KernelLaunch<First>& first, const KernelLaunch<Second>& second) {
    take(gantry::launch_in_order(Simulator(SimulatorOptions{.seed = 1}), first, second).report());
  }

  void result(const std::uint8_t* from, std::size_t bytes) {
    if (completed_) bytes_.insert(bytes_.end(), from, from + bytes);
  }

  const std::string& problem() const { return problem_; }
  const std::string& broken() const { return broken_; }
  const std::string& findings() const { return findings_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  void take(const Report& report) {
    for (const Finding& finding : report.findings) {
      if (broken_.empty()) broken_ = finding.rule;
      findings_ += finding.text + "\n";
    }
    completed_ = completed_ && report.completed;
  }

  std::vector<std::unique_ptr<std::uint8_t, void (*)(void*)>> memory_;
  std::string problem_, broken_, findings_;
  Bytes bytes_;
  bool completed_ = true;
};

}  // namespace gantry::conformance
