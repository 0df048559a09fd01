// A folder of a test's own, and a stand-in for nvcc in it: a script that tells a version, notes every call, refuses
// sources that hold "#error" as a compiler would, kills the process that called it first where they hold "#kill", and
// otherwise copies the source to the output.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gantry/runtime/compiler.hpp>

namespace gantry::runtime::test {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gantry-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

class StandIn {
 public:
  explicit StandIn(const std::string& version = "13.0.48") : program_(folder_ / "bin/nvcc") {
    write(program_,
          "#!/bin/sh\n"
          "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release x, V" +
              version +
              "'; exit; fi\n"
              "echo called >> '" +
              (folder_ / "calls") +
              "'\n"
              "while [ $# -gt 1 ]; do case $1 in -o) out=$2;; *.cu) in=$1;; esac; shift; done\n"
              "echo begun > \"$out\"\n"
              "if grep -q '#error' \"$in\"; then echo \"$in(1): error: refused on purpose\"; grep -o '\"gantry: .*' "
              "\"$in\"; exit 2; fi\n"
              "if grep -q '#kill' \"$in\" && [ $(wc -l < '" +
              (folder_ / "calls") +
              "') = 1 ]; then kill -9 $PPID; fi\n"
              "cat \"$in\" > \"$out\"\n");
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }

  const std::string& program() const { return program_; }
  std::string home() const { return folder_.path(); }
  Compiler compiler() const { return Compiler::find({.nvcc = program_, .cuda_home = {}, .path = {}}); }
  int calls() const {
    const std::string text = read(folder_ / "calls");
    return static_cast<int>(text.size() / std::string("called\n").size());
  }

 private:
  Folder folder_;
  std::string program_;
};

}  // namespace gantry::runtime::test
