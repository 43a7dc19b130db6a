#include "layout/collection/out_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"
#include "layout/collection/segment_file.h"
#include "tests/unit/layout/collection/file_faults.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::layout {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;
using tests::TemporaryFolder;

constexpr SegmentEntry kSegment{.number = 3, .rows = 70, .out_version = 9, .out_count = 3};

RowSet some_rows() {
  return RowSet().with(std::vector<NodeId>{0, 64, 69});
}

TEST(OutFile, ComesBack) {
  const TemporaryFolder folder;
  const auto path = folder.path() / out_file_name(3, 9);
  Random random(3);
  for (const std::uint64_t rows : {1ull, 63ull, 64ull, 65ull, 40'000ull, 70'001ull}) {
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1}, rows / 3, 4 * rows}) {
      std::set<NodeId> out;
      for (std::uint64_t i = 0; i < most; ++i) out.insert(static_cast<NodeId>(random.below(rows)));
      if (most == 4 * rows) {
        for (NodeId row = 0; row < rows; ++row) out.insert(row);  // all of them
      }
      const SegmentEntry segment{3, rows, 9, out.size()};
      write_out_file(path, segment, RowSet().with(std::vector<NodeId>(out.begin(), out.end())));
      const RowSet read = read_out_file(path, segment);
      ASSERT_EQ(read.count(), out.size());
      for (NodeId row = 0; row < rows + 100; ++row) {
        ASSERT_EQ(read.contains(row), out.contains(row)) << row;
      }
    }
  }
}

TEST(OutFile, HasTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const auto path = folder.path() / out_file_name(3, 9);
  write_out_file(path, kSegment, some_rows());
  const std::string bytes = file_bytes(path);
  EXPECT_EQ(bytes.substr(0, 16), std::string("FARVCSEG\1\0\0\0\2\0\0\0", 16));
  EXPECT_EQ(bytes.substr(16, 16), std::string("\3\0\0\0\0\0\0\0\x46\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(32, 16), std::string("\t\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(64), std::string("\1\0\0\0\0\0\0\0\x21\0\0\0\0\0\0\0", 16));
}

TEST(OutFile, EveryFaultIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.path() / out_file_name(3, 9);
  write_out_file(path, kSegment, some_rows());
  expect_faults_refused(path, [&] { (void)read_out_file(path, kSegment); });
}

TEST(OutFile, OfAnotherSegmentOrStateIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / out_file_name(3, 9);
  write_out_file(path, kSegment, some_rows());
  const auto error = [&](const SegmentEntry& segment) {
    return message_of([&] { (void)read_out_file(path, segment); });
  };
  EXPECT_EQ(error(kSegment), "");
  EXPECT_THAT(error({4, 70, 9, 3}), AllOf(HasSubstr("segment 3"), HasSubstr(path.string())));
  EXPECT_THAT(error({3, 71, 9, 3}), HasSubstr("rows 70"));
  EXPECT_THAT(error({3, 70, 8, 3}), HasSubstr("version 9"));
  EXPECT_THAT(error({3, 70, 9, 2}), HasSubstr("rows that are out, 3"));
}

/// The words of a file whose checksums are right.
std::string error_of_words(const std::vector<std::uint64_t>& words) {
  const TemporaryFolder folder;
  const auto path = folder.path() / out_file_name(3, 9);
  const SegmentFileHeader header{
      .kind = SegmentFileKind::out, .segment = 3, .rows = 70, .out_version = 9, .out_count = 3};
  write_segment_file(path, header, words);
  return message_of([&] { (void)read_out_file(path, kSegment); });
}

TEST(OutFile, BitsThatContradictItAreRefused) {
  EXPECT_EQ(error_of_words({1, 33}), "");
  EXPECT_THAT(error_of_words({1, 1}), HasSubstr("has 2 rows that are out, and says 3"));
  EXPECT_THAT(error_of_words({15, 0}), HasSubstr("has 4 rows that are out, and says 3"));
  EXPECT_THAT(error_of_words({3, 1 << 6}), HasSubstr("after the segment's last of 70"));
}

}  // namespace
}  // namespace farvec::layout
