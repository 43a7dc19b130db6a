// Segments of collections, through the control plane.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "memory_node/service.h"
#include "rpc/channel.h"
#include "rpc/server.h"
#include "tests/unit/layout/region/index_fixture.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

class ServiceSegmentsTest : public testing::Test {
 protected:
  ServiceSegmentsTest() {
    small_bytes_ = layout::RandomIndex(200).write(small_).node_bytes(0);
    large_bytes_ = layout::RandomIndex(500).write(large_).node_bytes(0);
    options_.load.quiet = true;
    options_.load.threads = 1;
    options_.paths.grant_path = folder_.path() / "grant";
    options_.segment_bytes = small_bytes_ + large_bytes_;
  }

  void start() {
    publisher_ = std::make_unique<Publisher>(state_, options_);
    service_ = std::make_unique<Service>(
        state_, *publisher_,
        ServiceOptions{
            .publishers = {}, .has_log = false, .segment_bytes = options_.segment_bytes});
    state_.state = v1::STATE_SERVING;
    server_ = std::make_unique<rpc::Server>(
        rpc::ServerOptions{rpc::parse_address("unix:" + (folder_.path() / "node").string()),
                           false,
                           nullptr,
                           {service_.get()},
                           {}});
    stub_ = v1::MemoryNode::NewStub(rpc::connect(server_->address()));
  }
  void TearDown() override { server_.reset(); }

  template <typename Request>
  static Request named(layout::SegmentKey key) {
    Request request;
    request.mutable_name()->set_collection(key.collection);
    request.mutable_name()->set_number(key.number);
    return request;
  }
  grpc::Status load(layout::SegmentKey key, const std::string& index) {
    auto request = named<v1::LoadSegmentRequest>(key);
    request.set_index(index);
    grpc::ClientContext context;
    loaded_.Clear();
    return stub_->LoadSegment(&context, request, &loaded_);
  }
  grpc::Status drop(layout::SegmentKey key) {
    v1::DropSegmentResponse response;
    grpc::ClientContext context;
    const auto status = stub_->DropSegment(&context, named<v1::DropSegmentRequest>(key), &response);
    publisher_->collect();
    return status;
  }
  grpc::Status attach(layout::SegmentKey key) {
    grpc::ClientContext context;
    attached_.Clear();
    return stub_->AttachSegment(&context, named<v1::AttachSegmentRequest>(key), &attached_);
  }
  void detach(const v1::AttachResponse& lease) {
    v1::DetachRequest request;
    request.set_lease_id(lease.lease_id());
    v1::DetachResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Detach(&context, request, &response).ok());
    publisher_->collect();
  }
  std::vector<std::uint64_t> numbers(std::uint64_t collection) {
    v1::ListSegmentsRequest request;
    request.set_collection(collection);
    grpc::ClientContext context;
    listed_.Clear();
    EXPECT_TRUE(stub_->ListSegments(&context, request, &listed_).ok());
    std::vector<std::uint64_t> found;
    for (const auto& segment : listed_.segments()) found.push_back(segment.number());
    return found;
  }
  v1::HeldFile write_file(const std::string& name, const std::string& bytes) const {
    v1::HeldFile file;
    file.set_path(folder_.path() / name);
    std::ofstream(file.path(), std::ios::binary) << bytes;
    file.set_bytes(bytes.size());
    file.set_xxh3(XXH3_64bits(bytes.data(), bytes.size()));
    return file;
  }
  v1::Segments held() {
    v1::StatsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Stats(&context, {}, &response).ok());
    return response.segments();
  }

  layout::TemporaryFolder folder_;
  const std::string small_ = folder_.path() / "small";
  const std::string large_ = folder_.path() / "large";
  std::uint64_t small_bytes_ = 0;
  std::uint64_t large_bytes_ = 0;
  PublisherOptions options_;
  NodeState state_{8, 60s};
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::MemoryNode::Stub> stub_;
  v1::LoadSegmentResponse loaded_;
  v1::AttachResponse attached_;
  v1::ListSegmentsResponse listed_;
};

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

