// One GemmFunction's kernels and plans.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "context_state.hpp"
#include "plan_key.hpp"

namespace gantry {

struct GemmFunction::State : std::enable_shared_from_this<GemmFunction::State> {
  static Result<std::shared_ptr<State>> make(std::shared_ptr<Context::State> context, const GemmRequest& request);

  Status run(const GemmCall& call, const RunOptions& options);
  Status can_implement(const GemmCall& call);
  Result<std::size_t> workspace_bytes(const GemmCall& call);
  Result<GemmExplanation> explain(const GemmCall& call);
  Status warm_up(const std::vector<GemmExtents>& sizes, const std::function<void(int, int)>& progress);
  void wait_for_compilations();
  int kernels() const;
  int plans() const;
  const GemmOptions& options() const { return request_.options; }
  const fusion::Graph& graph() const { return graph_; }

 private:
  // A kernel of one design: not there, on its way, there, or impossible.
  struct Kernel {
    enum class Stage : std::uint8_t { absent, on_its_way, there, failed };

    const GemmDesign* design = nullptr;
    Stage stage = Stage::absent;
    bool looked_up = false;  // in the cache
    std::shared_ptr<const MachineGemm> gemm{};
    Status problem{};      // of one that failed, or that is kept and cannot be loaded
    bool refused = false;  // by Gantry's own rules: another attempt ends alike
  };
  struct Plan {
    runtime::PlannedGemm sizes;
    const Kernel* kernel = nullptr;
    const Kernel* wanted = nullptr;  // the best; another one where that was not there
  };
  struct Hash {
    std::size_t operator()(const PlanKey& key) const { return key.hash(); }
  };
  struct Kept {
    std::shared_ptr<const Plan> plan;
    std::list<const PlanKey*>::iterator used;
  };
  // The kernel for sizes, as the policy has it.
  struct Picked {
    const Kernel* kernel = nullptr;
    const Kernel* wanted = nullptr;
  };
  // There, the one to wait for, and why the first that failed did; null where there is none.
  struct Found {
    const Kernel* there = nullptr;
    const Kernel* wanted = nullptr;
    const Status* failed = nullptr;
  };

  State(std::shared_ptr<Context::State> context, GemmRequest request, const fusion::Graph& graph);

  std::shared_ptr<const Plan> find(const PlanKey& key);
  void keep(const PlanKey& key, std::shared_ptr<const Plan> plan);
  Result<std::shared_ptr<const Plan>> plan(const GemmCall& call, void* stream);
  // As the call says, or where a gain is expected.
  bool is_dependent(const GemmDesign& design, const GemmCall& call);
  // Loads, compiles or waits for a kernel that is the best, as the policy has it; false where it failed.
  bool want(std::unique_lock<std::mutex>& lock, Kernel& kernel);
  // What failed may have been the machine's fault, and is tried again. Requires the lock.
  void forget_failures(const std::vector<const GemmDesign*>& ranked);
  // Why there is none: the first that failed, where one did.
  static Status no_kernel(const Status* failed, CompilePolicy policy);
  // Up to the first of ranked designs whose kernel is there, and starts what the policy has started.
  Found search(std::unique_lock<std::mutex>& lock, const std::vector<const GemmDesign*>& ranked, bool recording);
  // Among designs that are ranked.
  Result<Picked> pick(runtime::GemmChooser& chooser, const std::vector<const GemmDesign*>& ranked, void* stream);
  // Where none of them is there, and the policy is never to compile: whatever it was staged for, it computes this too.
  Result<Picked> pick_any_kept(std::unique_lock<std::mutex>& lock, runtime::GemmChooser& chooser, const Status* failed);
  Result<std::vector<const GemmDesign*>> ranked_for(const GemmCall& call);
  // The first reason why no GEMM has these sizes, whatever its operands are.
  std::optional<StatusReason> wrong_sizes(const GemmExtents& e);
  // Of designs that address the tensors of a call. One is made for each set of tensors that TMA cannot address.
  runtime::GemmChooser& chooser_for(const GemmCall& call);

  static std::size_t workspace_of(const GemmWorkspaceNeeds& needs);
  Result<Machine::Lease> workspace_for(const GemmWorkspaceNeeds& needs, const RunOptions& options);

  runtime::GemmSpec spec(const GemmDesign& design) const;
  Kernel& kernel_of(const GemmDesign& design);
  // Those that address their tensors as the options say.
  std::vector<const GemmDesign*> loaded(const GemmOptions& access) const;
  // For a further kernel of those that address their tensors alike: no other can take their place.
  bool has_room(const GemmOptions& access) const;
  // These hold no lock while they compile or load.
  void load_if_kept(std::unique_lock<std::mutex>& lock, Kernel& kernel);
  void compile(std::unique_lock<std::mutex>& lock, Kernel& kernel);
  void start_compiling(Kernel& kernel);
  void finish(Kernel& kernel, Result<std::shared_ptr<const MachineGemm>> loaded);

  std::shared_ptr<Context::State> context_;
  GemmRequest request_;
  fusion::Graph graph_;

  struct Choosing {
    Choosing(const GemmOptions& asked, const State& of);

    GemmOptions options;
    runtime::GemmChooser chooser;
  };
  std::mutex choosers_mutex_;
  std::list<Choosing> choosers_;

  mutable std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  std::list<Kernel> kernels_;
  std::unordered_map<PlanKey, Kept, Hash> plans_;
  std::list<const PlanKey*> used_;  // the one that was used last first
};

}  // namespace gantry
