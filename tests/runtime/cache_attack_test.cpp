// What somebody, or an accident, may put in the cache's way: nothing of it is loaded, and nothing of it makes us wait.
#include <csignal>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/runtime/cache.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebodyElse = 65534;

class Attack : public testing::Test {
 protected:
  KernelCache open_cache() const { return KernelCache(options()); }
  CacheOptions options() const { return {.directory = directory_, .headers = &headers_}; }

  std::vector<std::string> files(const std::string& ending) const {
    std::vector<std::string> out;
    for (const auto& file : fs::directory_iterator(directory_)) {
      if (file.path().string().ends_with(ending)) out.push_back(file.path().string());
    }
    return out;
  }
  // In place of the entry lies something that is no file of ours: it stays there, and the kernel is compiled beside it.
  void expect_left_alone(const std::string& path, RuntimeRule rule) const {
    const KernelCache cache(options());
    for (int i = 0; i < 2; ++i) {
      const CachedKernel kernel = cache.get(compiler_, {.text = "one"});
      EXPECT_EQ(kernel.image, "image of one");
      EXPECT_TRUE(kernel.compiled);
      EXPECT_TRUE(has(kernel.note, rule)) << kernel.note.describe();
      EXPECT_NE(kernel.note.describe().find(directory_ + ": " + fs::path(path).filename().string()), std::string::npos)
          << kernel.note.describe();
    }
    EXPECT_FALSE(cache.get(no_compiler(), {.text = "one"}));
    struct stat facts = {};
    EXPECT_EQ(lstat(path.c_str(), &facts), 0);
  }
  std::string with_an_entry() const {
    const KernelCache cache(options());
    EXPECT_TRUE(cache.get(compiler_, {.text = "one"}));
    return files(".kernel").front();
  }

  Folder folder_;
  std::string directory_ = folder_ / "cache";
  DeviceHeaders headers_{{}, "none"};
  CountingCompiler compiler_{folder_ / "log"};
};

TEST_F(Attack, ByAFolderThatIsALinkIsRefused) {
  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", directory_);
  for (const char* ending : {"", "/", "/.", "//"}) {
    const KernelCache cache({.directory = directory_ + ending, .headers = &headers_});
    EXPECT_TRUE(has(cache.note(), RuntimeRule::folder_not_plain)) << cache.note().describe();
    EXPECT_EQ(cache.get(compiler_, {.text = "one"}).image, "image of one");
  }
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(Attack, ByAFolderOpenToOthersIsRefusedUnlessItIsEmptyOrACache) {
  fs::create_directory(directory_);
  fs::permissions(directory_, fs::perms::all);
  {
    const KernelCache cache(options());
    EXPECT_TRUE(cache.note()) << cache.note().describe();
    EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
  }
  fs::permissions(directory_, fs::perms::all);
  EXPECT_TRUE(KernelCache(options()).note()) << "it has the tag";
  fs::remove(directory_ + "/CACHEDIR.TAG");
  write(directory_ + "/letter.txt", "dear");
  fs::permissions(directory_, fs::perms::all);
  const KernelCache cache(options());
  EXPECT_TRUE(has(cache.note(), RuntimeRule::open_to_others)) << cache.note().describe();
  EXPECT_NE(cache.note().describe().find("0777"), std::string::npos) << "its mode";
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::all);
}

