// The cache compiles once, however many ask; what is damaged is never handed out; what is too much goes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/runtime/cache.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

namespace fs = std::filesystem;

// Headers of its own, small ones, so that they can be changed.
class Cache : public testing::Test {
 protected:
  std::vector<std::string> files(const std::string& ending) const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      if (entry.path().string().ends_with(ending)) out.push_back(entry.path().string());
    }
    return out;
  }
  CachedKernel get(const std::string& text, std::vector<std::string> flags = {}) const {
    return cache_.get(compiler_, {.text = text, .flags = std::move(flags), .title = "kernel " + text});
  }

  Folder folder_;
  std::string directory_ = folder_ / "cache";
  StandIn stand_in_;
  NvccCompiler compiler_ = stand_in_.cubins();
  HeaderFile file_{"gantry/config.hpp", "// headers\n"};
  DeviceHeaders headers_{{&file_, 1}, "digest 1"};
  KernelCache cache_{{.directory = directory_, .headers = &headers_}};
};

TEST_F(Cache, CompilesOnceWhatItIsAskedForTwice) {
  const CachedKernel first = get("one"), second = get("one");
  ASSERT_TRUE(first) << first.status.describe();
  EXPECT_TRUE(first.compiled);
  EXPECT_FALSE(second.compiled);
  EXPECT_EQ(first.image, "one");
  EXPECT_EQ(second.image, "one");
  EXPECT_EQ(stand_in_.calls(), 1);
  EXPECT_EQ(cache_.contents().kernels, 1);
}

TEST_F(Cache, CompilesAgainWhereSourceFlagsKindCompilerOrHeadersDiffer) {
  ASSERT_TRUE(get("one"));
  EXPECT_TRUE(get("two").compiled);
  EXPECT_TRUE(get("one", {"-G"}).compiled);
  const NvccCompiler objects(stand_in_.compiler(), ImageKind::shared_object);
  EXPECT_TRUE(cache_.get(objects, {.text = "one"}).compiled);
  const StandIn newer("13.1.2");
  EXPECT_TRUE(cache_.get(newer.cubins(), {.text = "one"}).compiled);
  const DeviceHeaders changed{{&file_, 1}, "digest 2"};
  const KernelCache other({.directory = directory_, .headers = &changed});
  EXPECT_TRUE(other.get(compiler_, {.text = "one"}).compiled);
  EXPECT_FALSE(get("one").compiled);
}

TEST_F(Cache, ComparesTheEnvironmentThatTheCompilerReads) {
  ASSERT_TRUE(get("one"));
  for (const char* name : {"NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"}) {
    const Variable flags(name, "-use_fast_math");
    EXPECT_TRUE(get("one").compiled) << name;
    EXPECT_FALSE(get("one").compiled) << name;
  }
  EXPECT_FALSE(get("one").compiled);
}

TEST_F(Cache, WithoutACompilerUsesWhatAnyCompilerMade) {
  ASSERT_TRUE(get("one"));
  const CachedKernel found = cache_.get(no_compiler(), {.text = "one"});
  ASSERT_TRUE(found) << found.status.describe();
  EXPECT_EQ(found.image, "one");
  const Status none = cache_.get(no_compiler(), {.text = "two"}).status;
  EXPECT_TRUE(is_only(none, RuntimeRule::named_compiler_missing));
  EXPECT_EQ(none.describe(),
            "the kernel is not compiled in, and GANTRY_NVCC names /no/nvcc, which is no program that can be run");
}

TEST_F(Cache, UsesEntriesThatWereShippedAndNeverWritesThere) {
  ASSERT_TRUE(get("one"));
  const std::string shipped = folder_ / "shipped";
  fs::create_directory(shipped);
  fs::copy(files(".kernel").front(), shipped);
  const KernelCache cache({.directory = folder_ / "other", .shipped = {shipped}, .headers = &headers_});
  EXPECT_TRUE(cache.note()) << cache.note().describe();
  const CachedKernel found = cache.get(no_compiler(), {.text = "one"});
  ASSERT_TRUE(found) << found.status.describe();
  EXPECT_EQ(found.image, "one");
  EXPECT_TRUE(cache.get(compiler_, {.text = "two"}).compiled);
  EXPECT_EQ(std::distance(fs::directory_iterator(shipped), fs::directory_iterator()), 1);
}

