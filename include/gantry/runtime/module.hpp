// A shared object, loaded for as long as this lives.
//
// Example:
//     using namespace gantry::runtime;
//     const Module library("libm.so.6");
//     const auto cosine = library.function<double(double)>("cos");
//     const double one = library && cosine ? cosine(0) : 1;  // library.problem() says why it was not loaded
#pragma once

#include <string>

namespace gantry::runtime {

class Module {
 public:
  Module() = default;
  explicit Module(const std::string& path);
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  ~Module();

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }

  // Null where there is none of this name.
  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string problem_;
};

}  // namespace gantry::runtime
