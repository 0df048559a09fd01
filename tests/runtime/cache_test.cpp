// The cache compiles once, however many ask; what is damaged or half-written is never handed out.
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/runtime/cache.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

namespace fs = std::filesystem;

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* was = std::getenv(name)) was_ = was;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { was_ ? setenv(name_, was_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> was_;
};

// Headers of its own, small ones, so that they can be changed.
class Cache : public testing::Test {
 protected:
  void SetUp() override { write(folder_ / "include/gantry/config.hpp", "// headers\n"); }

  int files(const std::string& ending) const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache")) {
      count += entry.path().string().ends_with(ending) ? 1 : 0;
    }
    return count;
  }
  CachedKernel get(const std::string& text, std::vector<std::string> flags = {}) {
    return cache_.get(stand_in_.compiler(), {.text = text, .flags = std::move(flags)});
  }

  Folder folder_;
  Variable include_{"GANTRY_INCLUDE_DIR", folder_ / "include"};
  StandIn stand_in_;
  KernelCache cache_{folder_ / "cache"};
};

TEST_F(Cache, CompilesOnceWhatItIsAskedForTwice) {
  const CachedKernel first = get("one"), second = get("one");
  ASSERT_TRUE(first) << first.problem;
  EXPECT_TRUE(first.compiled);
  EXPECT_FALSE(second.compiled);
  EXPECT_EQ(first.path, second.path);
  EXPECT_EQ(stand_in_.calls(), 1);
  EXPECT_EQ(read(first.path).rfind("onegantry kernel ", 0), 0u);
  EXPECT_EQ(cache_.contents().kernels, 1);
}

TEST_F(Cache, CompilesAgainWhereSourceFlagsCompilerOrHeadersDiffer) {
  ASSERT_TRUE(get("one"));
  EXPECT_TRUE(get("two").compiled);
  EXPECT_TRUE(get("one", {"-G"}).compiled);
  const StandIn newer("13.1.2");
  EXPECT_TRUE(cache_.get(newer.compiler(), {.text = "one"}).compiled);
  write(folder_ / "include/gantry/gemm/more.hpp", "// more\n");
  EXPECT_TRUE(get("one").compiled);
  write(folder_ / "include/gantry/config.hpp", "// Headers\n");
  EXPECT_TRUE(get("one").compiled);
  EXPECT_FALSE(get("one").compiled);
}

TEST_F(Cache, RebuildsWhatIsTruncatedChangedOrEmpty) {
  const std::string path = get("a kernel of some length").path;
  const std::string whole = read(path);
  std::string changed = whole;
  changed[3] ^= 1;
  int calls = 1;
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), changed, std::string(), whole + " "}) {
    write(path, damaged);
    const CachedKernel again = get("a kernel of some length");
    EXPECT_TRUE(again.compiled && again.repaired);
    EXPECT_EQ(read(path), whole);
    EXPECT_EQ(stand_in_.calls(), ++calls);
  }
}

TEST_F(Cache, KeepsNothingOfACompilationThatFailedAndSaysWhy) {
  const CachedKernel failed = get("#error");
  EXPECT_NE(failed.problem.find("error: refused on purpose"), std::string::npos) << failed.problem;
  EXPECT_EQ(files(".so"), 0);
  EXPECT_EQ(files(".tmp.o.so"), 0);
  EXPECT_FALSE(get("#error"));
  EXPECT_EQ(stand_in_.calls(), 2);
}

TEST_F(Cache, RemembersWhatGantryRefusesAndNothingElse) {
  const std::string source = "#error static assertion failed with \"gantry: the tile is too large\"";
  const CachedKernel first = get(source), second = get(source);
  EXPECT_TRUE(first.refused && first.compiled);
  EXPECT_TRUE(second.refused && !second.compiled);
  EXPECT_EQ(first.problem, second.problem);
  EXPECT_EQ(stand_in_.calls(), 1);
  EXPECT_EQ(cache_.contents().kernels, 0);
  EXPECT_FALSE(get("#error the disk is full").refused);
}

