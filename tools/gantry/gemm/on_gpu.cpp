#include "gemm/on_gpu.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "gemm/choice.hpp"
#include "option_rules.hpp"
#include "terminal.hpp"

namespace gantry::tool {

DeviceOperands::DeviceOperands(const runtime::Device& device, const Operands& operands) {
  std::vector<void*> addresses;
  for (const Operand& operand : operands.all()) {
    runtime::DeviceBuffer buffer(device, operand.bytes.size());
    status_ = runtime::with_words_before(operand.name + ": ", buffer.write(operand.bytes.data(), operand.bytes.size()));
    if (!status_) return;
    addresses.push_back(buffer.data());
    names_.push_back(operand.name);
    parts_.push_back(operand.parts);
    buffers_.push_back(std::move(buffer));
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Operand& operand = operands.all()[i];
    if (!operand.holds_addresses) continue;
    const std::vector<std::uint8_t> bytes = operands.address_bytes(operand, addresses);
    status_ = runtime::with_words_before(operand.name + ": ", buffers_[i].write(bytes.data(), bytes.size()));
    if (!status_) return;
  }
  call_ = operands.call(addresses);
}

void* DeviceOperands::address(const std::string& name) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return buffers_[i].data();
  }
  return nullptr;
}

Operand::Part DeviceOperands::part(const std::string& name, std::int64_t gemm) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name && !parts_[i].empty()) return parts_[i][static_cast<std::size_t>(gemm)];
  }
  return {};
}

Status DeviceOperands::poison(Operands& operands) {
  operands.poison();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Operand& operand = operands.all()[i];
    if (!operand.written) continue;
    if (Status written = buffers_[i].write(operand.bytes.data(), operand.bytes.size()); !written) return written;
  }
  return {};
}

Status DeviceOperands::download(Operands& operands) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Operand& operand = operands.all()[i];
    if (!operand.written) continue;
    if (Status read = buffers_[i].read(operand.bytes.data(), operand.bytes.size()); !read) return read;
  }
  return {};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compile_ahead(const runtime::KernelCache& cache, const runtime::KernelCompiler& compiler,
                   const std::vector<runtime::GemmSpec>& specs, std::atomic<std::size_t>& done) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(processors, specs.size()); ++i) {
    workers.emplace_back([&] {
      for (std::size_t mine = next++; mine < specs.size(); mine = next++) {
        (void)compile_gemm(cache, compiler, specs[mine]);  // the run finds it in the cache, or says why not
        ++done;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

GpuRun run_on_gpu(const AskedGemm& asked, Operands& operands, Progress& progress, RunCheck check) {
  GpuRun out;
  const auto refused = [&](const Status& status) {
    out.status = status;
    return out;
  };
  const Context context({.policy = CompilePolicy::wait});
  for (const std::string& note : sentences_of(context.notes())) print_complaint(note);
  const runtime::Device& device = context.device();
  const Result<GemmFunction> gemm = context.gemm({.options = asked.options, .epilogue = asked.expression});
  if (!gemm) return refused(gemm.error());
  progress.step("copying operands to the GPU");
  const DeviceOperands on_device(device, operands);
  if (!on_device.status()) return refused(on_device.status());
  const GemmCall& call = on_device.call();
  progress.step("compiling the kernel");
  if (const Status ran = gemm->run(call, {.check = check}); !ran) return refused(ran);
  progress.step("running on the GPU");
  if (const Status ended = device.synchronize(); !ended) return refused(ended);
  if (const Status back = on_device.download(operands); !back) return refused(back);
  const Result<GemmExplanation> explained = gemm->explain(call);
  if (!explained) return refused(explained.error());
  out.choice = explained->choice;
  out.plan = explained->plan;
  constexpr int kCalls = 21;
  runtime::DeviceTimer timer(device);
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    timer.start();
    if (const Status ran = gemm->run(call); !ran) return refused(ran);
    const Result<double> time = timer.stop();
    if (!time) return refused(time.error());
    seconds.push_back(*time);
  }
  out.seconds = median(seconds);
  out.calls = kCalls;
  return out;
}

}  // namespace gantry::tool
