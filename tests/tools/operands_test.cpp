// What `gantry gemm` says of a result is true: right ones pass, and one wrong element anywhere that was looked at is
// found and named.
#include "gemm/operands.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <gantry/gemm/gather_check.hpp>
#include <gantry/numeric/element_access.hpp>
#include <gantry/runtime/runtime_rules.hpp>

#include "bench/asked_gemms.hpp"
#include "bench/record.hpp"
#include "files.hpp"
#include "option_rules.hpp"

namespace gantry::tool {
namespace {

AskedGemm asked_gemm(const AskedTexts& texts) {
  AskedGemm asked = read_asked(texts);
  EXPECT_TRUE(asked.ok()) << asked.status.describe();
  return asked;
}

Operand& operand(Operands& operands, const std::string& name) {
  for (Operand& o : operands.all()) {
    if (o.name == name) return o;
  }
  ADD_FAILURE() << name;
  return operands.all()[0];
}

double read(const Operand& o, std::int64_t m, std::int64_t n, std::int64_t batch = 0) {
  return load_as_double(o.element, o.bytes.data(), o.tensor().index(m, n, batch));
}
void write(Operand& o, std::int64_t m, std::int64_t n, std::int64_t batch, double x) {
  store_from_double(o.element, o.bytes.data(), o.tensor().index(m, n, batch), x);
}

// D = A B + bias, by the definition.
void multiply(const AskedGemm& p, Operands& operands) {
  const Operand &a = operand(operands, "A"), &b = operand(operands, "B"), &bias = operand(operands, "bias");
  Operand& d = operand(operands, "D");
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = read(bias, 0, j);
        for (std::int64_t x = 0; x < p.k; ++x) sum += read(a, i, x, batch) * read(b, j, x, batch);
        write(d, i, j, batch, sum);
      }
    }
  }
}

TEST(Operands, AcceptWhatIsRightAndNameWhatIsWrong) {
  for (const char* major : {"k", "m"}) {
    const AskedGemm p = asked_gemm({.m = 20,
                                    .n = 24,
                                    .k = 10,
                                    .batch = 2,
                                    .d = "f32",
                                    .epilogue = "d = acc + row(bias)",
                                    .major_a = major,
                                    .layout_d = major[0] == 'k' ? "row" : "column"});
    Operands operands(p, Inputs::eighths, 1);
    EXPECT_EQ(operands.verify().wrong, 960) << "poison is no result";
    multiply(p, operands);
    const Verification right = operands.verify();
    EXPECT_TRUE(right.ok()) << right.first_wrong;
    EXPECT_EQ(right.elements, 960);
    EXPECT_EQ(right.largest_error, 0) << "sums of eighths are exact";
    Operand& d = operand(operands, "D");
    const double was = read(d, 3, 5, 1);
    write(d, 3, 5, 1, was + 0.125);
    const Verification wrong = operands.verify();
    EXPECT_EQ(wrong.wrong, 1);
    EXPECT_EQ(wrong.first_wrong.rfind("D at row 3, column 5 of batch 1 is ", 0), 0u) << wrong.first_wrong;
  }
}

TEST(Operands, AllowAsMuchErrorAsRoundingCausesAndNoMore) {
  const AskedGemm p = asked_gemm({.m = 16, .n = 16, .k = 64, .epilogue = "d = acc + row(bias)"});
  Operands operands(p, Inputs::uniform, 2);
  multiply(p, operands);  // rounded once, to bf16
  const Verification right = operands.verify();
  EXPECT_TRUE(right.ok()) << right.first_wrong;
  EXPECT_GT(right.largest_error, 0);
  Operand& d = operand(operands, "D");
  write(d, 1, 1, 0, read(d, 1, 1) * 1.02 + 0.02);
  EXPECT_FALSE(operands.verify().ok());
}

TEST(Operands, OfALargeGemmLookAtTheFirstAndTheLastRows) {
  const AskedGemm p = asked_gemm({.m = 700, .n = 4096, .k = 1, .d = "f32", .epilogue = "d = acc + row(bias)"});
  Operands operands(p, Inputs::eighths, 3);
  multiply(p, operands);
  const Verification right = operands.verify();
  EXPECT_TRUE(right.ok()) << right.first_wrong;
  EXPECT_EQ(right.part.rfind("rows 0 to 243 and 384 to ", 0), 0u) << right.part;
  Operand& d = operand(operands, "D");
  write(d, 243, 4095, 0, 1e6);
  EXPECT_EQ(operands.verify().wrong, 1);
  write(d, 390, 0, 0, 1e6);
  EXPECT_EQ(operands.verify().wrong, 2);
}

