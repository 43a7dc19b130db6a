#include "base/options_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tests/unit/temporary_folder.h"

namespace farvec {
namespace {

using testing::HasSubstr;

std::vector<std::string> said(std::string_view text) {
  std::vector<std::string> lines;
  for (const OptionLine& option : parse_options(text, "f")) {
    lines.push_back(fmt::format("{} {}={}", option.line, option.name, option.value));
  }
  return lines;
}

std::string wrong(std::string_view text) {
  try {
    parse_options(text, "f");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

using Lines = std::vector<std::string>;

TEST(OptionsFile, HasALineForEachOption) {
  EXPECT_EQ(said(""), Lines{});
  EXPECT_EQ(said("\n \n# listen = x\n  # y"), Lines{});
  EXPECT_EQ(said("index = /srv/a\n\nnode=3"), (Lines{"1 index=/srv/a", "3 node=3"}));
  EXPECT_EQ(said("\tlisten\t=\tunix:/a \r\n"), Lines{"1 listen=unix:/a"});
}

TEST(OptionsFile, ValuesAreWordsOrQuoted) {
  EXPECT_EQ(said("x = \"a b # c = d\"  # e"), Lines{"1 x=a b # c = d"});
  EXPECT_EQ(said("x = a#b"), Lines{"1 x=a"});
  EXPECT_EQ(said("x = emulated:latency=5us,rate=1M/s # y"),
            Lines{"1 x=emulated:latency=5us,rate=1M/s"});
  EXPECT_EQ(said("x = \"a\"#b"), Lines{"1 x=a"});
}

TEST(OptionsFile, ANameMayComeAgain) {
  EXPECT_EQ(said("p = a\nq = 1\np = b"), (Lines{"1 p=a", "2 q=1", "3 p=b"}));
}

TEST(OptionsFile, SaysInWhichLineSomethingIsWrong) {
  EXPECT_THAT(wrong("a = 1\nquiet"), HasSubstr("f:2: a line is NAME = VALUE"));
  EXPECT_THAT(wrong("= 1"), HasSubstr("f:1: the name"));
  EXPECT_THAT(wrong("a b = 1"), HasSubstr("f:1: the name"));
  EXPECT_THAT(wrong("--a = 1"), HasSubstr("without the dashes"));
  EXPECT_THAT(wrong("a = \"b"), HasSubstr("closing quote"));
  EXPECT_THAT(wrong("a = b c"), HasSubstr("one word"));
  EXPECT_THAT(wrong("a = b\"c\""), HasSubstr("one word"));
  EXPECT_THAT(wrong("a = \"b\" c"), HasSubstr("one word"));
  for (const char* text : {"a =", "a = # none", "a = \"\""}) {
    EXPECT_THAT(wrong(text), HasSubstr("the value is missing")) << text;
  }
}

TEST(OptionsFile, IsRead) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("program.conf");
  std::ofstream(path) << "index = /srv/a\n";
  ASSERT_EQ(read_options_file(path).size(), 1u);
  EXPECT_EQ(read_options_file(path)[0].value, "/srv/a");
  std::filesystem::remove(path);
  EXPECT_THROW(read_options_file(path), Error);
}

}  // namespace
}  // namespace farvec
