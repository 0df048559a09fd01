// What a caller of the C interface can get wrong about the call itself; what a layer of the library refuses keeps the
// name of that layer's rule.
#pragma once

#include <cstdint>

namespace gantry {

enum class CallRule : std::uint8_t {
  null_pointer,   // where something must be given
  struct_size,    // of another version, or not set by an initialiser
  choice,         // a number that stands for none of the choices
  array_missing,  // there is a count, and no array of that many
  element_type,   // there is none of this name
  index,          // there is no argument of this number
};

inline const char* to_text(CallRule rule) {
  constexpr const char* kNames[] = {"null_pointer", "struct_size", "choice", "array_missing", "element_type", "index"};
  return kNames[static_cast<int>(rule)];
}

}  // namespace gantry