TEST(Operands, AreTheSameForTheSameSeedOnly) {
  const AskedGemm p = asked_gemm({.m = 16, .n = 16, .k = 16, .epilogue = "d = acc + row(bias)"});
  const Operands one(p, Inputs::uniform, 1), same(p, Inputs::uniform, 1), other(p, Inputs::uniform, 2);
  EXPECT_EQ(one.find("A")->bytes, same.find("A")->bytes);
  EXPECT_NE(one.find("A")->bytes, other.find("A")->bytes);
  EXPECT_NE(one.find("A")->bytes, one.find("B")->bytes);
}

// D = A B of the rows that groups have, each with its own weights; the others keep what they hold.
void multiply_groups(Operands& operands, const std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
  const Operand &a = operand(operands, "A"), &b = operand(operands, "B");
  Operand& d = operand(operands, "D");
  for (std::size_t g = 0; g < spans.size(); ++g) {
    for (std::int64_t i = spans[g].first; i < spans[g].second; ++i) {
      for (std::int64_t j = 0; j < d.length; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < a.length; ++x) sum += read(a, i, x) * read(b, j, x, static_cast<std::int64_t>(g));
        write(d, i, j, 0, sum);
      }
    }
  }
}

TEST(Operands, NameARowThatWasWrittenAndThatNoGroupHas) {
  const AskedGemm p = asked_gemm({.n = 8, .k = 8, .d = "f32", .groups = "3,0,2", .capacity = 4});
  Operands operands(p, Inputs::eighths, 1);
  multiply_groups(operands, {{0, 3}, {4, 4}, {8, 10}});
  const Verification right = operands.verify();
  EXPECT_TRUE(right.ok()) << right.first_wrong;
  EXPECT_EQ(right.elements, 40);
  Operand& d = operand(operands, "D");
  write(d, 10, 7, 0, 0);
  EXPECT_EQ(operands.verify().first_wrong, "D at row 10, column 7 was written, and no group has that row");
}

TEST(Operands, NameARowThatWasWrittenAndThatNoRowIsScatteredTo) {
  for (const char* how : {"store", "add"}) {
    const AskedGemm p = asked_gemm({.m = 3, .n = 8, .k = 0, .d = "f32", .scatter = how, .scatter_rows = 5});
    Operands operands(p, Inputs::eighths, 1);
    Operand& d = operand(operands, "D");
    const std::vector<std::uint8_t> before = d.bytes;
    std::int32_t index[3];
    std::memcpy(index, operand(operands, "(scatter)").bytes.data(), sizeof index);
    std::int64_t free = 0;
    while (std::find(index, index + 3, free) != index + 3) ++free;
    for (const std::int32_t row : index) {
      for (std::int64_t j = 0; j < 8; ++j) write(d, row, j, 0, 0);
    }
    const Verification right = operands.verify();
    EXPECT_TRUE(right.ok()) << right.first_wrong;
    write(d, free, 3, 0, 1);
    EXPECT_EQ(operands.verify().first_wrong,
              "D at row " + std::to_string(free) + ", column 3 was written, and no row is scattered there");
  }
}

TEST(Operands, CountTheBytesOfRowsThatAreUsed) {
  const AskedGemm masked = asked_gemm({.n = 16, .k = 32, .groups = "5,0,3", .capacity = 4096});
  const double a = 8 * 32 * 2, b = 2 * 16 * 32 * 2, d = 8 * 16 * 2, counts = 3 * 4;
  EXPECT_EQ(Operands(masked, Inputs::zeros, 1).traffic(), a + b + d + counts);
  const AskedGemm dense = asked_gemm({.m = 8, .n = 16, .k = 32});
  EXPECT_EQ(Operands(dense, Inputs::zeros, 1).traffic(), a + b / 2 + d);
  // One row of A, however many rows of the GEMM it is.
  const AskedGemm gathered = asked_gemm({.m = 8, .n = 16, .k = 32, .gather_rows = 1});
  EXPECT_EQ(Operands(gathered, Inputs::zeros, 1).traffic(), a / 8 + b / 2 + d + 8 * 4);
  const AskedGemm scattered = asked_gemm({.m = 8, .n = 16, .k = 32, .scatter = "store", .scatter_rows = 1000});
  EXPECT_EQ(Operands(scattered, Inputs::zeros, 1).traffic(), a + b / 2 + d + 8 * 4);
}

TEST(Operands, NameIndicesThatAreWrong) {
  const AskedGemm p = asked_gemm({.m = 4, .n = 8, .k = 8, .gather_rows = 3, .scatter = "store", .scatter_rows = 6});
  Operands operands(p, Inputs::eighths, 1);
  EXPECT_TRUE(operands.wrong_on_device());
  const std::int32_t from[] = {-1, 3, 2, 2}, to[] = {5, -1, 5, -2};
  std::memcpy(operand(operands, "(index)").bytes.data(), from, sizeof from);
  std::memcpy(operand(operands, "(scatter)").bytes.data(), to, sizeof to);
  std::vector<std::pair<std::string, std::int64_t>> wrong;
  const Status refused = operands.wrong_on_device();
  for (const StatusReason& reason : refused.reasons()) wrong.emplace_back(reason.rule, reason.actual);
  EXPECT_EQ(wrong, (std::vector<std::pair<std::string, std::int64_t>>{{entry_of(IndexRule::index_outside).name, 1},
                                                                      {entry_of(IndexRule::index_twice).name, 2},
                                                                      {entry_of(IndexRule::index_outside).name, 3}}))
      << refused.describe();
}

