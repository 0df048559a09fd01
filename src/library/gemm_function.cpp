#include "gemm_function.hpp"

#include <algorithm>

#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/gemm/alignment.hpp>
#include <gantry/gemm/expected_check.hpp>
#include <gantry/gemm/workspace.hpp>

#include "device_check.hpp"
#include "reasons_to_status.hpp"

namespace gantry {

using runtime::failure_of;
using runtime::RuntimeRule;
using runtime::with_reasons_of;

Result<std::shared_ptr<GemmFunction::State>> GemmFunction::State::make(std::shared_ptr<Context::State> context,
                                                                       const GemmRequest& request) {
  GemmRequest filled = request;
  if (filled.graph) {
    Status wrong;
    runtime::add_reasons(wrong, StatusCode::invalid_argument, fusion::check(*filled.graph));
    if (!wrong.ok()) return unexpected(std::move(wrong));
    filled.epilogue = fusion::print(*filled.graph).c_str();
  }
  if (filled.options.c == ElementType::void_ && runtime::uses_source({{}, filled.epilogue, filled.functions})) {
    filled.options.c = filled.options.d;
  }
  Status refused;
  runtime::add_reasons(refused, StatusCode::invalid_argument,
                       check_expected(filled.options.groups, {filled.expected_rows, filled.expected_gemms}));
  if (!refused.ok()) return unexpected(std::move(refused));
  const Result<runtime::DesignedSpec> designed =
      runtime::design_spec({filled.options, filled.epilogue, filled.functions});
  if (!designed) return unexpected(designed.error());
  return std::shared_ptr<State>(new State(std::move(context), filled, designed->graph));
}

GemmFunction::State::State(std::shared_ptr<Context::State> context, GemmRequest request, const fusion::Graph& graph)
    : context_(std::move(context)), request_(std::move(request)), graph_(graph) {}

GemmFunction::State::Choosing::Choosing(const GemmOptions& asked, const State& of)
    : options(asked), chooser(asked, of.request_.epilogue, of.graph_, of.context_->machine->architecture()) {
  chooser.use_tuning(of.context_->tuning, of.context_->machine->device_name());
  chooser.expect({of.request_.expected_rows, of.request_.expected_gemms});
}

runtime::GemmChooser& GemmFunction::State::chooser_for(const GemmCall& call) {
  const GemmOptions options = with_alignments(request_.options, graph_, call);
  const std::lock_guard<std::mutex> lock(choosers_mutex_);
  for (Choosing& one : choosers_) {
    if (one.options == options) return one.chooser;
  }
  return choosers_.emplace_back(options, *this).chooser;
}

// ---- Plans

std::shared_ptr<const GemmFunction::State::Plan> GemmFunction::State::find(const PlanKey& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = plans_.find(key);
  if (at == plans_.end()) return nullptr;
  const Plan& plan = *at->second.plan;
  // A better kernel has come.
  if (plan.kernel != plan.wanted && plan.wanted->stage == Kernel::Stage::there) return nullptr;
  used_.splice(used_.begin(), used_, at->second.used);
  return at->second.plan;
}

void GemmFunction::State::keep(const PlanKey& key, std::shared_ptr<const Plan> plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, is_new] = plans_.try_emplace(key);
  at->second.plan = std::move(plan);
  if (!is_new) return;
  used_.push_front(&at->first);
  at->second.used = used_.begin();
  while (static_cast<int>(plans_.size()) > std::max(1, context_->options.most_plans)) {
    const PlanKey oldest = *used_.back();
    used_.pop_back();
    plans_.erase(oldest);
  }
}

Result<std::shared_ptr<const GemmFunction::State::Plan>> GemmFunction::State::plan(const GemmCall& call, void* stream) {
  const Result<std::vector<const GemmDesign*>> ranked = ranked_for(call);
  if (!ranked) return unexpected(ranked.error());
  const Result<Picked> picked = pick(chooser_for(call), *ranked, stream);
  if (!picked) return unexpected(picked.error());
  GemmCall decided = call;
  decided.dependent = is_dependent(*picked->kernel->design, call);
  Result<runtime::PlannedGemm> sizes = picked->kernel->gemm->plan_sizes(decided);
  if (!sizes) return unexpected(sizes.error());
  auto out = std::make_shared<Plan>();
  out->sizes = std::move(*sizes);
  out->kernel = picked->kernel;
  out->wanted = picked->wanted;
  return std::shared_ptr<const Plan>(std::move(out));
}

