// The tuning file: what was written is read, GEMMs are told apart, and any text can be read.
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/gemm/tuning.hpp>

#include "sized_workload.hpp"

namespace gantry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Found = std::tuple<TuningRule, std::int64_t, std::string>;  // rule, line and text

std::vector<Found> found(const std::vector<TuningReason>& reasons) {
  std::vector<Found> out;
  for (const TuningReason& r : reasons) out.emplace_back(r.rule, r.line, r.text.c_str());
  return out;
}

TEST(Tuning, ReadsWhatItWrote) {
  TuningFile tuning;
  GemmWorkload w = product(128, 4096, 64);
  w.batch = 7;
  w.a = ElementType::e4m3;
  w.b = ElementType::e5m2;
  w.c = ElementType::f16;
  w.d = ElementType::f32;
  w.major_b = Major::MN;
  const std::string epilogue = "d = gelu(acc + row(bias))";
  tuning.set({w, epilogue, "NVIDIA H200", "first", 1});
  tuning.set({w, epilogue, "NVIDIA H200", "second", 0.25});
  tuning.set({product(1, 2, 3), "d = acc", "another GPU", "third", 0});
  EXPECT_EQ(
      tuning.text(),
      "# gantry tuning 2\n"
      "128 4096 64 7 | e4m3 K e5m2 MN f16 f32 | plain | d = gelu(acc + row(bias)) | NVIDIA H200 | second | 0.2500 ms\n"
      "1 2 3 1 | bf16 K bf16 K void bf16 | plain | d = acc | another GPU | third\n");
  const TuningFile again = TuningFile::parse(tuning.text());
  EXPECT_THAT(again.reasons(), IsEmpty());
  EXPECT_EQ(again.text(), tuning.text());
  EXPECT_EQ(again.find(w, epilogue, "NVIDIA H200")->configuration, "second");
}

// Each of them computes something else from the same sizes and elements, or reads or writes other memory.
TEST(Tuning, TellsGemmsApartByEveryOptionThatChangesWhatIsComputed) {
  using Change = void (*)(GemmOptions&);
  constexpr Change kChanges[] = {
      [](GemmOptions&) {},
      [](GemmOptions& o) { o.groups = GemmGrouping::along_m; },
      [](GemmOptions& o) { o.groups = GemmGrouping::along_k; },
      [](GemmOptions& o) { o.groups = GemmGrouping::pointer_array; },
      [](GemmOptions& o) { o.layout_c = kColumnMajor; },
      [](GemmOptions& o) { o.layout_d = kColumnMajor; },
      [](GemmOptions& o) { o.promote = true; },
      [](GemmOptions& o) { o.scale_a = ScaleMode::row_block; },
      [](GemmOptions& o) { o.scale_a = ScaleMode::block; },
      [](GemmOptions& o) { o.scale_b = ScaleMode::row_block; },
      [](GemmOptions& o) { o.scale_b = ScaleMode::block; },
      [](GemmOptions& o) { o.gate = GemmGate::interleaved; },
      [](GemmOptions& o) { o.gather_a = true; },
      [](GemmOptions& o) { o.scatter_d = RowScatter::store; },
      [](GemmOptions& o) { o.scatter_d = RowScatter::add; },
      [](GemmOptions& o) { o.scatter_d = RowScatter::ordered; },
      [](GemmOptions& o) { o.split = SplitMode::reduce_add; },
  };
  TuningFile tuning;
  std::vector<GemmWorkload> all;
  for (const Change& change : kChanges) {
    GemmOptions o{.a = ElementType::e4m3, .b = ElementType::e4m3, .c = ElementType::bf16};
    change(o);
    GemmWorkload w = workload_of(o);
    w.m = w.n = w.k = 256;
    tuning.set({w, "d = acc", "GPU", "number " + std::to_string(all.size()), 0});
    all.push_back(w);
  }
  const TuningFile again = TuningFile::parse(tuning.text());
  EXPECT_THAT(again.reasons(), IsEmpty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TuningEntry* const found = again.find(all[i], "d = acc", "GPU");
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(found->configuration, "number " + std::to_string(i));
    EXPECT_EQ(swapped(swapped(all[i])), all[i]) << i;
  }
}

