#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gantry/runtime/module.hpp>
#include <gantry/runtime/printable.hpp>

#include "private_folder.hpp"

namespace gantry::runtime {

namespace {

// The path of an open file, spelled as no other was before: the loader takes a name that it knows for the object that
// it loaded under it, though numbers of files are used again. Slashes and dots that mean nothing count in binary.
std::string path_of_descriptor(int descriptor) {
  static std::atomic<unsigned> serial = 1;
  std::string path = "/proc/self";
  for (unsigned rest = serial++; rest > 0; rest /= 2) path += rest % 2 == 0 ? "/" : "/.";
  return path + "/fd/" + std::to_string(descriptor);
}

}  // namespace

// The loader opens what it is given, and a pipe without a writer would keep it waiting.
Module::Module(const std::string& name) {
  struct stat facts = {};
  const bool is_path = name.find('/') != std::string::npos;
  if (is_path && stat(name.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    status_ = failure_of(RuntimeRule::module_not_loaded,
                         one_line(name) + " could not be loaded: it " + kind_of(facts.st_mode));
    return;
  }
  load(name, name);
}

Module Module::from_image(std::string_view image, const std::string& name) {
  Module out;
  const int file = memfd_create("gantry-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || !write_whole(file, image)) {
    out.status_ = failure_of(RuntimeRule::module_not_loaded,
                             one_line(name) + " could not be held in memory: " + std::strerror(errno));
  } else {
    fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    out.load(path_of_descriptor(file), name);
  }
  if (file >= 0) close(file);
  return out;
}

// What was loaded stays in memory: CUDA's runtime, which every kernel carries, does not survive being unloaded.
void Module::load(const std::string& path, const std::string& shown) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle_ != nullptr) return;
  const char* reason = dlerror();
  status_ = failure_of(
      RuntimeRule::module_not_loaded,
      one_line(shown) + " could not be loaded: " + (reason == nullptr ? "no reason was given" : one_line(reason)));
}

Module::Module(Module&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), status_(std::move(other.status_)) {}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(status_, other.status_);
  return *this;
}

Module::~Module() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Module::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

}  // namespace gantry::runtime
