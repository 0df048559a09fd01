#include "host_faults.hpp"

#include <csignal>
#include <iterator>
#include <memory>
#include <mutex>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "fiber.hpp"
#include "grid.hpp"

namespace gantry::sim {
namespace {

constexpr std::size_t kSignalStack = 64 * 1024, kRescueStack = 256 * 1024;
constexpr long kTickNanoseconds = 100'000'000;
constexpr int kTicksPerSecond = 10;
const int kTimerSignal = SIGRTMAX - 3;

thread_local HostFaults* current = nullptr;

// Stacks for the handler, and for what goes on after it: made once for each host thread.
thread_local std::unique_ptr<std::byte[]> signal_stack, rescue_stack;

// Handlers belong to the process: the first run installs them, the last one puts back what was there.
std::mutex installing;
int installed = 0;
constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
struct sigaction faults_before[std::size(kFaultSignals)], timer_before;

HostFault kind_of(int signal) {
  if (signal == SIGSEGV || signal == SIGBUS) return HostFault::access;
  return signal == SIGFPE ? HostFault::division : HostFault::trap;
}

}  // namespace

struct FaultHandler {
  // On the rescue stack, outside of the handler.
  [[noreturn]] static void go_on() {
    HostFaults& faults = *current;
    faults.grid_.host_fault(faults.kind_, faults.address_);
  }

  // The interrupted thread goes on in `go_on`, with a stack that is not its own.
  static bool divert(void* context) {
#if defined(__x86_64__)
    forget_frames(rescue_stack.get(), kRescueStack);
    auto top = reinterpret_cast<std::uintptr_t>(rescue_stack.get() + kRescueStack);
    top = top / 16 * 16 - 8;  // as after a call
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    registers[REG_RSP] = static_cast<greg_t>(top);
    registers[REG_RBP] = 0;
    registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&go_on));
    return true;
#else
    (void)context;
    return false;
#endif
  }

  static void on_fault(int signal, siginfo_t* info, void* context) {
    if (current && current->grid_.runs_a_thread()) {
      current->kind_ = kind_of(signal);
      current->address_ = info->si_addr;
      if (divert(context)) return;
    }
    // Not a simulated thread's: as if nobody had been here.
    for (std::size_t i = 0; i < std::size(kFaultSignals); ++i) {
      if (kFaultSignals[i] == signal) sigaction(signal, &faults_before[i], nullptr);
    }
  }

  static void on_timer(int, siginfo_t*, void* context) {
    if (!current) return;
    HostFaults& faults = *current;
    const std::uint64_t now = faults.grid_.progress();
    if (now != faults.seen_ || !faults.grid_.runs_a_thread()) {
      faults.seen_ = now;
      faults.idle_ticks_ = 0;
    } else if (++faults.idle_ticks_ >= faults.patience_) {
      faults.idle_ticks_ = 0;
      faults.kind_ = HostFault::endless_loop;
      divert(context);
    }
  }

  static void install() {
    const std::lock_guard lock(installing);
    if (installed++ > 0) return;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    action.sa_sigaction = &on_fault;
    for (std::size_t i = 0; i < std::size(kFaultSignals); ++i) {
      sigaction(kFaultSignals[i], &action, &faults_before[i]);
    }
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    action.sa_sigaction = &on_timer;
    sigaction(kTimerSignal, &action, &timer_before);
  }

  static void remove() {
    const std::lock_guard lock(installing);
    if (--installed > 0) return;
    for (std::size_t i = 0; i < std::size(kFaultSignals); ++i) {
      sigaction(kFaultSignals[i], &faults_before[i], nullptr);
    }
    sigaction(kTimerSignal, &timer_before, nullptr);
  }
};

namespace {

// The alternative signal stack of this host thread, until it is put back.
thread_local stack_t alternative_before;

}  // namespace

HostFaults::HostFaults(Grid& grid, int watchdog_seconds)
    : before_(current), grid_(grid), patience_(watchdog_seconds * kTicksPerSecond) {
  if (!signal_stack) {
    signal_stack = std::make_unique<std::byte[]>(kSignalStack);
    rescue_stack = std::make_unique<std::byte[]>(kRescueStack);
  }
  stack_t alternative{};
  alternative.ss_sp = signal_stack.get();
  alternative.ss_size = kSignalStack;
  if (!before_) sigaltstack(&alternative, &alternative_before);
  current = this;
  FaultHandler::install();
  if (watchdog_seconds > 0) start_timer();
}

HostFaults::~HostFaults() {
  if (has_timer_) timer_delete(timer_);
  FaultHandler::remove();
  current = before_;
  if (!before_) sigaltstack(&alternative_before, nullptr);
}

void HostFaults::start_timer() {
  struct sigevent event {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTimerSignal;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  has_timer_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
  if (!has_timer_) return;
  const struct itimerspec every {
    .it_interval = {0, kTickNanoseconds}, .it_value = { 0, kTickNanoseconds }
  };
  timer_settime(timer_, 0, &every, nullptr);
}

}  // namespace gantry::sim
