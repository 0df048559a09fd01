// The kernels of one GemmFunction: which is picked for sizes, what is loaded, and what is compiled meanwhile.
#include <algorithm>
#include <exception>
#include <new>

#include <gantry/gemm/alignment.hpp>

#include "gemm_function.hpp"

namespace gantry {

namespace {

using runtime::failure_of;
using runtime::has;
using runtime::RuntimeRule;
using runtime::with_reasons_of;

// Another attempt ends alike, and another configuration may not.
bool is_configuration_refused(const Status& status) {
  const std::vector<StatusReason>& all = status.reasons();
  const auto unsupported = [](const StatusReason& reason) { return reason.code == StatusCode::unsupported; };
  return has(status, RuntimeRule::configuration_refused) || std::any_of(all.begin(), all.end(), unsupported);
}

// What `load` gives, or what it threw as a status: an exception of a worker would end the program.
template <class Load>
Result<std::shared_ptr<const MachineGemm>> caught(const Load& load) {
  try {
    return load();
  } catch (const std::bad_alloc&) {
    return unexpected(failure_of(RuntimeRule::host_out_of_memory,
                                 "the host's memory has run out while a kernel was compiled or loaded"));
  } catch (const std::exception& e) {
    return unexpected(
        failure_of(RuntimeRule::compiler_failed, std::string("a kernel could not be compiled or loaded: ") + e.what()));
  }
}

}  // namespace

Status GemmFunction::State::no_kernel(const Status* failed, CompilePolicy policy) {
  const bool kept = failed != nullptr && failed->code() == StatusCode::invalid_argument;  // and cannot be used
  if (failed != nullptr && !kept) return *failed;
  if (policy != CompilePolicy::never) {
    return failure_of(RuntimeRule::kernel_missing, "no kernel for this GEMM can be built");
  }
  const Status none = failure_of(RuntimeRule::kernel_missing,
                                 "no kernel for this GEMM that can be used is in the cache or among the shipped ones, "
                                 "and the policy is never to compile; warm_up with another policy makes them");
  return kept ? with_reasons_of(none, *failed) : none;
}

runtime::GemmSpec GemmFunction::State::spec(const GemmDesign& design) const {
  return {design.options, request_.epilogue, request_.functions};
}

GemmFunction::State::Kernel& GemmFunction::State::kernel_of(const GemmDesign& design) {
  for (Kernel& kernel : kernels_) {
    if (kernel.design == &design) return kernel;
  }
  kernels_.emplace_back();
  kernels_.back().design = &design;
  return kernels_.back();
}

std::vector<const GemmDesign*> GemmFunction::State::loaded(const GemmOptions& access) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<const GemmDesign*> out;
  for (const Kernel& kernel : kernels_) {
    const bool there = kernel.stage == Kernel::Stage::there;
    if (there && same_access(kernel.design->options, access)) out.push_back(kernel.design);
  }
  return out;
}

bool GemmFunction::State::has_room(const GemmOptions& access) const {
  const auto counts = [&](const Kernel& k) {
    const bool used = k.stage == Kernel::Stage::there || k.stage == Kernel::Stage::on_its_way;
    return used && same_access(k.design->options, access);
  };
  return std::count_if(kernels_.begin(), kernels_.end(), counts) < std::max(1, context_->options.most_kernels);
}

void GemmFunction::State::finish(Kernel& kernel, Result<std::shared_ptr<const MachineGemm>> loaded) {
  const std::lock_guard<std::mutex> lock(mutex_);
  kernel.stage = loaded ? Kernel::Stage::there : Kernel::Stage::failed;
  kernel.problem = loaded ? Status() : loaded.error();
  kernel.refused = is_configuration_refused(kernel.problem);
  if (loaded) kernel.gemm = std::move(*loaded);
  changed_.notify_all();
}

void GemmFunction::State::load_if_kept(std::unique_lock<std::mutex>& lock, Kernel& kernel) {
  if (kernel.stage != Kernel::Stage::absent || kernel.looked_up) return;
  kernel.looked_up = true;
  kernel.stage = Kernel::Stage::on_its_way;
  lock.unlock();
  std::optional<Result<std::shared_ptr<const MachineGemm>>> found;
  try {
    found = context_->machine->load_if_kept(context_->cache, spec(*kernel.design));
  } catch (const std::exception&) {  // as if it were not kept: what is wrong is said when it is compiled
  }
  if (found && *found) finish(kernel, std::move(*found));
  lock.lock();
  if (kernel.stage != Kernel::Stage::on_its_way) return;
  if (found) kernel.problem = found->error();
  kernel.stage = Kernel::Stage::absent;
  changed_.notify_all();  // others took it for one that comes
}

