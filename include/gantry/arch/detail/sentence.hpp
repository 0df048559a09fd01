// sentence({"A has ", n, " rows"}): words and numbers as one string. One function for all sentences: `+` of strings is
// compiled anew at each of its places, and takes a compiler longer than the rules that the sentences are about.
#pragma once

#include <initializer_list>
#include <string>

#include <gantry/config.hpp>

namespace gantry::detail {

class SentencePart {
 public:
  SentencePart(const char* text) : text_(text) {}                 // NOLINT(google-explicit-constructor)
  SentencePart(const std::string& text) : text_(text.c_str()) {}  // NOLINT(google-explicit-constructor)
  template <Integer T>
  SentencePart(T number)  // NOLINT(google-explicit-constructor)
      : negative_(kSigned<T> && static_cast<std::int64_t>(number) < 0),
        magnitude_(static_cast<std::uint64_t>(number)) {}

  GANTRY_COLD void append_to(std::string& out) const {
    if (text_ != nullptr) {
      out.append(text_);
      return;
    }
    char digits[21] = {};
    char* first = digits + 20;
    std::uint64_t rest = negative_ ? 0 - magnitude_ : magnitude_;
    do {
      *--first = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative_) out.append("-");
    out.append(first);
  }

 private:
  template <class T>
  static constexpr bool kSigned = static_cast<T>(~T{0}) < T{1};

  const char* text_ = nullptr;
  bool negative_ = false;
  std::uint64_t magnitude_ = 0;
};

GANTRY_COLD inline std::string sentence(std::initializer_list<SentencePart> words) {
  std::string out;
  for (const SentencePart& word : words) word.append_to(out);
  return out;
}

}  // namespace gantry::detail
