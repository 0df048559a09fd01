// Reads a text from left to right and remembers the first thing that is wrong with it. What parse.hpp is made of.
#pragma once

#include <gantry/layout/int_tuple.hpp>
#include <gantry/layout/parse_error.hpp>

namespace gantry {

struct ParseOptions {
  bool all_fixed = false;  // integers without a `_` are known at compile time too
};

namespace detail {

// Not for constant expressions. A compiler that meets one there names it with its column, which is the only number that
// g++ and nvcc show of a constant expression that stops; the text itself is in the line that they quote.
template <int column>
GANTRY_HD inline void the_text_stops_at_column() {}
GANTRY_HD inline void the_text_stops_beyond_column_120() {}

using StopAtColumn = void (*)();
template <class, int... columns>
struct StopsAtColumns {
  static constexpr StopAtColumn kAt[sizeof...(columns)] = {&the_text_stops_at_column<columns + 1>...};
};
#if defined(__has_builtin) && __has_builtin(__make_integer_seq)
template <int count>
using StopsAtFirst = __make_integer_seq<StopsAtColumns, int, count>;
#else
template <int count>
using StopsAtFirst = StopsAtColumns<int, __integer_pack(count)...>;
#endif

// By value, so that clang shows both.
GANTRY_HD constexpr void expected_at_column(const char* expected, int column) {
  if (expected == nullptr) return;
  const StopAtColumn stop = column <= 120 ? StopsAtFirst<120>::kAt[column - 1] : &the_text_stops_beyond_column_120;
  stop();
}

// Reads one thing after the other and stops at the first that is wrong; what is read after that has no meaning.
class Reader {
 public:
  GANTRY_HD constexpr Reader(Chars text, const ParseOptions& options, bool stop_the_build = false)
      : text_(text), options_(options), stop_the_build_(stop_the_build) {}

  GANTRY_HD constexpr const ParseError& error() const { return error_; }
  GANTRY_HD constexpr bool ok() const { return !error_; }

  // Where the next thing begins, past spaces.
  GANTRY_HD constexpr int position() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_;
  }
  GANTRY_HD constexpr void rewind(int position) { at_ = position; }
  // A reader at the same place, whose errors stay with it.
  GANTRY_HD constexpr Reader look_ahead() const {
    Reader out = *this;
    out.stop_the_build_ = false;
    return out;
  }

  GANTRY_HD constexpr int peek() {
    const int at = position();
    return at < text_.size() ? static_cast<unsigned char>(text_[at]) : ParseError::kEnd;
  }
  GANTRY_HD constexpr bool accept(char c) {
    if (peek() != static_cast<unsigned char>(c)) return false;
    ++at_;
    return true;
  }
  GANTRY_HD constexpr bool accept(const char* word) {
    const int start = position();
    int at = start;
    for (; *word != '\0'; ++word, ++at) {
      if (at >= text_.size() || text_[at] != *word) return false;
    }
    at_ = at;
    return true;
  }
  GANTRY_HD constexpr void expect(const char* word, const char* expected) {
    if (ok() && !accept(word)) fail(expected);
  }
  GANTRY_HD constexpr void expect_end(const char* expected) {
    if (ok() && peek() != ParseError::kEnd) fail(expected);
  }

  GANTRY_HD constexpr void fail(const char* expected) {
    const int found = peek();
    if (stop_the_build_) expected_at_column(expected, at_ + 1);
    if (ok()) error_ = {.position = at_, .expected = expected, .found = found, .word = word()};
  }
  GANTRY_HD constexpr void fail(int position, const Fault& fault) {
    if (stop_the_build_) expected_at_column(entry_of(fault.rule).rule, position + 1);
    if (ok()) error_ = {.position = position, .fault = fault};
  }

