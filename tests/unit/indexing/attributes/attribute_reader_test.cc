#include "indexing/attributes/attribute_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/timestamp.h"
#include "indexing/attributes/attributes_json.h"
#include "indexing/attributes/line_reader.h"
#include "tests/unit/indexing/attributes/random_attributes.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::indexing {
namespace {

using layout::Column;
using layout::ColumnType;
using layout::Schema;
using layout::Tuples;
using layout::Value;
using Texts = std::vector<std::string>;

class AttributeReader : public testing::Test {
 protected:
  Tuples read(const std::string& name, const std::string& text, const Schema& schema) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return read_attributes(folder_.file(name), schema);
  }
  /// Returns the message without the folder.
  std::string message(const std::string& name, const std::string& text, const Schema& schema) {
    std::string message = tests::message_of([&] { (void)read(name, text, schema); });
    const std::string folder = folder_.path().string() + "/";
    const std::size_t at = message.find(folder);
    return at == std::string::npos ? message : message.erase(at, folder.size());
  }

  const tests::TemporaryFolder folder_;
  const Schema all_ = tests::schema_of_all_types();
};

/// Writes a value as value_of_text() reads it, and without looking at what that does.
std::string csv_text(const Value& value, const Column& column) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.17e}", *number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return column.type == ColumnType::timestamp ? timestamp_text(*number) : std::to_string(*number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string text;
  for (const std::string& label : std::get<Texts>(value)) text += (text.empty() ? "" : "|") + label;
  return text;
}

std::string csv_field(const Value& value, const Column& column) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  std::string twice;
  for (const char c : csv_text(value, column)) twice += c == '"' ? "\"\"" : std::string(1, c);
  return "\"" + twice + "\"";
}

TEST_F(AttributeReader, BothKindsGiveTheSameTuples) {
  Random random(17);
  Tuples expected;
  std::string csv = "u,i,f,b,t,s,l,p\n";
  std::string jsonl;
  for (int row = 0; row < 1'000; ++row) {
    const std::vector<Value> values = tests::random_values(random, false);
    expected.append(all_, values);
    jsonl += attributes_json(all_, layout::Tuple(expected.view().row(expected.count() - 1))).dump();
    jsonl += "\n";
    for (std::size_t i = 0; i < values.size(); ++i) {
      csv += (i == 0 ? "" : ",") + csv_field(values[i], all_[i]);
    }
    csv += "\n";
  }
  for (const auto& [name, text] :
       {std::pair("x.csv", csv), {"x.jsonl", jsonl}, {"x.ndjson", jsonl}}) {
    const Tuples read_back = read(name, text, all_);
    EXPECT_EQ(read_back.ends, expected.ends) << name;
    EXPECT_EQ(read_back.bytes, expected.bytes) << name;
  }
}

TEST_F(AttributeReader, CsvNamesColumnsInAnyOrder) {
  const Tuples tuples = read("x.csv", "l,i\na|b,3\n,\n\"\",-4", all_);
  ASSERT_EQ(tuples.count(), 3u);
  const auto value = [&](std::size_t row, std::size_t column) {
    return layout::Tuple(tuples.view().row(row)).value(all_, column);
  };
  EXPECT_EQ(value(0, 6), Value(Texts{"a", "b"}));
  EXPECT_EQ(value(0, 1), Value(3l));
  EXPECT_EQ(value(1, 6), Value());
  EXPECT_EQ(value(1, 1), Value());
  EXPECT_EQ(value(2, 6), Value(Texts{}));
  EXPECT_EQ(value(2, 1), Value(-4l));
  EXPECT_EQ(value(2, 0), Value());
}

TEST_F(AttributeReader, EmptyQuotesAreNullWhereNothingElseIsEmpty) {
  const Tuples tuples = read("x.csv", "i,s,p\n\"\",\"\",\"\"\n,,\n", all_);
  const layout::Tuple quoted(tuples.view().row(0));
  const layout::Tuple plain(tuples.view().row(1));
  EXPECT_TRUE(quoted.is_null(1));
  EXPECT_EQ(quoted.value(all_, 5), Value(std::string()));
  EXPECT_EQ(quoted.value(all_, 7), Value(std::string()));
  EXPECT_TRUE(plain.is_null(5));
  EXPECT_TRUE(plain.is_null(7));
}

TEST_F(AttributeReader, ColumnsAreThoseThatTheFileHas) {
  const Schema schema = layout::parse_schema("price: i64, section: string not null, tags: set");
  const auto columns = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return read_columns(folder_.file(name), schema);
  };
  const auto csv = columns("x.csv", "section,price\na,3\n,\n");
  const auto jsonl = columns("x.jsonl",
                             "{\"section\": \"a\", \"price\": 3}\n"
                             "{\"price\": null, \"section\": null}\n");
  EXPECT_EQ(csv.names, (std::vector<std::string>{"section", "price"}));
  EXPECT_EQ(jsonl.names, (std::vector<std::string>{"price", "section"}));
  ASSERT_EQ(csv.values.count(), 2u);
  ASSERT_EQ(jsonl.values.count(), 2u);
  EXPECT_EQ(layout::Tuple(csv.values.view().row(0)).text(0), "a");
  EXPECT_EQ(layout::Tuple(csv.values.view().row(0)).word(1), 3u);
  EXPECT_EQ(layout::Tuple(jsonl.values.view().row(0)).text(1), "a");
  EXPECT_TRUE(layout::Tuple(csv.values.view().row(1)).is_null(0)) << "whoever gives it says no";
  EXPECT_TRUE(layout::Tuple(jsonl.values.view().row(1)).is_null(1));
  EXPECT_EQ(columns("x.csv", "price\n").values.count(), 0u);
  EXPECT_EQ(columns("x.jsonl", "").names.size(), 0u);
}

