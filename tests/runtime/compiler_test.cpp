// The compiler is found where the environment says, or a sentence says what is missing.
#include <gtest/gtest.h>

#include <gantry/runtime/device.hpp>
#include <gantry/runtime/module.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

CompilerSearch nowhere() { return {.nvcc = {}, .cuda_home = {}, .path = {}, .otherwise = "/nowhere"}; }

TEST(Compiler, ThatIsNowhereIsMissedInASentence) {
  const Compiler compiler = Compiler::find(nowhere());
  EXPECT_FALSE(compiler);
  EXPECT_EQ(compiler.problem(),
            "there is no nvcc: neither on the PATH nor in /nowhere/bin; install the CUDA toolkit 12.4 or newer, or set "
            "GANTRY_NVCC or CUDA_HOME");
}

TEST(Compiler, IsFoundByEachWayAndTellsItsVersion) {
  const StandIn stand_in("12.8.93");
  const std::string bin = stand_in.home() + "/bin";
  std::vector<CompilerSearch> ways(4, nowhere());
  ways[0].nvcc = stand_in.program();
  ways[1].cuda_home = stand_in.home();
  ways[2].path = "/nowhere::/also/nowhere:" + bin;
  ways[3].otherwise = stand_in.home();
  for (const CompilerSearch& way : ways) {
    const Compiler compiler = Compiler::find(way);
    ASSERT_TRUE(compiler) << compiler.problem();
    EXPECT_EQ(compiler.path(), stand_in.program());
    EXPECT_EQ(compiler.version(), "12.8.93");
  }
}

TEST(Compiler, ThatTheEnvironmentNamesIsNotPassedOver) {
  const StandIn stand_in;
  CompilerSearch search = nowhere();
  search.path = stand_in.home() + "/bin";
  search.cuda_home = "/old/cuda";
  EXPECT_EQ(Compiler::find(search).problem(), "CUDA_HOME is /old/cuda, and there is no /old/cuda/bin/nvcc");
  search.nvcc = "/my/nvcc";
  EXPECT_EQ(Compiler::find(search).problem(), "GANTRY_NVCC names /my/nvcc, which is no program that can be run");
}

TEST(Compiler, ThatIsTooOldOrNoCompilerIsRefused) {
  const StandIn old("12.3.107"), mute("");
  EXPECT_EQ(old.compiler().problem(), old.program() + " is version 12.3.107; kernels for Hopper need 12.4 or newer");
  EXPECT_EQ(mute.compiler().problem(),
            mute.program() + " does not tell its version when asked with --version, so it is not taken for nvcc");
  EXPECT_TRUE(StandIn("12.4.0").compiler());
}

TEST(Compiler, IsFoundOnThePathByItsName) {
  const StandIn stand_in;
  CompilerSearch search = nowhere();
  search.nvcc = "nvcc";
  EXPECT_EQ(Compiler::find(search).problem(), "GANTRY_NVCC names nvcc, which is on no folder of the PATH");
  search.path = "/nowhere:" + stand_in.home() + "/bin";
  const Compiler compiler = Compiler::find(search);
  ASSERT_TRUE(compiler) << compiler.problem();
  EXPECT_EQ(compiler.path(), stand_in.program());
}

TEST(Compiler, ThatFailsSaysWhyAndLeavesNothingBehind) {
  const StandIn stand_in;
  const Folder folder;
  const Variable temporary("TMPDIR", folder.path());
  const CompiledImage done = stand_in.cubins().compile({.text = "#error\n"});
  EXPECT_EQ(done.problem, "nvcc ended with status 2 and said:\nkernel.cu(1): error: refused on purpose\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(stand_in.cubins().compile({.text = "fine"}).bytes, "fine");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Names in a folder that everybody can write: none can be taken before.
TEST(Compiler, WorksInATemporaryFolderWhoseNameNobodyKnows) {
  const StandIn stand_in;
  const Folder folder;
  const Variable temporary("TMPDIR", folder.path());
  for (int serial = 0; serial < 200; ++serial) {
    const std::string ending = std::to_string(getpid()) + "-" + std::to_string(serial);
    std::filesystem::create_directory(folder / ("gantry-work-kernel-" + ending));
  }
  const CompiledImage done = stand_in.cubins().compile({.text = "fine"});
  EXPECT_EQ(done.bytes, "fine") << done.problem;
}

TEST(Module, GivesFunctionsByNameAndSaysWhyItIsNotThere) {
  const Module maths("libm.so.6");
  ASSERT_TRUE(maths) << maths.problem();
  const auto cosine = maths.function<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(maths.function<void()>("no_such_function"), nullptr);
  const Module missing("/nowhere/kernel.so");
  EXPECT_FALSE(missing);
  EXPECT_EQ(missing.problem().rfind("/nowhere/kernel.so could not be loaded: ", 0), 0u) << missing.problem();
}

// The same number of a file is used again by the second; the loader must not take it for the first.
TEST(Module, IsLoadedFromMemoryAndEachImageIsItsOwn) {
  const Module first = Module::from_image(read(GANTRY_ANSWER_41), "the first"),
               second = Module::from_image(read(GANTRY_ANSWER_42), "the second"),
               none = Module::from_image("no object", "a text\x1b");
  ASSERT_TRUE(first) << first.problem();
  ASSERT_TRUE(second) << second.problem();
  EXPECT_EQ(first.function<int()>("answer")(), 41);
  EXPECT_EQ(second.function<int()>("answer")(), 42);
  EXPECT_EQ(none.problem().rfind("a text\\x1b could not be loaded: ", 0), 0u) << none.problem();
}

TEST(Device, ThatIsNotThereHasNoMemoryAndSaysWhy) {
  const Device none;
  DeviceBuffer buffer(none, 16);
  char bytes[16] = {};
  EXPECT_FALSE(buffer);
  EXPECT_FALSE(buffer.write(bytes, 16) || buffer.read(bytes, 16) || buffer.fill(0) || none.synchronize());
  const Device found = Device::open();
  EXPECT_EQ(static_cast<bool>(found), found.why_not().empty());
}

}  // namespace
}  // namespace gantry::runtime::test
