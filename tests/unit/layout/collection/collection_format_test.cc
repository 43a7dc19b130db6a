#include "layout/collection/collection_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(SegmentNames, AreOfTwelveDigitsOrMore) {
  EXPECT_EQ(segment_folder_name(12), "000000000012");
  EXPECT_EQ(segment_folder_name(kLargest), "18446744073709551615");
  EXPECT_EQ(out_file_name(12, 345), "000000000012.out.345");
  EXPECT_EQ(updates_file_name(12, 345), "000000000012.updates.345");
}

TEST(SegmentNames, ComeBack) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, kLargest}) {
    const auto folder = parse_segment_name(segment_folder_name(number));
    ASSERT_TRUE(folder.has_value());
    EXPECT_EQ(folder->number, number);
    EXPECT_EQ(folder->out_version, std::nullopt);
    const auto file = parse_segment_name(out_file_name(number, 77));
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->number, number);
    EXPECT_EQ(file->out_version, 77u);
    EXPECT_EQ(file->update_version, std::nullopt);
    const auto updates = parse_segment_name(updates_file_name(number, 78));
    ASSERT_TRUE(updates.has_value());
    EXPECT_EQ(updates->number, number);
    EXPECT_EQ(updates->out_version, std::nullopt);
    EXPECT_EQ(updates->update_version, 78u);
  }
}

TEST(SegmentNames, OthersAreNone) {
  for (const char* name : {"",
                           "12",
                           "0000000000012",
                           "00000000001x",
                           "+00000000012",
                           "-00000000012",
                           " 00000000012",
                           "000000000012 ",
                           "000000000012.partial",
                           "000000000012.out",
                           "000000000012.out.",
                           "000000000012.out.01",
                           "000000000012.out.1.out.1",
                           "000000000012.out.x",
                           "12.out.1",
                           ".out.1",
                           "lost+found",
                           "18446744073709551616",
                           "000000000012.out.18446744073709551616",
                           "000000000012.updates",
                           "000000000012.updates.",
                           "000000000012.updates.01",
                           "000000000012.out.1.updates.1",
                           "000000000012.updates.1.out.1",
                           "000000000012..updates.1"}) {
    EXPECT_FALSE(parse_segment_name(name).has_value()) << name;
  }
}

TEST(CollectionVersion, SaysWhatToDo) {
  const auto error = [](std::uint64_t version) {
    return tests::message_of([&] { require_collection_version(version, "x"); });
  };
  EXPECT_EQ(error(kCollectionVersion), "");
  EXPECT_THAT(error(2), testing::HasSubstr("or a newer one"));
  EXPECT_THAT(error(0), testing::AllOf(testing::HasSubstr("x has version 0"),
                                       testing::HasSubstr("use the farvec that wrote it")));
}

}  // namespace
}  // namespace farvec::layout
