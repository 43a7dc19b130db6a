#include "indexing/attributes/attributes_json.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/unit/indexing/attributes/random_attributes.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

using layout::Schema;
using layout::Tuples;
using layout::Value;
using tests::message_of;
using Texts = std::vector<std::string>;

const Schema& schema() {
  static const Schema all = tests::schema_of_all_types();
  return all;
}

Tuples tuple_of(const std::vector<Value>& values) {
  Tuples tuples;
  tuples.append(schema(), values);
  return tuples;
}

std::string dumped(const std::vector<Value>& values) {
  const Tuples tuples = tuple_of(values);
  return attributes_json(schema(), layout::Tuple(tuples.view().row(0))).dump();
}

TEST(AttributesJson, EveryTypeHasItsForm) {
  EXPECT_EQ(dumped({~0ul, -5l, 1.5, true, 1'000'001l, std::string("it's \"x\""), Texts{"b", "a"},
                    std::string("pay")}),
            "{\"u\":18446744073709551615,\"i\":-5,\"f\":1.5,\"b\":true,"
            "\"t\":\"1970-01-01T00:00:01.000001Z\",\"s\":\"it's \\\"x\\\"\",\"l\":[\"a\",\"b\"],"
            "\"p\":\"pay\"}");
  EXPECT_EQ(dumped(std::vector<Value>(8)),
            "{\"u\":null,\"i\":null,\"f\":null,\"b\":null,\"t\":null,\"s\":null,\"l\":null,"
            "\"p\":null}");
}

TEST(AttributesJson, WhatReadsItGetsTheSameBytes) {
  Random random(11);
  for (int i = 0; i < 2'000; ++i) {
    const std::vector<Value> values = tests::random_values(random);
    const std::string text = dumped(values);
    EXPECT_EQ(tuple_of(parse_attributes(text, schema())).bytes, tuple_of(values).bytes) << text;
  }
}

TEST(AttributesJson, WhatJsonHasNotComesBackToo) {
  std::vector<Value> values(8);
  for (const double number : {HUGE_VAL, -HUGE_VAL}) {
    values[2] = number;
    EXPECT_EQ(parse_attributes(dumped(values), schema())[2], values[2]);
  }
  for (const std::string& bytes : {std::string("\xff\0x", 3), std::string("\x80")}) {
    values[7] = bytes;
    EXPECT_EQ(parse_attributes(dumped(values), schema())[7], values[7]);
  }
  EXPECT_NE(dumped(values).find("\"p\":{\"base64\":\"gA==\"}"), std::string::npos);
}

TEST(AttributesJson, AMissingFieldIsNull) {
  EXPECT_EQ(parse_attributes("{}", schema()), std::vector<Value>(8));
  std::vector<Value> expected(8);
  expected[1] = 3l;
  EXPECT_EQ(parse_attributes(" {\"s\": null, \"i\": 3} ", schema()), expected);
}

TEST(AttributesJson, MessagesNameTheColumnWhatIsThereAndWhatIsWanted) {
  const std::pair<const char*, const char*> cases[] = {
      {"{\"x\": 1}", "there is no column 'x': the schema is u: u64, i: i64"},
      {"{\"i\": 1, \"u\": 2, \"i\": 1}", "column 'i' is there twice"},
      {"{\"i\": null, \"i\": 1}", "column 'i' is there twice"},
      {"{\"i\": 1.5}", "column 'i' is i64, and the value is 1.5"},
      {"{\"i\": 1.0}", "column 'i' is i64, and the value is 1.0"},
      {"{\"i\": \"1\"}", "column 'i' is i64, and the value is '1'"},
      {"{\"i\": true}", "column 'i' is i64, and the value is true"},
      {"{\"i\": [1]}", "column 'i' is i64, and the value is an array"},
      {"{\"i\": {}}", "column 'i' is i64, and the value is an object"},
      {"{\"u\": -1}", "column 'u' is u64, and the value is -1"},
      {"{\"u\": 18446744073709551616}", "column 'u' is u64, and the value is 18446744073709551616"},
      {"{\"f\": 9007199254740993}", "no f64 is exactly 9007199254740993"},
      {"{\"f\": 18446744073709551616}", "no f64 is exactly 18446744073709551616"},
      {"{\"f\": 1e999}", "the number '1e999' is out of range"},
      {"{\"f\": NaN}", "at byte 7, after '\\\"f\\\": N': JSON has no NaN"},
      {"{\"f\": -Infinity}", "JSON has no NaN and no Infinity, write null"},
      {"{\"f\": Infinity}", "JSON has no NaN and no Infinity, write null"},
      {"{\"f\": \"1.5\"}", "column 'f' is f64, and the value is '1.5'"},
      {"{\"b\": 1}", "column 'b' is bool, and the value is 1"},
      {"{\"t\": 0}", "column 't' is timestamp, and the value is 0"},
      {"{\"t\": \"2024-02-30\"}", "and the value is '2024-02-30': write a date 2024-05-01, or"},
      {"{\"s\": 1}", "column 's' is string, and the value is 1"},
      {"{\"s\": [\"a\"]}", "column 's' is string, and the value is an array"},
      {"{\"l\": \"a\"}", "column 'l' is set, and the value is 'a'"},
      {"{\"l\": [\"a\", 1]}", "a label of column 'l' is 1: labels are strings"},
      {"{\"l\": [null]}", "a label of column 'l' is null: labels are strings"},
      {"{\"l\": [[\"a\"]]}", "a label of column 'l' is an array: labels are strings"},
      {"{\"l\": [{}]}", "a label of column 'l' is an object: labels are strings"},
      {"{\"p\": {\"base64\": 1}}", "the bytes of column 'p' are 1: write a string, or {\"base64\""},
      {"{\"p\": {\"base64\": \"x\"}}", "the bytes of column 'p' are no base64"},
      {"{\"p\": {}}", "the bytes of column 'p' are an object without a field"},
      {"{\"p\": {\"hex\": \"00\"}}", "the bytes of column 'p' are an object with the field 'hex'"},
      {"{\"p\": {\"base64\": \"\", \"base64\": \"\"}}", "with the field 'base64'"},
      {"[1]", "this is an array, and no object {\"column\": value}"},
      {"1", "this is 1, and no object"},
      {"\"x\"", "this is a string, and no object"},
      {"null", "this is null, and no object"},
      {"", "this is no JSON at byte 1"},
      {"{", "this is no JSON at byte 2"},
      {"{} {}", "this is no JSON at byte 4"},
      {"{\"i\": 1,}", "this is no JSON at byte 9"},
      {"{\"s\": \"\\ud800\"}", "this is no JSON at byte"},
      {"{\"s\": \"\xff\"}", "this is no JSON at byte"}};
  for (const auto& [json, part] : cases) {
    const std::string message = message_of([&] { (void)parse_attributes(json, schema()); });
    EXPECT_NE(message.find(part), std::string::npos) << json << "\n" << message;
  }
}

TEST(AttributesJson, NestingCostsNothing) {
  const std::string deep(500'000, '[');
  EXPECT_THROW((void)parse_attributes("{\"l\": " + deep, schema()), Error);
  EXPECT_THROW((void)parse_attributes(deep, schema()), Error);
}

}  // namespace
}  // namespace farvec::indexing
