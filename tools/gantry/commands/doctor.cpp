// gantry doctor: what this machine has, and what will and will not work on it, in sentences.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/runtime.hpp>

#include "commands/commands.hpp"
#include "gemm/choice.hpp"
#include "gemm/on_gpu.hpp"
#include "gemm/simulated.hpp"
#include "gemm/vendor.hpp"
#include "plain_options.hpp"
#include "sizes.hpp"
#include "terminal.hpp"

namespace gantry::tool {

namespace {

struct Line {
  std::string name;
  bool ok;
  std::string text;
};

struct Diagnosis {
  std::vector<Line> machine;
  std::vector<Line> works;
};

std::string driver_release() {
  const runtime::Module library("libnvidia-ml.so.1");
  const auto init = library.function<int()>("nvmlInit_v2");
  const auto version = library.function<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  char text[96] = {};
  if (init == nullptr || version == nullptr || init() != 0 || version(text, sizeof text) != 0) return {};
  return text;
}

void describe_gpu(const runtime::Device& device, Diagnosis& out) {
  if (!device) {
    out.machine.push_back({"GPU", false, device.status().describe() + "."});
    return;
  }
  const runtime::DeviceFacts& f = device.facts();
  const std::string release = driver_release();
  out.machine.push_back(
      {"GPU", device.runs_kernels().ok(),
       fmt::format("{}: compute capability {}.{}, {} SMs at up to {:.0f} MHz, {} of memory on a {}-bit bus, {} of L2.",
                   f.name, f.major, f.minor, f.sms, f.clock_khz / 1e3, bytes_text(static_cast<double>(f.memory_bytes)),
                   f.memory_bits, bytes_text(static_cast<double>(f.l2_bytes)))});
  out.machine.push_back({"limits", f.clusters,
                         fmt::format("{} bytes of shared memory per block ({} per SM); clusters can{} be launched.",
                                     f.shared_per_block, f.shared_per_sm, f.clusters ? "" : "not")});
  out.machine.push_back({"driver", f.driver_version >= 12000,
                         fmt::format("{}supports CUDA {}.{}.", release.empty() ? "" : release + "; ",
                                     f.driver_version / 1000, f.driver_version / 10 % 100)});
}

Line describe_tuning(const std::string& path) {
  if (path.empty()) return {"tuning", false, "the tuning file has no path: HOME is not set; GANTRY_TUNING names one."};
  const TuningFile tuning = TuningFile::read(path);
  const std::size_t count = tuning.entries().size();
  const Status unread = unread_lines(tuning);
  const std::string lost = unread ? "" : "; it cannot be read in full: " + unread.describe();
  return {"tuning", lost.empty(), fmt::format("{}: {} GEMM{}{}.", path, count, count == 1 ? "" : "s", lost)};
}

void describe_software(const runtime::Compiler& compiler, const runtime::KernelCache& cache, Diagnosis& out) {
  out.machine.push_back(
      {"nvcc", static_cast<bool>(compiler),
       compiler ? fmt::format("{}, {}.", compiler.version(), compiler.path()) : compiler.status().describe() + "."});
  const runtime::HostCompiler host = runtime::HostCompiler::find();
  out.machine.push_back({"C++", host.status().ok(),
                         host.status() ? fmt::format("{}, {}.", host.version(), host.command().front())
                                       : host.status().describe() + "."});
  const VendorLibrary vendor = find_cublaslt(compiler);
  out.machine.push_back(
      {"cuBLASLt", vendor.status.ok(),
       vendor.status ? fmt::format("{}, {}.", vendor.version, vendor.path) : vendor.status.describe() + "."});
  const runtime::NvrtcCompiler nvrtc = runtime::NvrtcCompiler::find();
  out.machine.push_back(
      {"NVRTC", nvrtc.status().ok(),
       nvrtc.status() ? fmt::format("{}, {}.", nvrtc.version(), nvrtc.path()) : nvrtc.status().describe() + "."});
  const runtime::DeviceHeaders& headers = runtime::DeviceHeaders::embedded();
  out.machine.push_back(
      {"headers", true, fmt::format("{} embedded, digest {}.", headers.files.size(), headers.digest.substr(0, 16))});
  const runtime::KernelCache::Contents contents = cache.contents();
  out.machine.push_back(
      {"cache", cache.note().ok(),
       cache.note() ? fmt::format("{}: {} kernel{}, {}.", cache.directory(), contents.kernels,
                                  contents.kernels == 1 ? "" : "s", bytes_text(static_cast<double>(contents.bytes)))
                    : runtime::in_one_sentence(cache.note()) + "."});
  out.machine.push_back(describe_tuning(tuning_path()));
  std::string kernels;
  for (const BuiltInGemm& asked : built_in_gemms()) {
    kernels += (kernels.empty() ? "" : ", ") + std::string(info(asked.design.options.a).name) + " " +
               gantry::to_text(asked.design.options.schedule);
  }
  out.machine.push_back({"simulator", true, fmt::format("built in, with kernels for {}.", kernels)});
}

// What the commands need, and whether it is there.
void judge(const runtime::Device& device, const runtime::Compiler& compiler, Diagnosis& out) {
  const Status gpu_status = device.runs_kernels();
  const std::unique_ptr<runtime::KernelCompiler> kernels = runtime::find_gpu_compiler(device);
  const bool compiles = kernels->status().ok();
  const std::string no_compiler = runtime::in_one_sentence(kernels->status());
  const auto no = [](const std::string& why) { return "no: " + why + "."; };
  const runtime::HostCompiler host = runtime::HostCompiler::find();
  out.works.push_back({"gantry gemm --machine sim", true,
                       host.status() ? "yes: every epilogue, any element types, layouts and tile."
                                     : fmt::format("yes: every epilogue, with the built-in kernels only: {}.",
                                                   host.status().describe())});
  out.works.push_back(
      {"kernels compiled at run time", compiles, compiles ? "yes: any tile and any epilogue." : no(no_compiler)});
  const bool gpu = gpu_status && compiles;
  const std::string gpu_reason = !gpu_status ? gpu_status.describe() : no_compiler;
  out.works.push_back({"gantry gemm --machine gpu", gpu, gpu ? "yes." : no(gpu_reason)});
  out.works.push_back({"gantry tune", gpu, gpu ? "yes." : no(gpu_reason)});
  const VendorLibrary vendor = find_cublaslt(compiler);
  out.works.push_back({"gantry bench gemm", gpu && compiler && vendor.status,
                       !gpu             ? no(gpu_reason)
                       : !compiler      ? no("cuBLASLt's part is compiled by nvcc, and " + compiler.status().describe())
                       : !vendor.status ? no(vendor.status.describe())
                                        : "yes, against cuBLASLt."});
}

void print(const Diagnosis& d) {
  const std::size_t columns = output_columns();
  for (const Line& line : d.machine)
    fmt::print("{}", hanging(fmt::format("{:<10} {} ", line.name, line.ok ? " " : "-"), runtime::printable(line.text),
                             columns));
  fmt::print("\n");
  for (const Line& line : d.works)
    fmt::print("{}", hanging(fmt::format("{:<29} ", line.name), runtime::printable(line.text), columns));
}

nlohmann::ordered_json json_of(const Diagnosis& d) {
  const auto list = [](const std::vector<Line>& lines) {
    nlohmann::ordered_json out;
    for (const Line& line : lines) out[line.name] = {{"ok", line.ok}, {"text", line.text}};
    return out;
  };
  return {{"machine", list(d.machine)}, {"works", list(d.works)}};
}

void diagnose(bool json) {
  const runtime::Device device = runtime::Device::open();
  const runtime::Compiler compiler = runtime::Compiler::find();
  const runtime::KernelCache cache;
  Diagnosis out;
  describe_gpu(device, out);
  describe_software(compiler, cache, out);
  judge(device, compiler, out);
  if (json) {
    // Paths may hold bytes that are no UTF-8.
    fmt::print("{}\n", json_of(out).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    print(out);
  }
}

}  // namespace

void add_doctor_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("doctor", "Reports what this machine has and which commands work on it");
  const auto json = std::make_shared<bool>(false);
  add_flag(*command, "--json", *json, "print the report as JSON");
  command->footer("A dash marks what is missing. The exit status is always 0.");
  command->callback([json, &status] {
    diagnose(*json);
    status = 0;
  });
}

}  // namespace gantry::tool