// Others rely on the mode of a folder of theirs: it is changed where nothing but the cache is in it.
TEST_F(Attack, ByAFolderThatOthersShareIsRefusedAndKeepsItsMode) {
  constexpr auto kShared = fs::perms::all | fs::perms::sticky_bit, kGroups = fs::perms::all | fs::perms::set_gid;
  const auto refused = [this](fs::perms mode) {
    fs::permissions(directory_, mode);
    const KernelCache cache(options());
    EXPECT_TRUE(has(cache.note(), RuntimeRule::open_to_others)) << cache.note().describe();
    EXPECT_NE(cache.note().describe().find("name another folder"), std::string::npos) << cache.note().describe();
    EXPECT_EQ(cache.note().describe().find("chmod"), std::string::npos) << cache.note().describe();
    EXPECT_EQ(fs::status(directory_).permissions(), mode);
  };
  fs::create_directory(directory_);
  refused(kShared);
  refused(kGroups);
  write(directory_ + "/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# Somebody else's.\n");
  refused(fs::perms::all);
  fs::remove(directory_ + "/CACHEDIR.TAG");
  fs::permissions(directory_, fs::perms::owner_all);
  { const KernelCache cache(options()); }
  ASSERT_TRUE(fs::exists(directory_ + "/CACHEDIR.TAG"));
  refused(kShared);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown((directory_ + "/CACHEDIR.TAG").c_str(), kSomebodyElse, kSomebodyElse), 0);
  refused(fs::perms::all);
}

TEST_F(Attack, ByAMaskThatLetsEverybodyInLeavesTheFoldersAboveClosed) {
  const mode_t before = umask(0);
  const KernelCache cache({.directory = folder_ / "one/two/cache", .headers = &headers_});
  umask(before);
  EXPECT_TRUE(cache.note()) << cache.note().describe();
  for (const char* made : {"one", "one/two", "one/two/cache"}) {
    EXPECT_EQ(fs::status(folder_ / made).permissions(), fs::perms::owner_all) << made;
  }
}

TEST_F(Attack, ByAFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directory(directory_);
  ASSERT_EQ(chown(directory_.c_str(), kSomebodyElse, kSomebodyElse), 0);
  fs::permissions(directory_, fs::perms::owner_all);
  const KernelCache cache(options());
  EXPECT_TRUE(has(cache.note(), RuntimeRule::owned_by_another)) << cache.note().describe();
  EXPECT_NE(cache.note().describe().find("65534"), std::string::npos) << "whose it is";
  EXPECT_TRUE(cache.get(compiler_, {.text = "one"}));
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(Attack, ByAnEntryThatAnotherUserWroteIsNotLoaded) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const std::string path = with_an_entry(), whole = read(path);
  fs::remove(path);
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(directory_, fs::perms::all);  // as the cache of an older version may be
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(kSomebodyElse) != 0 || setuid(kSomebodyElse) != 0) _exit(1);
    write(path, whole);
    _exit(fs::exists(path) ? 0 : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  expect_left_alone(path, RuntimeRule::owned_by_another);
}

TEST_F(Attack, ByAnEntryThatOthersCanWriteIsNotLoaded) {
  const std::string path = with_an_entry();
  fs::permissions(path, fs::perms::owner_all | fs::perms::others_write);
  expect_left_alone(path, RuntimeRule::writable_by_others);
}

TEST_F(Attack, ByALinkInPlaceOfAnEntryIsNotFollowed) {
  const std::string path = with_an_entry();
  fs::rename(path, folder_ / "whole");
  fs::create_symlink(folder_ / "whole", path);
  expect_left_alone(path, RuntimeRule::file_not_plain);
}

TEST_F(Attack, ByAPipeAFolderOrADeviceInPlaceOfAnEntryEndsAtOnce) {
  const std::string path = with_an_entry();
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_left_alone(path, RuntimeRule::file_not_plain);
  fs::remove(path);
  fs::create_directory(path);
  expect_left_alone(path, RuntimeRule::file_not_plain);
  fs::remove(path);
  if (mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0) GTEST_SKIP() << "no device can be made here";
  const KernelCache cache(options());
  EXPECT_EQ(cache.get(compiler_, {.text = "one"}).image, "image of one");
}

