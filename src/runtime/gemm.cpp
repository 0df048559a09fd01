#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/runtime/gemm.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/tma/encode.hpp>

#include "cuda_version.hpp"
#include "device_state.hpp"
#include "planned_gemm.hpp"

namespace gantry::runtime {

namespace {

constexpr const char* kEntry = "gantry_gemm";
constexpr const char* kFillEntry = "gantry_fill";
constexpr const char* kPackEntry = "gantry_pack";
constexpr const char* kSumEntry = "gantry_sum_slots";

bool has_reductions(const fusion::Graph& graph) { return graph.count(fusion::ArgumentKind::reduction) > 0; }

Result<TmaDescriptor> encode_for_gpu(const TmaDescriptorParams& p) {
  if (Result<TmaDescriptor> by_rules = encode_by_rules(p); !by_rules) return by_rules;
  std::uint64_t dims[8] = {}, strides[8] = {};
  std::uint32_t box[8] = {}, steps[8] = {};
  for (int i = 0; i < kTmaMaxRank; ++i) {
    dims[i] = p.dims[i];
    box[i] = p.box[i];
    steps[i] = p.element_strides[i];
    if (i < kTmaMaxRank - 1) strides[i] = p.strides[i];
  }
  TmaDescriptor map;
  auto* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(p.address));  // NOLINT: the driver's type
  const Driver& driver = Driver::get();
  const int code =
      driver.encode_tiled(&map, static_cast<int>(p.data_type), static_cast<std::uint32_t>(p.rank), address, dims,
                          strides, box, steps, static_cast<int>(p.interleave), static_cast<int>(p.swizzle),
                          static_cast<int>(p.l2_promotion), static_cast<int>(p.fill));
  if (code != 0) return unexpected(driver.status_of(code, "encoding a tensor map"));
  return map;
}

bool move_for_gpu(TmaDescriptor& map, void* address) { return Driver::get().replace_address(&map, address) == 0; }

}  // namespace

std::string gemm_source(const GemmSpec& spec) {
  std::string out =
      "// Written by Gantry. Compiled at run time.\n"
      "#include <gantry/arch/kernel_entry.hpp>\n"
      "#include <gantry/epilogue/fill_words.hpp>\n"
      "#include <gantry/gemm/pack.hpp>\n"
      "#include <gantry/gemm/row_slots.hpp>\n"
      "#include <gantry/gemm/types.hpp>\n" +
      spec_source(spec) +
      "\n"
      "GANTRY_EXPORT_KERNEL(gantry_gemm, GemmTypes<Product>::Kernel)\n"
      "GANTRY_EXPORT_KERNEL(gantry_pack, PackLines)\n";
  if (const Result<DesignedSpec> designed = design_spec(spec); designed && has_reductions(designed->graph)) {
    out += "GANTRY_EXPORT_KERNEL(gantry_fill, FillWords)\n";
  }
  if (spec.options.scatter_d == RowScatter::ordered) out += "GANTRY_EXPORT_KERNEL(gantry_sum_slots, SumSlots)\n";
  return out;
}

namespace {

// Neither NVRTC nor nvcc.
class NoCompiler : public KernelCompiler {
 public:
  explicit NoCompiler(Status status) : status_(std::move(status)) {}

  const Status& status() const override { return status_; }
  ImageKind kind() const override { return ImageKind::cubin; }
  std::string identity() const override { return "none"; }
  CompiledImage compile(const CompileJob& /*job*/) const override { return {.status = status_}; }

 private:
  Status status_;
};

}  // namespace

std::unique_ptr<KernelCompiler> find_gpu_compiler(const Device& device) {
  auto nvrtc = std::make_unique<NvrtcCompiler>(
      NvrtcCompiler::find(NvrtcSearch::from_environment(device.facts().driver_version)));
  if (nvrtc->status()) return nvrtc;
  const Compiler nvcc = Compiler::find();
  const Status usable =
      nvcc ? with_words_before(one_line(nvcc.path()), check_driver_loads(CudaVersion::of_text(nvcc.version()),
                                                                         device.facts().driver_version, "nvcc"))
           : nvcc.status();
  if (usable) return std::make_unique<NvccCompiler>(nvcc, ImageKind::cubin);
  return std::make_unique<NoCompiler>(with_reasons_of(nvrtc->status(), usable));
}

