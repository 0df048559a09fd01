#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include <unistd.h>

#include <gantry/context.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/runtime/simulated_gemm.hpp>

#include "context_state.hpp"
#include "gemm_function.hpp"

namespace gantry {

namespace {

int threads_for(const ContextOptions& options) {
  if (options.compile_threads > 0) return options.compile_threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency() / 2));
}

runtime::CacheOptions cache_options(const ContextOptions& options) {
  runtime::CacheOptions out;
  out.directory = options.cache_directory.empty() ? runtime::KernelCache::default_directory() : options.cache_directory;
  out.shipped = options.shipped;
  return out;
}

Status check_options(const ContextOptions& options) {
  Status out;
  const auto in_range = [&out](const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value >= least && value <= most) return;
    out = runtime::with_reasons_of(
        std::move(out), runtime::out_of_range(runtime::RuntimeRule::context_option, what, value, least, most));
  };
  constexpr int kMost = std::numeric_limits<int>::max();
  in_range("most_kernels", options.most_kernels, 1, kMost);
  in_range("most_plans", options.most_plans, 1, kMost);
  in_range("compile_threads", options.compile_threads, 0, kMost);
  in_range("simulated.sms", options.simulated.sms, 1, runtime::kMostSimulatedSms);
  const double seconds = options.simulated.progress_seconds;
  if (std::isnan(seconds) || seconds < 0) {
    out.add({.rule = to_text(runtime::RuntimeRule::context_option),
             .operand = "simulated.progress_seconds",
             .sentence = "simulated.progress_seconds is " + std::to_string(seconds) +
                         ": it is 0 or more; the nearest value that works is 0"});
  }
  return out;
}

}  // namespace

Context::State::State(const ContextOptions& asked)
    : options(asked), status(check_options(asked)), cache(cache_options(asked)), queue(threads_for(asked)) {
  if (!status) return;
  if (asked.machine != MachineKind::simulated) {
    device = runtime::Device::open(asked.device);
    status = device.runs_kernels();
    if (status.ok()) machine = make_gpu_machine(device);
  }
  if (asked.machine == MachineKind::simulated || (asked.machine == MachineKind::automatic && !status.ok())) {
    notes = runtime::with_words_before("the simulated SM is used, since ", status);
    status = {};
    simulated = true;
    device = {};
    machine = make_simulated_machine(asked.simulated);
  }
  notes = runtime::with_reasons_of(notes, cache.note());
  const std::string path = asked.tuning_file.empty() ? runtime::tuning_path() : asked.tuning_file;
  if (!path.empty()) tuning = TuningFile::read(path);
  const bool by_variable = asked.tuning_file.empty() && !runtime::asked_tuning_path().empty();
  if ((by_variable || !asked.tuning_file.empty()) && access(path.c_str(), F_OK) != 0) {
    const std::string sentence =
        "there is no tuning file " + runtime::one_line(path) + (by_variable ? ", which GANTRY_TUNING names" : "");
    notes = runtime::with_reasons_of(
        notes, runtime::failure_of(runtime::RuntimeRule::tuning_file_missing, sentence, runtime::one_line(path)));
  }
  const std::string before = "what cannot be read of the tuning file " + runtime::one_line(path) + ": ";
  notes = runtime::with_reasons_of(notes, runtime::with_words_before(before, runtime::unread_lines(tuning)));
}

Context::Context(const ContextOptions& options) : state_(std::make_shared<State>(options)) {}

const Status& Context::status() const { return state_->status; }
bool Context::is_simulated() const { return state_->simulated; }
const runtime::Device& Context::device() const { return state_->device; }
void Context::wait_for_compilations() const { state_->queue.wait_until_idle(); }
const Status& Context::notes() const { return state_->notes; }

Result<GemmFunction> Context::gemm(const GemmRequest& request) const {
  if (!state_->status.ok()) return unexpected(state_->status);
  GemmFunction out;
  Result<std::shared_ptr<GemmFunction::State>> made = GemmFunction::State::make(state_, request);
  if (!made) return unexpected(made.error());
  out.state_ = *made;
  return out;
}

}  // namespace gantry