bool GemmFunction::State::is_dependent(const GemmDesign& design, const GemmCall& call) {
  if (call.dependent) return *call.dependent;
  if (context_->simulated) return false;  // a run ends before the next begins
  return chooser_for(call).gains_as_dependent(design, typical_extents(request_.options.groups, call.extents()));
}

Status GemmFunction::State::run(const GemmCall& call, const RunOptions& options) {
  // What a recording has before it may be no kernel, after which graphs are not known to take a dependent launch.
  if (!call.dependent && context_->machine->is_recording(options.stream)) {
    GemmCall in_order = call;
    in_order.dependent = false;
    return run(in_order, options);
  }
  if (options.simulated != nullptr) {
    if (!context_->simulated) {
      return failure_of(RuntimeRule::report_of_a_gpu,
                        "a run with a report is one on the simulated SM, and this context is on a GPU");
    }
    options.simulated->report = {};
    options.simulated->report.completed = true;
  }
  runtime::GemmAddresses addresses;
  const bool known = call.arguments.given() <= fusion::kMaxArguments && runtime::addresses_of(call, graph_, addresses);
  if (!known) return can_implement(call);
  if (call.extents().nothing_to_do() && graph_.count(fusion::ArgumentKind::reduction) == 0) return can_implement(call);
  const PlanKey key(call, graph_, addresses);
  std::shared_ptr<const Plan> found = find(key);
  if (found == nullptr || !found->sizes.holds_for(addresses)) {
    Result<std::shared_ptr<const Plan>> made = plan(call, options.stream);
    if (!made) return made.error();
    found = *made;
    keep(key, found);
  }
  if (options.check == RunCheck::device) {
    Status wrong = check_on_device({*context_->machine, found->kernel->gemm->design(), graph_, options.stream}, call);
    if (!wrong) return wrong;
  }
  Result<Machine::Lease> lease = workspace_for(found->sizes.launch().needs, options);
  if (!lease) return lease.error();
  return found->kernel->gemm->run(found->sizes, addresses, lease->data, options);
}

// The flags of split-K come first; reductions begin behind them where there are none.
std::size_t GemmFunction::State::workspace_of(const GemmWorkspaceNeeds& needs) {
  if (needs.total() == 0) return 0;
  return needs.sums > 0 ? needs.total() : kSplitFlagBytes + needs.total();
}

Result<Machine::Lease> GemmFunction::State::workspace_for(const GemmWorkspaceNeeds& needs, const RunOptions& options) {
  const std::size_t bytes = workspace_of(needs);
  Machine::Lease lease;
  if (bytes == 0) return lease;
  if (options.workspace == nullptr) {
    Result<Machine::Lease> own = context_->machine->workspace(options.stream, bytes);
    if (!own) return own;
    lease = std::move(*own);
  } else {
    ArgumentReasons reasons;
    detail::check_workspace({options.workspace, options.workspace_bytes}, options.workspace, bytes, reasons);
    if (!reasons.ok()) {
      Status refused;
      runtime::add_reasons(refused, StatusCode::invalid_argument, reasons);
      return unexpected(std::move(refused));
    }
    if (needs.sums > 0) {
      Status cleared = context_->machine->clear(options.workspace, kSplitFlagBytes, options.stream);
      if (!cleared) return unexpected(std::move(cleared));
    }
    lease.data = options.workspace;
  }
  if (needs.sums == 0) lease.data = static_cast<unsigned char*>(lease.data) + kSplitFlagBytes;
  return lease;
}

