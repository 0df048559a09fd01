// Refers to whatever makes a tensor map from its arguments, so that functions which take it are no templates and are
// compiled once. Two pointers; what it refers to outlives it.
//
// Example:
//     using namespace gantry;
//     const auto encode = [](const TmaDescriptorParams& params) { return pack(params); };
//     const TmaEncoder encoder(encode);
//     const TmaDescriptor map = encoder({.dims = {4096}, .box = {64}});
#pragma once

#include <gantry/tma/descriptor.hpp>

namespace gantry {

class TmaEncoder {
 public:
  template <class Encode>
  TmaEncoder(const Encode& encode)  // NOLINT(google-explicit-constructor): arguments are given as they are
      : object_(&encode), call_([](const void* object, const TmaDescriptorParams& params) -> TmaDescriptor {
          return (*static_cast<const Encode*>(object))(params);
        }) {}

  TmaDescriptor operator()(const TmaDescriptorParams& params) const { return call_(object_, params); }

 private:
  const void* object_;
  TmaDescriptor (*call_)(const void*, const TmaDescriptorParams&);
};

}  // namespace gantry
