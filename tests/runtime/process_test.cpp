// A program that was run gets its arguments as they are, and does not outlive whoever ran it.
#include "process.hpp"

#include <chrono>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/runtime/runtime_rules.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

Result<ProcessEnd> shell(const std::string& script, std::chrono::milliseconds limit = std::chrono::minutes(1)) {
  return run_process({.arguments = {"/bin/sh", "-c", script}, .limit = limit});
}

// -1 where it did not come to its end.
int status_of(const std::string& script) {
  const Result<ProcessEnd> ran = shell(script);
  return ran ? ran->status : -1;
}

// Waits until a process is gone, which takes no time where it is ended at all.
void expect_gone(pid_t process) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < end) {
    // One that has ended and that nobody waited for is still there, but only as its number.
    const std::string status = read("/proc/" + std::to_string(process) + "/stat");
    if (status.empty() || status.find(") Z ") != std::string::npos) return;
  }
  ADD_FAILURE() << "process " << process << " runs on";
  kill(process, SIGKILL);
}

TEST(Process, GetsItsArgumentsAsTheyAreAndTellsItsStatusAndOutput) {
  const std::string odd = "a 'b' \"c\" $(d)\n;e";
  const Result<ProcessEnd> ran =
      run_process({.arguments = {"/bin/sh", "-c", "printf %s \"$1\"; echo x >&2; exit 7", "sh", odd}});
  ASSERT_TRUE(ran) << ran.error().describe();
  EXPECT_EQ(ran->status, 7);
  EXPECT_EQ(ran->output, odd + "x\n");
  EXPECT_EQ(status_of("kill -9 $$"), 128 + SIGKILL);
}

TEST(Process, ThatIsNoneIsSaid) {
  for (const char* none : {"/no/program", "/tmp"}) {
    const Result<ProcessEnd> ran = run_process({.arguments = {none}});
    ASSERT_FALSE(ran) << none;
    EXPECT_TRUE(has(ran.error(), RuntimeRule::process_not_started)) << ran.error().describe();
  }
}

TEST(Process, SeesNoFilesOfItsCallerAndItsOwnEnvironment) {
  const Variable kept("GANTRY_TEST_KEPT", "kept"), changed("GANTRY_TEST_CHANGED", "old");
  const int leaked = dup2(STDOUT_FILENO, 33);  // not closed on exec
  const Result<ProcessEnd> ran =
      run_process({.arguments = {"/bin/sh", "-c", "ls /proc/$$/fd; echo $GANTRY_TEST_KEPT; echo $GANTRY_TEST_CHANGED"},
                   .environment = {"GANTRY_TEST_CHANGED=new"}});
  close(leaked);
  ASSERT_TRUE(ran) << ran.error().describe();
  EXPECT_EQ(ran->output, "0\n1\n2\nkept\nnew\n");
}

TEST(Process, RunsWithoutAVariableThatIsTakenAway) {
  const Variable gone("GANTRY_TEST_GONE", "there");
  const Result<ProcessEnd> ran = run_process(
      {.arguments = {"/bin/sh", "-c", "echo ${GANTRY_TEST_GONE-none}"}, .environment = {"GANTRY_TEST_GONE"}});
  ASSERT_TRUE(ran) << ran.error().describe();
  EXPECT_EQ(ran->output, "none\n");
}

TEST(Process, ThatTakesTooLongIsEndedWithAllThatItStarted) {
  const Folder folder;
  const Result<ProcessEnd> ran =
      shell("sleep 1000 & echo $! > " + (folder / "pid") + "; echo $! ; wait", std::chrono::milliseconds(300));
  ASSERT_FALSE(ran);
  EXPECT_TRUE(has(ran.error(), RuntimeRule::process_too_long)) << ran.error().describe();
  EXPECT_NE(ran.error().describe().find("300 ms"), std::string::npos) << "the limit that was set";
  expect_gone(std::stoi(read(folder / "pid")));
}

TEST(Process, WhoseWatcherIsEndedIsSaid) {
  // Started by the process that watches it; what is killed is that one, and with it the program.
  const Result<ProcessEnd> ran = shell("kill -9 $PPID; wait");
  ASSERT_FALSE(ran);
  EXPECT_TRUE(has(ran.error(), RuntimeRule::process_lost)) << ran.error().describe();
}

TEST(Process, WhoseCallerIgnoresItsChildrenTellsItsStatusAllTheSame) {
  signal(SIGCHLD, SIG_IGN);
  const int status = status_of("exit 3");
  signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(status, 3);
}

// As nvcc does: the program starts another one and waits for it.
TEST(Process, EndsWithAllThatItStartedWhenItsCallerIsKilled) {
  for (const int how : {SIGKILL, SIGTERM, SIGINT}) {
    const Folder folder;
    ASSERT_EQ(mkfifo((folder / "pids").c_str(), 0600), 0);
    const pid_t caller = fork();
    if (caller == 0) {
      status_of("sh -c 'sleep 1000 & echo $$ $! > " + (folder / "pids") + "; wait' & wait");
      _exit(0);
    }
    pid_t outer = 0, inner = 0;
    std::ifstream(folder / "pids") >> outer >> inner;
    ASSERT_GT(inner, 0);
    EXPECT_EQ(kill(inner, 0), 0);
    kill(caller, how);
    waitpid(caller, nullptr, 0);
    expect_gone(outer);
    expect_gone(inner);
  }
}

}  // namespace
}  // namespace gantry::runtime::test
