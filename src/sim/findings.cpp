#include "findings.hpp"

#include <string_view>

#include "grid.hpp"

namespace gantry::sim {
namespace {

std::string with_capital(std::string text) {
  for (const char* opening : {"thread ", "the ", "a "}) {
    if (text.starts_with(opening)) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

void add_placed(const char* rule, SiteId site, const std::string& sentence, const std::string& who) {
  const std::string_view body(sentence.data(), sentence.size() - (sentence.ends_with('.') ? 1 : 0));
  grid().findings().add(rule, site, 0, std::string(body) + " (" + who + grid().sites().text(site) + ").");
}

}  // namespace

void Findings::add(const char* rule, SiteId site, SiteId other, const std::string& text) {
  add_to(all_, rule, site, other, text);
}

void Findings::note(const char* rule, SiteId site, SiteId other, const std::string& text) {
  add_to(notes_, rule, site, other, text);
}

void Findings::add_to(std::vector<Finding>& list, const char* rule, SiteId site, SiteId other,
                      const std::string& text) {
  const std::string said = with_capital(text);
  if (!known_.emplace(rule, site, other).second) {
    for (Finding& finding : list) {
      if (finding.rule == rule && finding.line == sites_.line(site) && finding.text == said) ++finding.count;
    }
    return;
  }
  if (list.size() >= most_) return;
  list.push_back({.rule = rule, .text = said, .file = base_name(sites_.file(site)), .line = sites_.line(site)});
}

void complain(const char* rule, SiteId site, const std::string& sentence) { add_placed(rule, site, sentence, ""); }

void accuse(const char* rule, SiteId site, const std::string& sentence) {
  add_placed(rule, site, sentence, grid().checker().describe(self().view.self) + " at ");
}

}  // namespace gantry::sim