// Designs for a call that can run; what is asked of operands is the same for all of them.
Result<std::vector<const GemmDesign*>> GemmFunction::State::ranked_for(const GemmCall& call) {
  const GemmExtents e = call.extents();
  const auto valid = [](std::int64_t size) { return size >= 0 && size <= kMostExtent; };
  const bool all_valid = valid(e.m) && valid(e.n) && valid(e.k) && valid(e.batch);
  runtime::GemmChooser& chooser = chooser_for(call);
  const std::vector<const GemmDesign*> some = chooser.candidates({1, 1, 1, 1});
  if (some.empty()) {  // a design for tensors that TMA addresses is no design for these
    const GemmOptions options = with_alignments(request_.options, graph_, call);
    const auto designed = runtime::design_spec({options, request_.epilogue, request_.functions});
    return unexpected(designed ? no_kernel(nullptr, CompilePolicy::wait) : designed.error());
  }
  const GemmDesign& any = *some.front();
  std::vector<const GemmDesign*> ranked =
      all_valid ? chooser.ranked(typical_extents(request_.options.groups, e), loaded(any.options))
                : std::vector<const GemmDesign*>();
  const GemmDesign& design = ranked.empty() ? any : *ranked.front();
  Status refused = runtime::check_call(design, graph_, call, static_cast<int>(request_.functions.size()));
  if (refused.ok() && ranked.empty()) {  // more groups than a scheduler counts, say
    const auto why = chooser.choose(typical_extents(request_.options.groups, e));
    refused = why ? no_kernel(nullptr, CompilePolicy::wait) : why.error();
  }
  if (!refused.ok()) return unexpected(std::move(refused));
  return ranked;
}

std::optional<StatusReason> GemmFunction::State::wrong_sizes(const GemmExtents& e) {
  const Result<std::vector<const GemmDesign*>> ranked = ranked_for({.m = e.m, .n = e.n, .k = e.k, .batch = e.batch});
  if (ranked) return std::nullopt;
  for (const StatusReason& reason : ranked.error().reasons()) {
    // Options that no design has for such sizes.
    if (reason.code == StatusCode::unsupported) return reason;
    for (const ArgumentRule rule : {ArgumentRule::size_negative, ArgumentRule::size_too_large,
                                    ArgumentRule::too_many_tiles, ArgumentRule::too_many_tiles_for_any_m}) {
      if (reason.rule != entry_of(rule).name) continue;
      StatusReason out = reason;
      out.sentence = std::to_string(e.m) + " x " + std::to_string(e.n) + " x " + std::to_string(e.k) + ", batch " +
                     std::to_string(e.batch) + ": " + reason.sentence;
      return out;
    }
  }
  return std::nullopt;
}

Status GemmFunction::State::can_implement(const GemmCall& call) {
  const Result<std::vector<const GemmDesign*>> ranked = ranked_for(call);
  return ranked ? Status() : ranked.error();
}

Result<std::size_t> GemmFunction::State::workspace_bytes(const GemmCall& call) {
  const Result<std::shared_ptr<const Plan>> made = plan(call, nullptr);
  if (!made) return unexpected(made.error());
  return workspace_of((*made)->sizes.launch().needs);
}

Result<GemmExplanation> GemmFunction::State::explain(const GemmCall& call) {
  const Result<std::shared_ptr<const Plan>> made = plan(call, nullptr);
  if (!made) return unexpected(made.error());
  const MachineGemm& gemm = *(*made)->kernel->gemm;
  const Result<runtime::ChosenDesign> chosen =
      chooser_for(call).choose(typical_extents(request_.options.groups, call.extents()));
  if (!chosen) return unexpected(chosen.error());
  GemmExplanation out;
  out.kernel = gemm.describe();
  out.choice = chosen->why + "\n" + out.kernel + " was " + gemm.origin();
  if ((*made)->kernel != (*made)->wanted) {
    out.choice += "\n" + std::string(to_text((*made)->wanted->design->options).c_str()) +
                  " is being compiled and takes its place when it is there";
  }
  out.plan = gemm.explain((*made)->sizes, call);
  const GemmDesign& design = *(*made)->kernel->design;
  if (is_dependent(design, call) && (*made)->sizes.launch().config.dependent) {
    out.choice += "\nit runs as a dependent launch: it may start before the kernel before it in the stream has ended";
  }
  out.gains_as_dependent =
      chooser_for(call).gains_as_dependent(design, typical_extents(request_.options.groups, call.extents()));
  return out;
}

