// gantry bench: what was measured stays, whatever ends the run.
#include "bench/session.hpp"

#include <csignal>
#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <gantry/runtime/runtime_rules.hpp>

#include "files.hpp"
#include "run_rules.hpp"

namespace gantry::tool {
namespace {

// Of the first reason.
std::string rule_of(const Status& refused) { return refused ? "none" : refused.reasons().front().rule; }

class Session : public testing::Test {
 protected:
  Session() {
    std::string name = testing::TempDir() + "gantry-session-XXXXXX";
    json_ = std::string(mkdtemp(name.data())) + "/record.json";
  }

  // Three GEMMs, of which `measure` measures one; what was printed is in `printed_`.
  int run(const std::function<Measured(const AskedGemm&)>& measure, const Stop& stop) {
    std::vector<AskedGemm> asked_gemms(3);
    for (int i = 0; i < 3; ++i) asked_gemms[static_cast<std::size_t>(i)].m = i + 1;
    const BenchOutputs outputs{.print = [this](const std::string& text) { printed_.push_back(text); }, .json = json_};
    return measure_all(asked_gemms, measure, BenchRecord(), outputs, stop);
  }
  static Measured result_of(const AskedGemm& asked) {
    Measured out;
    out.result.m = asked.m;
    out.result.epilogue = "d = acc";
    out.result.verified = "all";
    return out;
  }
  std::size_t recorded() const {
    const Result<std::string> read = read_text(json_);
    return read ? read_record(*read)->results.size() : 0;
  }

  std::string json_;
  std::vector<std::string> printed_;
};

TEST_F(Session, PrintsARowAndWritesTheRecordWhenAGemmWasMeasured) {
  const Stop stop;
  std::vector<std::size_t> rows, records;
  const int status = run(
      [&](const AskedGemm& asked) {
        rows.push_back(printed_.size());
        records.push_back(recorded());
        return result_of(asked);
      },
      stop);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rows, (std::vector<std::size_t>{1, 2, 3})) << "the head, and a row each";
  EXPECT_EQ(records, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(recorded(), 3U);
  std::string all;
  for (const std::string& text : printed_) all += text;
  EXPECT_EQ(all, table(*read_record(*read_text(json_)))) << "the same as a record that is shown";
}

TEST_F(Session, KeepsWhatThereIsWhenItIsInterrupted) {
  for (const int signal : {SIGINT, SIGTERM}) {
    printed_.clear();
    const Stop stop;
    const int status = run(
        [&](const AskedGemm& asked) {
          if (asked.m == 2) std::raise(signal);
          return result_of(asked);
        },
        stop);
    EXPECT_EQ(status, 128 + signal);
    EXPECT_EQ(printed_.size(), 2U) << "the head and one row: what was under way is none";
    EXPECT_EQ(recorded(), 1U);
  }
}

TEST_F(Session, KeepsWhatThereIsWhenItsTimeIsOver) {
  const Stop stop(0);
  EXPECT_EQ(run(result_of, stop), 0);
  EXPECT_EQ(printed_.size(), 1U);
  EXPECT_EQ(stop.why(), "the time limit of 0 s was reached");
}

TEST_F(Session, KeepsWhatThereIsWhenAGemmFails) {
  const Stop stop;
  const int status = run(
      [&](const AskedGemm& asked) {
        Measured out = result_of(asked);
        if (asked.m == 3) {
          out.status = runtime::failure_of(runtime::RuntimeRule::device_call_failed, "the GPU fell off the bus");
        }
        return out;
      },
      stop);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(recorded(), 2U);
}

TEST_F(Session, EndsWithOneWhereAResultIsWrong) {
  const Stop stop;
  const int status = run(
      [&](const AskedGemm& asked) {
        Measured out = result_of(asked);
        if (asked.m == 1) out.result.verified.clear();
        return out;
      },
      stop);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(recorded(), 3U);
}

TEST(Stop, IsForOneSignalTheSecondEndsTheProgram) {
  const pid_t child = fork();
  if (child == 0) {
    const Stop stop;
    std::raise(SIGINT);
    if (stop.asked()) std::raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

TEST(Finishes, WaitsForWorkAndPassesOnWhatItThrew) {
  const Stop stop;
  int done = 0;
  EXPECT_TRUE(finishes([&] { done = 1; }, stop));
  EXPECT_EQ(done, 1);
  EXPECT_THROW((void)finishes([] { throw std::runtime_error("wrong"); }, stop), std::runtime_error);
}

TEST(Finishes, LeavesWorkThatNeverEndsWhenItShouldStop) {
  const pid_t child = fork();
  if (child == 0) {
    const Stop stop;
    const bool finished = finishes(
        [] {
          kill(getpid(), SIGTERM);
          for (;;) pause();
        },
        stop);
    leave(finished ? 0 : Stop::status());
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM) << status;
}

TEST(ReplaceText, LeavesNothingBesideTheFileAndWritesThroughWhatIsNone) {
  std::string name = testing::TempDir() + "gantry-replace-XXXXXX";
  const std::string folder = mkdtemp(name.data()), path = folder + "/file";
  EXPECT_TRUE(replace_text(path, "one"));
  EXPECT_TRUE(replace_text(path, "two"));
  EXPECT_EQ(*read_text(path), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()), 1);
  EXPECT_TRUE(replace_text("/dev/null", "gone"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(rule_of(replace_text(folder, "a folder")), to_text(runtime::RuntimeRule::file_not_written));
}

TEST(ReadText, RefusesByTheRuleWhatIsNoText) {
  std::string name = testing::TempDir() + "gantry-read-XXXXXX";
  const std::string folder = mkdtemp(name.data());
  const auto read_rule = [](const std::string& path) { return rule_of(read_text(path).error()); };
  EXPECT_EQ(read_rule(folder + "/none"), to_text(runtime::RuntimeRule::file_missing));
  EXPECT_EQ(read_rule(folder), to_text(runtime::RuntimeRule::file_not_plain));
  EXPECT_EQ(read_rule("/dev/zero"), to_text(runtime::RuntimeRule::file_too_large));
  EXPECT_EQ(rule_of(check_writable(folder)), to_text(runtime::RuntimeRule::file_not_plain));
  EXPECT_EQ(rule_of(check_writable(folder + "/none/file")), to_text(runtime::RuntimeRule::folder_missing));
  EXPECT_TRUE(check_writable(folder + "/file"));
}

TEST(Record, ThatIsNoneIsRefused) {
  for (const char* text : {"", "no JSON", "[]", "{}", "{\"gantry_bench\": 0}"}) {
    const Result<BenchRecord> read = read_record(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(rule_of(read.error()), to_text(RunRule::record)) << text;
  }
}

}  // namespace
}  // namespace gantry::tool