CachedKernel compile_gemm(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec) {
  return cache.get(compiler, {.text = gemm_source(spec), .title = spec_title(spec)});
}

std::optional<CachedKernel> find_gemm(const KernelCache& cache, const KernelCompiler& compiler, const GemmSpec& spec) {
  return cache.find(compiler, {.text = gemm_source(spec), .title = spec_title(spec)});
}

// ---- LoadedGemm

struct LoadedGemm::State {
  Device device;
  fusion::Graph graph;
  GemmDesign design;
  int functions = 0;  // of the user's
  std::string origin;
  GpuKernel gemm;
  std::optional<GpuKernel> fill;
  GpuKernel pack;
  std::optional<GpuKernel> sum;
  PlanningMachine machine;
};

Result<LoadedGemm> LoadedGemm::load(const Device& device, const CachedKernel& kernel, const GemmSpec& spec) {
  const std::string title = "the kernel of " + spec_title(spec);
  if (!kernel) return unexpected(with_words_before(title + ": ", kernel.status));
  Result<DesignedSpec> designed = design_spec(spec);
  if (!designed) return unexpected(designed.error());
  const GemmDesign& design = designed->design;
  Result<GpuKernel> gemm =
      GpuKernel::load(device, kernel.image, {.entry = kEntry, .shared_bytes = design.shared.bytes, .title = title});
  if (!gemm) return unexpected(gemm.error());
  Result<GpuKernel> pack = gemm->other({.entry = kPackEntry, .title = title});
  if (!pack) return unexpected(pack.error());
  auto state = std::make_shared<State>();
  state->pack = *pack;
  if (has_reductions(designed->graph)) {
    Result<GpuKernel> fill = gemm->other({.entry = kFillEntry, .title = title});
    if (!fill) return unexpected(fill.error());
    state->fill = *fill;
  }
  if (design.options.scatter_d == RowScatter::ordered) {
    Result<GpuKernel> sum =
        gemm->other({.entry = kSumEntry, .shared_bytes = static_cast<int>(sizeof(SumSlots::Storage)), .title = title});
    if (!sum) return unexpected(sum.error());
    state->sum = *sum;
  }
  state->device = device;
  state->graph = designed->graph;
  state->design = design;
  state->functions = static_cast<int>(spec.functions.size());
  state->origin = origin_of(kernel);
  state->gemm = *gemm;
  const auto cluster = static_cast<std::uint32_t>(design.cluster_size());
  const int held = gemm->resident_clusters({.grid = {cluster},
                                            .cluster = {cluster},
                                            .block = {static_cast<std::uint32_t>(design.roles.threads)},
                                            .shared_bytes = static_cast<std::uint32_t>(design.shared.bytes)});
  state->machine.arch = architecture_of(device.facts());
  const int expected = state->machine.arch.resident_clusters(design.cluster_size());
  state->machine.resident_clusters = held > 0 ? held : expected;
  state->machine.encode = encode_for_gpu;
  state->machine.move = move_for_gpu;
  LoadedGemm out;
  out.state_ = std::move(state);
  return out;
}

Result<LoadedGemm> LoadedGemm::load(const Device& device, const KernelCache& cache, const KernelCompiler& compiler,
                                    const GemmSpec& spec) {
  if (Result<DesignedSpec> designed = design_spec(spec); !designed) return unexpected(designed.error());
  const KernelSource source{.text = gemm_source(spec), .title = spec_title(spec)};
  CachedKernel kernel = cache.get(compiler, source);
  Result<LoadedGemm> out = load(device, kernel, spec);
  // The driver may refuse what is kept, or was shipped: a newer compiler made it. One that is compiled now is the last.
  const auto refused = [&] {
    return !out && kernel && !kernel.compiled && out.error().code() == StatusCode::device_failed;
  };
  while (refused() && compiler.status()) {
    kernel = cache.get_instead_of(kernel.image, compiler, source);
    out = load(device, kernel, spec);
  }
  return out;
}

