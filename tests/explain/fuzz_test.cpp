// The corpus, and texts changed at random: a short piece of what the fuzzer does at length.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void ask(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::vector<std::string> corpus() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(GANTRY_SOURCE_DIR "/tests/explain/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return out;
}

TEST(ExplainTexts, OfTheCorpusAreAnswered) {
  const std::vector<std::string> inputs = corpus();
  ASSERT_GE(inputs.size(), 10u);
  for (const std::string& input : inputs) ask(input);
}

TEST(ExplainTexts, ChangedAtRandomAreAnswered) {
  const std::vector<std::string> inputs = corpus();
  const std::vector<std::string> pieces = {
      "",  "0", "1", "8", "64", "128", "256", "4294967296", "9223372036854775807", "-1",   "_",   "_1",  "?",
      "(", ")", ",", ":", "x",  "@0",  "/2",  "\n",         "Sw<3,4,3> o ",        "\xff", " o ", "bf16"};
  std::mt19937 random(3);
  const auto below = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int i = 0; i < 3000; ++i) {
    std::string input = inputs[below(inputs.size())];
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      const std::size_t at = below(input.size() + 1);
      input.replace(at, below(4), pieces[below(pieces.size())]);
    }
    SCOPED_TRACE(input);
    ask(input);
  }
}

// Numbers replaced by other numbers keep the texts readable, so that plans are reached.
TEST(ExplainTexts, WithOtherNumbersAreAnswered) {
  const std::vector<std::string> inputs = corpus();
  std::mt19937_64 random(5);
  const std::int64_t numbers[] = {0,  1,   2,   3,   4,    7,    8,     12,      16,        32,        48,       64,
                                  96, 128, 256, 512, 1024, 4096, 65536, 1 << 20, 1LL << 31, 1LL << 40, 1LL << 62};
  for (int i = 0; i < 3000; ++i) {
    std::string output;
    const std::string& input = inputs[random() % inputs.size()];
    for (std::size_t at = 0; at < input.size();) {
      const bool digit = input[at] >= '0' && input[at] <= '9';
      std::size_t end = at;
      while (digit && end < input.size() && input[end] >= '0' && input[end] <= '9') ++end;
      if (digit && random() % 4 == 0) {
        output += std::to_string(numbers[random() % std::size(numbers)]);
      } else {
        output += input.substr(at, digit ? end - at : 1);
      }
      at = digit ? end : at + 1;
    }
    SCOPED_TRACE(output);
    ask(output);
  }
}

}  // namespace