TEST_F(AttributeReader, EachObjectHasTheColumnsOfTheFirst) {
  const Schema schema = layout::parse_schema("price: i64, section: string");
  const auto said = [&](const std::string& text) {
    std::ofstream(folder_.file("x.jsonl"), std::ios::binary) << text;
    return tests::message_of([&] { (void)read_columns(folder_.file("x.jsonl"), schema); });
  };
  const std::string first = "{\"price\": 1}\n";
  for (const char* const second :
       {"{}", "{\"section\": \"a\"}", "{\"price\": 1, \"section\": \"a\"}"}) {
    EXPECT_NE(said(first + second).find("line 2: the line has other columns than the first one"),
              std::string::npos);
  }
  EXPECT_EQ(said(first + "{\"price\": null}"), "");
}

TEST_F(AttributeReader, ErrorsOfJsonlNameTheLine) {
  const Schema schema = layout::parse_schema("price: i64 not null, tags: set, s: string");
  EXPECT_EQ(message("x.jsonl", "{\"price\": 1}\n{\"price\": 1.5}\n", schema),
            "'x.jsonl', line 2: column 'price' is i64, and the value is 1.5");
  EXPECT_EQ(message("x.jsonl", "{\"price\": 1}\n{\"tags\": []}\n", schema),
            "'x.jsonl', line 2: column 'price' is null, which it may not be");
  EXPECT_EQ(message("x.jsonl", "{\"price\": 1, \"Tags\": []}", schema),
            "'x.jsonl', line 1: there is no column 'Tags': the schema is price: i64 not null, "
            "tags: set, s: string");
  EXPECT_EQ(message("x.jsonl", "{\"price\": 1}\n\n{\"price\": 1}", schema),
            "'x.jsonl', line 2: the line is empty: each line has the object of one row, at least "
            "{}");
  EXPECT_EQ(message("x.jsonl", "{\"price\": 1, \"s\": \"\\u0000\"}", schema),
            "'x.jsonl', line 1: the string of column 's' has a zero byte");
  EXPECT_EQ(message("x.jsonl", "{\"price\": 1, \"tags\": [\"\"]}", schema),
            "'x.jsonl', line 1: a label of column 'tags' is empty");
  const std::string text(layout::kMostTupleBytes, 'x');
  EXPECT_NE(message("x.jsonl", "{\"price\": 1, \"s\": \"" + text + "\"}", schema)
                .find("'x.jsonl', line 1: the attributes of the row have 65"),
            std::string::npos);
}

TEST_F(AttributeReader, ErrorsOfCsvNameTheLine) {
  const Schema schema = layout::parse_schema("price: i64, s: string");
  EXPECT_EQ(message("x.csv", "price,s\n1,\"a\nb\"\n2.5,c\n", schema),
            "'x.csv', line 4: column 'price' is i64, and the value is '2.5'");
  EXPECT_EQ(message("x.csv", "price,s\n1\n", schema),
            "'x.csv', line 2: the record has 1 fields, and the first line names 2 columns");
  EXPECT_EQ(message("x.csv", "price,s\n1,2,3\n", schema),
            "'x.csv', line 2: the record has 3 fields, and the first line names 2 columns");
  EXPECT_EQ(message("x.csv", "price,cost\n", schema),
            "'x.csv', line 1: there is no column 'cost': the schema is price: i64, s: string");
  EXPECT_EQ(message("x.csv", "s,price,s\n", schema), "'x.csv', line 1: column 's' is there twice");
  EXPECT_EQ(message("x.csv", "", schema),
            "'x.csv' is empty: its first line names the columns, as in 'price,section'");
  EXPECT_EQ(message("x.csv", "s\n\xff\n", schema), "'x.csv', line 2: the line is no UTF-8");
}

TEST_F(AttributeReader, OtherNamesAndMissingFilesAreRefused) {
  for (const char* name : {"x.json", "x", "x.JSONL", "x.csv.gz", "csv"}) {
    EXPECT_NE(message(name, "{}", all_).find("cannot be read as attributes: its name says"),
              std::string::npos)
        << name;
  }
  EXPECT_NE(tests::message_of([&] {
              (void)read_attributes(folder_.file("no.csv"), all_);
            }).find("no.csv"),
            std::string::npos);
}

TEST_F(AttributeReader, AttributesAreOneForEachVector) {
  const Tuples tuples = read("x.jsonl", "{}\n{}\n{}\n", all_);
  require_rows(tuples, 3, "'x.jsonl'");
  EXPECT_EQ(tests::message_of([&] { require_rows(tuples, 4, "'x.jsonl'"); }),
            "'x.jsonl' has the attributes of 3 rows for 4 vectors: it needs one of each, in order");
  EXPECT_THROW(require_rows(tuples, 2, "x"), Error);
}

}  // namespace
}  // namespace farvec::indexing
