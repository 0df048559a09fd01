// Kernels are compiled from the headers in the library, wherever the program lies and whatever lies beside it.
#include <filesystem>

#include <gtest/gtest.h>

#include <gantry/runtime/headers.hpp>

#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

namespace fs = std::filesystem;

TEST(EmbeddedHeaders, AreThoseOfTheSourceTree) {
  const fs::path root = GANTRY_SOURCE_DIR "/include";
  std::size_t count = 0;
  for (const auto& file : fs::recursive_directory_iterator(root)) count += file.path().extension() == ".hpp" ? 1 : 0;
  const DeviceHeaders& headers = DeviceHeaders::embedded();
  EXPECT_EQ(headers.files.size(), count);
  for (const HeaderFile& file : headers.files) EXPECT_EQ(file.text, read(root / file.name)) << file.name;
  EXPECT_EQ(headers.digest.size(), 64U);
}

// A folder of the program's own, with include/ beside it, as /tmp/x/program would have /tmp/include.
TEST(EmbeddedHeaders, AreNotThoseBesideTheProgram) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path planted = program.parent_path().parent_path() / "include";
  write(planted / "gantry/config.hpp", "#error planted\n");
  // The stand-in shows what nvcc would have read.
  const Folder folder;
  write(folder / "nvcc",
        "#!/bin/sh\n"
        "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release x, V13.0.48'; exit; fi\n"
        "while [ $# -gt 1 ]; do case $1 in -o) out=$2;; -I*) in=${1#-I};; esac; shift; done\n"
        "cat $in/gantry/config.hpp > $out\n");
  fs::permissions(folder / "nvcc", fs::perms::owner_all);
  const NvccCompiler compiler(Compiler::find({.nvcc = folder / "nvcc", .cuda_home = {}, .path = {}}), ImageKind::cubin);
  const CompiledImage seen = compiler.compile({.text = "#include <gantry/config.hpp>\n"});
  fs::remove_all(planted / "gantry");
  ASSERT_TRUE(seen) << seen.status.describe();
  EXPECT_EQ(seen.bytes, read(GANTRY_SOURCE_DIR "/include/gantry/config.hpp"));
}

}  // namespace
}  // namespace gantry::runtime::test
