// CUTLASS's observed decisions about epilogues, field by field, through the function behind `gantry eval`.
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

json answer(const std::string& text) {
  JsonLine line(epilogue_policy_kind.computed);
  std::string out;
  evaluate_line(epilogue_policy_kind, text, line, out);
  return json::parse(out);
}

// Calls f(golden, answer) for every line of the file the repository carries, and of the whole one where it is there.
template <class F>
void for_each_case(const F& f) {
  const std::filesystem::path root = GANTRY_SOURCE_DIR;
  std::vector<std::filesystem::path> files = {root / "tests/data/epilogue_policy.jsonl"};
  const auto shared = root / "../shared/golden/epilogue_policy.jsonl";
  if (std::filesystem::exists(shared)) files.push_back(shared);
  for (const auto& file : files) {
    std::ifstream in(file);
    ASSERT_TRUE(in) << file;
    std::string text;
    int lines = 0;
    while (std::getline(in, text)) {
      f(json::parse(text), answer(text));
      ++lines;
    }
    EXPECT_GE(lines, 72) << file;
  }
}

TEST(GoldenEpiloguePolicy, EveryFieldAgrees) {
  for_each_case([](const json& golden, const json& answered) {
    if (!golden.contains("result")) return;
    ASSERT_TRUE(answered.contains("result")) << golden["id"] << " " << answered;
    for (const auto& [key, value] : golden["result"].items()) {
      EXPECT_EQ(answered["result"].value(key, json()), value) << golden["id"] << " " << key;
    }
    EXPECT_EQ(answered["result"].size(), golden["result"].size()) << golden["id"];
  });
}

TEST(GoldenEpiloguePolicy, WhatCutlassRejectsIsRefusedInSentencesAndNothingElseIs) {
  for_each_case([](const json& golden, const json& answered) {
    EXPECT_EQ(answered.contains("refused"), golden.contains("error")) << golden["id"] << " " << answered;
    EXPECT_NE(answered.contains("result"), answered.contains("refused")) << golden["id"];
    EXPECT_FALSE(answered.contains("not_on_hopper")) << golden["id"];
    for (const json& sentence : answered.value("refused", json::array())) {
      EXPECT_GT(sentence.get<std::string>().size(), 40U) << golden["id"];
      EXPECT_EQ(sentence.get<std::string>().find('{'), std::string::npos) << golden["id"] << " " << sentence;
    }
  });
}

TEST(GoldenEpiloguePolicy, OutputsInTheLineDoNotMatter) {
  for_each_case([](const json& golden, const json& answered) {
    json spoilt = golden;
    spoilt["result"] = {{"StagesC", 17}};
    EXPECT_EQ(answer(spoilt.dump()), answered);
  });
}

// A line with other values: `change` is merged into the configuration of a case that works.
json changed(const json& change) {
  json config = {{"schedule", "TmaWarpSpecialized"},
                 {"tile_mnk", {64, 128, 64}},
                 {"elem_c", "half_t"},
                 {"elem_d", "half_t"},
                 {"layout_c", "RowMajor"},
                 {"layout_d", "RowMajor"},
                 {"align_c", 8},
                 {"align_d", 8},
                 {"epi_tile", "auto"},
                 {"elem_acc", "float"},
                 {"elem_compute", "float"}};
  config.merge_patch(change);
  return answer(json{{"config", config}}.dump());
}

TEST(EvalEpiloguePolicy, TakesDecisionsThatTheConfigurationMakes) {
  EXPECT_EQ(changed(json::object())["result"]["dispatch_policy"], "Sm90TmaWarpSpecialized<4, 2, 16, true, false>");
  EXPECT_EQ(changed({{"stages_c", 3}, {"stages_d", 1}, {"delay_tma_store", true}})["result"]["dispatch_policy"],
            "Sm90TmaWarpSpecialized<3, 1, 16, true, true>");
  EXPECT_EQ(changed({{"reuse_smem_c", false}})["result"]["store_pipeline"], "PipelineTmaStore<2, 1>");
  EXPECT_EQ(changed({{"flavour", "gantry"}})["result"]["epilogue_tile"], "(_64,_64)");
  EXPECT_EQ(changed({{"elem_d", "void"}, {"elem_aux", "float"}})["result"]["sizeof_CollectiveStorage"],
            4 * 64 * 32 * 2 + 2 * 64 * 32 * 4);
}

TEST(EvalEpiloguePolicy, GivesTheValuesOfWhatDoesNotFitAndSaysThatItDoesNot) {
  const json said = changed({{"elem_c", "float"},
                             {"elem_d", "float"},
                             {"align_c", 4},
                             {"align_d", 4},
                             {"epi_tile", {64, 256}},
                             {"tile_mnk", {64, 256, 64}},
                             {"stages_c", 8}});
  EXPECT_EQ(said["result"]["sizeof_CollectiveStorage"], 8 * 64 * 256 * 4);
  ASSERT_EQ(said["not_on_hopper"].size(), 1U);
}

TEST(EvalEpiloguePolicy, AnswersBadLinesWithASentence) {
  for (const char* text :
       {"{}", R"({"config":3})", R"({"config":"auto"})", R"({"config":{}})", R"({"config":[1]})", "[]"}) {
    EXPECT_GT(answer(text).value("error", "").size(), 20U) << text;
  }
  for (const json& change :
       {json{{"schedule", "TmaTma"}}, json{{"tile_mnk", {64, 128}}}, json{{"tile_mnk", {64, 128, 1e30}}},
        json{{"epi_tile", {64}}}, json{{"elem_c", "half"}}, json{{"layout_c", "Row"}, {"align_c", "8"}},
        json{{"layout_d", "Diagonal"}}, json{{"align_d", nullptr}}, json{{"reuse_smem_c", 1}},
        json{{"stages_c", 5000000000}}, json{{"stages_c", 18446744073709551615U}},
        json{{"elem_c", std::string("half_t\0x", 8)}}}) {
    const json said = changed(change);
    EXPECT_GT(said.value("error", "").size(), 20U) << change;
    EXPECT_FALSE(said.contains("result")) << change;
  }
}

}  // namespace
}  // namespace gantry::tool
