#include "indexing/attributes/csv_records.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "tests/unit/indexing/attributes/random_attributes.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {
namespace {

using Record = std::vector<CsvField>;

class CsvRecordsTest : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = folder_.file("x.csv");
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<Record> read(const std::string& text) {
    std::vector<Record> all;
    CsvRecords records(write(text));
    for (Record record; records.next(record);) all.push_back(record);
    return all;
  }
  std::string message(const std::string& text) {
    return tests::message_of([&] { (void)read(text); });
  }

  const tests::TemporaryFolder folder_;
};

CsvField plain(const std::string& text) {
  return {text, false};
}
CsvField quoted(const std::string& text) {
  return {text, true};
}

TEST_F(CsvRecordsTest, FieldsAreBetweenCommas) {
  EXPECT_EQ(read(""), std::vector<Record>{});
  EXPECT_EQ(read("a,b\n1,2\n"),
            (std::vector<Record>{{plain("a"), plain("b")}, {plain("1"), plain("2")}}));
  EXPECT_EQ(read("a,b\r\n1,2"),
            (std::vector<Record>{{plain("a"), plain("b")}, {plain("1"), plain("2")}}));
  EXPECT_EQ(read(",\n"), (std::vector<Record>{{plain(""), plain("")}}));
  EXPECT_EQ(read("\n\n"), (std::vector<Record>{{plain("")}, {plain("")}}));
  EXPECT_EQ(read(" a , b"), (std::vector<Record>{{plain(" a "), plain(" b")}}));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a\n"),
            (std::vector<Record>{{plain("a")}}));
}

TEST_F(CsvRecordsTest, QuotesHoldEverything) {
  EXPECT_EQ(read("\"a,b\",\"\"\r\n"), (std::vector<Record>{{quoted("a,b"), quoted("")}}));
  EXPECT_EQ(read("\"\"\"\"\n"), (std::vector<Record>{{quoted("\"")}}));
  EXPECT_EQ(read("\"a\n\nb\r\n\",c\nd"),
            (std::vector<Record>{{quoted("a\n\nb\r\n"), plain("c")}, {plain("d")}}));
}

TEST_F(CsvRecordsTest, WhatIsWrittenIsRead) {
  Random random(5);
  std::vector<Record> expected;
  std::string text;
  for (int i = 0; i < 1'000; ++i) {
    Record record(1 + random.below(4));
    for (CsvField& field : record) {
      field = quoted(tests::random_text(random, 9));
      std::string twice;
      for (const char c : field.text) twice += c == '"' ? "\"\"" : std::string(1, c);
      text += (&field == record.data() ? "\"" : ",\"") + twice + "\"";
    }
    text += random.below(2) == 0 ? "\n" : "\r\n";
    expected.push_back(record);
  }
  EXPECT_EQ(read(text), expected);
}

TEST_F(CsvRecordsTest, WhatIsNoRecordIsRefusedWithItsLine) {
  const std::string file = "'" + folder_.file("x.csv") + "', ";
  EXPECT_EQ(message("a\nb\"c\n").find(file + "line 2: quotes in a field that does not begin"), 0u);
  EXPECT_EQ(message("a\n\"b\"c\n"), file + "line 2: text after the quotes that end a field");
  EXPECT_EQ(message("a\n\"b\" \n"), file + "line 2: text after the quotes that end a field");
  EXPECT_EQ(message("a\n\"b\n\nc"),
            file + "line 2: the file ends within quotes that begin in this record");
  EXPECT_EQ(message("a\rb\n").find(file + "line 1: a carriage return in a field"), 0u);
  EXPECT_EQ(message("a\r\r\n").find(file + "line 1: a carriage return in a field"), 0u);
  EXPECT_EQ(message("\"a\"\r\r\n"), file + "line 1: text after the quotes that end a field");
  // The lines within quotes count.
  EXPECT_EQ(message("\"a\n\n\"\n\"b\"c").find(file + "line 4: "), 0u);
}

TEST_F(CsvRecordsTest, ARecordHasABound) {
  const std::string half(kMostLineBytes / 2, 'x');
  const std::string whole = "\"" + half + "\n" + half.substr(3) + "\"";
  ASSERT_EQ(whole.size(), kMostLineBytes);
  EXPECT_EQ(read(whole).size(), 1u);
  EXPECT_NE(message("\"" + half + "\n" + half.substr(2) + "\"").find("line 1: the record has more"),
            std::string::npos);
}

}  // namespace
}  // namespace farvec::indexing
