#include "explain/page.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "page_text.hpp"

namespace gantry::tool {

namespace {

// JSON in a script element: no `<` may start a tag, and JSON can write it otherwise.
std::string embeddable(const nlohmann::ordered_json& value) {
  std::string out;
  for (const char c : value.dump()) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

void replace_mark(std::string& page, std::string_view mark, std::string_view text) {
  if (const std::size_t at = page.find(mark); at != std::string::npos) page.replace(at, mark.size(), text);
}

}  // namespace

std::string make_page(const nlohmann::ordered_json& explanation) {
  std::string page(kPageHtml);
  replace_mark(page, "/*STYLE*/", kPageStyle);
  replace_mark(page, "/*SCRIPT*/", kPageScript);
  replace_mark(page, "/*EXPLANATION*/", embeddable(explanation));
  return page;
}

}  // namespace gantry::tool