void GemmFunction::State::start_compiling(Kernel& kernel) {
  // The queue does not keep this alive: who waits for it does, and nobody else needs its kernel.
  const bool queued = context_->queue.add([weak = weak_from_this(), &kernel] {
    const std::shared_ptr<State> self = weak.lock();
    if (self == nullptr) return;
    Context::State& context = *self->context_;
    self->finish(kernel, caught([&] { return context.machine->load(context.cache, self->spec(*kernel.design)); }));
  });
  kernel.stage = queued ? Kernel::Stage::on_its_way : Kernel::Stage::failed;
  if (!queued) {
    kernel.problem = failure_of(RuntimeRule::thread_not_started, "no thread could be started to compile a kernel");
  }
}

void GemmFunction::State::compile(std::unique_lock<std::mutex>& lock, Kernel& kernel) {
  if (kernel.stage == Kernel::Stage::absent) start_compiling(kernel);
  changed_.wait(lock, [&] { return kernel.stage != Kernel::Stage::on_its_way; });
}

bool GemmFunction::State::want(std::unique_lock<std::mutex>& lock, Kernel& kernel) {
  load_if_kept(lock, kernel);
  if (context_->options.policy == CompilePolicy::wait) {
    compile(lock, kernel);
  } else if (kernel.stage == Kernel::Stage::absent) {
    start_compiling(kernel);
  }
  return kernel.stage != Kernel::Stage::failed;
}

void GemmFunction::State::forget_failures(const std::vector<const GemmDesign*>& ranked) {
  for (const GemmDesign* design : ranked) {
    Kernel& kernel = kernel_of(*design);
    if (kernel.stage == Kernel::Stage::failed && !kernel.refused) kernel.stage = Kernel::Stage::absent;
  }
}

GemmFunction::State::Found GemmFunction::State::search(std::unique_lock<std::mutex>& lock,
                                                       const std::vector<const GemmDesign*>& ranked, bool recording) {
  const CompilePolicy policy = context_->options.policy;
  const bool compiles = policy != CompilePolicy::never && !recording;
  Found out;
  bool hopeless = false;  // what went wrong is of no configuration, and would go wrong with the next
  for (const GemmDesign* design : ranked) {
    Kernel& kernel = kernel_of(*design);
    if (!recording && policy == CompilePolicy::never) load_if_kept(lock, kernel);
    const bool may = kernel.stage != Kernel::Stage::absent || (compiles && has_room(design->options));
    if (out.wanted == nullptr && !hopeless && may && kernel.stage != Kernel::Stage::failed) {
      if (!compiles || want(lock, kernel)) out.wanted = &kernel;
    }
    hopeless = hopeless || (kernel.stage == Kernel::Stage::failed && !kernel.refused);
    if (!kernel.problem.ok() && out.failed == nullptr) out.failed = &kernel.problem;
    if (kernel.stage == Kernel::Stage::there) {
      out.there = &kernel;
      break;
    }
  }
  return out;
}

Result<GemmFunction::State::Picked> GemmFunction::State::pick(runtime::GemmChooser& chooser,
                                                              const std::vector<const GemmDesign*>& ranked,
                                                              void* stream) {
  const bool recording = context_->machine->is_recording(stream);
  std::unique_lock<std::mutex> lock(mutex_);
  if (context_->options.policy != CompilePolicy::never && !recording) forget_failures(ranked);
  for (;;) {
    const Found found = search(lock, ranked, recording);
    if (found.there != nullptr) return Picked{found.there, found.wanted == nullptr ? found.there : found.wanted};
    if (recording) {
      return unexpected(failure_of(
          RuntimeRule::kernel_while_recording,
          "no kernel for this GEMM is loaded, and none can be while the stream records a CUDA graph; run it, or "
          "warm_up its size, before"));
    }
    if (found.wanted == nullptr) return pick_any_kept(lock, chooser, found.failed);
    changed_.wait(lock, [&] { return found.wanted->stage != Kernel::Stage::on_its_way; });
    if (found.wanted->stage == Kernel::Stage::there) return Picked{found.wanted, found.wanted};
  }
}

Result<GemmFunction::State::Picked> GemmFunction::State::pick_any_kept(std::unique_lock<std::mutex>& lock,
                                                                       runtime::GemmChooser& chooser,
                                                                       const Status* failed) {
  const CompilePolicy policy = context_->options.policy;
  if (policy != CompilePolicy::never) return unexpected(no_kernel(failed, policy));
  for (const GemmDesign* design : chooser.every_design()) {
    Kernel& kernel = kernel_of(*design);
    load_if_kept(lock, kernel);
    if (kernel.stage == Kernel::Stage::there) return Picked{&kernel, &kernel};
    if (!kernel.problem.ok() && failed == nullptr) failed = &kernel.problem;
  }
  return unexpected(no_kernel(failed, policy));
}

}  // namespace gantry
