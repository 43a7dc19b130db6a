#include "layout/collection/updates_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <string>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "tests/unit/layout/collection/file_faults.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;
using tests::TemporaryFolder;

SegmentEntry segment_of(std::uint64_t rows, std::uint64_t count) {
  return {.number = 3, .rows = rows, .update_version = 9, .update_count = count};
}

Schema schema() {
  return parse_schema("price: i64, name: string");
}

UpdatedTuples updates_of(const std::vector<NodeId>& rows) {
  Tuples tuples;
  for (const NodeId row : rows) {
    tuples.append(schema(), std::vector<Value>{std::int64_t{row}, std::string(row % 7, 'x')});
  }
  return UpdatedTuples().with(rows, tuples.view());
}

TEST(UpdatesFile, ComesBack) {
  const TemporaryFolder folder;
  const auto path = folder.path() / updates_file_name(3, 9);
  Random random(3);
  for (const std::uint64_t rows : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{20'000}}) {
    for (const std::uint64_t every : {std::uint64_t{1}, std::uint64_t{9}}) {
      std::vector<NodeId> numbers;
      for (NodeId row = 0; row < rows; row += static_cast<NodeId>(every)) numbers.push_back(row);
      const SegmentEntry segment = segment_of(rows, numbers.size());
      write_updates(path, segment, updates_of(numbers));
      const UpdatedTuples read = read_updates(path, segment, schema());
      ASSERT_EQ(read.rows(), numbers);
      for (const NodeId row : numbers) {
        const Tuple tuple(read.find(row));
        ASSERT_EQ(tuple.value(schema(), 0), Value(std::int64_t{row}));
        ASSERT_EQ(tuple.value(schema(), 1), Value(std::string(row % 7, 'x')));
      }
    }
  }
}

TEST(UpdatesFile, HasTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const auto path = folder.path() / updates_file_name(3, 9);
  write_updates(path, segment_of(70, 2), updates_of({1, 69}));
  const std::string bytes = file_bytes(path);
  EXPECT_EQ(bytes.substr(0, 16), std::string("FARVSUPD\1\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(16, 16), std::string("\3\0\0\0\0\0\0\0\t\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(32, 8), std::string("\2\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(64, 16), std::string("\1\0\0\0\0\0\0\0\x45\0\0\0\0\0\0\0", 16));
}

TEST(UpdatesFile, EveryFaultIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.path() / updates_file_name(3, 9);
  const SegmentEntry segment = segment_of(70, 2);
  write_updates(path, segment, updates_of({1, 69}));
  expect_faults_refused(path, [&] { (void)read_updates(path, segment, schema()); });
}

TEST(UpdatesFile, OfAnotherSegmentOrStateIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / updates_file_name(3, 9);
  write_updates(path, segment_of(70, 2), updates_of({1, 69}));
  const auto error = [&](const SegmentEntry& segment) {
    return message_of([&] { (void)read_updates(path, segment, schema()); });
  };
  EXPECT_EQ(error(segment_of(70, 2)), "");
  SegmentEntry other = segment_of(70, 2);
  other.number = 4;
  EXPECT_THAT(error(other), AllOf(HasSubstr("segment 3"), HasSubstr(path.string())));
  other = segment_of(70, 2);
  other.update_version = 8;
  EXPECT_THAT(error(other), HasSubstr("at version 9"));
  EXPECT_THAT(error(segment_of(70, 3)), HasSubstr("with 2 updated rows"));
  EXPECT_THAT(error(segment_of(69, 2)), HasSubstr("has row 69 of a segment of 69"));
  EXPECT_THAT(
      message_of([&] { (void)read_updates(path, segment_of(70, 2), parse_schema("price: i64")); }),
      HasSubstr("row 0: its attributes are not sound"));
}

/// A file whose checksums are right, with another byte.
std::string error_of_sealed(std::size_t at, char byte) {
  const TemporaryFolder folder;
  const auto path = folder.path() / updates_file_name(3, 9);
  write_updates(path, segment_of(70, 2), updates_of({1, 69}));
  std::string bytes = file_bytes(path);
  bytes[at] = byte;
  auto header = load_unaligned<UpdatesHeader>(bytes.data());
  const char* const words = bytes.data() + sizeof(header);
  header.checksum = XXH3_64bits_withSeed(words + 32, header.bytes, XXH3_64bits(words, 32));
  header.header_checksum = XXH3_64bits(&header, offsetof(UpdatesHeader, header_checksum));
  store_unaligned(bytes.data(), header);
  replace_bytes(path, bytes);
  return message_of([&] { (void)read_updates(path, segment_of(70, 2), schema()); });
}

TEST(UpdatesFile, WhatContradictsItIsRefused) {
  EXPECT_EQ(error_of_sealed(72, 69), "");
  EXPECT_THAT(error_of_sealed(72, 1), HasSubstr("has row 1 of a segment of 70 where it cannot be"));
  EXPECT_THAT(error_of_sealed(72, 70), HasSubstr("has row 70 of a segment of 70"));
  EXPECT_THAT(error_of_sealed(12, 1), HasSubstr("reserved bytes"));
}

}  // namespace
}  // namespace farvec::layout
