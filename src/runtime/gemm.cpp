#include <algorithm>

#include <gantry/runtime/gemm.hpp>

namespace gantry::runtime {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Room for what the other side says.
class Answer {
 public:
  GemmAbiText* text() { return &text_; }
  std::string str() const { return {room_.data(), text_.used}; }

 private:
  std::string room_ = std::string(64 * 1024, '\0');
  GemmAbiText text_{room_.data(), room_.size()};
};

}  // namespace

std::string gemm_source(const GemmSpec& spec) {
  return "// Written by Gantry. Compiled at run time.\n"
         "#include <gantry/runtime/gemm_export.hpp>\n" +
         spec_source(spec) + "\nGANTRY_EXPORT_GEMM(Product)\n";
}

std::string LoadedGemmPlan::run(void* stream) const {
  if (!plan_) return text_;
  char room[2048];  // where all goes well, nothing is allocated
  GemmAbiText answer{room, sizeof room};
  return abi_->run(plan_.get(), stream, &answer) == 0 ? std::string() : std::string(room, answer.used);
}

LoadedGemm::LoadedGemm(CachedKernel kernel, const std::string& name)
    : kernel_(std::move(kernel)), problem_(kernel_.problem) {
  if (!problem_.empty()) return;
  auto module = std::make_shared<const Module>(Module::from_image(kernel_.image, name));
  kernel_.image = {};
  if (!*module) {
    problem_ = module->problem();
    return;
  }
  GemmAbiEntry* const entry = module->function<GemmAbiEntry>(kGemmAbiSymbol);
  const GemmAbi* const abi = entry == nullptr ? nullptr : entry();
  if (abi == nullptr || abi->abi != kGemmAbi) {
    problem_ = name + " is no product of this version of Gantry: " +
               (abi == nullptr ? std::string("it has no function ") + kGemmAbiSymbol
                               : "it speaks version " + std::to_string(abi->abi) +
                                     " of the interface, and this program " + std::to_string(kGemmAbi));
    return;
  }
  abi_ = abi;
  module_ = std::move(module);
}

std::string LoadedGemm::describe() const {
  if (abi_ == nullptr) return {};
  Answer answer;
  abi_->describe(answer.text());
  return answer.str();
}

std::vector<std::string> LoadedGemm::can_implement(const GemmAbiProblem& problem) const {
  if (abi_ == nullptr) return {problem_};
  Answer answer;
  abi_->can_implement(&problem, answer.text());
  return lines_of(answer.str());
}

std::size_t LoadedGemm::workspace_bytes(const GemmAbiProblem& problem) const {
  return abi_ == nullptr ? 0 : abi_->workspace_bytes(&problem);
}

LoadedGemmPlan LoadedGemm::plan(const GemmAbiProblem& problem) const {
  LoadedGemmPlan out;
  if (abi_ == nullptr) {
    out.text_ = problem_;
    return out;
  }
  Answer answer;
  out.module_ = module_;
  out.abi_ = abi_;
  if (void* plan = abi_->plan(&problem, answer.text())) {
    // The module outlives the plan: its code destroys it.
    out.plan_ = std::shared_ptr<void>(plan, [abi = abi_, module = module_](void* p) { abi->destroy(p); });
  }
  out.text_ = answer.str();
  return out;
}

CachedKernel compile_gemm(const KernelCache& cache, const Compiler& compiler, const GemmSpec& spec) {
  const NvccCompiler nvcc(compiler, ImageKind::shared_object);
  return cache.get(nvcc, {.text = gemm_source(spec), .title = spec_title(spec)});
}

LoadedGemm load_gemm(const KernelCache& cache, const Compiler& compiler, const GemmSpec& spec) {
  return {compile_gemm(cache, compiler, spec), "the kernel of " + spec_title(spec)};
}

}  // namespace gantry::runtime
