#include "compile_folder.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <gantry/runtime/printable.hpp>

#include "compiler_log.hpp"
#include "private_folder.hpp"
#include "process.hpp"

namespace gantry::runtime {

namespace {

// A folder that is gone with all that is in it when this is.
class WorkFolder {
 public:
  WorkFolder(int parent, std::string name) : parent_(parent), name_(std::move(name)) {
    if (Result<PrivateFolder> made = PrivateFolder::made_in(parent_, name_)) {
      folder_ = std::move(*made);
    } else {
      status_ = made.error();
    }
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    if (folder_) (void)remove_tree(parent_, name_);  // what stays, the cache removes
  }

  const PrivateFolder& folder() const { return folder_; }

  // Writes the source and the headers.
  Status fill(const CompileJob& job, const std::string& source) const {
    if (!folder_) return status_;
    const DeviceHeaders& headers = job.headers == nullptr ? DeviceHeaders::embedded() : *job.headers;
    Status written = folder_.add(source, job.text);
    for (const HeaderFile& file : headers.files) {
      if (written) written = folder_.add(std::string("include/") + file.name, file.text);
    }
    return written;
  }

 private:
  int parent_;
  std::string name_;
  PrivateFolder folder_;
  Status status_;  // why there is none
};

std::string temporary_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

// A private folder in the temporary one, whose name nobody can know before. Gone with all that is in it when this is.
class UnknownFolder {
 public:
  UnknownFolder() : path_(temporary_folder() + "/gantry-XXXXXX") {
    if (mkdtemp(path_.data()) != nullptr) return;
    status_ = failure_of(RuntimeRule::folder_not_made, std::string("no folder could be made: ") + std::strerror(errno));
  }
  UnknownFolder(const UnknownFolder&) = delete;
  UnknownFolder& operator=(const UnknownFolder&) = delete;
  ~UnknownFolder() {
    if (status_.ok()) (void)remove_tree(AT_FDCWD, path_);  // nobody is left to tell
  }

  const std::string& path() const { return path_; }
  const Status& status() const { return status_; }

 private:
  std::string path_;
  Status status_;
};

CompiledImage compile_in(const WorkFolder& work, const CompilerCall& call) {
  CompiledImage out;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> environment = call.environment;
  environment.insert(environment.end(), {"TMPDIR=.", "LC_ALL=C"});
  const Result<ProcessEnd> ran = run_process(
      {.arguments = call.arguments, .environment = std::move(environment), .folder = work.folder().descriptor()});
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!ran) {
    out.status = with_words_before(call.name + ": ", ran.error());
  } else if (ran->status != 0) {
    out.status = failure_of(rule_in_log(ran->output), call.name + " ended with status " + std::to_string(ran->status) +
                                                          " and said:\n" + compiler_log(ran->output));
  } else if (Result<std::string> image = work.folder().read(call.image)) {
    out.bytes = std::move(*image);
  } else {
    out.status =
        failure_of(RuntimeRule::compiler_files,
                   call.name + " said that all went well and left no image: " + in_one_sentence(image.error()));
  }
  return out;
}

}  // namespace

CompiledImage compile_in_folder(const CompileJob& job, const CompilerCall& call) {
  static std::atomic<unsigned> serial = 0;
  const std::string ending = "-" + std::to_string(getpid()) + "-" + std::to_string(serial++);
  // Where the folder that was given has no room, there may be some elsewhere.
  if (job.folder >= 0) {
    const WorkFolder work(job.folder, job.folder_name + ending);
    if (work.fill(job, call.source)) return compile_in(work, call);
  }
  CompiledImage out;
  const auto no_place = [&](const Status& why) {
    out.status = failure_of(RuntimeRule::compiler_files, "there is no place for " + call.name + "'s files: in " +
                                                             one_line(temporary_folder()) + " " + in_one_sentence(why) +
                                                             "; TMPDIR names another folder");
    return out;
  };
  const UnknownFolder temporary;
  if (!temporary.status()) return no_place(temporary.status());
  const WorkFolder work(AT_FDCWD, temporary.path() + "/work");
  if (const Status filled = work.fill(job, call.source); !filled) return no_place(filled);
  return compile_in(work, call);
}

}  // namespace gantry::runtime
