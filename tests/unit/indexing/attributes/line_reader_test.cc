#include "indexing/attributes/line_reader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    LineReader reader(path_);
    std::vector<std::string> lines;
    for (std::string_view line; reader.next(line);) {
      lines.emplace_back(line);
      EXPECT_EQ(reader.number(), lines.size());
    }
    return lines;
  }

  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.file("lines");
};

TEST_F(LineReaderTest, TheLastLineNeedsNoNewline) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(read(""), Lines{});
  EXPECT_EQ(read("\n"), Lines{""});
  EXPECT_EQ(read("a"), Lines{"a"});
  EXPECT_EQ(read("a\n\nb\r\n"), (Lines{"a", "", "b\r"}));
}

TEST_F(LineReaderTest, LinesOfAllLengthsComeWhole) {
  Random random(9);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t length =
        i % 8 == 0 ? kMostLineBytes - random.below(3) : random.below(70'000);
    lines.emplace_back(length, static_cast<char>('a' + i % 26));
    text += lines.back() + "\n";
  }
  EXPECT_EQ(read(text), lines);
}

TEST_F(LineReaderTest, ALineThatIsTooLongIsRefused) {
  for (const std::size_t length : {kMostLineBytes + 1, 2 * kMostLineBytes, 5 * kMostLineBytes}) {
    for (const char* end : {"", "\n", "\nb\n"}) {
      EXPECT_EQ(tests::message_of([&] { (void)read("a\n" + std::string(length, 'x') + end); }),
                "'" + path_ + "', line 2: the line has more than 1048576 bytes");
    }
  }
}

TEST_F(LineReaderTest, WhatIsNoUtf8IsRefused) {
  EXPECT_EQ(tests::message_of([&] { (void)read("a\nb\xc3\n"); }),
            "'" + path_ + "', line 2: the line is no UTF-8");
}

}  // namespace
}  // namespace farvec::indexing