TEST(Operands, NameTheFirstOfManyIndicesThatAreWrong) {
  const Status wrong =
      Operands(asked_gemm({.m = 100, .n = 8, .k = 8, .gather_rows = 0}), Inputs::eighths, 1).wrong_on_device();
  ASSERT_EQ(wrong.reasons().size(), 17U);
  EXPECT_EQ(wrong.reasons().back().rule, to_text(runtime::RuntimeRule::findings_left_out));
  EXPECT_EQ(wrong.reasons().back().actual, 84);
}

TEST(AskedGemms, OfAFileAreAlignedAsTheirSizesAre) {
  std::string name = testing::TempDir() + "gantry-gemms-XXXXXX";
  const std::string path = std::string(mkdtemp(name.data())) + "/shapes";
  ASSERT_TRUE(write_text(path, "64 72 64\n64 77 64\n"));
  const AskedGemms asked_gemms = read_all_asked({}, {.shapes = path});
  ASSERT_TRUE(asked_gemms.status) << asked_gemms.status.describe();
  ASSERT_EQ(asked_gemms.all.size(), 2U);
  EXPECT_EQ(asked_gemms.all[0].options.align_d, 0);
  EXPECT_EQ(asked_gemms.all[1].options.align_d, 1) << "rows of 154 bytes are none that TMA addresses";
  const AskedGemms gated = read_all_asked({.epilogue = "d = silu(gate(acc)) * up(acc)"}, {.shapes = path});
  ASSERT_FALSE(gated.status);
  EXPECT_EQ(gated.status.reasons().front().rule, "gate_columns");
  EXPECT_NE(gated.status.describe().find("64 x 72 x 64"), std::string::npos) << gated.status.describe();
  const AskedGemms scattered = read_all_asked({.scatter = "store"}, {.shapes = path});
  ASSERT_TRUE(scattered.status) << scattered.status.describe();
  EXPECT_EQ(scattered.all[1].scatter_rows, 64);
}

TEST(Options, AreRefusedByRulesThatNameTheOption) {
  using Found = std::pair<std::string, std::string>;  // rule and option
  const auto found = [](const AskedTexts& texts) {
    const Status status = read_asked(texts).status;
    std::vector<Found> out;
    for (const StatusReason& reason : status.reasons()) out.emplace_back(reason.rule, reason.operand);
    return out;
  };
  const auto one = [](OptionRule rule, const char* option) { return std::vector<Found>{{to_text(rule), option}}; };
  EXPECT_EQ(found({.m = 8, .n = 8, .k = 8}), std::vector<Found>());
  EXPECT_EQ(found({.m = 8, .n = 8, .k = 8, .tile = "128"}), one(OptionRule::value, "--tile"));
  EXPECT_EQ(found({.m = -1, .n = 8, .k = 8}), one(OptionRule::required, "--m"));
  EXPECT_EQ(found({.m = 8, .n = 8, .k = 8, .values = {"x=1", "x=2"}}), one(OptionRule::repeated, "--set"));
  EXPECT_EQ(found({.n = 8, .k = 8, .groups = "8,8", .groups_k = "8"}), one(OptionRule::conflict, "--groups"));
  EXPECT_EQ(found({.gemms = "/nowhere"}), one(OptionRule::file, "--problems"));
  EXPECT_EQ(found({.m = 8, .n = 8, .k = 8, .epilogue = "d = "}), one(OptionRule::expression, "--epilogue"));
  EXPECT_EQ(found({.m = 8, .n = 8, .k = 8, .tile = "96x64"}), (std::vector<Found>{{"tile_rows", ""}}));
  const Status memory = Operands::problems_of(asked_gemm({.m = 1 << 30, .n = 1 << 30, .k = 8}));
  ASSERT_EQ(memory.reasons().size(), 1U);
  EXPECT_EQ(memory.reasons()[0].rule, to_text(OptionRule::memory));
}

TEST(AskedGemms, OfGroupsAreSaidToBe) {
  BenchResult result;
  result.epilogue = "d = acc";
  result.batch = 2;
  result.groups = groups_text(asked_gemm({.n = 64, .k = 64, .groups = "4096,4096"}));
  BenchRecord record;
  record.results.push_back(result);
  const Result<BenchRecord> again = read_record(to_json(record).dump());
  ASSERT_TRUE(again) << again.error().describe();
  std::string heading;
  const std::string row = table_row(again->results.front(), heading);
  EXPECT_EQ(row.rfind("d = acc, 2 groups along M of 4096 rows  (against ", 0), 0u) << row;
}

}  // namespace
}  // namespace gantry::tool
