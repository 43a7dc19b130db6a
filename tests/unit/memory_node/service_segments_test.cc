// Segments of collections, through the control plane.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/memory_node/segments_fixture.h"

namespace farvec::memory_node {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ServiceSegmentsTest, HoldsThemByCollectionAndNumber) {
  start();
  ASSERT_TRUE(load({7, 12}, small_).ok());
  EXPECT_EQ(loaded_.region_bytes(), small_bytes_);
  ASSERT_TRUE(load({8, 12}, large_).ok());
  EXPECT_THAT(numbers(7), ElementsAre(12));
  const auto manifest = layout::IndexDirectory::open(small_).manifest();
  EXPECT_EQ(listed_.segments(0).manifest_xxh3(),
            layout::manifest_checksum(layout::manifest_to_json(manifest)));
  EXPECT_THAT(numbers(9), ElementsAre());
  ASSERT_TRUE(attach({8, 12}).ok());
  EXPECT_EQ(layout::manifest_from_json(attached_.manifest_json(), "it").count, 500u);
  ASSERT_TRUE(attach({7, 12}).ok());
  EXPECT_EQ(layout::manifest_from_json(attached_.manifest_json(), "it").count, 200u);
  const auto table = state_.publications.segment({7, 12})->table;
  const HugeBuffer records = layout::IndexDirectory::open(small_).load_region(
      layout::kRecordsRegion, {.threads = 1, .quiet = true});
  EXPECT_TRUE(std::ranges::equal(table->regions[0].backing->bytes(), records.span()));
  EXPECT_EQ(held().count(), 2u);
  EXPECT_EQ(held().bytes(), small_bytes_ + large_bytes_);
  EXPECT_EQ(held().most_bytes(), options_.segment_bytes);
  grpc::ClientContext context;
  v1::AttachResponse index;
  EXPECT_EQ(stub_->Attach(&context, {}, &index).error_code(), StatusCode::FAILED_PRECONDITION);
}

TEST_F(ServiceSegmentsTest, BesideAnIndexWhichMayBeReplaced) {
  start();
  ASSERT_TRUE(load({7, 1}, small_).ok());
  publisher_->publish(small_);
  ASSERT_TRUE(attach({7, 1}).ok());
  publisher_->publish(large_);
  publisher_->collect();
  v1::RenewRequest request;
  request.set_lease_id(attached_.lease_id());
  v1::RenewResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Renew(&context, request, &response).ok());
  EXPECT_EQ(response.newest_generation(), attached_.generation()) << "a segment is what it is";
  EXPECT_THAT(numbers(7), ElementsAre(1));
  EXPECT_EQ(held().count(), 1u);
  EXPECT_EQ(state_.publications.usage().tables, 2u);
  EXPECT_EQ(state_.publications.usage().published, 2u);
}

TEST_F(ServiceSegmentsTest, TheSameAgainChangesNothingAndAnotherReplacesIt) {
  start();
  ASSERT_TRUE(load({7, 3}, small_).ok());
  const std::uint64_t generation = loaded_.generation();
  ASSERT_TRUE(load({7, 3}, small_).ok());
  EXPECT_EQ(loaded_.generation(), generation);
  ASSERT_TRUE(attach({7, 3}).ok());
  const auto old = attached_;
  // What a killed writer left under the number.
  ASSERT_TRUE(load({7, 3}, large_).ok());
  EXPECT_NE(loaded_.generation(), generation);
  ASSERT_TRUE(attach({7, 3}).ok());
  EXPECT_EQ(attached_.generation(), loaded_.generation());
  EXPECT_EQ(held().count(), 2u) << "a lease reads the old one";
  detach(old);
  EXPECT_EQ(held().bytes(), large_bytes_);
}

TEST_F(ServiceSegmentsTest, ADroppedOneGoesWithItsLastLease) {
  start();
  ASSERT_TRUE(load({7, 3}, small_).ok());
  ASSERT_TRUE(attach({7, 3}).ok());
  const auto first = attached_;
  ASSERT_TRUE(attach({7, 3}).ok());
  const auto second = attached_;
  ASSERT_TRUE(drop({7, 3}).ok());
  EXPECT_EQ(attach({7, 3}).error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(numbers(7), ElementsAre());
  detach(first);
  EXPECT_EQ(held().bytes(), small_bytes_) << "the other lease reads it";
  detach(second);
  EXPECT_EQ(held().count(), 0u);
  EXPECT_EQ(held().bytes(), 0u);
  EXPECT_TRUE(drop({7, 3}).ok()) << "it is dropped already";
}

TEST_F(ServiceSegmentsTest, AFullNodeRefusesAndKeepsWhatItHas) {
  start();
  ASSERT_TRUE(load({7, 1}, large_).ok());
  ASSERT_TRUE(load({7, 2}, small_).ok());
  const grpc::Status full = load({7, 3}, small_);
  EXPECT_EQ(full.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(full.error_message(), HasSubstr("--segment-bytes"));
  EXPECT_THAT(numbers(7), ElementsAre(1, 2));
  ASSERT_TRUE(attach({7, 2}).ok());
  ASSERT_TRUE(drop({7, 2}).ok());
  EXPECT_EQ(load({7, 3}, small_).error_code(), StatusCode::RESOURCE_EXHAUSTED)
      << "it is read still";
  detach(attached_);
  EXPECT_TRUE(load({7, 3}, small_).ok());
  EXPECT_EQ(load({7, 4}, large_).error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ServiceSegmentsTest, SaysWhatItDoesNotHoldOrCannotLoad) {
  start();
  EXPECT_EQ(attach({7, 1}).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(load({7, 1}, "small").error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(load({7, 1}, folder_.path() / "absent").error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(held().count(), 0u);
  server_.reset();
  options_.segment_bytes = 0;
  start();
  for (const grpc::Status& status : {load({7, 1}, small_), attach({7, 1}), drop({7, 1})}) {
    EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(status.error_message(), HasSubstr("--segment-bytes"));
  }
}

}  // namespace
}  // namespace farvec::memory_node
