// NVRTC is found, or a sentence says what is missing; where it is there, it makes cubins from the embedded headers, as
// nvcc does.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <gantry/runtime/cache.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

NvrtcSearch only(const std::string& library, int driver_version = 0) {
  return {.library = {}, .cuda_home = {}, .names = {library}, .driver_version = driver_version};
}

Status status_of(const NvrtcSearch& search) { return NvrtcCompiler::find(search).status(); }

TEST(Nvrtc, ThatIsNowhereIsMissedInASentence) {
  const Status nowhere = status_of(only("/nowhere/libnvrtc.so"));
  EXPECT_TRUE(is_only(nowhere, RuntimeRule::nvrtc_missing));
  EXPECT_EQ(nowhere.describe(),
            "there is no libnvrtc where libraries are looked for; install it (package cuda-nvrtc), or set GANTRY_NVRTC "
            "to its path");
  NvrtcSearch search = only(GANTRY_FAKE_NVRTC_13);
  search.library = "/nowhere/libnvrtc.so";
  EXPECT_TRUE(is_only(status_of(search), RuntimeRule::named_compiler_missing));
  EXPECT_TRUE(is_only(status_of(only("libm.so.6")), RuntimeRule::compiler_unusable));
  EXPECT_EQ(status_of(only("libm.so.6")).describe(), "libm.so.6 cannot be used: it lacks a function of libnvrtc");
}

TEST(Nvrtc, ThatIsAPipeIsNotWaitedFor) {
  const Folder folder;
  std::filesystem::create_directory(folder / "lib64");
  const std::string pipe = folder / "lib64/libnvrtc.so";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Status named = status_of({.library = pipe, .cuda_home = {}, .names = {}});
  EXPECT_TRUE(is_only(named, RuntimeRule::named_compiler_missing));
  EXPECT_EQ(named.describe(), "GANTRY_NVRTC names a library, and " + pipe + " could not be loaded: it is a named pipe");
  EXPECT_TRUE(is_only(status_of({.library = {}, .cuda_home = folder.path(), .names = {}}), RuntimeRule::nvrtc_missing));
}

TEST(Nvrtc, ThatIsNewerThanTheDriverIsPassedOverOrSaid) {
  NvrtcSearch search = only(GANTRY_FAKE_NVRTC_99, 13000);
  EXPECT_TRUE(is_only(status_of(search), RuntimeRule::compiler_newer_than_driver));
  EXPECT_EQ(status_of(search).describe(), GANTRY_FAKE_NVRTC_99
            " is version 99.2, and the driver knows CUDA up to 13.0: it would not load what this compiler makes; "
            "install a newer driver, or libnvrtc 13");
  search.names.push_back(GANTRY_FAKE_NVRTC_13);
  const NvrtcCompiler older = NvrtcCompiler::find(search);
  EXPECT_TRUE(older.status());
  EXPECT_EQ(older.version(), "13.2") << "of the same major version, which the driver loads";
  search.driver_version = 0;
  EXPECT_EQ(NvrtcCompiler::find(search).version(), "99.2") << "nothing is known of a driver";
}

TEST(Nvrtc, ThatIsTooOldIsRefused) {
  EXPECT_TRUE(is_only(status_of(only(GANTRY_FAKE_NVRTC_12)), RuntimeRule::compiler_too_old));
}

TEST(Nvrtc, ThatFailsSaysWhyAndLeavesTheTerminalAlone) {
  const CompiledImage failed = NvrtcCompiler::find(only(GANTRY_FAKE_NVRTC_13)).compile({.text = "#error"});
  EXPECT_TRUE(is_only(failed.status, RuntimeRule::compiler_failed));
  EXPECT_EQ(failed.status.describe(),
            "NVRTC ended with \"NVRTC_ERROR_COMPILATION\" and said:\n"
            "kernel.cu(1): error: \\x1b]0;title\\x07 refused on purpose\n");
}