TEST(Tuning, KeepsRemarks) {
  const std::string line = "8 8 8 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | name\n";
  const TuningFile tuning = TuningFile::parse("# gantry tuning 2\n  # of the new machine\n" + line + "# and so on\n");
  EXPECT_EQ(tuning.text(), "# gantry tuning 2\n# of the new machine\n# and so on\n" + line);
}

TEST(Tuning, SkipsLinesThatCannotBeReadAndSaysWhich) {
  const TuningFile tuning = TuningFile::parse(
      "# gantry tuning 2\n"
      "\n"
      "nonsense\n"
      "8192 8192 0 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | name\n"
      "8192 8192 x 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | name\n"
      "1 1 1 1 | bf16 K bf16 | plain | d = acc | GPU | name\n"
      "1 1 1 1 | bf61 K bf16 K void bf16 | plain | d = acc | GPU | name\n"
      "1 1 1 1 | bf16 N bf16 K void bf16 | plain | d = acc | GPU | name\n"
      "1 1 1 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | \n"
      "1 1 1 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | name | soon\r\n"
      "1 1 1 1 | bf16 K bf16 K void bf16 | groups-n | d = acc | GPU | name\n"
      "1 1 1 1 | bf16 K bf16 K void bf16 | d = acc | GPU | name | 0.1 ms\n");
  EXPECT_EQ(tuning.entries().size(), 1u);
  const std::vector<TuningReason>& reasons = tuning.reasons();
  EXPECT_THAT(found(reasons),
              ElementsAre(Found{TuningRule::fields, 3, ""}, Found{TuningRule::sizes, 4, "8192 8192 0 1"},
                          Found{TuningRule::sizes, 5, "8192 8192 x 1"}, Found{TuningRule::elements, 6, "bf16 K bf16"},
                          Found{TuningRule::element, 7, "bf61"}, Found{TuningRule::major, 8, "N"},
                          Found{TuningRule::configuration, 9, ""}, Found{TuningRule::form, 11, "groups-n"},
                          Found{TuningRule::form, 12, "d = acc"}));
  EXPECT_EQ(reasons[0].actual, 1);
  EXPECT_EQ(reasons[4].element, ElementType::bf16);
}

TEST(Tuning, LeavesAnotherVersionAside) {
  const TuningFile tuning =
      TuningFile::parse("# gantry tuning 1\n1 1 1 1 | bf16 K bf16 K void bf16 | d = acc | GPU | name\n");
  EXPECT_THAT(tuning.entries(), IsEmpty());
  EXPECT_THAT(found(tuning.reasons()), ElementsAre(Found{TuningRule::version, 1, "# gantry tuning 1"}));
}

TEST(Tuning, LeavesAFolderAside) {
  EXPECT_THAT(found(TuningFile::read("/").reasons()), ElementsAre(Found{TuningRule::not_plain, 0, ""}));
}

TEST(Tuning, IsEmptyWhereThereIsNoFile) {
  const TuningFile tuning = TuningFile::read("/there/is/no/such/file");
  EXPECT_THAT(tuning.entries(), IsEmpty());
  EXPECT_THAT(tuning.reasons(), IsEmpty());
}

TEST(Tuning, ReadsAnyTextWithoutHarm) {
  std::mt19937 random(5);
  const std::string line = "8192 8192 64 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | name | 0.5 ms\n";
  for (int i = 0; i < 2000; ++i) {
    std::string text = line + line;
    for (int changes = 0; changes < 8; ++changes) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    const TuningFile tuning = TuningFile::parse(text);
    ASSERT_EQ(TuningFile::parse(tuning.text()).text(), tuning.text());
  }
}

}  // namespace
}  // namespace gantry