TEST_F(Cache, SaysWhichShippedEntryIsNotAsItWasWhereNothingElseServes) {
  ASSERT_TRUE(get("one"));
  const std::string name = fs::path(files(".kernel").front()).filename().string();
  const std::string path = folder_ / "shipped" + "/" + name;
  fs::copy(directory_, folder_ / "shipped");
  std::string altered = read(path);
  altered.back() ^= 1;
  write(path, altered);
  const KernelCache cache({.directory = folder_ / "other", .shipped = {folder_ / "shipped"}, .headers = &headers_});
  const std::optional<CachedKernel> kept = cache.find(compiler_, {.text = "one"});
  ASSERT_TRUE(kept && !*kept);
  EXPECT_TRUE(is_only(kept->status, RuntimeRule::entry_damaged));
  EXPECT_EQ(kept->status.describe(), path + ": it was altered or cut off");
  const CachedKernel none = cache.get(no_compiler(), {.text = "one"});
  EXPECT_TRUE(has(none.status, RuntimeRule::named_compiler_missing) && has(none.status, RuntimeRule::entry_damaged))
      << none.status.describe();
  EXPECT_FALSE(cache.find(compiler_, {.text = "two"})) << "there is nothing to say of it";
  fs::permissions(path, fs::perms::all);
  EXPECT_TRUE(has(cache.find(compiler_, {.text = "one"})->status, RuntimeRule::writable_by_others));
  EXPECT_TRUE(cache.get(compiler_, {.text = "one"}).compiled);
  EXPECT_EQ(cache.find(compiler_, {.text = "one"})->image, "one") << "kept beside it";
}

TEST_F(Cache, RebuildsWhatIsTruncatedChangedEmptyOrRenamed) {
  const std::string text = "a kernel of some length";
  ASSERT_TRUE(get(text));
  const std::string path = files(".kernel").front(), whole = read(path);
  ASSERT_TRUE(get("another"));
  std::string renamed;
  for (const std::string& one : files(".kernel")) {
    if (one != path) renamed = read(one);
  }
  std::string changed = whole, title = whole;
  changed[whole.size() - 3] ^= 1;
  title[whole.find("kernel a")] ^= 1;
  int calls = 2;
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), changed, title, std::string(), whole + " ", renamed}) {
    write(path, damaged);
    const CachedKernel again = get(text);
    EXPECT_TRUE(again.compiled && again.repaired);
    EXPECT_EQ(again.image, text);
    EXPECT_EQ(read(path), whole);
    EXPECT_EQ(stand_in_.calls(), ++calls);
  }
}

TEST_F(Cache, KeepsNoImageOfACompilationThatFailedAndSaysWhy) {
  const CachedKernel failed = get("#error");
  EXPECT_TRUE(is_only(failed.status, RuntimeRule::compiler_failed));
  const std::string said = failed.status.describe();
  EXPECT_NE(said.find("error: refused on purpose"), std::string::npos) << said;
  ASSERT_EQ(files(".cu").size(), 1U);
  EXPECT_TRUE(said.ends_with("\nIts source is " + files(".cu").front())) << said;
  EXPECT_EQ(read(files(".cu").front()), "#error");
  EXPECT_TRUE(files(".kernel").empty());
  EXPECT_FALSE(get("#error"));
  EXPECT_EQ(stand_in_.calls(), 2);
}

