#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <gantry/runtime/kernel_compiler.hpp>
#include <gantry/runtime/printable.hpp>

#include "compiler_log.hpp"
#include "private_folder.hpp"
#include "process.hpp"

namespace gantry::runtime {

namespace {

// What nvcc and the host compiler that it runs read beside their arguments.
constexpr const char* kVariables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH",
                                      "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"};

// In the folder that nvcc works in. None of these names comes from outside, so that none has a quote or a line end that
// the shell, through which nvcc runs its parts, could take for its own.
constexpr const char* kSource = "kernel.cu";
constexpr const char* kImage = "kernel.image";

std::vector<std::string> flags_for(ImageKind kind) {
  std::vector<std::string> out{"-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-Iinclude"};
  if (kind == ImageKind::cubin) {
    out.emplace_back("-cubin");
    return out;
  }
  // -O is for the host's part, which only plans and launches; ptxas does its best without it.
  out.insert(out.end(), {"-O1", "-shared", "-Xcompiler", "-fPIC", "-Xcompiler", "-fvisibility=hidden"});
  return out;
}

// A folder that is gone with all that is in it when this is.
class WorkFolder {
 public:
  WorkFolder(int parent, std::string name)
      : parent_(parent), name_(std::move(name)), folder_(PrivateFolder::made_in(parent_, name_)) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    if (folder_) remove_tree(parent_, name_);
  }

  const PrivateFolder& folder() const { return folder_; }

  // Empty, or why the source and the headers are not there.
  std::string fill(const CompileJob& job) const {
    if (!folder_) return folder_.problem();
    const DeviceHeaders& headers = job.headers == nullptr ? DeviceHeaders::embedded() : *job.headers;
    std::string problem = folder_.add(kSource, job.text);
    for (const HeaderFile& file : headers.files) {
      if (problem.empty()) problem = folder_.add(std::string("include/") + file.name, file.text);
    }
    return problem;
  }

 private:
  int parent_;
  std::string name_;
  PrivateFolder folder_;
};

std::string temporary_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

CompiledImage compile_in(const WorkFolder& work, std::vector<std::string> arguments) {
  CompiledImage out;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult ran = run_process({.arguments = std::move(arguments),
                                         .environment = {"TMPDIR=.", "LC_ALL=C"},
                                         .folder = work.folder().descriptor()});
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!ran.started) {
    out.problem = "nvcc: " + ran.problem;
  } else if (ran.status != 0) {
    out.problem = "nvcc ended with status " + std::to_string(ran.status) + " and said:\n" + compiler_log(ran.output);
  } else {
    FileBytes image = work.folder().read(kImage);
    if (!image) out.problem = "nvcc left no image: " + (image.absent ? "it said that all went well" : image.problem);
    out.bytes = std::move(image.bytes);
  }
  return out;
}

}  // namespace

const char* to_text(ImageKind kind) { return kind == ImageKind::cubin ? "cubin" : "shared object"; }

std::string NvccCompiler::identity() const {
  std::string out = "nvcc " + compiler_.version() + " " + compiler_.path();
  for (const std::string& flag : flags_for(kind_)) out += " " + flag;
  for (const char* name : kVariables) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') out += std::string(" ") + name + "=" + value;
  }
  return one_line(out);
}

CompiledImage NvccCompiler::compile(const CompileJob& job) const {
  static std::atomic<unsigned> serial = 0;
  std::vector<std::string> arguments{compiler_.path()};
  for (const std::vector<std::string>& flags : {flags_for(kind_), job.flags})
    arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {kSource, "-o", kImage});
  const std::string ending = "-" + std::to_string(getpid()) + "-" + std::to_string(serial++);
  CompiledImage out;
  // Where the folder that was given has no room, there may be some elsewhere.
  if (job.folder >= 0) {
    const WorkFolder work(job.folder, job.folder_name + ending);
    out.problem = work.fill(job);
    if (out) return compile_in(work, std::move(arguments));
  }
  const WorkFolder work(AT_FDCWD, temporary_folder() + "/gantry-" + job.folder_name + ending);
  if (const std::string problem = work.fill(job); !problem.empty()) {
    out.problem = "there is no place for nvcc's files: " + temporary_folder() + ": " + problem;
    return out;
  }
  out.problem.clear();
  return compile_in(work, std::move(arguments));
}

}  // namespace gantry::runtime
