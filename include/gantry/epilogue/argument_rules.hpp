// Why an epilogue or a GEMM cannot run with what the host hands over: the rules as data, and the sentences they give.
//
// A reason names the operand as the user does, the actual value and the nearest that works. Graphs and tensor maps have
// rules of their own; a reason of theirs is quoted.
//
// Example:
//     using namespace gantry;
//     constexpr ArgumentReason r{.rule = ArgumentRule::stride_misaligned, .operand = "A", .element = ElementType::bf16,
//                                .actual = 100, .nearest = 104, .first = 200};
//     static_assert(describe(r) == "A has a stride of 100 elements of bf16, which is 200 bytes: TMA takes strides of "
//                                  "whole 16 bytes; the nearest stride that works is 104, or any with an alignment of 1 "
//                                  "(align_c, align_d, align_aux)");
#pragma once

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/tma/violation.hpp>

namespace gantry {

enum class ArgumentRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/epilogue/detail/argument_rule_table.hpp>
};

GANTRY_HD constexpr RuleEntry<> entry_of(ArgumentRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(ArgumentRule, __VA_ARGS__)
#include <gantry/epilogue/detail/argument_rule_table.hpp>
  }
  return {};
}

// A name as the user wrote it; a longer one is cut.
using OperandName = Text<48>;

struct ArgumentReason {
  ArgumentRule rule = ArgumentRule::size_negative;
  OperandName operand{}, other{};
  bool other_written = false;  // of the two the other is written
  bool columns = false;        // its lines are columns, and M says how long they are
  bool of_batches = false;     // its stride is the batch stride
  fusion::ArgumentKind kind = fusion::ArgumentKind::scalar;
  ElementType element = ElementType::void_, given = ElementType::void_;
  std::int64_t actual = 0;
  std::int64_t nearest = 0;
  std::int64_t first = 0;
  std::int64_t second = 0;
  Text<400> words{};
  fusion::GraphReason graph{};
  TmaViolation tma{};
};

using ArgumentReasons = Reasons<ArgumentReason>;

GANTRY_HD constexpr const char* to_text(fusion::ArgumentKind kind) noexcept {
  switch (kind) {
    case fusion::ArgumentKind::scalar:
      return "a scalar";
    case fusion::ArgumentKind::row:
      return "a row vector";
    case fusion::ArgumentKind::column:
      return "a column vector";
    case fusion::ArgumentKind::aux_in:
      return "an input tensor";
    case fusion::ArgumentKind::aux_out:
      return "an output tensor";
    case fusion::ArgumentKind::reduction:
      return "a reduction";
  }
  return "unknown";
}

namespace detail {

GANTRY_HD constexpr void append_known_names(Sentence& out, const ArgumentReason& r) {
  if (!r.other.empty()) out.append("did you mean ").append(r.other).append("? ");
  if (r.words.empty()) {
    out.append("the fusion has none");
  } else {
    out.append(r.other.empty() ? "the" : "The").append(" arguments are ").append(r.words);
  }
}

}  // namespace detail

// The words of a reason beside its numbers.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const ArgumentReason& r) {
  if (word == "operand") {
    out.append(r.operand);
  } else if (word == "other") {
    out.append(r.other);
  } else if (word == "written") {
    out.append(r.other_written ? r.other : r.operand);
  } else if (word == "read") {
    out.append(r.other_written ? r.operand : r.other);
  } else if (word == "lines") {
    out.append(r.columns ? "columns" : "rows");
  } else if (word == "size") {
    out.append(r.columns ? "M" : "N");
  } else if (word == "stride") {
    out.append(r.of_batches ? "batch stride" : "stride");
  } else if (word == "kind") {
    out.append(to_text(r.kind));
  } else if (word == "element") {
    out.append(to_text(r.element));
  } else if (word == "given") {
    out.append(to_text(r.given));
  } else if (word == "next larger") {
    if (r.second != 0) out.append(", the next larger one ").append(r.second);
  } else if (word == "known names") {
    detail::append_known_names(out, r);
  } else if (word == "words") {
    out.append(r.words);
  } else if (word == "graph") {
    out.append(describe(r.graph));
  } else if (word == "tma") {
    out.append(describe(r.tma));
  } else {
    return false;
  }
  return true;
}

GANTRY_HD constexpr ArgumentReason quoted(const fusion::GraphReason& reason) {
  ArgumentReason out;
  out.rule = ArgumentRule::graph;
  out.graph = reason;
  return out;
}

GANTRY_HD constexpr ArgumentReason quoted(const char* operand, const TmaViolation& violation) {
  ArgumentReason out;
  out.rule = ArgumentRule::tensor_map;
  out.operand = operand;
  out.tma = violation;
  return out;
}

// Of an operand that was not given.
GANTRY_HD constexpr ArgumentReason missing(ArgumentRule rule, const char* operand) {
  ArgumentReason out;
  out.rule = rule;
  out.operand = operand;
  return out;
}

// A reason that is a rule and a text from elsewhere.
GANTRY_HD constexpr ArgumentReason with_words(ArgumentRule rule, const char* words) {
  ArgumentReason out;
  out.rule = rule;
  out.words = words;
  return out;
}

}  // namespace gantry
