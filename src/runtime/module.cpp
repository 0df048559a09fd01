#include <utility>

#include <dlfcn.h>

#include <gantry/runtime/module.hpp>

namespace gantry::runtime {

// What was loaded stays in memory: CUDA's runtime, which every kernel carries, does not survive being unloaded.
Module::Module(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
  if (handle_ != nullptr) return;
  const char* reason = dlerror();
  problem_ = path + " could not be loaded: " + (reason == nullptr ? "no reason was given" : reason);
}

Module::Module(Module&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), problem_(std::move(other.problem_)) {}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(problem_, other.problem_);
  return *this;
}

Module::~Module() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Module::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

}  // namespace gantry::runtime
