#include "process.hpp"

#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry::runtime {

namespace {

std::string read_all(int descriptor) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t bytes = read(descriptor, buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(bytes));
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments) {
  ProcessResult result;
  int ends[2];
  if (arguments.empty() || pipe2(ends, O_CLOEXEC) != 0) return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t process = 0;
  result.started = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (result.started) {
    result.output = read_all(ends[0]);
    result.status = wait_for(process);
  }
  close(ends[0]);
  return result;
}

}  // namespace gantry::runtime
