// Reads words, numbers and marks of the text of a fusion graph, and remembers the first thing that is wrong with it.
#pragma once

#include <gantry/epilogue/fusion/detail/numbers.hpp>
#include <gantry/epilogue/fusion/function_names.hpp>

namespace gantry::fusion {

using ParseProblem = Text<256>;

// What is wrong with a text, without its names and numbers.
// clang-format off
#define GANTRY_FUSION_TEXT_RULES(X)                                                                       \
  X(something_else_is_expected) X(there_is_no_such_function) X(there_is_no_such_value)                    \
  X(there_is_no_such_element_type) X(a_function_has_too_few_inputs) X(a_function_has_too_many_inputs)     \
  X(a_number_is_too_large) X(a_name_is_too_long) X(a_name_has_a_meaning_already)                          \
  X(a_name_stands_for_two_arguments) X(a_value_is_used_by_nothing) X(d_has_no_type_here)                  \
  X(a_reduction_is_no_value) X(a_reduction_has_no_major) X(only_a_reduction_is_deterministic)             \
  X(the_graph_is_too_large) X(parentheses_are_nested_too_deep) X(a_control_character_is_no_text)          \
  X(void_is_no_element_type) X(a_share_is_no_share) X(the_graph_is_malformed)
// clang-format on

enum class TextRule : std::uint8_t {
#define GANTRY_X(id) id,
  GANTRY_FUSION_TEXT_RULES(GANTRY_X)
#undef GANTRY_X
};

// For constant expressions: a compiler that meets a subscript there which is out of bounds prints the function, and so
// the rule, and the subscript, which is the column. (A call to a function that is not constexpr would show its name
// alone: g++ and nvcc do not print what it is given.)
namespace the_text_is_no_fusion {
#define GANTRY_X(id)                                      \
  inline constexpr char at_the_column_where_##id[1] = {}; \
  constexpr char id(int column) { return at_the_column_where_##id[column]; }
GANTRY_FUSION_TEXT_RULES(GANTRY_X)
#undef GANTRY_X
}  // namespace the_text_is_no_fusion

namespace detail {

// Requires a constant expression, and a column from 1 on. `word` is where the text goes wrong: clang prints it.
constexpr char stop_the_build(TextRule rule, int at_column, const char* /*word*/) {
  switch (rule) {
#define GANTRY_X(id) \
  case TextRule::id: \
    return the_text_is_no_fusion::id(at_column);
    GANTRY_FUSION_TEXT_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return 0;
}

class TextReader {
 public:
  constexpr explicit TextReader(Chars text) : text_(text) {}

  constexpr bool ok() const { return position_ < 0; }
  constexpr int position() const { return position_; }
  constexpr TextRule rule() const { return rule_; }
  constexpr const ParseProblem& problem() const { return problem_; }

 protected:
  struct Word {
    Name name;
    int position = 0;
  };

  // Errors. The first one stays.
  constexpr ParseProblem& refuse(int position, TextRule rule) {
    if (!ok()) return ignored_;
    position_ = position;
    rule_ = rule;
    return problem_;
  }
  // What stands at a position, as it is quoted: a word or a number whole, else one character.
  constexpr void append_found(ParseProblem& out, int at) const {
    if (at >= text_.size()) {
      out.append("the end");
      return;
    }
    const auto printable = [&](int i) { return text_[i] >= ' ' && text_[i] <= '~'; };
    if (!printable(at)) {
      out.append("the byte ").append(static_cast<unsigned char>(text_[at]));
      return;
    }
    out.append('\'').append(text_[at]);
    const bool word = is_letter(text_[at]) || is_digit(text_[at]);
    int end = at + 1;
    for (; word && end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end])) && end - at < kMaxName;
         ++end) {
      out.append(text_[end]);
    }
    out.append('\'');
  }
  constexpr void expected(const char* what) {
    const int at = skip();
    ParseProblem& out = refuse(at, TextRule::something_else_is_expected);
    out.append("expected ").append(what).append(", found ");
    append_found(out, at);
    const auto is = [this](int i, const char* chars) {
      return i >= 0 && i < text_.size() && (text_[i] == chars[0] || text_[i] == chars[1]);
    };
    const int slash = is(at - 1, "//") ? at - 1 : at;
    if (is(slash, "//") && is(slash + 1, "/*")) out.append("; a comment goes from # to the end of its line");
  }
  // The same where one of some words might have been meant.
  template <int n>
  constexpr void expected(const char* what, const char* const (&words)[n]) {
    if (!ok()) return;
    expected(what);
    Name found;
    for (int i = 0; position_ + i < text_.size() && i < kMaxName && is_letter(text_[position_ + i]); ++i) {
      found.text[i] = text_[position_ + i];
    }
    if (found.text[0] == '\0') return;
    Nearest nearest(found.text);
    for (const char* word : words) nearest.consider(word);
    append_nearest(problem_, nearest.name());
  }
  constexpr void unknown(const Word& word, TextRule rule, const char* what, const Name& nearest) {
    ParseProblem& out = refuse(word.position, rule);
    out.append("there is no ").append(what).append(' ').append(word.name.text);
    append_nearest(out, nearest);
  }
  static constexpr void append_nearest(ParseProblem& out, const Name& nearest) {
    if (nearest.text[0] != '\0') out.append("; did you mean ").append(nearest.text).append('?');
  }

