// Refers to whatever makes a tensor map from its arguments, so that functions which take it are no templates and are
// compiled once. Two pointers; what it refers to outlives it.
//
// Example:
//     using namespace gantry;
//     const auto encode = [](const TmaDescriptorParams& params) { return pack(params); };
//     const TmaEncoder encoder(encode);
//     const TmaDescriptor map = encoder({.dims = {4096}, .box = {64}});
#pragma once

#include <type_traits>

#include <gantry/tma/descriptor.hpp>

namespace gantry {

class TmaEncoder {
 public:
  // A function, or an object that is called like one.
  template <class Encode>
  TmaEncoder(const Encode& encode) {  // NOLINT(google-explicit-constructor): arguments are given as they are
    if constexpr (std::is_function_v<Encode>) {
      target_.function = reinterpret_cast<void (*)()>(&encode);
      call_ = [](const Target& target, const TmaDescriptorParams& params) -> TmaDescriptor {
        return reinterpret_cast<Encode*>(target.function)(params);
      };
    } else {
      target_.object = &encode;
      call_ = [](const Target& target, const TmaDescriptorParams& params) -> TmaDescriptor {
        return (*static_cast<const Encode*>(target.object))(params);
      };
    }
  }

  TmaDescriptor operator()(const TmaDescriptorParams& params) const { return call_(target_, params); }

 private:
  union Target {
    const void* object;
    void (*function)();
  };

  Target target_{};
  TmaDescriptor (*call_)(const Target&, const TmaDescriptorParams&);
};

}  // namespace gantry