// All that a kernel may include.
constexpr const char* kKernel =
    "#include <gantry/arch.hpp>\n"
    "#include <gantry/pipeline.hpp>\n"
    "#include <gantry/epilogue/collective.hpp>\n"
    "#include <gantry/gemm/cooperative.hpp>\n"
    "#include <gantry/gemm/pingpong.hpp>\n"
    "extern \"C\" __global__ void answer(int* to) {\n"
    "  gantry::for_each_index<4>([&](auto i) { to[i] = gantry::Constant<2 * i>::value; });\n"
    "}\n";

void expect_to_compile(const KernelCompiler& compiler) {
  const Folder folder;
  const KernelCache cache({.directory = folder / "cache"});
  const CachedKernel kernel = cache.get(compiler, {.text = kKernel}), again = cache.get(compiler, {.text = kKernel});
  ASSERT_TRUE(kernel) << kernel.status.describe();
  EXPECT_TRUE(
      kernel.image.starts_with("\x7f"
                               "ELF"));
  EXPECT_NE(kernel.image.find("answer"), std::string::npos);
  EXPECT_FALSE(again.compiled);
  EXPECT_EQ(again.image, kernel.image);
  const CachedKernel refused =
      cache.get(compiler, {.text = "static_assert(sizeof(int) == 5, \"gantry: an int of 4 bytes\");\n"});
  EXPECT_TRUE(is_only(refused.status, RuntimeRule::configuration_refused));
}

TEST(DeviceHeaders, AreCompiledByNvrtc) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  expect_to_compile(compiler);
}

// NVRTC makes a variable of each constant of a class that the source instantiates, read or not, with its name.
TEST(DeviceHeaders, LeaveNoVariableInAnImageForWhatNoKernelUses) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  const CompiledImage image =
      compiler.compile({.text = "#include <gantry/atom/copy_operations.hpp>\n"
                                "static_assert(gantry::Integer<int> && !gantry::Integer<float>);\n"
                                "static_assert(__is_same(int, int) && !__is_same(int, long));\n"
                                "extern \"C\" __global__ void nothing() {}\n"});
  ASSERT_TRUE(image) << image.status.describe();
  EXPECT_NE(image.bytes.find("nothing"), std::string::npos);
  for (const char* name : {"nvrtc", "IntegerType", "4bitsE"}) {  // the last: the layouts of a copy instruction
    EXPECT_EQ(image.bytes.find(name), std::string::npos) << name;
  }
}

// The folder that the program happens to be in is nobody's choice.
TEST(DeviceHeaders, AreNotTakenFromTheWorkingDirectory) {
  const NvrtcCompiler compiler = NvrtcCompiler::find();
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  const Folder folder;
  for (const char* name : {"gantry/config.hpp", "cstdint", "prelude.hpp"}) write(folder / name, "#error planted\n");
  write(folder / "planted.hpp", "\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const CompiledImage own =
      compiler.compile({.text = "#include <cstdint>\n#include <gantry/config.hpp>\n__global__ void nothing() {}\n"});
  const CompiledImage quoted = compiler.compile({.text = "#include \"planted.hpp\"\n"});
  const CompiledImage angled = compiler.compile({.text = "#include <planted.hpp>\n"});
  std::filesystem::current_path(before);
  EXPECT_TRUE(own) << own.status.describe();
  EXPECT_NE(quoted.status.describe().find("planted.hpp"), std::string::npos) << "it is read";
  EXPECT_NE(angled.status.describe().find("planted.hpp"), std::string::npos) << "it is read";
}

TEST(DeviceHeaders, AreCompiledByNvcc) {
  const NvccCompiler compiler(Compiler::find(), ImageKind::cubin);
  if (!compiler.status()) GTEST_SKIP() << compiler.status().describe();
  expect_to_compile(compiler);
}

}  // namespace
}  // namespace gantry::runtime::test
