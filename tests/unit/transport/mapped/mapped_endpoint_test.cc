#include "transport/mapped/mapped_endpoint.h"

#include <gtest/gtest.h>

#include "tests/unit/transport/test_regions.h"

namespace farvec::transport {
namespace {

class MappedEndpointTest : public testing::Test {
 protected:
  std::vector<ReadRequest> reads(std::size_t count, std::uint64_t apart = 1) {
    std::vector<ReadRequest> made;
    for (std::size_t i = 0; i < count; ++i) {
      made.push_back({.token = 100 + apart * i,
                      .bytes = static_cast<std::uint32_t>(i + 1),
                      .offset = 7 * i,
                      .destination = buffer_.data()});
    }
    return made;
  }
  const std::byte* region(RegionId id) const { return (*regions_)[id].bytes().data(); }

  std::shared_ptr<const RegionSet> regions_ = random_regions();
  std::vector<std::byte> buffer_ = std::vector<std::byte>(4096);
  MappedEndpoint endpoint_{regions_, {.max_outstanding = 10, .by_reference = true}};
};

TEST_F(MappedEndpointTest, ReadsOfOnePostWithAscendingTokensAreOverTogether) {
  ASSERT_TRUE(endpoint_.post(reads(6)).ok());
  ASSERT_TRUE(endpoint_.post(reads(4)).ok());
  EXPECT_EQ(endpoint_.post(reads(1)).code(), StatusCode::resource_exhausted);
  Completion some[10];
  ASSERT_EQ(endpoint_.poll(some), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(some[i].token, 100u);
    EXPECT_EQ(some[i].status, StatusCode::ok);
    EXPECT_EQ(some[i].reads, i == 0 ? 6u : 4u);
    EXPECT_EQ(some[i].bytes, Completion::kAsAsked);
    EXPECT_EQ(some[i].region, region(0));
  }
  EXPECT_TRUE(endpoint_.post(reads(10)).ok()) << "all of it is free again";
}

TEST_F(MappedEndpointTest, APollBringsNoMoreReadsThanItHasRoomFor) {
  ASSERT_TRUE(endpoint_.post(reads(7)).ok());
  Completion some[3];
  std::uint64_t token = 100;
  for (const std::uint32_t part : {3u, 3u, 1u}) {
    ASSERT_EQ(endpoint_.poll(some), 1u);
    EXPECT_EQ(some[0].token, token);
    EXPECT_EQ(some[0].reads, part);
    token += part;
  }
  EXPECT_EQ(endpoint_.poll(some), 0u);
}

TEST_F(MappedEndpointTest, TokensApartAndOtherRegionsCompleteByThemselves) {
  ASSERT_TRUE(endpoint_.post(reads(4, kTokensApart)).ok());
  const auto apart = collect(endpoint_, 4);
  ASSERT_EQ(apart.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(apart[i].token, 100 + kTokensApart * i);
    EXPECT_EQ(apart[i].reads, 1u);
    EXPECT_EQ(apart[i].bytes, i + 1);
  }
  auto mixed = reads(4);
  mixed[1].region = mixed[2].region = 1;
  ASSERT_TRUE(endpoint_.post(mixed).ok());
  const auto found = collect(endpoint_, 4);
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i].token, 100 + i);
    EXPECT_EQ(found[i].reads, 1u);
    EXPECT_EQ(found[i].bytes, i + 1);
    EXPECT_EQ(found[i].region, region(mixed[i].region));
  }
}

TEST_F(MappedEndpointTest, CopiesCompleteByThemselves) {
  MappedEndpoint copying(regions_);
  auto some = reads(3);
  for (std::size_t i = 0; i < 3; ++i) some[i].destination = buffer_.data() + 100 * i;
  ASSERT_TRUE(copying.post(some).ok());
  const auto found = collect(copying, 3);
  ASSERT_EQ(found.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].reads, 1u);
    EXPECT_EQ(found[i].region, nullptr);
    EXPECT_TRUE(std::equal(some[i].destination, some[i].destination + found[i].bytes,
                           region(0) + some[i].offset));
  }
}

}  // namespace
}  // namespace farvec::transport
