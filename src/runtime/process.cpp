#include "process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = std::size_t{4} << 20;

// What the supervisor tells its caller.
struct Report {
  bool started;
  int value;  // the program's status, or errno where it did not start
};

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }
  int get() const { return value_; }

 private:
  int value_;
};

// The numbers that the supervisor gives to what it keeps open.
enum : int { kLife = 3, kReport = 4, kOutput = 5, kFolder = 6, kNull = 7, kAboveKept = 8, kOutOfTheWay = 16 };

// Both ends have numbers that the supervisor does not assign.
struct Pipe {
  Descriptor read_end, write_end;

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const Descriptor low[2] = {Descriptor(ends[0]), Descriptor(ends[1])};
    read_end = Descriptor(fcntl(ends[0], F_DUPFD_CLOEXEC, kOutOfTheWay));
    write_end = Descriptor(fcntl(ends[1], F_DUPFD_CLOEXEC, kOutOfTheWay));
    return read_end.get() >= 0 && write_end.get() >= 0;
  }
};

// Pointers to texts, ended by a null, as execve takes them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> out;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(out),
               [](const std::string& change) { return change.find('=') != std::string::npos; });
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool replaced = std::any_of(changes.begin(), changes.end(),
                                      [&](const std::string& change) { return name_of(change) == name_of(*entry); });
    if (!replaced) out.emplace_back(*entry);
  }
  return out;
}

// From here to the end of Supervisor: between fork and exec of a process that may have threads, so that only
// async-signal-safe functions are called and nothing is allocated.
void wake_up(int) {}

class Supervisor {
 public:
  struct Ends {
    int life, report, output, folder, null;
  };

  Supervisor(const Ends& ends, char* const* arguments, char* const* environment)
      : ends_(ends), arguments_(arguments), environment_(environment) {}

  [[noreturn]] void run() const {
    setsid();  // a signal to the caller's group, Ctrl-C for example, is not for us
    keep_only_what_is_needed();
    for (int signal_number = 1; signal_number < NSIG; ++signal_number) signal(signal_number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction on_child = {};
    on_child.sa_handler = wake_up;
    sigaction(SIGCHLD, &on_child, nullptr);
    sigset_t child, none;
    sigemptyset(&none);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, nullptr);
    const pid_t supervisor = getpid();
    const pid_t program = fork();
    if (program == 0) become_the_program(supervisor, none);
    if (program < 0) say({false, errno});
    if (program < 0) _exit(1);
    setpgid(program, program);
    close(kOutput);
    const bool ended = wait_for(program, none);
    // The group exists as long as its first member was not reaped, so that no other group is hit.
    kill(-program, SIGKILL);
    int status = 0;
    while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
    }
    if (ended) say({true, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)});
    _exit(0);
  }

 private:
  static void say(Report report) {
    while (write(kReport, &report, sizeof report) < 0 && errno == EINTR) {
    }
  }

  void keep_only_what_is_needed() const {
    const std::pair<int, int> moves[] = {{ends_.life, kLife},
                                         {ends_.report, kReport},
                                         {ends_.output, kOutput},
                                         {ends_.folder, kFolder},
                                         {ends_.null, kNull}};
    for (const auto& [from, to] : moves) from >= 0 ? dup3(from, to, O_CLOEXEC) : close(to);
    if (syscall(SYS_close_range, kAboveKept, ~0U, 0) == 0) return;
    rlimit most = {};
    getrlimit(RLIMIT_NOFILE, &most);
    for (int i = kAboveKept; i < static_cast<int>(most.rlim_cur); ++i) close(i);
  }

  // True where the program ended, false where the caller is gone or wants an end.
  static bool wait_for(pid_t program, const sigset_t& unblocked) {
    for (;;) {
      siginfo_t info = {};
      if (waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR)
        return false;
      if (info.si_pid == program) return true;
      pollfd life{kLife, POLLIN, 0};
      if (ppoll(&life, 1, nullptr, &unblocked) > 0) return false;
    }
  }

  [[noreturn]] void become_the_program(pid_t supervisor, const sigset_t& unblocked) const {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(1);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    umask(S_IRWXG | S_IRWXO);  // what it writes is the caller's alone
    dup2(kNull, STDIN_FILENO);
    dup2(kOutput, STDOUT_FILENO);
    dup2(kOutput, STDERR_FILENO);
    if (ends_.folder < 0 || fchdir(kFolder) == 0) execve(arguments_[0], arguments_, environment_);
    say({false, errno});
    _exit(127);
  }

  Ends ends_;
  char* const* arguments_;
  char* const* environment_;
};

// False where nothing came, and the pipe was not closed either, until `end`.
bool readable(int descriptor, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd one{descriptor, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(std::min<long long>(left, 1000))) > 0) return true;
  }
}

ssize_t read_some(int descriptor, void* to, std::size_t most) {
  for (;;) {
    const ssize_t bytes = read(descriptor, to, most);
    if (bytes >= 0 || errno != EINTR) return bytes;
  }
}

std::string duration_text(std::chrono::milliseconds time) {
  const auto count = time.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

// Reads until nobody can write any more. False where that took longer than until `end`.
bool read_all(int descriptor, Clock::time_point end, std::string& out) {
  char buffer[4096];
  while (readable(descriptor, end)) {
    const ssize_t bytes = read_some(descriptor, buffer, sizeof buffer);
    if (bytes <= 0) return true;
    out.append(buffer, std::min(static_cast<std::size_t>(bytes), kMostOutput - std::min(kMostOutput, out.size())));
  }
  return false;
}

}  // namespace

Result<ProcessEnd> run_process(const ProcessCommand& command) {
  const auto not_started = [](int error) {
    return unexpected(
        failure_of(RuntimeRule::process_not_started, std::string("it could not be started: ") + std::strerror(error)));
  };
  Pipe life, report, output;
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Descriptor high_null(fcntl(null.get(), F_DUPFD_CLOEXEC, kOutOfTheWay));
  const Descriptor folder(command.folder < 0 ? -1 : fcntl(command.folder, F_DUPFD_CLOEXEC, kOutOfTheWay));
  if (high_null.get() < 0 || !life.open() || !report.open() || !output.open()) return not_started(errno);
  const std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> arguments = pointers(command.arguments), variables = pointers(environment);
  const Supervisor supervisor({.life = life.read_end.get(),
                               .report = report.write_end.get(),
                               .output = output.write_end.get(),
                               .folder = folder.get(),
                               .null = high_null.get()},
                              arguments.data(), variables.data());
  const pid_t process = fork();
  if (process == 0) supervisor.run();
  if (process < 0) return not_started(errno);
  life.read_end.reset();
  report.write_end.reset();
  output.write_end.reset();
  const Clock::time_point end = Clock::now() + command.limit;
  ProcessEnd out;
  const bool in_time = read_all(output.read_end.get(), end, out.output) && readable(report.read_end.get(), end);
  if (!in_time) life.write_end.reset();  // the supervisor ends it
  Report said = {};
  const ssize_t bytes = read_some(report.read_end.get(), &said, sizeof said);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    return unexpected(failure_of(RuntimeRule::process_too_long, "it did not come to an end within " +
                                                                    duration_text(command.limit) +
                                                                    ", and was ended with all that it had started"));
  }
  if (bytes != sizeof said) {
    return unexpected(failure_of(RuntimeRule::process_lost, "the process that watches it was ended by somebody else"));
  }
  if (!said.started) return not_started(said.value);
  out.status = said.value;
  return out;
}

}  // namespace gantry::runtime
