// The result of parsing: the value, or the position of the error, what was expected there and what was found.
//
// Example:
//     using namespace gantry;
//     constexpr ParseError e{.position = 6, .expected = "':' or the end", .found = ')'};
//     static_assert(describe(e) == "expected ':' or the end, found ')' at column 7");
//     static_assert(explain("(4,8) )", e) == "(4,8) )\n      ^\nexpected ':' or the end, found ')' at column 7");
#pragma once

#include <gantry/layout/fault.hpp>

namespace gantry {

// Characters to read: a literal, a Text, or anything with data() and size(). Must not outlive them.
class Chars {
 public:
  GANTRY_HD constexpr Chars(const char* text) : data_(text), size_(0) {
    while (data_[size_] != '\0') ++size_;
  }
  GANTRY_HD constexpr Chars(const char* text, int size) : data_(text), size_(size) {}
  template <int N>
  GANTRY_HD constexpr Chars(const Text<N>& text) : data_(text.c_str()), size_(text.size()) {}
  template <class String>
  requires requires(const String& s) { static_cast<const char*>(s.data()), s.size(); }
  GANTRY_HD constexpr Chars(const String& text) : data_(text.data()), size_(static_cast<int>(text.size())) {}

  GANTRY_HD constexpr int size() const { return size_; }
  GANTRY_HD constexpr char operator[](int i) const { return data_[i]; }

 private:
  const char* data_;
  int size_;
};

struct ParseError {
  static constexpr int kEnd = -1;

  int position = -1;               // of the character that cannot stand there, from 0; negative when all is well
  const char* expected = nullptr;  // null where the text is well formed and its value breaks a rule
  int found = kEnd;                // the character, or kEnd
  Fault fault{};                   // the rule, where expected is null
  Text<24> word{};                 // the letters and digits that begin with the character

  GANTRY_HD constexpr explicit operator bool() const { return position >= 0; }
};

// The error in one sentence. Columns count from 1.
GANTRY_HD constexpr Sentence describe(const ParseError& error) {
  Sentence out;
  if (!error) return out;
  if (error.expected == nullptr)
    return out.append(describe(error.fault)).append(", at column ").append(error.position + 1);
  out.append("expected ").append(error.expected).append(", found ");
  if (error.found == ParseError::kEnd) {
    out.append("the end");
  } else if (error.word.size() > 1) {
    out.append('\'').append(error.word).append('\'');
  } else if (error.found >= ' ' && error.found <= '~') {
    out.append('\'').append(static_cast<char>(error.found)).append('\'');
  } else {
    out.append("the byte ").append(error.found);
  }
  return out.append(" at column ").append(error.position + 1);
}

// The text with a caret under one of its characters, each on a line. A long text is shown from and up to some way
// around it.
GANTRY_HD constexpr Text<512> point_at(Chars text, int position) {
  constexpr int kShown = 48;
  Text<512> out;
  const int first = position > kShown ? position - kShown : 0;
  const int last = text.size() - position > kShown ? position + kShown : text.size();
  int columns = 0;
  if (first > 0) out.append("...");
  for (int i = first; i < last; ++i) {
    // Bytes outside of printable ASCII would move the caret away from its column.
    const char c = text[i] >= ' ' && text[i] <= '~' ? text[i] : text[i] == '\t' || text[i] == '\n' ? ' ' : '?';
    out.append(c);
    if (i < position) ++columns;
  }
  if (last < text.size()) out.append("...");
  out.append('\n');
  for (int i = first > 0 ? -3 : 0; i < columns; ++i) out.append(' ');
  return out.append("^\n");
}

// The text, a caret under the character, and the sentence.
GANTRY_HD constexpr Text<512> explain(Chars text, const ParseError& error) {
  if (!error) return {};
  return point_at(text, error.position).append(describe(error));
}

template <class T>
struct Parsed {
  T value;
  ParseError error{};

  GANTRY_HD constexpr bool ok() const { return !error; }
};

}  // namespace gantry