const GemmDesign& LoadedGemm::design() const { return state_->design; }
const fusion::Graph& LoadedGemm::graph() const { return state_->graph; }
const std::string& LoadedGemm::origin() const { return state_->origin; }

std::string LoadedGemm::describe() const {
  const GemmOptions& o = state_->design.options;
  return std::string(to_text(o).c_str()) + " " + staging_text(o).c_str();
}

Status LoadedGemm::can_implement(const GemmCall& call) const {
  return check_call(state_->design, state_->graph, call, state_->functions);
}

Result<PlannedGemm> LoadedGemm::plan_sizes(const GemmCall& call) const {
  const CurrentContext current(state_->device.shared_state()->context);  // the encoder needs one
  return PlannedGemm::make(state_->design, state_->graph, call, state_->machine);
}

Status LoadedGemm::run(const PlannedGemm& plan, const GemmAddresses& addresses, void* workspace, void* stream) const {
  const CurrentContext current(state_->device.shared_state()->context);
  if (plan.has_fills()) {
    const FillWords::Params fills = plan.fills(addresses, workspace);
    if (fills.most_words() > 0) {
      Status filled = state_->fill->launch(fill_config(fills), &fills, stream);
      if (!filled) return filled;
    }
  }
  if (plan.nothing_to_do()) return {};
  if (plan.launch().packs()) {
    const PackLines::Params packs = plan.packs(addresses, workspace);
    Status packed = state_->pack.launch(pack_config(packs, state_->machine.arch.sms), &packs, stream);
    if (!packed) return packed;
  }
  ParameterBlock parameters(plan.parameter_bytes());
  if (!plan.write(addresses, workspace, parameters.data())) {
    return failure_of(RuntimeRule::device_call_failed, "the driver could not move a tensor map to another address");
  }
  Status launched = state_->gemm.launch(plan.launch().config, parameters.data(), stream);
  if (!launched || !plan.launch().sums_slots()) return launched;
  const SumSlots::Params sums = plan.slot_sums(addresses, workspace);
  return state_->sum->launch(sum_config(sums, state_->machine.arch.sms), &sums, stream);
}

std::string LoadedGemm::explain(const PlannedGemm& plan, const GemmCall& call) const {
  return explain_plan(plan, call, {state_->design, state_->graph, state_->machine});
}

// ---- LoadedGemmPlan

struct LoadedGemmPlan::State {
  LoadedGemm gemm;
  PlannedGemm plan;
  GemmAddresses addresses;
  DeviceBuffer workspace;
  std::string text;
};

Result<LoadedGemmPlan> LoadedGemm::plan(const GemmCall& call) const {
  if (Status refused = can_implement(call); !refused) return unexpected(std::move(refused));
  Result<PlannedGemm> planned = plan_sizes(call);
  if (!planned) return unexpected(planned.error());
  auto state = std::make_shared<LoadedGemmPlan::State>();
  state->gemm = *this;
  state->plan = std::move(*planned);
  addresses_of(call, state_->graph, state->addresses);
  if (const std::size_t bytes = state->plan.workspace_bytes(); bytes > 0) {
    state->workspace = DeviceBuffer(state_->device, bytes);
    if (const Status cleared = state->workspace.fill(0); !cleared) {
      return unexpected(with_words_before("the workspace: ", cleared));
    }
  }
  state->text = explain(state->plan, call);
  LoadedGemmPlan out;
  out.state_ = std::move(state);
  return out;
}

Status LoadedGemmPlan::run(void* stream) const {
  return state_->gemm.run(state_->plan, state_->addresses, state_->workspace.data(), stream);
}
const std::string& LoadedGemmPlan::explain() const { return state_->text; }
std::size_t LoadedGemmPlan::workspace_bytes() const { return state_->plan.workspace_bytes(); }

}  // namespace gantry::runtime