TEST_F(ServiceSegmentsTest, HoldsIdsBesideTheIndex) {
  start();
  const v1::HeldFile ids = write_file("ids", std::string(1000, 'i'));
  const auto load_with = [&](const v1::HeldFile& file) {
    auto request = named<v1::LoadSegmentRequest>({7, 1});
    request.set_index(small_);
    *request.mutable_ids() = file;
    grpc::ClientContext context;
    return stub_->LoadSegment(&context, request, &loaded_);
  };
  ASSERT_TRUE(load_with(ids).ok());
  EXPECT_EQ(loaded_.region_bytes(), small_bytes_ + 1000);
  const std::uint64_t generation = loaded_.generation();
  EXPECT_THAT(numbers(7), ElementsAre(1));
  EXPECT_EQ(listed_.segments(0).ids_xxh3(), ids.xxh3());
  ASSERT_TRUE(attach({7, 1}).ok());
  ASSERT_EQ(attached_.regions_size(), 4);
  EXPECT_EQ(attached_.regions(3).id(), 3u);
  EXPECT_EQ(attached_.regions(3).kind(), "ids");
  EXPECT_EQ(attached_.regions(3).bytes(), 1000u);
  detach(attached_);
  ASSERT_TRUE(load_with(ids).ok());
  EXPECT_EQ(loaded_.generation(), generation) << "it is there already";

  v1::HeldFile wrong = ids;
  wrong.set_xxh3(ids.xxh3() + 1);
  const grpc::Status damaged = load_with(wrong);
  EXPECT_EQ(damaged.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(damaged.error_message(), HasSubstr(ids.path()));
  wrong.set_bytes(999);
  EXPECT_THAT(load_with(wrong).error_message(), HasSubstr("has 1000 bytes"));
  wrong.set_path("ids");
  EXPECT_EQ(load_with(wrong).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(held().bytes(), small_bytes_ + 1000);

  ASSERT_TRUE(load_with(write_file("others", std::string(1000, 'o'))).ok());
  EXPECT_NE(loaded_.generation(), generation) << "other ids are another segment";
  publisher_->collect();
  EXPECT_EQ(held().bytes(), small_bytes_ + 1000);
}

TEST_F(ServiceSegmentsTest, HoldsTheNewestCatalogueOfEachCollection) {
  start();
  const auto load_catalogue = [&](std::uint64_t collection, std::uint64_t revision,
                                  const v1::HeldFile& file) {
    v1::LoadCatalogueRequest request;
    request.set_collection(collection);
    request.set_name("set" + std::to_string(collection));
    request.set_revision(revision);
    *request.mutable_file() = file;
    grpc::ClientContext context;
    return stub_->LoadCatalogue(&context, request, &loaded_);
  };
  const auto list = [&] {
    v1::ListCollectionsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->ListCollections(&context, {}, &response).ok());
    return response;
  };
  EXPECT_EQ(list().collections_size(), 0);
  const v1::HeldFile first = write_file("first", "one");
  ASSERT_TRUE(load_catalogue(7, 3, first).ok());
  ASSERT_TRUE(load_catalogue(8, 1, first).ok());
  const layout::SegmentKey key{7, layout::kCatalogueNumber};
  ASSERT_TRUE(attach(key).ok());
  EXPECT_EQ(attached_.manifest_json(), "");
  ASSERT_EQ(attached_.regions_size(), 1);
  EXPECT_EQ(attached_.regions(0).bytes(), 3u);
  const v1::HeldFile second = write_file("second", "two and");
  ASSERT_TRUE(load_catalogue(7, 4, second).ok());
  const auto listed = list();
  ASSERT_EQ(listed.collections_size(), 2);
  EXPECT_EQ(listed.collections(0).collection(), 7u);
  EXPECT_EQ(listed.collections(0).name(), "set7");
  EXPECT_EQ(listed.collections(0).revision(), 4u);
  EXPECT_EQ(listed.collections(0).file_xxh3(), second.xxh3());
  EXPECT_EQ(listed.collections(1).revision(), 1u);
  EXPECT_THAT(numbers(7), ElementsAre()) << "it is no segment";
  EXPECT_EQ(held().bytes(), 3u + 3 + 7) << "the first is read still";
  detach(attached_);
  EXPECT_EQ(held().bytes(), 3u + 7);

  EXPECT_EQ(load_catalogue(7, 5, write_file("third", "")).error_code(),
            StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load({7, layout::kCatalogueNumber}, small_).error_code(), StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(drop(key).ok());
  EXPECT_EQ(list().collections_size(), 1);
}

TEST_F(ServiceSegmentsTest, AFullNodeTakesACatalogue) {
  start();
  ASSERT_TRUE(load({7, 1}, large_).ok());
  ASSERT_TRUE(load({7, 2}, small_).ok());
  v1::LoadCatalogueRequest request;
  request.set_collection(7);
  *request.mutable_file() = write_file("catalogue", "bytes");
  grpc::ClientContext context;
  EXPECT_TRUE(stub_->LoadCatalogue(&context, request, &loaded_).ok());
}

}  // namespace
}  // namespace farvec::memory_node
