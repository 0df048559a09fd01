// The layout algebra agrees with CuTe on every recorded case: tests/data, and more cases where they are at hand.
//
// A case's `result` is what Python's CuTe gives. Where C++ CuTe gives something else (`cpp` is "differs") ours must be
// that; where C++ refuses, ours may refuse too.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <gantry/layout.hpp>

namespace {

using namespace gantry;
using Json = nlohmann::json;

// In these files every integer counts as known at compile time.
constexpr ParseOptions kAllFixed{.all_fixed = true};

// A field's text; a tuple that is one integer may stand there as a number.
std::string text_of(const Json& field) { return field.is_string() ? field.get<std::string>() : field.dump(); }

Layout read_layout(const Json& field) { return parse_layout(text_of(field).c_str(), kAllFixed).value; }
IntTuple read_tuple(const Json& field) { return parse_int_tuple(text_of(field).c_str(), kAllFixed).value; }
Tiler read_tiler(const Json& field) { return parse_tiler(text_of(field).c_str(), kAllFixed).value; }

using Operation = Layout (*)(const Json&);
const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> table = {
      {"coalesce",
       [](const Json& c) {
         const Layout a = read_layout(c["a"]);
         return c.contains("profile") ? coalesce(a, read_tuple(c["profile"])) : coalesce(a);
       }},
      {"filter", [](const Json& c) { return filter(read_layout(c["a"])); }},
      {"right_inverse", [](const Json& c) { return right_inverse(read_layout(c["a"])); }},
      {"left_inverse", [](const Json& c) { return left_inverse(read_layout(c["a"])); }},
      {"composition", [](const Json& c) { return composition(read_layout(c["a"]), read_layout(c["b"])); }},
      {"complement",
       [](const Json& c) { return complement(read_layout(c["a"]), Int::fixed(c["cotarget"].get<std::int64_t>())); }},
      {"logical_divide", [](const Json& c) { return logical_divide(read_layout(c["a"]), read_tiler(c["tiler"])); }},
      {"zipped_divide", [](const Json& c) { return zipped_divide(read_layout(c["a"]), read_tiler(c["tiler"])); }},
      {"tiled_divide", [](const Json& c) { return tiled_divide(read_layout(c["a"]), read_tiler(c["tiler"])); }},
      {"logical_product", [](const Json& c) { return logical_product(read_layout(c["a"]), read_tiler(c["tiler"])); }},
      {"zipped_product", [](const Json& c) { return zipped_product(read_layout(c["a"]), read_tiler(c["tiler"])); }},
      {"tiled_product", [](const Json& c) { return tiled_product(read_layout(c["a"]), read_tiler(c["tiler"])); }},
  };
  return table;
}

std::string text_of(const Layout& l, const PrintOptions& options) { return to_text(l, options).c_str(); }

std::vector<std::int64_t> image_of(const Layout& l) {
  std::vector<std::int64_t> image;
  for (std::int64_t i = 0; i < size(l); ++i) image.push_back(l(i));
  return image;
}

// What is wrong with our answer to a layout-valued case; empty if nothing is.
std::string problem_with(const Json& c, const Layout& ours) {
  const std::string ours_in_python = text_of(ours, kPythonText);
  const auto& theirs = c["result"].get_ref<const std::string&>();
  const std::string cpp = c["cpp"];
  if (!ours.ok()) return cpp == "rejects" ? "" : "refused: " + ours_in_python;
  if (cpp == "differs") {
    const std::string ours_in_cpp = text_of(ours, {.marks = false});
    if (ours_in_cpp == c["cpp_result"]) return "";
    return "C++ gives " + c["cpp_result"].get<std::string>() + ", ours is " + ours_in_cpp;
  }
  if (ours_in_python != theirs) return "ours is " + ours_in_python;
  if (c.contains("image") && image_of(ours) != c["image"].get<std::vector<std::int64_t>>()) return "other offsets";
  return "";
}

std::string problem_with(const Json& c) {
  const std::string op = c["op"];
  if (const auto found = operations().find(op); found != operations().end()) return problem_with(c, found->second(c));
  if (op == "size") return size(read_layout(c["a"])) == c["result"] ? "" : "another size";
  if (op == "cosize") return cosize(read_layout(c["a"])) == c["result"] ? "" : "another cosize";
  if (op == "crd2idx") {
    const IntTuple ours = crd2idx(read_tuple(c["crd"]), read_tuple(c["shape"]), read_tuple(c["stride"]));
    return ours.is_leaf() && ours.leaf().value() == c["result"] ? "" : "another offset";
  }
  if (op == "idx2crd") {
    const Int idx = Int::fixed(c["idx"].get<std::int64_t>());
    const IntTuple shape = read_tuple(c["shape"]);
    const IntTuple ours = c.contains("stride") ? idx2crd(idx, shape, read_tuple(c["stride"])) : idx2crd(idx, shape);
    const std::string text = to_text(ours, kPythonText).c_str();
    return text == text_of(c["result"]) ? "" : "ours is " + text;
  }
  if (op == "swizzle") {
    const Swizzle sw(c["bits"].get<int>(), c["base"].get<int>(), c["shift"].get<int>());
    for (std::size_t i = 0; i < c["in"].size(); ++i) {
      if (sw(c["in"][i].get<std::int64_t>()) != c["out"][i].get<std::int64_t>()) return "another offset";
    }
    return "";
  }
  return "an operation that is not here";
}

void check_file(const std::filesystem::path& path, int at_least) {
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::string line;
  int cases = 0;
  int wrong = 0;
  while (std::getline(file, line)) {
    const Json c = Json::parse(line);
    ++cases;
    const std::string problem = problem_with(c);
    if (problem.empty()) continue;
    if (++wrong <= 20) ADD_FAILURE() << problem << "\n  in " << line.substr(0, 400);
  }
  EXPECT_EQ(wrong, 0) << "of " << cases;
  EXPECT_GE(cases, at_least);
}

TEST(Golden, EveryRecordedCaseOfTheLayoutAlgebraAgrees) {
  check_file(GANTRY_SOURCE_DIR "/tests/data/layout_algebra.jsonl", 3000);
}

TEST(Golden, EveryFurtherCaseAtHandAgrees) {
  const std::filesystem::path further = GANTRY_SOURCE_DIR "/../shared/golden/layout_algebra.jsonl";
  if (!std::filesystem::exists(further)) GTEST_SKIP() << "there are none";
  check_file(further, 1);
}

}  // namespace