Status GemmFunction::State::warm_up(const std::vector<GemmExtents>& sizes,
                                    const std::function<void(int, int)>& progress) {
  std::vector<Kernel*> wanted;
  Status out;
  for (const GemmExtents& e : sizes) {
    if (std::optional<StatusReason> wrong = wrong_sizes(e)) {
      out.add(std::move(*wrong));
      continue;
    }
    if (e.nothing_to_do() && graph_.count(fusion::ArgumentKind::reduction) == 0) continue;
    const std::vector<const GemmDesign*> ranked = chooser_for({.m = e.m, .n = e.n, .k = e.k, .batch = e.batch})
                                                      .ranked(typical_extents(request_.options.groups, e));
    if (ranked.empty()) continue;
    std::unique_lock<std::mutex> lock(mutex_);
    Kernel& kernel = kernel_of(*ranked.front());
    if (std::find(wanted.begin(), wanted.end(), &kernel) != wanted.end()) continue;
    if (kernel.stage == Kernel::Stage::absent && !has_room(kernel.design->options))
      continue;  // another one serves this size
    load_if_kept(lock, kernel);
    if (kernel.stage == Kernel::Stage::absent && context_->options.policy != CompilePolicy::never) {
      start_compiling(kernel);
    }
    wanted.push_back(&kernel);
  }
  const int all = static_cast<int>(wanted.size());
  std::unique_lock<std::mutex> lock(mutex_);
  for (int last = -1;;) {
    const auto ended = [](const Kernel* k) { return k->stage != Kernel::Stage::on_its_way; };
    const auto done = static_cast<int>(std::count_if(wanted.begin(), wanted.end(), ended));
    if (done != last && progress) {
      lock.unlock();
      progress(done, all);
      lock.lock();
    }
    last = done;
    if (done == all) break;
    changed_.wait(lock);
  }
  for (const Kernel* kernel : wanted) {
    if (kernel->stage == Kernel::Stage::absent) {
      const std::string name = to_text(kernel->design->options).c_str();
      out = with_reasons_of(
          std::move(out),
          failure_of(RuntimeRule::kernel_missing, name + " is not in the cache, and the policy is never to compile"));
    }
    for (const StatusReason& reason : kernel->problem.reasons()) out.add(reason);
  }
  return out;
}

void GemmFunction::State::wait_for_compilations() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto under_way = [](const Kernel& k) { return k.stage == Kernel::Stage::on_its_way; };
  changed_.wait(lock, [&] { return std::none_of(kernels_.begin(), kernels_.end(), under_way); });
}

int GemmFunction::State::kernels() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(
      std::count_if(kernels_.begin(), kernels_.end(), [](const Kernel& k) { return k.stage == Kernel::Stage::there; }));
}

int GemmFunction::State::plans() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(plans_.size());
}

// ---- The handle

namespace {

Status empty() {
  return failure_of(RuntimeRule::function_empty,
                    "this GemmFunction is empty: Context::gemm makes one that computes something");
}

}  // namespace

Status GemmFunction::run(const GemmCall& call, const RunOptions& options) const {
  return state_ == nullptr ? empty() : state_->run(call, options);
}
Status GemmFunction::can_implement(const GemmCall& call) const {
  return state_ == nullptr ? empty() : state_->can_implement(call);
}
Result<std::size_t> GemmFunction::workspace_bytes(const GemmCall& call) const {
  if (state_ == nullptr) return unexpected(empty());
  return state_->workspace_bytes(call);
}
Result<GemmExplanation> GemmFunction::explain(const GemmCall& call) const {
  if (state_ == nullptr) return unexpected(empty());
  return state_->explain(call);
}
Status GemmFunction::warm_up(const std::vector<GemmExtents>& sizes,
                             const std::function<void(int, int)>& progress) const {
  return state_ == nullptr ? empty() : state_->warm_up(sizes, progress);
}
void GemmFunction::wait_for_compilations() const {
  if (state_ != nullptr) state_->wait_for_compilations();
}
int GemmFunction::kernels() const { return state_ == nullptr ? 0 : state_->kernels(); }
int GemmFunction::plans() const { return state_ == nullptr ? 0 : state_->plans(); }
const GemmOptions& GemmFunction::options() const {
  static const GemmOptions none;
  return state_ == nullptr ? none : state_->options();
}
const fusion::Graph& GemmFunction::graph() const {
  static const fusion::Graph none;
  return state_ == nullptr ? none : state_->graph();
}

}  // namespace gantry
