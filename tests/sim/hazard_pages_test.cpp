// Every rule that the simulated machine can report has a page, every page a rule, and every rule a test of both sides.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace gantry {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = GANTRY_SOURCE_DIR;

std::string content(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::string content_of_all(const fs::path& folder) {
  std::string all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") all += content(entry.path());
  }
  return all;
}

// The rules named in the simulator's source: first arguments of what reports, and the table of conflicts.
std::set<std::string> rules() {
  const std::string source = content_of_all(kRoot / "src/sim");
  std::set<std::string> found;
  const std::regex named(
      R"re((?:add|complain|accuse|fault|Told|return )[({]\s*(?:[a-z_.()]+ \? )?"([a-z0-9]+(?:-[a-z0-9]+)*)")re");
  for (std::sregex_iterator it(source.begin(), source.end(), named), end; it != end; ++it) found.insert((*it)[1]);
  found.insert({"deadlock", "livelock", "global-race", "shared-race", "launch-refused"});
  return found;
}

std::set<std::string> pages() {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/reference/hazards")) {
    if (entry.path().extension() == ".md" && entry.path().stem() != "README") found.insert(entry.path().stem());
  }
  return found;
}

TEST(HazardPages, EveryRuleHasAPageAndEveryPageARule) { EXPECT_EQ(rules(), pages()); }

// By a helper that runs a kernel with the mistake and without it, or by a comparison of what is found with what is
// meant.
TEST(HazardPages, EveryRuleIsShownByATestTogetherWithItsAbsence) {
  const std::string tests = content_of_all(kRoot / "tests/sim") + content_of_all(kRoot / "tests/arch");
  std::set<std::string> shown;
  const std::regex both_ways(
      R"re((?:expect_rule|expect_misuse\w*|expect)\(\s*"([a-z0-9-]+)"|EXPECT_EQ\([\w.()]+\.(?:has|notes_rule)\("([a-z0-9-]+)"\),)re");
  for (std::sregex_iterator it(tests.begin(), tests.end(), both_ways), end; it != end; ++it) {
    shown.insert((*it)[1].matched ? (*it)[1] : (*it)[2]);
  }
  for (const std::string& rule : rules()) EXPECT_TRUE(shown.contains(rule)) << "no test shows " << rule;
}

TEST(HazardPages, TheIndexListsThemAll) {
  const std::string index = content(kRoot / "docs/reference/hazards/README.md");
  for (const std::string& rule : rules()) EXPECT_NE(index.find("(" + rule + ".md)"), std::string::npos) << rule;
}

}  // namespace
}  // namespace gantry
