// gantry tune --shapes: what was tuned stays, whatever ends the run, and the next run goes on from there.
#include "bench/tuning_run.hpp"

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include <gantry/gemm/tuning.hpp>
#include <gantry/runtime/runtime_rules.hpp>

#include "files.hpp"
#include "gemm/choice.hpp"
#include "run_rules.hpp"

namespace gantry::tool {
namespace {

class TuneMany : public testing::Test {
 protected:
  TuneMany() {
    std::string name = testing::TempDir() + "gantry-tuning-XXXXXX";
    run_.path = std::string(mkdtemp(name.data())) + "/new/tuning";
    run_.device = "NVIDIA H200";
    run_.print = [this](const std::string& text) { printed_ += text; };
    for (int i = 1; i <= 3; ++i) {
      AskedTexts texts;
      texts.m = texts.n = texts.k = 64 * i;
      gemms_.push_back(read_asked(texts));
    }
  }
  ~TuneMany() override { std::filesystem::remove_all(std::filesystem::path(run_.path).parent_path().parent_path()); }

  // Every GEMM gets a configuration that names its M; `asked_` has those that were measured.
  int tune(const std::function<void(const AskedGemm&)>& meanwhile = {}, const Stop& stop = Stop()) {
    asked_.clear();
    printed_.clear();
    return tune_all(
        gemms_,
        [&](const AskedGemm& asked) {
          asked_.push_back(asked.m);
          if (meanwhile) meanwhile(asked);
          if (asked.m == failing_)
            return Tuned{.status = failure_of(RunRule::nothing_measured, "nothing could be measured")};
          if (stop.asked()) return Tuned{};
          return Tuned{.configuration = "of " + std::to_string(asked.m), .seconds = 1e-5, .candidates = 7};
        },
        run_, stop);
  }
  std::string kept(std::size_t i) const {
    const TuningFile file = TuningFile::read(run_.path);
    const TuningEntry* entry = file.find(workload_of(gemms_[i]), gemms_[i].expression, run_.device);
    return entry == nullptr ? "nothing" : entry->configuration;
  }

  TuningRun run_;
  std::vector<AskedGemm> gemms_;
  std::vector<std::int64_t> asked_;
  std::string printed_;
  std::int64_t failing_ = 0;
};

TEST_F(TuneMany, KeepsEachWhenItWasMeasured) {
  std::vector<std::size_t> there;
  EXPECT_EQ(tune([&](const AskedGemm&) { there.push_back(TuningFile::read(run_.path).entries().size()); }), 0);
  EXPECT_EQ(there, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(kept(2), "of 192");
  EXPECT_NE(printed_.find("of 64, 10.00 us, 0.1 TFLOP/s, the fastest of 7\n"), std::string::npos) << printed_;
  EXPECT_NE(printed_.find("3 of 3 tuned\n"), std::string::npos) << printed_;
}

TEST_F(TuneMany, GoesOnWhereItWasStopped) {
  {
    const Stop stop;
    EXPECT_EQ(tune(
                  [](const AskedGemm& p) {
                    if (p.m == 128) raise(SIGINT);
                  },
                  stop),
              128 + SIGINT);
  }
  EXPECT_EQ(asked_, (std::vector<std::int64_t>{64, 128}));
  EXPECT_EQ(kept(0), "of 64");
  EXPECT_EQ(kept(1), "nothing") << "half measured is not measured";
  EXPECT_EQ(tune(), 0);
  EXPECT_EQ(asked_, (std::vector<std::int64_t>{128, 192}));
  EXPECT_NE(printed_.find("of 64 is kept already\n"), std::string::npos) << printed_;
  EXPECT_NE(printed_.find("2 of 3 tuned, 1 were in " + run_.path + " already\n"), std::string::npos) << printed_;
}

TEST_F(TuneMany, MeasuresAgainWhereAskedAndOnAnotherGpu) {
  EXPECT_EQ(tune(), 0);
  run_.again = true;
  EXPECT_EQ(tune(), 0);
  EXPECT_EQ(asked_.size(), 3U);
  run_.again = false;
  run_.device = "NVIDIA H100";
  EXPECT_EQ(tune(), 0);
  EXPECT_EQ(asked_.size(), 3U);
  EXPECT_EQ(TuningFile::read(run_.path).entries().size(), 6U);
}

TEST_F(TuneMany, GoesOnAfterAGemmThatCannotBeTuned) {
  failing_ = 128;
  EXPECT_EQ(tune(), 1);
  EXPECT_EQ(kept(1), "nothing");
  EXPECT_EQ(kept(2), "of 192");
  EXPECT_NE(printed_.find("2 of 3 tuned, 1 could not be\n"), std::string::npos) << printed_;
}

TEST_F(TuneMany, MeasuresGemmsThatDifferInMoreThanSizesAndElements) {
  gemms_.clear();
  AskedTexts texts;
  texts.m = texts.n = texts.k = 256;
  texts.a = "e4m3";
  gemms_.push_back(read_asked(texts));
  texts.promote = true;
  gemms_.push_back(read_asked(texts));
  texts.scale_a = texts.scale_b = "block";
  gemms_.push_back(read_asked(texts));
  for (const AskedGemm& asked : gemms_) ASSERT_TRUE(asked.ok()) << asked.status.describe();
  EXPECT_EQ(tune(), 0);
  EXPECT_EQ(asked_.size(), 3U) << printed_;
  EXPECT_EQ(TuningFile::read(run_.path).entries().size(), 3U);
}

TEST_F(TuneMany, SaysThatAFileOfAnotherVersionWouldBeLost) {
  const std::filesystem::path folder = std::filesystem::path(run_.path).parent_path();
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_text(run_.path, "# gantry tuning 1\n8 8 8 1 | bf16 K bf16 K void bf16 | d = acc | GPU | name\n"));
  const Status lost = check_keeps(run_.path);
  ASSERT_EQ(lost.reasons().size(), 1U) << lost.describe();
  EXPECT_EQ(lost.reasons().front().rule, entry_of(TuningRule::version).name);
  EXPECT_TRUE(lost.describe().starts_with(run_.path)) << lost.describe();
}

TEST_F(TuneMany, AsksBeforehandWhetherTheFileCanBeWritten) {
  const std::string folder = std::filesystem::path(run_.path).parent_path().parent_path();
  const auto rule_of = [](const std::string& path) {
    const Status keeps = check_keeps(path);
    return keeps ? "none" : keeps.reasons().front().rule;
  };
  EXPECT_EQ(rule_of(run_.path), "none") << "folders are made when there is something to keep";
  EXPECT_EQ(rule_of(""), to_text(runtime::RuntimeRule::folder_missing));
  EXPECT_EQ(rule_of(folder), to_text(runtime::RuntimeRule::file_not_plain));
}

TEST_F(TuneMany, KeepsNothingInADryRun) {
  run_.dry_run = true;
  EXPECT_EQ(tune(), 0);
  EXPECT_FALSE(std::filesystem::exists(run_.path));
}

}  // namespace
}  // namespace gantry::tool
