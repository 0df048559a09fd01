// The rules of option_rules.hpp as values.
#pragma once

#include <gantry/epilogue/policy_rules.hpp>
#include <gantry/gemm/options.hpp>

namespace gantry {

enum class GemmRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(GemmRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(GemmRule, __VA_ARGS__)
#include <gantry/gemm/detail/rule_table.hpp>
  }
  return {};
}

struct GemmReason {
  GemmRule rule = GemmRule::element;
  char operand = 'A';  // a matrix, or an extent of the cluster
  ElementType element = ElementType::void_, other = ElementType::void_;
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  EpilogueReason epilogue{};  // where the epilogue, or a TMA plan, has the reason
  bool swapped = false;       // said of the swapped GEMM
};

using GemmReasons = Reasons<GemmReason>;

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const GemmReason& r) {
  if (word == "operand") {
    out.append(r.operand);
  } else if (word == "element") {
    out.append(to_text(r.element));
  } else if (word == "other") {
    out.append(to_text(r.other));
  } else if (word == "setting") {
    out.append(text_of(static_cast<BuilderField>(r.first)));
  } else if (word == "epilogue") {
    out.append(describe(r.epilogue));
  } else if (word == "along") {
    out.append(r.nearest == 1 ? "" : "s");
  } else {
    return false;
  }
  return true;
}

// Prefixes reasons about the swapped GEMM. A reason of the epilogue is its own sentence: that the builder must accept
// its part says nothing to those who did not ask for a builder.
GANTRY_COLD GANTRY_HD constexpr Sentence describe(const GemmReason& r) {
  Sentence out;
  if (r.swapped) out.append("with operands swapped, where the kernel computes D^T = B A^T: ");
  return out.append(r.rule == GemmRule::epilogue ? describe(r.epilogue).c_str() : describe<GemmReason>(r).c_str());
}

// What a static assertion shows as the operand.
GANTRY_HD constexpr char operand_of(const GemmReason& r) noexcept { return r.operand; }

}  // namespace gantry