  // Digits, perhaps after a minus sign.
  GANTRY_HD constexpr std::int64_t number(const char* expected) {
    const int start = position();
    const bool negative = accept('-');
    if (at_ >= text_.size() || !is_digit(text_[at_])) {
      rewind(start);
      fail(expected);
      return 0;
    }
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      const int digit = text_[at_] - '0';
      if (value > (INT64_MAX - digit) / 10) {
        fail(start, {Rule::number_overflow});
        return 0;
      }
      value = value * 10 + digit;
    }
    return negative ? -value : value;
  }

  // A number in [least, most].
  GANTRY_HD constexpr int number_between(int least, int most, const char* expected) {
    const int start = position();
    const std::int64_t value = number(expected);
    if (ok() && value >= least && value <= most) return static_cast<int>(value);
    rewind(start);
    fail(expected);
    return least;
  }

  GANTRY_HD constexpr Int leaf() {
    if (accept('?')) return Int::unknown().with_path(path());
    const bool mark = accept('_');
    if (mark && (at_ >= text_.size() || (text_[at_] != '-' && !is_digit(text_[at_])))) return Int::all();
    Int value = Int(number("an integer, '_', '?' or '('"));
    if (mark || options_.all_fixed) value = value.as_fixed();
    if (accept('/')) {
      accept('_');
      const int start = position();
      const std::int64_t denominator = number("the denominator of a rational coefficient");
      if (denominator < 1 || denominator > UINT16_MAX) fail(start, {Rule::denominator_range, denominator, UINT16_MAX});
      if (ok()) value = value.over(static_cast<int>(denominator));
    }
    return value.with_path(path());
  }

  GANTRY_HD constexpr IntTuple tuple() {
    IntTuple out;
    out.clear();
    int opened[IntTuple::kCapacity] = {};
    int depth = 0;
    while (ok()) {
      const int start = position();
      if (accept('(')) {
        const int at = out.open();
        if (out.ok()) opened[depth++] = at;
      } else {
        out.push(leaf());
      }
      if (!out.ok()) fail(start, out.fault());
      if (ok() && next_mode(out, opened, depth)) return out;
    }
    return IntTuple::faulty({Rule::parse, error_.position + 1});
  }

 private:
  GANTRY_HD constexpr Text<24> word() const {
    Text<24> out;
    for (int at = at_; at < text_.size() && (is_digit(text_[at]) || is_letter(text_[at])); ++at) out.append(text_[at]);
    return out;
  }

  // After a parenthesis was opened or a leaf was read: goes on to where the next mode begins. True when there is none.
  GANTRY_HD constexpr bool next_mode(IntTuple& out, const int* opened, int& depth) {
    bool just_opened = text_[at_ - 1] == '(';
    while (depth > 0) {
      if (accept(')')) {
        out.close(opened[--depth]);
        just_opened = false;
      } else if (just_opened) {
        return false;
      } else if (!accept(',')) {
        fail("',' or ')'");
        return false;
      } else if (peek() != ')') {
        return false;
      }
    }
    return true;
  }

  GANTRY_HD constexpr BasisPath path() {
    int indices[BasisPath::kMaxDepth] = {};
    int levels = 0;
    for (int start = position(); ok() && accept('@'); start = position()) {
      if (levels == BasisPath::kMaxDepth) {
        fail(start, {Rule::basis_depth, levels + 1, BasisPath::kMaxDepth});
        return {};
      }
      const int index_at = position();
      const std::int64_t index = number("the index of a mode");
      if (index < 0 || index > BasisPath::kMaxIndex) fail(index_at, {Rule::basis_index, index, BasisPath::kMaxIndex});
      if (ok()) indices[levels++] = static_cast<int>(index);
    }
    BasisPath out{};
    while (levels > 0) out = out.then(indices[--levels]);
    return out;
  }

  GANTRY_HD static constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  GANTRY_HD static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  GANTRY_HD static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  Chars text_;
  ParseOptions options_;
  bool stop_the_build_;
  int at_ = 0;
  ParseError error_{};
};

}  // namespace detail

}  // namespace gantry
