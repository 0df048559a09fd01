// What a private folder refuses, by its rules; what is in the cache's way is tested with the cache.
#include "private_folder.hpp"

#include <gtest/gtest.h>

#include "cache_entry.hpp"
#include "stand_in.hpp"

namespace gantry::runtime::test {
namespace {

class PrivateFiles : public testing::Test {
 protected:
  Folder folder_;
  PrivateFolder files_ = *PrivateFolder::open(folder_ / "files", Trust::own);
};

TEST_F(PrivateFiles, GiveBackWhatWasWritten) {
  ASSERT_TRUE(files_.write("one", "first"));
  ASSERT_TRUE(files_.write("one", "second"));
  ASSERT_TRUE(files_.add("a/b/two", "third"));
  const Result<std::string> one = files_.read("one"), two = files_.read("a/b/two");
  ASSERT_TRUE(one) << one.error().describe();
  ASSERT_TRUE(two) << two.error().describe();
  EXPECT_EQ(*one, "second");
  EXPECT_EQ(*two, "third");
}

TEST_F(PrivateFiles, ThatAreNotThereOrTooLargeAreRefusedByTheirRules) {
  EXPECT_TRUE(is_only(files_.read("none").error(), RuntimeRule::file_missing));
  ASSERT_TRUE(files_.write("large", ""));
  std::filesystem::resize_file(files_.path() + "/large", (std::uintmax_t{1} << 30) + 1);  // a hole
  const Result<std::string> large = files_.read("large");
  ASSERT_FALSE(large);
  EXPECT_TRUE(is_only(large.error(), RuntimeRule::file_too_large));
  EXPECT_EQ(large.error().reasons().front().operand, "large");
}

TEST_F(PrivateFiles, AreAddedOnceAndNotBelowAFile) {
  ASSERT_TRUE(files_.add("one", "first"));
  EXPECT_TRUE(is_only(files_.add("one", "second"), RuntimeRule::file_not_written));
  EXPECT_TRUE(is_only(files_.add("one/two", "third"), RuntimeRule::file_not_written));
  EXPECT_TRUE(is_only(PrivateFolder::made_in(files_.descriptor(), "one").error(), RuntimeRule::folder_not_made));
}

TEST_F(PrivateFiles, AreNotLookedForInAFolderThatIsNone) {
  write(folder_ / "plain", "text");
  const auto rule_of = [this](const char* name, Trust trust) {
    const Result<PrivateFolder> opened = PrivateFolder::open(folder_ / name, trust);
    return opened ? "none" : opened.error().reasons().front().rule;
  };
  EXPECT_EQ(rule_of("plain", Trust::own), to_text(RuntimeRule::folder_not_plain));
  EXPECT_EQ(rule_of("plain/files", Trust::own), to_text(RuntimeRule::folder_not_made));
  EXPECT_EQ(rule_of("none", Trust::shipped), to_text(RuntimeRule::folder_not_opened));
  EXPECT_EQ(rule_of("files", Trust::shipped), "none");
}

TEST(CacheEntry, ThatIsNotAsItWasSealedIsDamaged) {
  const std::string sealed = seal("name", {.kind = "cubin", .toolchain = "nvcc", .title = "a kernel", .body = "image"});
  ASSERT_TRUE(unseal("name", sealed));
  EXPECT_EQ(unseal("name", sealed)->body, "image");
  EXPECT_TRUE(is_only(unseal("other name", sealed).error(), RuntimeRule::entry_damaged));
  for (std::size_t bytes = 0; bytes < sealed.size(); ++bytes) {
    EXPECT_FALSE(unseal("name", sealed.substr(0, bytes))) << bytes;
  }
}

}  // namespace
}  // namespace gantry::runtime::test
