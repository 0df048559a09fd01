// How calls of the library end: with what was asked for, or with every reason why not, as values.
//
// A Status that is true is success, and holds no memory. An Result<T> is a T or a Status. A reason has a code for
// programs, the name of the rule that was broken, the operand that broke it, and a sentence for people.
//
// Example:
//     using namespace gantry;
//     Status refused;
//     refused.add({.rule = "size_negative", .actual = -1, .sentence = "M is -1: sizes are not negative"});
//     const bool right = !refused && refused.code() == StatusCode::invalid_argument;
//     const std::string sentence = refused.describe();
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gantry/config.hpp>
#include <gantry/rules/expected.hpp>

namespace gantry {

// The numbers are the C interface's, and stay.
enum class StatusCode : std::uint8_t {
  ok = 0,
  invalid_argument = 1,  // what was asked for has no meaning, or cannot be addressed
  unsupported = 2,       // it has a meaning, and no kernel of the library computes it
  no_device = 3,         // there is no GPU that can run it
  no_kernel = 4,         // the kernel is not there, and the policy or the moment forbids to compile it
  compile_failed = 5,    // there is no compiler, or it failed
  device_failed = 6,     // the driver refused a call
  out_of_memory = 7,
  simulation_failed = 8,  // the simulated SM found a mistake, or could not go on
};

GANTRY_API const char* to_text(StatusCode code);

struct StatusReason {
  StatusCode code = StatusCode::invalid_argument;
  std::string rule{};     // its name in a table of rules
  std::string operand{};  // A, B, C, D, or an argument of the epilogue; empty where the reason is about no operand
  std::int64_t actual = 0, nearest = 0;  // where the rule has numbers
  std::string sentence{};
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(std::vector<StatusReason> reasons) : reasons_(std::move(reasons)) {}

  void add(StatusReason reason) { reasons_.push_back(std::move(reason)); }

  bool ok() const { return reasons_.empty(); }
  explicit operator bool() const { return ok(); }
  // Of the first reason.
  StatusCode code() const { return ok() ? StatusCode::ok : reasons_.front().code; }
  const std::vector<StatusReason>& reasons() const { return reasons_; }
  // A sentence a line; empty for success.
  std::string describe() const {
    std::string out;
    for (const StatusReason& reason : reasons_) out += (out.empty() ? "" : "\n") + reason.sentence;
    return out;
  }

 private:
  std::vector<StatusReason> reasons_;
};

template <class T>
using Result = Expected<T, Status>;

}  // namespace gantry