TEST_F(Cache, AsksAgainWhereARefusalIsDamaged) {
  const std::string source = "#error \"gantry: the tile is too large\"";
  std::string path = get(source).path;
  path.replace(path.size() - 3, 3, ".refused");
  const std::string whole = read(path);
  write(path, whole.substr(1));
  EXPECT_TRUE(get(source).compiled);
  EXPECT_EQ(read(path), whole);
}

TEST_F(Cache, RemovesWhatAProcessThatWasKilledLeftBehind) {
  const std::string path = get("one").path;
  const std::string leftover = path.substr(0, path.size() - 3) + ".4711.tmp.so";
  write(leftover, "half of");
  fs::remove(path);
  EXPECT_TRUE(get("one").compiled);
  EXPECT_FALSE(fs::exists(leftover));
}

TEST_F(Cache, GoesOnWhereAProcessWasKilledWhileItCompiled) {
  const pid_t child = fork();
  if (child == 0) {
    get("#kill");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(files(".so"), 1) << "what it had begun is left";
  const CachedKernel kernel = get("#kill");
  ASSERT_TRUE(kernel) << kernel.problem;
  EXPECT_TRUE(kernel.compiled && !kernel.repaired);
  EXPECT_EQ(files(".tmp.o.so"), 0);
}

TEST_F(Cache, IsSharedByProcessesThatAskAtOnce) {
  constexpr int kProcesses = 8;
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(start[1]);
      char go = 0;
      const bool fine = ::read(start[0], &go, 1) == 0 && get("one") && !read(get("one").path).empty();
      _exit(fine ? 0 : 1);
    }
    children.push_back(child);
  }
  close(start[0]);
  close(start[1]);  // all of them go
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(stand_in_.calls(), 1);
}

TEST_F(Cache, WithoutACompilerSaysWhatIsMissing) {
  const Compiler none = Compiler::find({.nvcc = "/no/nvcc", .cuda_home = {}, .path = {}});
  EXPECT_EQ(cache_.get(none, {.text = "one"}).problem,
            "the kernel is not compiled in, and GANTRY_NVCC names /no/nvcc, which is no program that can be run");
}

TEST_F(Cache, WithoutHeadersSaysWhatIsMissing) {
  const Variable elsewhere("GANTRY_INCLUDE_DIR", folder_ / "elsewhere");
  EXPECT_EQ(get("one").problem,
            "GANTRY_INCLUDE_DIR is " + (folder_ / "elsewhere") + ", and there is no gantry/config.hpp in it");
}

TEST_F(Cache, InAFolderThatCannotBeWrittenUsesATemporaryOneAndSaysSo) {
  write(folder_ / "file", "no folder");
  std::string temporary;
  {
    const KernelCache cache(folder_ / "file/cache");
    temporary = cache.directory();
    EXPECT_EQ(cache.note().rfind((folder_ / "file/cache") + " cannot be used (", 0), 0u) << cache.note();
    EXPECT_NE(cache.note().find("kernels are kept in " + temporary), std::string::npos) << cache.note();
    const CachedKernel kernel = cache.get(stand_in_.compiler(), {.text = "one"});
    ASSERT_TRUE(kernel) << kernel.problem;
    EXPECT_TRUE(fs::exists(kernel.path));
  }
  EXPECT_FALSE(fs::exists(temporary));
  EXPECT_EQ(cache_.note(), "");
}

TEST(CacheDirectory, ComesFromTheEnvironment) {
  const Variable home("HOME", "/home/somebody");
  const Variable shared("XDG_CACHE_HOME", "");
  const Variable none("GANTRY_CACHE_DIR", "");
  EXPECT_EQ(KernelCache::default_directory(), "/home/somebody/.cache/gantry");
  const Variable own_shared("XDG_CACHE_HOME", "/var/cache/somebody");
  EXPECT_EQ(KernelCache::default_directory(), "/var/cache/somebody/gantry");
  const Variable own("GANTRY_CACHE_DIR", "/kernels");
  EXPECT_EQ(KernelCache::default_directory(), "/kernels");
}

}  // namespace
}  // namespace gantry::runtime::test
