// What commands make of the texts of their options: values, or reasons that say what an option takes.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gantry/numeric/element_name.hpp>

#include "option_rules.hpp"

namespace gantry::tool {

// Text from a user, fit for a sentence: printable, and not longer than a line.
inline std::string shortened(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 48)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > 48 ? "..." : "");
}
inline std::string in_quotes(std::string_view text) { return '"' + shortened(text) + '"'; }

// All of the text is one number.
template <class Number, class... Base>
bool read_number(std::string_view text, Number& value, Base... base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return error == std::errc() && end == text.data() + text.size();
}

// `judged`: numbers above the most are read, as far as the type holds them, since a rule of the library refuses them
// with its own sentence.
template <class Number>
struct NumberRange {
  Number least = std::numeric_limits<Number>::lowest(), most = std::numeric_limits<Number>::max();
  bool judged = false;
};

// Empty, or why a text is no whole number of this range.
template <class Number>
std::string why_no_number(std::string_view option, std::string_view text, const NumberRange<Number>& range = {}) {
  const bool hexadecimal = text.starts_with("0x");
  const std::string_view digits = text.substr(hexadecimal ? 2 : 0);
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    const char* const takes = std::is_signed_v<Number> ? "a whole number" : "a whole number, 0 or more";
    return fmt::format("{} takes {}, and not {}", option, takes, in_quotes(text));
  }
  const bool fits = error == std::errc() && value >= range.least && (range.judged || value <= range.most);
  if (fits) return {};
  const bool below = digits.starts_with('-') || (error == std::errc() && value < range.least);
  return fmt::format("{} is {}: it takes a number from {} to {}; the nearest that works is {}", option, shortened(text),
                     range.least, range.most, below ? range.least : range.most);
}

// The name that a text is nearly, whatever the case: one letter in three may differ, and it may be the beginning of the
// name or have more in front of it. Empty where there is none. Dashes before names do not count.
inline std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  const auto bare = [](std::string_view name) {
    std::string out(name.substr(std::min(name.find_first_not_of('-'), name.size())));
    std::transform(out.begin(), out.end(), out.begin(), gantry::detail::to_lower);
    return out;
  };
  const std::string asked = bare(text.substr(0, gantry::detail::kLongestName));
  const auto length = static_cast<int>(asked.size());
  int smallest = std::min(std::max(1, length / 3), length - 1) + 1;
  std::string out;
  for (const std::string& name : names) {
    const std::string whole = bare(name);
    const bool part = (length > 1 && whole.starts_with(asked)) || (whole.size() > 3 && asked.ends_with(whole));
    const int distance = part ? 1 : gantry::detail::edit_distance(asked.c_str(), whole.c_str());
    if (distance >= smallest) continue;
    smallest = distance;
    out = name;
  }
  return out;
}
// "; the nearest is NAME", or nothing.
inline std::string with_nearest_name(std::string_view text, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(text, names);
  return nearest.empty() ? nearest : "; the nearest is " + nearest;
}

// Reads options that were given, and collects what is wrong with them. An option that was not given is an empty text.
class OptionReader {
 public:
  explicit OptionReader(Status& status) : status_(status) {}

  void refuse(OptionRule rule, std::string_view option, std::string sentence) {
    tool::refuse(status_, rule, option, std::move(sentence));
  }
  void wrong(std::string_view option, std::string_view takes, std::string_view text) {
    refuse(OptionRule::value, option, fmt::format("{} takes {}, and not {}", option, takes, in_quotes(text)));
  }

  void element(std::string_view option, const std::string& text, ElementType& out) {
    if (text.empty()) return;
    const ParsedElementType parsed = parse_element_type(shortened(text).c_str());
    if (!parsed.ok) refuse(OptionRule::value, option, fmt::format("{}: {}", option, parsed.problem.c_str()));
    out = parsed.type;
  }

  // One of a few words, for the value that stands beside it.
  template <class Value>
  void word(std::string_view option, const std::string& text, const std::vector<std::pair<const char*, Value>>& words,
            Value& out) {
    if (text.empty()) return;
    std::string known;
    std::vector<std::string> names;
    for (const auto& [name, value] : words) {
      if (text == name) {
        out = value;
        return;
      }
      known += (known.empty() ? "one of " : ", ") + std::string(name);
      names.emplace_back(name);
    }
    refuse(OptionRule::value, option,
           fmt::format("{} takes {}, and not {}{}", option, known, in_quotes(text), with_nearest_name(text, names)));
  }

  // The same, where the word itself is the value.
  void word(std::string_view option, const std::string& text, const std::vector<const char*>& words) {
    std::vector<std::pair<const char*, bool>> all;
    all.reserve(words.size());
    for (const char* name : words) all.emplace_back(name, true);
    bool known = false;
    word(option, text, all, known);
  }

  // `128x256`: at least two extents, at most as many as there are places.
  void extents(std::string_view option, std::string_view text, const char* example, const std::vector<int*>& places) {
    if (text.empty() || text == "auto") return;
    std::string_view rest = text;
    for (std::size_t count = 0; count < places.size(); ++count) {
      const std::size_t x = rest.find('x');
      if (!read_number(rest.substr(0, x), *places[count]) || *places[count] == 0) break;
      if (x == std::string_view::npos) {
        if (count >= 1) return;
        break;
      }
      rest.remove_prefix(x + 1);
    }
    wrong(option, fmt::format("extents such as {}", example), text);
  }

 protected:
  Status& status() { return status_; }

 private:
  Status& status_;
};

}  // namespace gantry::tool
