// CuTe's observed plans and partitions, field by field, through the functions behind `gantry eval`.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "eval/kinds.hpp"

namespace gantry::tool {
namespace {

using nlohmann::json;

// What CuTe said about a rejection; ours is in `refused`.
bool is_verdict_of_cute(const std::string& key) { return key == "error" || key == "error_kind"; }

std::vector<std::string> golden_files(const std::string& name) {
  const std::filesystem::path root = GANTRY_SOURCE_DIR;
  std::vector<std::string> files = {(root / "tests/data" / name).string()};
  const auto shared = root / "../shared/golden" / name;
  if (std::filesystem::exists(shared)) files.push_back(shared.string());
  return files;
}

// Calls f(golden, answer) for every line.
template <class F>
void for_each_case(const EvalKind& kind, const F& f) {
  for (const std::string& file : golden_files(std::string(kind.name) + ".jsonl")) {
    std::ifstream in(file);
    ASSERT_TRUE(in) << file;
    JsonLine line(kind.computed);
    std::string text;
    int lines = 0;
    while (std::getline(in, text)) {
      std::string out;
      evaluate_line(kind, text, line, out);
      f(json::parse(text), json::parse(out));
      ++lines;
    }
    EXPECT_GT(lines, 90) << file;
  }
}

void expect_fields_agree(const json& golden, const json& answer) {
  for (const auto& [key, value] : golden.items()) {
    if (is_verdict_of_cute(key)) continue;
    EXPECT_EQ(answer.value(key, json()), value) << golden["id"] << " " << key;
  }
}

TEST(GoldenTmaPlan, EveryFieldAgreesIntermediateValuesIncluded) {
  for_each_case(tma_plan_kind, [](const json& golden, const json& answer) { expect_fields_agree(golden, answer); });
}

TEST(GoldenTmaPlan, WhatCuteRejectsOrGetsWrongIsRefusedInSentencesAndNothingElseIs) {
  for_each_case(tma_plan_kind, [](const json& golden, const json& answer) {
    const bool wrong = golden.value("tile_reproduced", true) == false;
    const bool against_driver = golden.contains("documented_driver_rule_violations");
    // Rounded silently by CuTe: the tensor map would have another stride than the tensor.
    const bool rounded = golden.value("intent", "") == "recast: inner stride not divisible by ratio";
    const bool refuse = golden.contains("error") || wrong || against_driver || rounded;
    EXPECT_EQ(answer.contains("refused"), refuse) << golden["id"] << " " << answer.value("refused", json());
    for (const json& sentence : answer.value("refused", json::array())) {
      EXPECT_GT(sentence.get<std::string>().size(), 20U) << golden["id"];
    }
  });
}

TEST(GoldenTmaPlan, DerivedFieldsArePresentExactlyWhereTheyAreInTheGoldenFile) {
  for_each_case(tma_plan_kind, [](const json& golden, const json& answer) {
    if (golden.contains("error")) return;
    for (const char* key : {"tile_reproduced", "documented_driver_rule_violations"}) {
      EXPECT_EQ(answer.contains(key), golden.contains(key)) << golden["id"] << " " << key;
    }
  });
}

TEST(GoldenTmaPartition, EveryFieldAgrees) {
  for_each_case(tma_partition_kind,
                [](const json& golden, const json& answer) { expect_fields_agree(golden, answer); });
}

// Lines that nobody means: each is answered, none ends the program.
TEST(EvalTma, AnswersBadLinesWithASentence) {
  const char* const lines[] = {
      R"json({"copy_op":"SM90_TMA_LOAD"})json",
      R"json({"copy_op":"SM90_TMA_FLOAD","elem":"half_t","gmem":"(8,8):(8,1)","smem":"8:1","cta_tiler":"8"})json",
      R"json({"copy_op":"SM90_TMA_LOAD","elem":"half_t","gmem":"(8,8:(8,1)","smem":"8:1","cta_tiler":"8"})json",
      R"json({"kind":"partition","copy_op":1})json",
      R"json({"kind":"mcast_mask","cta_layout":"(2,2)","modes":[7]})json",
      R"json({"kind":"other"})json",
  };
  for (const EvalKind* kind : {&tma_plan_kind, &tma_partition_kind}) {
    for (const char* text : lines) {
      JsonLine line(kind->computed);
      std::string out;
      evaluate_line(*kind, text, line, out);
      EXPECT_TRUE(json::parse(out).contains("error")) << kind->name << " " << text << " " << out;
    }
  }
}

TEST(EvalTma, RefusesAnElementTypeThatThereIsNot) {
  JsonLine line(tma_plan_kind.computed);
  std::string out;
  evaluate_line(
      tma_plan_kind,
      R"json({"copy_op":"SM90_TMA_LOAD","elem":"float_e9m9_t","gmem":"(64,64):(64,_1)","smem":"(_8,_64):(_64,_1)",)json"
      R"json("cta_tiler":"(_8,_64)"})json",
      line, out);
  EXPECT_NE(out.find("is not an element type"), std::string::npos) << out;
}

}  // namespace
}  // namespace gantry::tool
