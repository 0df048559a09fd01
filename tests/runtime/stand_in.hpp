// Stand-ins for compilers, and a folder of a test's own.
//
// StandIn is a script in nvcc's place: it tells a version, notes every call with its arguments, refuses sources that
// hold "#error" as a compiler would, and otherwise copies the source to the output. CountingCompiler needs no process:
// it counts calls in a file, so that many processes can share it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <gantry/runtime/kernel_compiler.hpp>

namespace gantry::runtime::test {

// Whether a rule is broken and no other; with the sentence where it is not so.
inline testing::AssertionResult is_only(const Status& status, RuntimeRule rule) {
  const bool only = status.reasons().size() == 1 && has(status, rule);
  return (only ? testing::AssertionSuccess() : testing::AssertionFailure()) << status.describe();
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gantry-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

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

class StandIn {
 public:
  explicit StandIn(const std::string& version = "13.0.48") : program_(folder_ / "bin/nvcc") {
    write(program_,
          "#!/bin/sh\n"
          "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release x, V" +
              version +
              "'; exit; fi\n"
              "echo \"$@\" >> '" +
              (folder_ / "calls") +
              "'\n"
              "while [ $# -gt 1 ]; do case $1 in -o) out=$2;; *.cu) in=$1;; esac; shift; done\n"
              "echo begun > \"$out\"\n"
              "if grep -q '#error' \"$in\"; then echo \"$in(1): error: refused on purpose\"; grep -o '\"gantry: .*' "
              "\"$in\"; exit 2; fi\n"
              "cat \"$in\" > \"$out\"\n");
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }

  const std::string& program() const { return program_; }
  std::string home() const { return folder_.path(); }
  Compiler compiler() const { return Compiler::find({.nvcc = program_, .cuda_home = {}, .path = {}}); }
  NvccCompiler cubins() const { return {compiler(), ImageKind::cubin}; }
  std::string log() const { return read(folder_ / "calls"); }
  int calls() const {
    const std::string text = log();
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  Folder folder_;
  std::string program_;
};

class CountingCompiler : public KernelCompiler {
 public:
  CountingCompiler(std::string log, std::string name = "counting compiler 1")
      : log_(std::move(log)), name_(std::move(name)) {}

  const Status& status() const override { return status_; }
  ImageKind kind() const override { return ImageKind::cubin; }
  std::string identity() const override { return name_; }
  CompiledImage compile(const CompileJob& job) const override {
    const int file = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool noted = ::write(file, "+", 1) == 1;
    close(file);
    if (while_compiling) while_compiling();
    CompiledImage out;
    if (noted) out.bytes = "image of " + job.text;
    return out;
  }
  int calls() const { return static_cast<int>(read(log_).size()); }

  std::function<void()> while_compiling{};

 private:
  std::string log_, name_;
  Status status_;
};

// Where there is no compiler.
inline NvccCompiler no_compiler() {
  return {Compiler::find({.nvcc = "/no/nvcc", .cuda_home = {}, .path = {}}), ImageKind::cubin};
}

}  // namespace gantry::runtime::test