TEST_F(Cache, RemembersWhatGantryRefusesAndNothingElse) {
  const std::string source = "#error static assertion failed with \"gantry: the tile is too large\"";
  const CachedKernel first = get(source), second = get(source);
  EXPECT_TRUE(is_only(first.status, RuntimeRule::configuration_refused));
  EXPECT_TRUE(is_only(second.status, RuntimeRule::configuration_refused));
  EXPECT_TRUE(first.compiled && !second.compiled);
  EXPECT_EQ(first.status.describe(), second.status.describe());
  EXPECT_EQ(stand_in_.calls(), 1);
  EXPECT_EQ(cache_.contents().kernels, 0);
  EXPECT_TRUE(is_only(get("#error the disk is full").status, RuntimeRule::compiler_failed));
}

TEST_F(Cache, LeavesNothingButEntriesAndItsTag) {
  ASSERT_TRUE(get("one"));
  ASSERT_TRUE(get("two"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 3);
  EXPECT_EQ(files(".kernel").size(), 2U);
  EXPECT_EQ(files("CACHEDIR.TAG").size(), 1U);
}

TEST_F(Cache, RemovesWhatAProcessThatWasKilledLeftBehind) {
  ASSERT_TRUE(get("one"));
  const std::string path = files(".kernel").front(), name = fs::path(path).filename().string();
  const std::string stem = name.substr(0, name.size() - 7);
  write(directory_ + "/tmp-4711-0-" + name, "half of");
  write(directory_ + "/work-" + stem + "-4711-0/include/gantry/config.hpp", "// headers");
  fs::remove(path);
  EXPECT_TRUE(get("one").compiled);
  EXPECT_TRUE(files(".hpp").empty());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 2);
}

TEST_F(Cache, RemovesWhatWasNotUsedForLongestWhenItIsFull) {
  const std::string filler(10000, '/');
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(get(filler + name));
  // Times are given, so that none is equal to another: b is the oldest, then c, then a.
  const auto now = fs::file_time_type::clock::now();
  for (const std::string& path : files(".kernel")) {
    const int age = read(path).ends_with("b") ? 3 : read(path).ends_with("c") ? 2 : 1;
    fs::last_write_time(path, now - std::chrono::minutes(age));
  }
  EXPECT_FALSE(get(filler + "b").compiled);  // and is the youngest now
  EXPECT_TRUE(cache_.set_limit(45000));
  EXPECT_EQ(cache_.limit(), 45000U);
  EXPECT_EQ(files(".kernel").size(), 2U);
  EXPECT_TRUE(get(filler + "c").compiled) << "it was the oldest, and a goes in its place";
  EXPECT_FALSE(get(filler + "b").compiled);
  EXPECT_TRUE(get(filler + "a").compiled);
  EXPECT_EQ(files(".kernel").size(), 2U);
}

TEST_F(Cache, ListsVerifiesAndClearsItsEntries) {
  ASSERT_TRUE(get("one\x1b[31m\n"));
  ASSERT_TRUE(get("two"));
  for (const std::string& path : files(".kernel")) {
    if (read(path).ends_with("two")) write(path, "no entry");
  }
  const std::vector<KernelCache::Entry> entries = cache_.entries();
  ASSERT_EQ(entries.size(), 2U);
  for (const KernelCache::Entry& entry : entries) {
    if (entry.problem) {
      EXPECT_EQ(entry.title, "kernel one\\x1b[31m\\x0a");
      EXPECT_EQ(entry.kind, "cubin");
      EXPECT_TRUE(entry.toolchain.starts_with("nvcc 13.0.48 " + stand_in_.program())) << entry.toolchain;
    } else {
      EXPECT_TRUE(is_only(entry.problem, RuntimeRule::entry_damaged));
    }
  }
  EXPECT_EQ(cache_.clear().kernels, 2);
  EXPECT_TRUE(cache_.entries().empty());
  EXPECT_TRUE(get("two").compiled);
}

