#include "indexing/attributes/npy_columns.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "distance/half.h"
#include "indexing/attributes/attribute_reader.h"
#include "tests/unit/dataset/test_files.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

using layout::Schema;
using layout::Value;
using ::testing::HasSubstr;

constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();

class NpyColumnFiles : public testing::Test {
 protected:
  /// Writes FOLDER/name and returns it.
  template <typename T>
  std::string write(const std::string& name, const std::string& type, const std::vector<T>& rows) {
    const std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                             std::to_string(rows.size()) + ",), }\n";
    return dataset::Bytes()
        .add_text("\x93NUMPY")
        .add('\1')
        .add('\0')
        .add(static_cast<std::uint16_t>(text.size()))
        .add_text(text)
        .add_all(rows)
        .write(folder_.file(name));
  }
  /// Reads one column of this type.
  template <typename T>
  std::vector<Value> read(const std::string& column, const std::string& type,
                          const std::vector<T>& rows) {
    const Schema schema = layout::parse_schema("c: " + column);
    const auto tuples = read_attributes("c=" + write("c.npy", type, rows), schema);
    std::vector<Value> values;
    for (std::size_t row = 0; row < tuples.count(); ++row) {
      values.push_back(layout::Tuple(tuples.view().row(row)).value(schema, 0));
    }
    return values;
  }
  /// Returns what is said of one value, without the folder.
  template <typename T>
  std::string refused(const std::string& column, const std::string& type, T value) {
    std::string message = tests::message_of([&] { (void)read<T>(column, type, {T{}, value}); });
    const std::string folder = folder_.path().string() + "/";
    for (std::size_t at; (at = message.find(folder)) != std::string::npos;) {
      message.erase(at, folder.size());
    }
    return message;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(NpyColumnFiles, EveryTypeComesBack) {
  const auto same = [](const auto& values) {
    return std::vector<Value>(values.begin(), values.end());
  };
  using I = std::int64_t;
  using U = std::uint64_t;
  EXPECT_EQ(read<std::int8_t>("i64", "|i1", {-128, 127}), same(std::vector<I>{-128, 127}));
  EXPECT_EQ(read<std::int16_t>("i64", "<i2", {-32768, 5}), same(std::vector<I>{-32768, 5}));
  EXPECT_EQ(read<std::int32_t>("i64", "<i4", {-5, 1 << 30}), same(std::vector<I>{-5, 1 << 30}));
  const std::vector<I> longs{std::numeric_limits<I>::min(), std::numeric_limits<I>::max()};
  EXPECT_EQ(read("i64", "<i8", longs), same(longs));
  EXPECT_EQ(read<std::uint8_t>("u64", "|u1", {0, 255}), same(std::vector<U>{0, 255}));
  EXPECT_EQ(read<std::uint16_t>("i64", "<u2", {0, 65535}), same(std::vector<I>{0, 65535}));
  EXPECT_EQ(read<std::uint32_t>("f64", "<u4", {0, 7}), same(std::vector<double>{0, 7}));
  const std::vector<U> all{0, std::numeric_limits<U>::max()};
  EXPECT_EQ(read("u64", "<u8", all), same(all));
  EXPECT_EQ(read<float>("f64", "<f4", {0.1f, -INFINITY}),
            same(std::vector<double>{0.1f, -INFINITY}));
  EXPECT_EQ(read<double>("f64", "<f8", {0.1, 1e300}), same(std::vector<double>{0.1, 1e300}));
  EXPECT_EQ(read<std::uint16_t>("f64", "<f2", {distance::float_to_half(1.5f)}),
            same(std::vector<double>{1.5}));
  EXPECT_EQ(read<char>("bool", "|b1", {'\0', '\1'}), (std::vector<Value>{false, true}));
}

TEST_F(NpyColumnFiles, TimesBecomeMicroseconds) {
  const auto time = [&](const std::string& unit, std::int64_t value) {
    return read<std::int64_t>("timestamp", "<M8[" + unit + "]", {value}).at(0);
  };
  constexpr std::int64_t kDay = 86'400'000'000;
  EXPECT_EQ(time("D", -3), Value(-3 * kDay));
  EXPECT_EQ(time("h", 2), Value(kDay / 12));
  EXPECT_EQ(time("m", 3), Value(kDay / 480));
  EXPECT_EQ(time("s", 5), Value(std::int64_t{5'000'000}));
  EXPECT_EQ(time("ms", -5), Value(std::int64_t{-5'000}));
  EXPECT_EQ(time("us", 5), Value(std::int64_t{5}));
  EXPECT_EQ(time("ns", -5'000), Value(std::int64_t{-5}));
  for (const char* const unit : {"D", "s", "us", "ns"}) EXPECT_EQ(time(unit, kNotATime), Value());
}

TEST_F(NpyColumnFiles, RowsOfManyBlocksComeInOrder) {
  constexpr std::size_t kRows = 10'000;
  std::vector<std::int16_t> prices(kRows);
  std::vector<double> years(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    prices[row] = static_cast<std::int16_t>(row * 7 % 1000);
    years[row] = static_cast<double>(row) / 2;
  }
  const Schema schema = layout::parse_schema("section: string, year: f64, price: i64");
  // A name with a comma, since only one after ".npy" ends it.
  const std::string text =
      "price=" + write("a,b.npy", "<i2", prices) + ",year=" + write("c.npy", "<f8", years);
  const auto tuples = read_attributes(text, schema);
  const ColumnsOfRows columns = read_columns(text, schema);
  EXPECT_EQ(columns.names, (std::vector<std::string>{"price", "year"}));
  ASSERT_EQ(tuples.count(), kRows);
  ASSERT_EQ(columns.values.count(), kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    const layout::Tuple tuple(tuples.view().row(row));
    const layout::Tuple part(columns.values.view().row(row));
    ASSERT_TRUE(tuple.is_null(0));
    ASSERT_EQ(tuple.value(schema, 1), Value(years[row]));
    ASSERT_EQ(tuple.value(schema, 2), Value(std::int64_t{prices[row]}));
    ASSERT_EQ(part.word(0), tuple.word(2));
    ASSERT_EQ(part.word(1), tuple.word(1));
  }
}

TEST_F(NpyColumnFiles, NothingIsConvertedUnlessItStaysExact) {
  EXPECT_EQ(refused("i64", "<f8", 1.5), "'c.npy', row 0: column 'c' is i64, and the value is 0.0");
  EXPECT_EQ(refused("u64", "<i8", std::int64_t{-1}),
            "'c.npy', row 1: column 'c' is u64, and the value is -1");
  EXPECT_THAT(refused("i64", "<u8", ~std::uint64_t{0}), HasSubstr("is 18446744073709551615"));
  EXPECT_THAT(refused("f64", "<i8", (std::int64_t{1} << 53) + 1),
              HasSubstr("no f64 is exactly 9007199254740993"));
  EXPECT_THAT(refused("f64", "<f8", std::nan("")), HasSubstr("'c=c.npy', row 1: "));
  EXPECT_THAT(refused("f64", "<f4", std::nanf("")), HasSubstr("row 1: "));
  EXPECT_EQ(refused("bool", "|b1", char{2}),
            "'c.npy', row 1: column 'c' has the byte 2, which is no bool");
  EXPECT_THAT(refused("bool", "|u1", char{1}), HasSubstr("is bool, and the value is 0"));
  EXPECT_THAT(refused("timestamp", "<i8", std::int64_t{1}), HasSubstr("is timestamp"));
  EXPECT_THAT(refused("i64", "<M8[s]", std::int64_t{1}), HasSubstr("datetime64 1970"));
  EXPECT_THAT(refused("timestamp", "<M8[ns]", std::int64_t{1'001}), HasSubstr("1001 ns"));
  EXPECT_THAT(refused("timestamp", "<M8[D]", std::int64_t{1} << 62), HasSubstr("0001 to 9999"));
  EXPECT_THAT(refused("timestamp", "<M8[s]", std::int64_t{253'402'300'800}),
              HasSubstr("0001 to 9999"));
  EXPECT_THAT(refused("string", "<i8", std::int64_t{1}), HasSubstr("is string"));
}

TEST_F(NpyColumnFiles, NullsFollowTheSchema) {
  const std::string times = write<std::int64_t>("t.npy", "<M8[us]", {1, kNotATime});
  const Schema schema = layout::parse_schema("t: timestamp not null");
  EXPECT_THAT(tests::message_of([&] { (void)read_attributes("t=" + times, schema); }),
              HasSubstr("row 1: column 't' is null, which it may not be"));
  EXPECT_EQ(read_columns("t=" + times, schema).values.count(), 2u) << "whoever gives it says no";
}

TEST_F(NpyColumnFiles, WhatIsNamedHasToFit) {
  const Schema schema = layout::parse_schema("price: i64, year: i64");
  const std::string two = write<std::int64_t>("two.npy", "<i8", {1, 2});
  const std::string three = write<std::int64_t>("three.npy", "<i8", {1, 2, 3});
  const auto said = [&](const std::string& text) {
    return tests::message_of([&] { (void)read_attributes(text, schema); });
  };
  EXPECT_THAT(said("price=" + two + ",year=" + three), HasSubstr("two.npy' has 2 rows, and '"));
  EXPECT_THAT(said("price=" + two + ",price=" + two), HasSubstr("column 'price' is there twice"));
  EXPECT_THAT(said("cost=" + two), HasSubstr("there is no column 'cost'"));
  EXPECT_THAT(said(two), HasSubstr("nothing says which: name it, as in 'price="));
  EXPECT_THAT(said("price=" + folder_.file("no.npy")), HasSubstr("no.npy"));
  EXPECT_THAT(said("price=" + two + ",year=year.txt"), HasSubstr("a file for each column"));
  EXPECT_THAT(tests::message_of(
                  [&] { require_rows(read_attributes("price=" + two, schema), 3, "'two.npy'"); }),
              HasSubstr("2 rows for 3 vectors"));
}

}  // namespace
}  // namespace farvec::indexing
