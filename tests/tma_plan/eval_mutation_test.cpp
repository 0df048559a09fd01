// Golden lines spoilt, through `gantry eval`: whatever a line asks, one line of JSON answers it, and soon.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "eval/kinds.hpp"

namespace gantry::tool {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

std::vector<std::string> lines_of(const EvalKind& kind) {
  std::ifstream in(std::filesystem::path(GANTRY_SOURCE_DIR) / "tests/data" / (std::string(kind.name) + ".jsonl"));
  std::vector<std::string> out;
  for (std::string text; std::getline(in, text);) out.push_back(text);
  return out;
}

// Answers of seconds would be loops over numbers that a line merely names.
constexpr std::chrono::seconds kLongest{5};

json answer(const EvalKind& kind, const std::string& text) {
  JsonLine line(kind.computed);
  std::string out;
  const auto start = Clock::now();
  evaluate_line(kind, text, line, out);
  EXPECT_LT(Clock::now() - start, kLongest) << text;
  EXPECT_EQ(out.find('\n'), out.size() - 1) << text;
  EXPECT_TRUE(json::accept(out)) << text << "\n" << out;
  return json::parse(out, nullptr, false);
}

const std::vector<json> kExtremes = {0,
                                     -1,
                                     -5,
                                     17,
                                     1000000000000000000,
                                     INT64_MAX,
                                     INT64_MIN,
                                     "",
                                     "f7oa",
                                     "float",
                                     "0",
                                     "_0:_0",
                                     "_9223372036854775807:_1",
                                     "(_2,_1000000):(_1,_2)",
                                     "(_4611686018427387904,_4):(_1,_4611686018427387904)",
                                     "(((((1)))))",
                                     "(_64,_64):(-64,_1)",
                                     "Sw<3x,4,3>",
                                     "Sw<99999999999,4,3> o _8:_1",
                                     "Sw<3,4,3> o ",
                                     json::array(),
                                     json::array({INT64_MAX, -1}),
                                     nullptr};

class EvalOfSpoiltLines : public testing::TestWithParam<const EvalKind*> {};

TEST_P(EvalOfSpoiltLines, AnswersFieldsReplacedByExtremes) {
  std::mt19937_64 random(1);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<std::string> lines = lines_of(*GetParam());
  for (int k = 0; k < 1500; ++k) {
    json line = json::parse(lines[below(lines.size())]);
    auto field = line.begin();
    std::advance(field, static_cast<std::ptrdiff_t>(below(line.size())));
    *field = kExtremes[below(kExtremes.size())];
    answer(*GetParam(), line.dump());
  }
}

TEST_P(EvalOfSpoiltLines, AnswersBytesChanged) {
  std::mt19937_64 random(2);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string bytes = "0123456789_-,:()<>\"[]{}@ \xff";
  const std::vector<std::string> lines = lines_of(*GetParam());
  for (int k = 0; k < 1500; ++k) {
    // The operands come first: what follows is what is computed anyway.
    std::string line = lines[below(lines.size())];
    for (std::size_t n = 1 + below(3); n > 0; --n)
      line[below(std::min<std::size_t>(line.size(), 400))] = bytes[below(bytes.size())];
    answer(*GetParam(), line);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EvalOfSpoiltLines, testing::Values(&tma_plan_kind, &tma_partition_kind),
                         [](const auto& kind) { return std::string(kind.param->name); });

std::string with(const char* key, const json& value) {
  for (const std::string& text : lines_of(tma_partition_kind)) {
    json line = json::parse(text);
    if (line["kind"] != "partition") continue;
    line[key] = value;
    return line.dump();
  }
  return {};
}

TEST(EvalTmaPartition, RefusesClustersThatThereAreNot) {
  for (const char* ctas : {"_9223372036854775807:_1", "(_2,_1000000):(_1,_2)"}) {
    const json out = answer(tma_partition_kind, with("cta_layout", ctas));
    EXPECT_NE(out.value("error", "").find("there are 1 to 16"), std::string::npos) << out;
  }
  EXPECT_TRUE(answer(tma_partition_kind, with("num_multicast", 4294967295)).contains("error"));
}

TEST(EvalTmaPartition, RefusesIndicesOutsideOfTheirMode) {
  for (const char* key : {"rest_index", "pipe_index"}) {
    for (const std::int64_t index : {std::int64_t{-5}, std::int64_t{1000000000000000000}}) {
      const json out = answer(tma_partition_kind, with(key, index));
      EXPECT_NE(out.value("error", "").find("it counts from 0 to"), std::string::npos) << out;
    }
  }
}

TEST(EvalTmaPartition, RefusesOffsetsWhoseBitsDoNotFitIntoAnInteger) {
  json line = json::parse(with("pipe_index", 1));
  ASSERT_EQ(line["smem_full"], "(_64,_8,_4):(_1,_64,_512)");
  line["smem_full"] = "(_64,_8,_4,_2):(_1,_64,_512,_4611686018427387904)";
  EXPECT_NE(answer(tma_partition_kind, line.dump()).value("error", "").find("does not fit in 64 bits"),
            std::string::npos);
  line["smem_full"] = "(_64,_8,_4,_2):(_1,_64,_512,_2048)";
  EXPECT_FALSE(answer(tma_partition_kind, line.dump()).contains("error"));
}

TEST(EvalTmaPlan, SaysThatASwizzleCannotBeRead) {
  json line = json::parse(lines_of(tma_plan_kind).front());
  for (const char* text : {"Sw<3x,4,3>", "Sw<3,4>", "Sw<99999999999,4,3>", "Sw<3,4,3", "S", ""}) {
    line["smem_swizzle"] = text;
    EXPECT_NE(answer(tma_plan_kind, line.dump()).value("error", "").find("a swizzle such as"), std::string::npos)
        << text;
  }
}

TEST(EvalTmaPlan, RefusesElementsThatThereAreNotHoweverTheyAreMoved) {
  json line = json::parse(lines_of(tma_plan_kind).front());
  line["elem"] = "f7oa";
  line["tma_type"] = "float";
  EXPECT_TRUE(answer(tma_plan_kind, line.dump()).contains("refused"));
}

}  // namespace
}  // namespace gantry::tool
