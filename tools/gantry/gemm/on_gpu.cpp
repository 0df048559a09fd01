#include "gemm/on_gpu.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "gemm/choice.hpp"

namespace gantry::tool {

namespace {

// Compiled now or found, in words.
std::string origin_of(const runtime::CachedKernel& kernel) {
  if (!kernel.compiled) return "found in the cache";
  if (!kernel.note.empty()) return fmt::format("compiled in {:.1f} s; {}", kernel.seconds, kernel.note);
  return fmt::format("compiled in {:.1f} s{}", kernel.seconds,
                     kernel.repaired ? ", in place of a damaged cache entry" : " and kept in the cache");
}

}  // namespace

DeviceOperands::DeviceOperands(const runtime::Device& device, const Operands& operands) : device_(device) {
  std::vector<void*> addresses;
  for (const Operand& operand : operands.all()) {
    runtime::DeviceBuffer buffer(device, operand.bytes.size());
    if (!buffer || !buffer.write(operand.bytes.data(), operand.bytes.size())) {
      problem_ = fmt::format("{}: {}", operand.name, device.why_not());
      return;
    }
    addresses.push_back(buffer.data());
    names_.push_back(operand.name);
    buffers_.push_back(std::move(buffer));
  }
  abi_ = operands.problem(addresses, room_);
}

void* DeviceOperands::address(const std::string& name) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return buffers_[i].data();
  }
  return nullptr;
}

std::string DeviceOperands::poison(Operands& operands) {
  operands.poison();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Operand& operand = operands.all()[i];
    if (operand.written && !buffers_[i].write(operand.bytes.data(), operand.bytes.size())) return device_.why_not();
  }
  return {};
}

std::string DeviceOperands::download(Operands& operands) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Operand& operand = operands.all()[i];
    if (operand.written && !buffers_[i].read(operand.bytes.data(), operand.bytes.size())) return device_.why_not();
  }
  return {};
}

std::string why_no_gpu(const runtime::Device& device) {
  if (!device) return device.problem();
  if (device.is_hopper()) return {};
  return fmt::format("the GPU is {}, of compute capability {}.{}; kernels of Gantry are built for 9.0 (H100, H200)",
                     device.facts().name, device.facts().major, device.facts().minor);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compile_ahead(const runtime::KernelCache& cache, const std::vector<runtime::GemmSpec>& specs,
                   std::atomic<std::size_t>& done) {
  const runtime::Compiler compiler = runtime::Compiler::find();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(processors, specs.size()); ++i) {
    workers.emplace_back([&] {
      for (std::size_t mine = next++; mine < specs.size(); mine = next++) {
        compile_gemm(cache, compiler, specs[mine]);
        ++done;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

ChosenGemm load_best(const runtime::KernelCache& cache, const runtime::Compiler& compiler, const Product& product,
                     const runtime::Device& device) {
  std::vector<GemmDesign> candidates = candidates_for(product);
  std::string left_out;
  for (;;) {
    const Chosen chosen = choose_among(product, candidates, device);
    runtime::LoadedGemm gemm =
        load_gemm(cache, compiler, {.options = chosen.options, .expression = product.expression});
    if (gemm || !gemm.kernel().refused || candidates.size() < 2)
      return {std::move(gemm), left_out + chosen.why, chosen.dependent};
    left_out += fmt::format("{} has no room for this epilogue.\n", to_text(chosen.options).c_str());
    std::erase_if(candidates, [&](const GemmDesign& d) { return d.options == chosen.options; });
  }
}

GpuRun run_on_gpu(const runtime::Device& device, const Product& product, Operands& operands, Progress& progress) {
  GpuRun out;
  const auto fail = [&](const std::string& problem) {
    out.problems.push_back(problem);
    return out;
  };
  const runtime::KernelCache cache;
  if (!cache.note().empty()) fmt::print(stderr, "gantry: {}\n", cache.note());
  progress.step("compiling the kernel");
  const ChosenGemm chosen = load_best(cache, runtime::Compiler::find(), product, device);
  const runtime::LoadedGemm& gemm = chosen.gemm;
  if (!gemm) return fail(gemm.problem());
  out.choice = fmt::format("{}\n{} was {}", chosen.why, gemm.describe(), origin_of(gemm.kernel()));
  progress.step("copying operands to the GPU");
  const DeviceOperands on_device(device, operands);
  if (!on_device.problem().empty()) return fail(on_device.problem());
  out.problems = gemm.can_implement(on_device.abi());
  if (!out.problems.empty()) return out;
  const runtime::LoadedGemmPlan plan = gemm.plan(on_device.abi());
  if (!plan) return fail(plan.text());
  out.plan = plan.text();
  progress.step("running on the GPU");
  if (const std::string problem = plan.run(); !problem.empty()) return fail(problem);
  if (!device.synchronize()) return fail(device.why_not());
  if (const std::string problem = on_device.download(operands); !problem.empty()) return fail(problem);
  constexpr int kCalls = 21;
  runtime::DeviceTimer timer(device);
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    timer.start();
    if (const std::string problem = plan.run(); !problem.empty()) return fail(problem);
    seconds.push_back(timer.stop());
    if (seconds.back() < 0) return fail(device.why_not());
  }
  out.seconds = median(seconds);
  out.calls = kCalls;
  return out;
}

}  // namespace gantry::tool