TEST_F(Cache, IsSharedBy64ProcessesThatAskAtOnce) {
  constexpr int kProcesses = 64;
  const CountingCompiler compiler(folder_ / "log");
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(start[1]);
      char go = 0;
      bool fine = ::read(start[0], &go, 1) == 0;
      // Each begins with another of the two, so that there is a crowd before both.
      for (int j = 0; j < 2; ++j) {
        const std::string text = (i + j) % 2 == 0 ? "even" : "odd";
        fine = fine && cache_.get(compiler, {.text = text}).image == "image of " + text;
      }
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
  EXPECT_EQ(compiler.calls(), 2);
  EXPECT_TRUE(files(".lock").empty());
}

TEST_F(Cache, InAFolderThatCannotBeWrittenUsesATemporaryOneAndSaysSo) {
  write(folder_ / "file", "no folder");
  std::string temporary;
  {
    const KernelCache cache({.directory = folder_ / "file/cache", .headers = &headers_});
    temporary = cache.directory();
    EXPECT_TRUE(is_only(cache.note(), RuntimeRule::folder_not_made));
    for (const std::string& named : {folder_ / "file/cache", temporary}) {
      EXPECT_NE(cache.note().describe().find(named), std::string::npos) << cache.note().describe();
    }
    const CachedKernel kernel = cache.get(compiler_, {.text = "one"});
    ASSERT_TRUE(kernel) << kernel.status.describe();
    EXPECT_EQ(cache.contents().kernels, 1);
    EXPECT_NE(origin_of(kernel).find(" and kept until this program ends"), std::string::npos) << origin_of(kernel);
    EXPECT_NE(origin_of(get("one")).find(" and kept in the cache"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(temporary));
  EXPECT_TRUE(cache_.note()) << cache_.note().describe();
}

TEST_F(Cache, SaysNothingThatATerminalWouldObey) {
  write(folder_ / "file", "no folder");
  const std::string odd = folder_ / "\x1b[31m";
  fs::create_directory(odd);
  const Variable temporary("TMPDIR", odd);
  const KernelCache cache({.directory = folder_ / "file", .headers = &headers_});
  const std::string said = cache.note().describe();
  EXPECT_NE(said.find("\\x1b[31m"), std::string::npos) << said;
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

TEST_F(Cache, SaysForEachFolderWhyItIsNotUsed) {
  const KernelCache cache({.directory = {}, .shipped = {folder_ / "gone", folder_ / "gone too"}, .headers = &headers_});
  ASSERT_EQ(cache.note().reasons().size(), 3u) << cache.note().describe();
  EXPECT_TRUE(has(cache.note(), RuntimeRule::folder_not_opened)) << cache.note().describe();
  EXPECT_EQ(cache.note().reasons().back().rule, std::string(to_text(RuntimeRule::folder_missing)));
  EXPECT_EQ(cache.note().reasons().back().operand, "HOME");
}

TEST_F(Cache, WithoutAnyFolderCompilesAllTheSame) {
  const Variable nowhere("TMPDIR", folder_ / "nowhere");
  write(folder_ / "file", "no folder");
  const KernelCache cache({.directory = folder_ / "file", .headers = &headers_});
  const CountingCompiler compiler(folder_ / "log");
  // Without TMPDIR's folder /tmp is taken, which is there as a rule; either way there is a kernel.
  EXPECT_EQ(cache.get(compiler, {.text = "one"}).image, "image of one");
}

TEST(CacheDirectory, ComesFromTheEnvironment) {
  const Variable home("HOME", "/home/somebody");
  const Variable shared("XDG_CACHE_HOME", "");
  const Variable none("GANTRY_CACHE_DIR", "");
  EXPECT_EQ(KernelCache::default_directory(), "/home/somebody/.cache/gantry/kernels");
  const Variable own_shared("XDG_CACHE_HOME", "/var/cache/somebody");
  EXPECT_EQ(KernelCache::default_directory(), "/var/cache/somebody/gantry/kernels");
  const Variable own("GANTRY_CACHE_DIR", "/kernels");
  EXPECT_EQ(KernelCache::default_directory(), "/kernels");
}

}  // namespace
}  // namespace gantry::runtime::test