TEST_F(Attack, ByAPipeInPlaceOfTheLockOrTheLimitEndsAtOnce) {
  const std::string path = with_an_entry(), stem = path.substr(0, path.size() - 7);
  fs::remove(path);
  ASSERT_EQ(mkfifo((stem + ".lock").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((directory_ + "/limit").c_str(), 0600), 0);
  const KernelCache cache(options());
  const CachedKernel kernel = cache.get(compiler_, {.text = "one"});
  EXPECT_EQ(kernel.image, "image of one");
  EXPECT_TRUE(has(kernel.note, RuntimeRule::file_not_plain)) << kernel.note.describe();
  EXPECT_NE(kernel.note.describe().find(".lock"), std::string::npos) << kernel.note.describe();
  EXPECT_EQ(cache.limit(), KernelCache::kUsualLimit);
}

TEST_F(Attack, ByTextsThatAreNoNumberLeavesTheUsualLimit) {
  const KernelCache cache(options());
  for (const char* text : {"", "many", "-1", "99999999999999999999999", "12 \x1b[31m"}) {
    write(directory_ + "/limit", text);
    EXPECT_EQ(cache.limit(), KernelCache::kUsualLimit) << text;
  }
}

// A folder whose name holds what a shell would take for its own. The compiler is a script, and nvcc runs its own parts
// through a shell.
TEST_F(Attack, ByQuotesAndLineEndsInANameReachesNoShell) {
  const std::string name = folder_ / "it's \"$(touch pwned)\"\n; touch pwned";
  const StandIn stand_in;
  const KernelCache cache({.directory = name, .headers = &headers_});
  EXPECT_TRUE(cache.note()) << cache.note().describe();
  const CachedKernel kernel = cache.get(stand_in.cubins(), {.text = "one", .title = "\"; touch pwned\n"});
  ASSERT_TRUE(kernel) << kernel.status.describe();
  EXPECT_EQ(kernel.image, "one");
  EXPECT_EQ(stand_in.log().find("touch"), std::string::npos) << stand_in.log();
  const CachedKernel failed = cache.get(stand_in.cubins(), {.text = "#error \x1b]0;pwned\x07"});
  EXPECT_EQ(failed.status.describe().find('\x1b'), std::string::npos) << failed.status.describe();
  EXPECT_EQ(failed.status.describe().find("\n; touch"), std::string::npos) << failed.status.describe();
}

TEST_F(Attack, ByAStoppedProcessThatHasTheLockIsWaitedOut) {
  int begun[2];
  ASSERT_EQ(pipe(begun), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    compiler_.while_compiling = [&] {
      if (::write(begun[1], "x", 1) == 1) raise(SIGSTOP);
    };
    (void)open_cache().get(compiler_, {.text = "one"});
    _exit(0);
  }
  char one = 0;
  ASSERT_EQ(::read(begun[0], &one, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(holder, &status, WUNTRACED), holder);
  CacheOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(50);
  const CachedKernel kernel = KernelCache(impatient).get(compiler_, {.text = "one"});
  EXPECT_EQ(kernel.image, "image of one");
  EXPECT_TRUE(has(kernel.note, RuntimeRule::lock_held)) << kernel.note.describe();
  kill(holder, SIGCONT);
  waitpid(holder, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(open_cache().get(compiler_, {.text = "one"}).compiled) << "the holder went on and kept it";
}

TEST_F(Attack, ByAProcessThatCompilesForLongIsNoAttack) {
  CacheOptions impatient = options();
  impatient.patience = std::chrono::milliseconds(100);
  int begun[2], done[2];
  ASSERT_EQ(pipe(begun), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    close(done[1]);
    compiler_.while_compiling = [&] {
      char end = 0;
      if (::write(begun[1], "x", 1) == 1 && ::read(done[0], &end, 1) != 0) _exit(1);
    };
    _exit(KernelCache(impatient).get(compiler_, {.text = "one"}) ? 0 : 1);
  }
  char one = 0;
  ASSERT_EQ(::read(begun[0], &one, 1), 1);
  const pid_t waiter = fork();
  if (waiter == 0) {
    close(done[1]);
    const CachedKernel kernel = KernelCache(impatient).get(compiler_, {.text = "one"});
    _exit(kernel && !kernel.compiled ? 0 : 1);
  }
  // A sign of life comes ten times as often as the patience lasts: after thirty, the waiter would have given up, were
  // it not for them.
  const std::string lock = files(".lock").front();
  auto last = fs::last_write_time(lock);
  for (int signs = 0; signs < 30;) {
    const auto now = fs::last_write_time(lock);
    signs += now == last ? 0 : 1;
    last = now;
  }
  close(done[1]);
  for (const pid_t child : {holder, waiter}) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(compiler_.calls(), 1);
}

TEST_F(Attack, ByAFullDiskLosesTheEntryAndNotTheKernel) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount a small disk";
  fs::create_directory(directory_);
  const pid_t child = fork();
  if (child == 0) {
    // A disk of 64 KiB, in a view of the file system that ends with this process.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("small", directory_.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
      _exit(77);
    }
    write(directory_ + "/filler", std::string(1 << 20, 'x'));
    const KernelCache cache(options());
    const std::string text(100000, 'y');
    const CachedKernel kernel = cache.get(compiler_, {.text = text});
    const bool said =
        has(kernel.note, RuntimeRule::file_not_written) && kernel.note.describe().find(directory_) != std::string::npos;
    // nvcc's files find room elsewhere.
    const StandIn stand_in;
    const bool compiled = cache.get(stand_in.cubins(), {.text = text}).image == text;
    bool leftovers = false;
    for (const auto& file : fs::directory_iterator(directory_))
      leftovers = leftovers || file.path().filename().string().starts_with("tmp-");
    _exit(kernel.image == "image of " + text && said && compiled && !leftovers ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no small disk can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST_F(Attack, ByALimitOnFilesLosesTheEntryAndNotTheKernel) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text(100000, 'y');
    const CachedKernel kernel = open_cache().get(compiler_, {.text = text});
    sigset_t pending;
    sigpending(&pending);
    const bool quiet = sigismember(&pending, SIGXFSZ) == 0;
    _exit(kernel.image == "image of " + text && has(kernel.note, RuntimeRule::file_not_written) && quiet ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(files(".kernel").empty());
  for (const auto& file : fs::directory_iterator(directory_))
    EXPECT_FALSE(file.path().filename().string().starts_with("tmp-")) << file.path();
}

enum class Killed { yes, no, cannot };

// Runs a store until its `step`-th system call begins, and kills it there; `no` where it came to its end before.
Killed killed_at(int step, const std::function<void()>& store) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    store();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return Killed::cannot;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int i = 0; i < step; ++i) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return Killed::no;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return Killed::yes;
}

TEST_F(Attack, ByAKillAtAnyStepOfAStoreLeavesACacheThatWorks) {
  const std::string log = folder_ / "other-log";
  const CountingCompiler other(log);
  int steps = 0;
  for (Killed killed = Killed::yes; killed == Killed::yes; ++steps) {
    fs::remove_all(directory_);
    killed = killed_at(steps, [&] { (void)open_cache().get(other, {.text = "one"}); });
    if (killed == Killed::cannot) GTEST_SKIP() << "a process cannot be stopped at its system calls here";
    const CachedKernel kernel = open_cache().get(other, {.text = "one"});
    ASSERT_EQ(kernel.image, "image of one") << steps;
    ASSERT_TRUE(kernel.note) << steps << ": " << kernel.note.describe();
    ASSERT_FALSE(kernel.repaired) << "half an entry was visible after step " << steps;
    for (const auto& file : fs::directory_iterator(directory_)) {
      const std::string name = file.path().filename().string();
      const bool known = name.ends_with(".kernel") || name.ends_with(".lock") || name == "CACHEDIR.TAG";
      ASSERT_TRUE(known && !name.starts_with("tmp-")) << name << " after step " << steps;
    }
    ASSERT_FALSE(open_cache().get(other, {.text = "one"}).compiled) << steps;
  }
  EXPECT_GT(steps, 40) << "every system call is a step, on its way in and on its way out";
}

}  // namespace
}  // namespace gantry::runtime::test
