// Why a layout could not be computed. Every rule of the layout layer is defined once, in detail/rule_table.hpp; the
// command line shows the same sentence that accessors throw at run time and that the compiler prints.
//
// A tuple or layout that could not be computed carries its Fault instead of a value, and every function given such a
// value returns it unchanged, as arithmetic does with NaN: check once, at the end of a computation.
//
// Example:
//     constexpr gantry::Fault f{gantry::Rule::extent_below_one, -3, 1};
//     static_assert(gantry::describe(f) == "an extent is -3: extents must be at least 1");
#pragma once

#include <gantry/rules/static_check.hpp>

#if !GANTRY_ON_DEVICE
#include <exception>
#endif

namespace gantry {

enum class Rule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/layout/detail/rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(Rule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, asked, rule) GANTRY_RULE_CASE(Rule, id, refused, asked, rule, "")
#include <gantry/layout/detail/rule_table.hpp>
  }
  return {};
}

// A reason of the layout layer. describe() gives its sentence.
struct Fault {
  Rule rule = Rule::none;
  std::int64_t actual = 0;  // kNumberTooLarge where it was too large to be carried along
  std::int64_t wanted = 0;

  GANTRY_HD constexpr explicit operator bool() const { return rule != Rule::none; }
  GANTRY_HD friend constexpr bool operator==(const Fault&, const Fault&) = default;
};

#if !GANTRY_ON_DEVICE
// What accessors that return a plain number throw, since a number cannot carry a Fault.
class LayoutError : public std::exception {
 public:
  explicit LayoutError(const Fault& fault) : fault_(fault), text_(describe(fault)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
  Sentence text_;
};
#endif

namespace misuse {

[[noreturn]] GANTRY_HD inline void stop(const Fault& fault) {
#if GANTRY_ON_DEVICE
  (void)fault;
  __trap();
#else
  throw LayoutError(fault);
#endif
}

// One function per rule, and none of them constexpr: where a constant expression stops, compilers print the name.
#define GANTRY_X(id, ...) \
  [[noreturn]] GANTRY_HD inline void id(std::int64_t actual, std::int64_t wanted) { stop({Rule::id, actual, wanted}); }
#include <gantry/layout/detail/rule_table.hpp>

using Stop = void (*)(std::int64_t actual, std::int64_t wanted);

GANTRY_HD constexpr Stop named(Rule rule) {
  switch (rule) {
#define GANTRY_X(id, ...) \
  case Rule::id:          \
    return &misuse::id;
#include <gantry/layout/detail/rule_table.hpp>
  }
  return nullptr;
}

// By value, and on a line that no macro makes: compilers show the arguments and the line.
GANTRY_HD constexpr void rule_is_broken(Stop rule, std::int64_t actual, std::int64_t wanted) { rule(actual, wanted); }

}  // namespace misuse

// Ends an accessor that was used against its contract: a LayoutError on the host, a trap on the device, and in a
// constant expression an error that names the rule, as in "call to non-constexpr function misuse::composition_stride".
[[noreturn]] GANTRY_HD constexpr void refuse(const Fault& fault) {
  if (is_constant_evaluated()) {
    misuse::rule_is_broken(misuse::named(fault.rule), fault.actual, fault.wanted);
    __builtin_unreachable();
  } else {
    misuse::stop(fault);
  }
}

}  // namespace gantry

#define GANTRY_X(id, asked, rule) GANTRY_RULE_REFUSAL(::gantry::Rule, id, rule)
#include <gantry/layout/detail/rule_table.hpp>

// Stops the build with the fault's sentence if `value` (a constant expression with a fault() member) was not computed.
#define GANTRY_STATIC_CHECK(value)                                                                  \
  static_assert(sizeof(typename ::gantry::rules_detail::Checked<::gantry::rules_detail::refusal_of( \
                           (value).fault(), (value).fault().rule != ::gantry::Rule::none)>::type) != 0)