  // Spaces, tabs, ends of lines and comments may stand between words. Other control characters would be read as
  // something else than they look like, or not be seen at all.
  constexpr void refuse_control_characters() {
    for (int i = 0; i < text_.size() && ok(); ++i) {
      const char c = text_[i];
      if (c == '\t' || c == '\n' || (c >= 0 ? c >= ' ' && c != 0x7f : true)) continue;
      ParseProblem& out = refuse(i, TextRule::a_control_character_is_no_text);
      out.append("the byte ").append(static_cast<int>(c));
      if (c == '\r') out.append(", a carriage return,");
      out.append(" is no part of a text: between words stand spaces, tabs and ends of lines (byte 10)");
    }
  }

  // Characters. A comment goes from # to the end of its line.
  constexpr int skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      } else if (text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '\n') {
        break;
      }
    }
    return at_;
  }
  constexpr char peek() {
    const int at = skip();
    return at < text_.size() ? text_[at] : '\0';
  }
  constexpr bool accept(char c) {
    if (c == '\0' || peek() != c) return false;
    ++at_;
    return true;
  }
  constexpr void expect(char c, const char* what) {
    if (ok() && !accept(c)) expected(what);
  }
  static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  constexpr Word word(const char* what) {
    Word out;
    out.position = skip();
    if (!is_letter(peek())) {
      expected(what);
      return out;
    }
    int length = 0;
    for (; at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])); ++at_, ++length) {
      if (length < kMaxName) out.name.text[length] = text_[at_];
    }
    if (length > kMaxName)
      refuse(out.position, TextRule::a_name_is_too_long)
          .append("a name has at most ")
          .append(kMaxName)
          .append(" characters, and this has ")
          .append(length);
    return out;
  }
  // A word that may be there: read only if it is this one.
  constexpr bool accept_word(const char* wanted) {
    const int start = skip();
    if (!is_letter(peek())) return false;
    int at = start;
    for (; *wanted != '\0'; ++wanted, ++at) {
      if (at >= text_.size() || text_[at] != *wanted) return false;
    }
    if (at < text_.size() && (is_letter(text_[at]) || is_digit(text_[at]))) return false;
    at_ = at;
    return true;
  }
  constexpr float number() {
    const bool negative = accept('-');
    const int start = skip();
    float value = 0;
    if (accept_word("inf")) {
      value = kInfinity;
    } else {
      const ReadNumber read = read_number(text_, start);
      if (!read.ok && read.end == 0) expected("a number");
      if (!read.ok && read.end > 0)
        refuse(start, TextRule::a_number_is_too_large)
            .append("this number is larger than every float: the largest is 3.4e38");
      value = read.value;
      at_ = read.ok ? read.end : at_;
    }
    return negative ? -value : value;
  }
  constexpr ElementType element() {
    const Word type = word("an element type, such as bf16");
    if (!ok()) return ElementType::f32;
    const ParsedElementType parsed = parse_element_type(type.name.text);
    if (!parsed.ok) {
      Nearest nearest(type.name.text);
      for (const ElementInfo& e : kElementTypes) {
        if (e.kind == ElementKind::none) continue;
        nearest.consider(e.name);
        nearest.consider(e.cute_name);
        nearest.consider(e.python_name);
      }
      unknown(type, TextRule::there_is_no_such_element_type, "element type", nearest.name());
    }
    if (parsed.ok && parsed.type == ElementType::void_) {
      refuse(type.position, TextRule::void_is_no_element_type)
          .append("void holds nothing: give the type of the elements, such as f32 or bf16, or leave it out for f32");
    }
    return parsed.type;
  }

  constexpr void rewind(int position) { at_ = position; }
  // The sentence so far, to go on with.
  constexpr ParseProblem& more() { return problem_; }

 private:
  Chars text_;
  int at_ = 0;
  int position_ = -1;
  TextRule rule_ = TextRule::something_else_is_expected;
  ParseProblem problem_;
  ParseProblem ignored_;
};

}  // namespace detail

}  // namespace gantry::fusion
