// Digests as the standard has them; text from outside that does nothing to a terminal.
#include <gtest/gtest.h>

#include <gantry/runtime/printable.hpp>

#include "digest.hpp"

namespace gantry::runtime::test {
namespace {

// The examples of FIPS 180-2, appendix B, and of the empty message.
TEST(Digest, IsSha256) {
  EXPECT_EQ(Digest().text(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Digest().add("abc").text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Digest().add("abcdbcdecdefdefgefghfghighij").add("hijkijkljklmklmnlmnomnopnopq").text(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Digest().add(std::string(1000000, 'a')).text(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, TellsPartsApart) {
  EXPECT_NE(Digest().add_part("ab").add_part("c").text(), Digest().add_part("a").add_part("bc").text());
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\tb\n"), "a\tb\n");
  EXPECT_EQ(one_line("a\tb\n"), "a\\x09b\\x0a");
  EXPECT_EQ(printable("\x1b[31m\r\x7f\a"), "\\x1b[31m\\x0d\\x7f\\x07");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "the same as ESC [";
}

TEST(Printable, KeepsUtf8AndEscapesWhatIsNone) {
  const std::string fine = "Bᵀ × é \U0001F600";
  EXPECT_EQ(printable(fine), fine);
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "too long for its character";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "too long for its character";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80") << "beyond the last character";
}

}  // namespace
}  // namespace gantry::runtime::test
