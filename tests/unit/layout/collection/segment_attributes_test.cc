#include "layout/collection/segment_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/layout/collection/file_faults.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

using ::testing::HasSubstr;
using tests::message_of;

class SegmentAttributes : public testing::Test {
 protected:
  void write(std::uint64_t rows) {
    segment_ = {.number = 3, .rows = rows, .attributed = true};
    tuples_ = {};
    for (std::uint64_t row = 0; row < rows; ++row) {
      tuples_.append(schema_, std::vector<Value>{std::int64_t(row), std::string(row % 7, 'x')});
    }
    write_segment_attributes(path_, segment_, tuples_.view());
    bytes_ = file_bytes(path_);
  }
  std::span<const std::byte> held() const { return std::as_bytes(std::span(bytes_)); }
  Tuples decode(std::span<const std::byte> bytes) const {
    return decode_segment_attributes(bytes, segment_, schema_, "what attributes.bin was");
  }

  const tests::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / kSegmentAttributesFile;
  const Schema schema_ = parse_schema("price: i64, name: string");
  SegmentEntry segment_;
  Tuples tuples_;
  std::string bytes_;
};

TEST_F(SegmentAttributes, AreTheSameInTheFileAndInItsBytes) {
  for (const std::uint64_t rows : {1u, 100u, 5000u}) {
    write(rows);
    const SegmentAttributesFile file(path_, segment_);
    for (const Tuples& read : {file.read(schema_), decode(held())}) {
      EXPECT_EQ(read.ends, tuples_.ends);
      EXPECT_EQ(read.bytes, tuples_.bytes);
    }
    // Where a reader of single rows finds each of them.
    const std::uint64_t begin = segment_tuples_begin(rows);
    for (NodeId row = 0; row < rows; row += 7) {
      const auto expected = tuples_.view().row(row);
      const std::vector<std::byte> read = file.read_row(row, schema_);
      EXPECT_TRUE(std::ranges::equal(read, expected));
      const std::uint64_t at = begin + tuples_.ends[row] - expected.size();
      EXPECT_TRUE(std::ranges::equal(held().subspan(at, expected.size()), expected));
    }
  }
}

TEST_F(SegmentAttributes, EveryFaultIsFound) {
  write(9);
  expect_faults_refused(path_, [&] {
    const std::string bytes = file_bytes(path_);
    (void)decode(std::as_bytes(std::span(bytes)));
  });
  expect_faults_refused(path_, [&] { (void)SegmentAttributesFile(path_, segment_).read(schema_); });
}

TEST_F(SegmentAttributes, OfAnotherSegmentAreRefused) {
  write(9);
  segment_.number = 4;
  EXPECT_THAT(message_of([&] { (void)decode(held()); }), HasSubstr("is of segment 3 with 9 rows"));
  segment_ = {.number = 3, .rows = 10, .attributed = true};
  EXPECT_THAT(message_of([&] { (void)decode(held()); }), HasSubstr("has 3 with 10"));
  const auto header = [&](std::span<const std::byte> begin, std::uint64_t number) {
    return message_of([&] { require_segment_attributes_header(begin, number, "it"); });
  };
  EXPECT_EQ(header(held().first(sizeof(SegmentAttributesHeader)), 3), "");
  EXPECT_THAT(header(held(), 4), HasSubstr("does not hold the attributes of segment 4"));
  EXPECT_THAT(header(held().first(63), 3), HasSubstr("truncated"));
  EXPECT_THAT(header(held().subspan(8), 3), HasSubstr("is no file of"));
}

TEST_F(SegmentAttributes, HaveALengthAndAChecksum) {
  write(5000);
  const FileSum sum = sum_of_file(path_);
  EXPECT_EQ(sum.bytes, bytes_.size());
  EXPECT_EQ(sum.checksum, XXH3_64bits(bytes_.data(), bytes_.size()));
  const std::string large(3'500'001, 'z');
  replace_bytes(path_, large);
  EXPECT_EQ(sum_of_file(path_).checksum, XXH3_64bits(large.data(), large.size()));
  replace_bytes(path_, "");
  EXPECT_EQ(sum_of_file(path_).checksum, XXH3_64bits("", 0));
}

TEST_F(SegmentAttributes, CannotHaveAnyLength) {
  const SegmentEntry with{.number = 3, .rows = 10, .attributed = true};
  const SegmentEntry without{.number = 3, .rows = 10};
  const auto refusal = [](const SegmentEntry& segment, std::uint64_t bytes) {
    return message_of([&] { require_attributes_bytes(segment, bytes, "the catalogue"); });
  };
  EXPECT_EQ(refusal(with, 64 + 80), "");
  EXPECT_EQ(refusal(with, 64 + 80 + 10 * kMostTupleBytes), "");
  EXPECT_EQ(refusal(without, 0), "");
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{143}, 64 + 80 + 10 * kMostTupleBytes + 1}) {
    EXPECT_THAT(refusal(with, bytes), HasSubstr("cannot have"));
  }
  EXPECT_THAT(refusal(without, 200), HasSubstr("cannot have"));
}

}  // namespace
}  // namespace farvec::layout
