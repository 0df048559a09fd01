// The C++ compiler is found where the environment says, reads nothing that the environment plants, and makes objects
// that can be loaded.
#include <gtest/gtest.h>

#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/module.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

// A program that answers any question with this text.
std::string program(const Folder& folder, const std::string& name, const std::string& answer) {
  std::string path = folder / name;
  write(path, "#!/bin/sh\ncat <<'END'\n" + answer + "END\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

constexpr const char* kGcc13 =
    "#define __GNUC__ 13\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 1\n"
    "#define __cplusplus 202002L\n";
constexpr const char* kClang14 =
    "#define __GNUC__ 4\n#define __clang_major__ 14\n#define __clang_minor__ 0\n"
    "#define __clang_patchlevel__ 6\n#define __cplusplus 202002L\n";

TEST(HostCompiler, ThatIsNowhereIsMissedInASentence) {
  const Status none = HostCompiler::find({.path = "/nowhere:"}).status();
  EXPECT_TRUE(is_only(none, RuntimeRule::host_compiler_missing));
  EXPECT_EQ(none.describe(),
            "there is no C++ compiler: neither g++ nor clang++ is on the PATH; install g++ 12 or clang 14 or newer, or "
            "set GANTRY_CXX");
}

TEST(HostCompiler, IsTheOneThatTheEnvironmentNamesFirst) {
  const Folder folder;
  const std::string gcc = program(folder, "g++", kGcc13), clang = program(folder, "clang++", kClang14);
  const HostCompiler usual = HostCompiler::find({.path = folder.path()});
  EXPECT_EQ(usual.version(), "g++ 13.2.1") << usual.status().describe();
  const HostCompiler by_cxx = HostCompiler::find({.cxx = " clang++  -m64", .path = folder.path()});
  EXPECT_EQ(by_cxx.version(), "clang++ 14.0.6") << by_cxx.status().describe();
  EXPECT_EQ(by_cxx.command(), (std::vector<std::string>{clang, "-m64"}));
  EXPECT_NE(by_cxx.identity().find("clang++ 14.0.6 " + clang + " -m64 -std=c++20"), std::string::npos)
      << by_cxx.identity();
  EXPECT_EQ(HostCompiler::find({.gantry_cxx = gcc, .cxx = "clang++", .path = folder.path()}).version(), "g++ 13.2.1");
}

TEST(HostCompiler, ThatTheEnvironmentNamesIsNotPassedOver) {
  const Folder folder;
  program(folder, "g++", kGcc13);
  const Status path = HostCompiler::find({.gantry_cxx = "/my/g++", .path = folder.path()}).status();
  EXPECT_TRUE(is_only(path, RuntimeRule::named_compiler_missing));
  EXPECT_EQ(path.describe(), "GANTRY_CXX names /my/g++, which is no program that can be run");
  const Status name = HostCompiler::find({.cxx = "icc", .path = folder.path()}).status();
  EXPECT_TRUE(is_only(name, RuntimeRule::named_compiler_missing));
  EXPECT_EQ(name.reasons()[0].operand, "CXX");
}

TEST(HostCompiler, ThatIsTooOldOrNoCompilerIsRefused) {
  const Folder folder;
  std::string text = kGcc13;
  const std::string old = program(folder, "old", text.replace(text.find("13"), 2, "11"));
  EXPECT_TRUE(is_only(HostCompiler::find({.gantry_cxx = old}).status(), RuntimeRule::compiler_too_old));
  const std::string mute = program(folder, "mute", "#define __cplusplus 202002L\n");
  EXPECT_TRUE(is_only(HostCompiler::find({.gantry_cxx = mute}).status(), RuntimeRule::compiler_unusable));
}

TEST(HostCompiler, ThatCannotBeStartedIsNotTakenForOneThatIsMute) {
  const Folder folder;
  const std::string path = folder / "g++";
  write(path, "#!/nowhere/sh\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const Status status = HostCompiler::find({.gantry_cxx = path}).status();
  EXPECT_TRUE(is_only(status, RuntimeRule::process_not_started));
  EXPECT_EQ(status.describe(),
            path + " could not be asked for its macros: it could not be started: No such file or directory");
}

TEST(HostCompiler, MakesAnObjectFromTheEmbeddedHeadersAndFromNothingThatIsPlanted) {
  const Folder planted;
  write(planted / "cstdint", "#error planted\n");
  write(planted / "gantry/config.hpp", "#error planted\n");
  const Variable cpath("CPATH", planted.path()), cplus("CPLUS_INCLUDE_PATH", planted.path()),
      programs("COMPILER_PATH", planted.path());
  const HostCompiler compiler = HostCompiler::find();
  ASSERT_TRUE(compiler.status());
  const CompiledImage image =
      compiler.compile({.text = "#include <cstdint>\n#include <gantry/config.hpp>\n"
                                "extern \"C\" __attribute__((visibility(\"default\"))) const char* digest() {\n"
                                "  return GANTRY_HEADERS_DIGEST;\n}\n"});
  ASSERT_TRUE(image) << image.status.describe();
  const Module module = Module::from_image(image.bytes, "the object");
  ASSERT_TRUE(module) << module.status().describe();
  const auto digest = module.function<const char*()>("digest");
  ASSERT_NE(digest, nullptr);
  EXPECT_EQ(std::string(digest()), DeviceHeaders::embedded().digest);
}

TEST(HostCompiler, QuotesWhatTheCompilerSaidAndRefusesNamesThatNobodyDefines) {
  const HostCompiler compiler = HostCompiler::find();
  ASSERT_TRUE(compiler.status());
  const CompiledImage wrong = compiler.compile({.text = "int answer() { return missing; }\n"});
  EXPECT_FALSE(wrong);
  EXPECT_TRUE(is_only(wrong.status, RuntimeRule::compiler_failed));
  EXPECT_NE(wrong.status.describe().find("kernel.cpp:1:"), std::string::npos) << wrong.status.describe();
  const CompiledImage open = compiler.compile({.text = "void other();\nvoid answer() { other(); }\n"});
  EXPECT_TRUE(is_only(open.status, RuntimeRule::compiler_failed));
  EXPECT_NE(open.status.describe().find("undefined reference to `other()'"), std::string::npos);
}

}  // namespace
}  // namespace gantry::runtime::test
