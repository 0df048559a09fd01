// The compiler is found where the environment says, or a sentence says what is missing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <gantry/runtime/device.hpp>
#include <gantry/runtime/module.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

CompilerSearch nowhere() { return {.nvcc = {}, .cuda_home = {}, .path = {}, .otherwise = "/nowhere"}; }

TEST(Compiler, ThatIsNowhereIsMissedInASentence) {
  const Compiler compiler = Compiler::find(nowhere());
  EXPECT_FALSE(compiler);
  EXPECT_TRUE(is_only(compiler.status(), RuntimeRule::nvcc_missing));
  EXPECT_EQ(compiler.status().describe(),
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
    ASSERT_TRUE(compiler) << compiler.status().describe();
    EXPECT_EQ(compiler.path(), stand_in.program());
    EXPECT_EQ(compiler.version(), "12.8.93");
  }
}

TEST(Compiler, ThatTheEnvironmentNamesIsNotPassedOver) {
  const StandIn stand_in;
  CompilerSearch search = nowhere();
  search.path = stand_in.home() + "/bin";
  search.cuda_home = "/old/cuda";
  const Status home = Compiler::find(search).status();
  EXPECT_TRUE(is_only(home, RuntimeRule::named_compiler_missing));
  EXPECT_EQ(home.reasons()[0].operand, "CUDA_HOME");
  search.nvcc = "/my/nvcc";
  const Status named = Compiler::find(search).status();
  EXPECT_TRUE(is_only(named, RuntimeRule::named_compiler_missing));
  EXPECT_EQ(named.reasons()[0].operand, "GANTRY_NVCC");
}

TEST(Compiler, ThatIsTooOldOrNoCompilerIsRefused) {
  const StandIn old("12.3.107"), mute("");
  EXPECT_TRUE(is_only(old.compiler().status(), RuntimeRule::compiler_too_old));
  EXPECT_TRUE(is_only(mute.compiler().status(), RuntimeRule::compiler_unusable));
  EXPECT_TRUE(StandIn("12.4.0").compiler());
}

TEST(Compiler, IsFoundOnThePathByItsName) {
  const StandIn stand_in;
  CompilerSearch search = nowhere();
  search.nvcc = "nvcc";
  EXPECT_TRUE(is_only(Compiler::find(search).status(), RuntimeRule::named_compiler_missing));
  search.path = "/nowhere:" + stand_in.home() + "/bin";
  const Compiler compiler = Compiler::find(search);
  ASSERT_TRUE(compiler) << compiler.status().describe();
  EXPECT_EQ(compiler.path(), stand_in.program());
}

TEST(Compiler, ThatFailsSaysWhyAndLeavesNothingBehind) {
  const StandIn stand_in;
  const Folder folder;
  const Variable temporary("TMPDIR", folder.path());
  const CompiledImage done = stand_in.cubins().compile({.text = "#error\n"});
  EXPECT_TRUE(is_only(done.status, RuntimeRule::compiler_failed));
  EXPECT_EQ(done.status.describe(), "nvcc ended with status 2 and said:\nkernel.cu(1): error: refused on purpose\n");
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
  EXPECT_EQ(done.bytes, "fine") << done.status.describe();
}

// The kernel finds no interpreter for it: the program is there, and cannot be started.
TEST(Nvcc, ThatCannotBeStartedIsNotTakenForOneThatIsMute) {
  const Folder folder;
  const std::string program = folder / "nvcc";
  write(program, "#!/nowhere/sh\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Status status = Compiler::find({.nvcc = program, .cuda_home = {}, .path = {}}).status();
  EXPECT_TRUE(is_only(status, RuntimeRule::process_not_started));
  EXPECT_EQ(status.describe(),
            program + " could not be asked for its version: it could not be started: No such file or directory");
}

TEST(Module, GivesFunctionsByNameAndSaysWhyItIsNotThere) {
  const Module maths("libm.so.6");
  ASSERT_TRUE(maths) << maths.status().describe();
  const auto cosine = maths.function<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(maths.function<void()>("no_such_function"), nullptr);
  const Module missing("/nowhere/kernel.so");
  EXPECT_FALSE(missing);
  EXPECT_TRUE(is_only(missing.status(), RuntimeRule::module_not_loaded));
}

// The same number of a file is used again by the second; the loader must not take it for the first.
TEST(Module, ThatIsAPipeAFolderOrADeviceIsNotWaitedFor) {
  const Folder folder;
  const std::string pipe = folder / "libpipe\x1b.so";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Module module(pipe);
  EXPECT_TRUE(is_only(module.status(), RuntimeRule::module_not_loaded));
  EXPECT_EQ(module.status().describe(), folder / "libpipe\\x1b.so could not be loaded: it is a named pipe");
  EXPECT_EQ(Module(folder.path()).status().describe(), folder.path() + " could not be loaded: it is a folder");
  EXPECT_EQ(Module("/dev/zero").status().describe(), "/dev/zero could not be loaded: it is a device");
}

TEST(Module, IsLoadedFromMemoryAndEachImageIsItsOwn) {
  const Module first = Module::from_image(read(GANTRY_ANSWER_41), "the first"),
               second = Module::from_image(read(GANTRY_ANSWER_42), "the second"),
               none = Module::from_image("no object", "a text\x1b");
  ASSERT_TRUE(first) << first.status().describe();
  ASSERT_TRUE(second) << second.status().describe();
  EXPECT_EQ(first.function<int()>("answer")(), 41);
  EXPECT_EQ(second.function<int()>("answer")(), 42);
  EXPECT_TRUE(is_only(none.status(), RuntimeRule::module_not_loaded));
  EXPECT_TRUE(none.status().describe().starts_with("a text\\x1b could not be loaded: ")) << none.status().describe();
}

TEST(Device, ThatIsNotThereHasNoMemoryAndSaysWhy) {
  const Device none;
  DeviceBuffer buffer(none, 16);
  char bytes[16] = {};
  EXPECT_FALSE(buffer);
  EXPECT_TRUE(is_only(buffer.status(), RuntimeRule::device_missing));
  for (const Status& refused :
       {buffer.write(bytes, 16), buffer.read(bytes, 16), buffer.fill(0), none.synchronize(), none.runs_kernels()}) {
    EXPECT_TRUE(is_only(refused, RuntimeRule::device_missing));
  }
  EXPECT_TRUE(is_only(DeviceBuffer().status(), RuntimeRule::device_missing));
  const Device found = Device::open();
  EXPECT_EQ(static_cast<bool>(found), found.status().ok());
}

}  // namespace
}  // namespace gantry::runtime::test
