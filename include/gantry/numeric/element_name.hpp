// Reads an element type by any of its names: the short one (bf16), CuTe's (bfloat16_t), or numeric Python's (bfloat16).
//
// Example:
//     static_assert(gantry::parse_element_type("half_t").type == gantry::ElementType::f16);
//     constexpr auto wrong = gantry::parse_element_type("bf61");
//     static_assert(!wrong.ok);  // wrong.problem: "bf61" is not an element type; the nearest name is "bf16". ...
#pragma once

#include <gantry/numeric/element_type.hpp>
#include <gantry/rules/text.hpp>

namespace gantry {

struct ParsedElementType {
  bool ok = false;
  ElementType type = ElementType::void_;  // the nearest one, if not ok
  Text<320> problem;                      // a sentence, if not ok
};

namespace detail {

constexpr int kLongestName = 64;

constexpr bool same_text(const char* a, const char* b) {
  for (; *a != '\0' && *a == *b; ++a) ++b;
  return *a == *b;
}

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How many characters must be inserted, removed, replaced or swapped with the next one to turn `from` into the name
// `to`, whatever their case.
constexpr int edit_distance(const char* from, const char* to) {
  // rows[i % 3][j]: the distance between the first i characters of `from` and the first j of `to`.
  int rows[3][kLongestName + 1] = {};
  for (int j = 0; j <= kLongestName; ++j) rows[0][j] = j;
  int i = 1;
  for (; from[i - 1] != '\0'; ++i) {
    int(&row)[kLongestName + 1] = rows[i % 3];
    const int(&above)[kLongestName + 1] = rows[(i + 2) % 3];
    const int(&two_above)[kLongestName + 1] = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; to[j - 1] != '\0'; ++j) {
      row[j] = above[j - 1] + (to_lower(from[i - 1]) == to_lower(to[j - 1]) ? 0 : 1);
      if (above[j] + 1 < row[j]) row[j] = above[j] + 1;
      if (row[j - 1] + 1 < row[j]) row[j] = row[j - 1] + 1;
      const bool swapped = i > 1 && j > 1 && to_lower(from[i - 1]) == to_lower(to[j - 2]) &&
                           to_lower(from[i - 2]) == to_lower(to[j - 1]);
      if (swapped && two_above[j - 2] + 1 < row[j]) row[j] = two_above[j - 2] + 1;
    }
  }
  int length = 0;
  while (to[length] != '\0') ++length;
  return rows[(i - 1) % 3][length];
}

}  // namespace detail

constexpr ParsedElementType parse_element_type(const char* text) {
  ParsedElementType result;
  const char* nearest = "";
  int smallest = -1;
  for (const ElementInfo& e : kElementTypes) {
    const char* const names[] = {e.name, e.cute_name, e.python_name};
    for (const char* name : names) {
      if (detail::same_text(text, name)) {
        result.ok = true;
        result.type = e.type;
        return result;
      }
      const int distance = detail::edit_distance(text, name);
      if (smallest < 0 || distance < smallest) {
        smallest = distance;
        nearest = name;
        result.type = e.type;
      }
    }
  }
  result.problem.append('"').append(Text<48>(text)).append("\" is not an element type; the nearest name is \"");
  result.problem.append(nearest).append("\". Element types:");
  for (const ElementInfo& e : kElementTypes) result.problem.append(' ').append(e.name);
  return result;
}

}  // namespace gantry
