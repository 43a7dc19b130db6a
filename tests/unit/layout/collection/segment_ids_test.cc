#include "layout/collection/segment_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <limits>

#include "layout/collection/segment_file.h"
#include "tests/unit/layout/collection/file_faults.h"
#include "tests/unit/layout/collection/stored_rows.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;
using tests::TemporaryFolder;

TEST(SegmentIds, ComeBack) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kSegmentIdsFile;
  for (const std::size_t count : {1u, 2u, 63u, 64u, 100'000u}) {
    const SegmentEntry segment{.number = 7, .rows = count, .out_version = 3, .out_count = 1};
    auto ids = random_ids(count);
    ids[0] = std::numeric_limits<std::uint64_t>::max();
    write_segment_ids(path, segment, ids);
    EXPECT_EQ(read_segment_ids(path, segment), ids);
    EXPECT_EQ(std::filesystem::file_size(path), 64 + 8 * count);
    EXPECT_EQ(segment_ids_bytes(segment), 64 + 8 * count);
    const std::string bytes = file_bytes(path);
    EXPECT_EQ(segment_ids_checksum(segment, ids), XXH3_64bits(bytes.data(), bytes.size()));
    EXPECT_EQ(decode_segment_ids(std::as_bytes(std::span(bytes)), segment, "a node"), ids);
  }
}

TEST(SegmentIds, HaveTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kSegmentIdsFile;
  write_segment_ids(path, {.number = 0x1234, .rows = 2}, std::vector<std::uint64_t>{5, 0x102});
  const std::string bytes = file_bytes(path);
  EXPECT_EQ(bytes.substr(0, 24), std::string("FARVCSEG\1\0\0\0\1\0\0\0\x34\x12\0\0\0\0\0\0", 24));
  EXPECT_EQ(bytes.substr(64), std::string("\5\0\0\0\0\0\0\0\2\1\0\0\0\0\0\0", 16));
}

TEST(SegmentIds, EveryFaultIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kSegmentIdsFile;
  const SegmentEntry segment{.number = 7, .rows = 5};
  write_segment_ids(path, segment, random_ids(5));
  expect_faults_refused(path, [&] { (void)read_segment_ids(path, segment); });
  std::string bytes = file_bytes(path);
  const auto error = [&](std::size_t size) {
    return message_of([&] {
      (void)decode_segment_ids(std::as_bytes(std::span(bytes)).first(size), segment, "a node");
    });
  };
  EXPECT_EQ(error(bytes.size()), "");
  EXPECT_THAT(error(40), HasSubstr("'a node' is truncated"));
  EXPECT_THAT(error(bytes.size() - 8), HasSubstr("'a node' has 96 bytes"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_THAT(error(bytes.size()), HasSubstr("'a node' is damaged"));
}

TEST(SegmentIds, OfAnotherSegmentAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kSegmentIdsFile;
  write_segment_ids(path, {.number = 7, .rows = 5}, random_ids(5));
  const auto error = [&](const SegmentEntry& segment) {
    return message_of([&] { (void)read_segment_ids(path, segment); });
  };
  EXPECT_EQ(error({.number = 7, .rows = 5, .out_version = 9, .out_count = 2}), "");
  EXPECT_THAT(error({.number = 8, .rows = 5}), AllOf(HasSubstr("segment 7"), HasSubstr("has 8")));
  EXPECT_THAT(error({.number = 7, .rows = 4}), AllOf(HasSubstr("rows 5"), HasSubstr("has 4")));
}

TEST(SegmentIds, AnIdTwiceIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kSegmentIdsFile;
  for (const auto& ids : std::vector<std::vector<std::uint64_t>>{{4, 4, 5}, {4, 5, 4}, {5, 4, 4}}) {
    write_segment_ids(path, {.number = 1, .rows = 3}, ids);
    EXPECT_THAT(message_of([&] { (void)read_segment_ids(path, {.number = 1, .rows = 3}); }),
                AllOf(HasSubstr(path.string()), HasSubstr("id 4 twice")));
  }
}

TEST(SegmentIds, ThatAreNotThereAreAnError) {
  const TemporaryFolder folder;
  const SegmentEntry segment{.number = 1, .rows = 3};
  EXPECT_THROW((void)read_segment_ids(folder.path() / "none", segment), SystemError);
  EXPECT_THROW((void)read_segment_ids(folder.path(), segment), Error);
}

/// A header whose own checksum is right.
std::string error_of_header(const std::function<void(SegmentFileHeader&)>& change) {
  const TemporaryFolder folder;
  const auto path = folder.path() / kSegmentIdsFile;
  SegmentFileHeader header{.segment = 1, .rows = 3};
  change(header);
  write_segment_file(path, header, std::vector<std::uint64_t>(header.words()));
  return message_of([&] { (void)read_segment_ids(path, {.number = 1, .rows = 3}); });
}

TEST(SegmentIds, SayWhatTheFileIs) {
  EXPECT_THAT(error_of_header([](SegmentFileHeader& h) { h.magic = 0; }),
              HasSubstr("is no file of a collection's segment"));
  EXPECT_THAT(error_of_header([](SegmentFileHeader& h) { h.format_version = 2; }),
              HasSubstr("or a newer one"));
  EXPECT_THAT(error_of_header([](SegmentFileHeader& h) { h.kind = SegmentFileKind::out; }),
              HasSubstr("does not hold the ids"));
}

}  // namespace
}  // namespace farvec::layout
