// A shared object, loaded for as long as the program runs.
//
// One that was compiled at run time is loaded from memory, so that what was verified is what runs: there is no file
// that somebody could exchange in between.
//
// Example:
//     using namespace gantry::runtime;
//     const Module library("libm.so.6");
//     const auto cosine = library.function<double(double)>("cos");
//     const double one = library && cosine ? cosine(0) : 1;  // library.status() says why it was not loaded
#pragma once

#include <string>
#include <string_view>

#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::runtime {

class Module {
 public:
  Module() = default;
  // By its path, or by a name that the system's loader knows.
  explicit Module(const std::string& name);
  // From the bytes of a shared object. `name` is for messages.
  static Module from_image(std::string_view image, const std::string& name);
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  ~Module();

  explicit operator bool() const { return handle_ != nullptr; }
  const Status& status() const { return status_; }

  // Null where there is none of this name.
  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

 private:
  void load(const std::string& path, const std::string& shown);
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  Status status_;
};

}  // namespace gantry::runtime
