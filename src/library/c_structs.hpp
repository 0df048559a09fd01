// What callers of the C interface hand in, read into the library's own types, and what the last call that failed said.
//
// Structs of an older version are shorter: what they lack keeps its default. A reader that fails keeps why, and returns
// the status that its caller returns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include <gantry/context.hpp>
#include <gantry/gantry.h>

#include "c_struct_fields.hpp"
#include "call_rules.hpp"

namespace gantry::c_interface {

struct LastError {
  std::vector<StatusReason> reasons;
  std::string message;
  bool internal = false;
};
// Of this thread.
LastError& last_error();

// Keeps why a call fails, and returns its status.
gantry_status fail(const Status& status);
gantry_status refuse(CallRule rule, const std::string& sentence, const std::string& operand = {});
// The same, of a number that is out of range.
gantry_status refuse(CallRule rule, std::int64_t actual, std::int64_t nearest, const std::string& sentence);

// A caller's struct, of this version or of an older one, which is shorter: what it lacks keeps its default.
template <class Struct>
gantry_status read_struct(const char* name, const Struct* from, Struct& out) {
  if (from == nullptr) return GANTRY_OK;
  std::size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  const auto& begins = Fields<Struct>::begins;
  if (std::find(std::begin(begins), std::end(begins), size) == std::end(begins)) {
    const std::string known = size < sizeof(Struct) ? ", where no field begins or ends" : "";
    return refuse(CallRule::struct_size, static_cast<std::int64_t>(size), sizeof(Struct),
                  std::string(name) + " has a size of " + std::to_string(size) + " bytes" + known +
                      ", and this library knows " + std::to_string(sizeof(Struct)) +
                      ": begin with its initialiser, GANTRY_..., of the same version");
  }
  std::memcpy(&out, from, size);
  out.size = sizeof(Struct);
  return GANTRY_OK;
}

// The other text where there is none.
std::string text_or(const char* text, const char* other);
// Null leaves `out` as it is.
gantry_status read_element(const char* operand, const char* text, ElementType& out);
gantry_status check_array(const char* what, std::int32_t count, const void* array);

gantry_status read_options(const gantry_context_options* given, ContextOptions& out);
gantry_status read_request(const gantry_gemm_options* given, GemmRequest& out);
// Requires a call that is not null.
gantry_status read_call(const gantry_call* given, GemmCall& out, RunOptions& options);

}  // namespace gantry::c_interface
