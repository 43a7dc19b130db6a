// Segments of collections, through the control plane.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "layout/collection/catalogue.h"
#include "layout/collection/segment_ids.h"
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
    options_.segment_bytes = room_for(small_bytes_ + large_bytes_);
  }

  void start() {
    publisher_ = std::make_unique<Publisher>(state_, options_);
    service_ = std::make_unique<Service>(state_, *publisher_,
                                         ServiceOptions{.publishers = {},
                                                        .has_log = false,
                                                        .segment_bytes = options_.segment_bytes,
                                                        .folders = LoadFolders(folders_),
                                                        .folders_named = !folders_.empty()});
    state_.state = v1::STATE_SERVING;
    server_ = std::make_unique<rpc::Server>(
        rpc::ServerOptions{rpc::parse_address(listen_), false, nullptr, {service_.get()}, {}});
    stub_ = v1::MemoryNode::NewStub(rpc::connect(server_->address()));
  }
  void TearDown() override { server_.reset(); }

  /// A sixteenth is kept for catalogues.
  static std::uint64_t room_for(std::uint64_t bytes) { return bytes + bytes / 15 + 1; }

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
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return file_of(folder_.path() / name);
  }
  static v1::HeldFile file_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    v1::HeldFile file;
    file.set_path(path);
    file.set_bytes(bytes.size());
    file.set_xxh3(XXH3_64bits(bytes.data(), bytes.size()));
    return file;
  }
  /// Of segment 1, one for each row of the small index.
  v1::HeldFile write_ids(const std::string& name, std::uint64_t first) const {
    std::vector<std::uint64_t> ids(200);
    std::iota(ids.begin(), ids.end(), first);
    layout::write_segment_ids(folder_.path() / name, {.number = 1, .rows = ids.size()}, ids);
    return file_of(folder_.path() / name);
  }
  /// Of a collection without segments.
  v1::HeldFile write_catalogue(const std::string& name, std::uint32_t dimension) const {
    layout::Catalogue catalogue;
    catalogue.manifest.dimension = dimension;
    const auto bytes = layout::encode_catalogue(catalogue);
    return write_file(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  grpc::Status load_catalogue(std::uint64_t collection, std::uint64_t revision,
                              const v1::HeldFile& file) {
    v1::LoadCatalogueRequest request;
    request.set_collection(collection);
    request.set_name("set" + std::to_string(collection));
    request.set_revision(revision);
    *request.mutable_file() = file;
    grpc::ClientContext context;
    return stub_->LoadCatalogue(&context, request, &loaded_);
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
  std::vector<std::string> folders_;
  std::string listen_ = "unix:" + (folder_.path() / "node").string();
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
  const v1::HeldFile ids = write_ids("ids", 5);
  const auto load_with = [&](const v1::HeldFile& file) {
    auto request = named<v1::LoadSegmentRequest>({7, 1});
    request.set_index(small_);
    *request.mutable_ids() = file;
    grpc::ClientContext context;
    return stub_->LoadSegment(&context, request, &loaded_);
  };
  ASSERT_TRUE(load_with(ids).ok());
  EXPECT_EQ(loaded_.region_bytes(), small_bytes_ + ids.bytes());
  const std::uint64_t generation = loaded_.generation();
  EXPECT_THAT(numbers(7), ElementsAre(1));
  EXPECT_EQ(listed_.segments(0).ids_xxh3(), ids.xxh3());
  ASSERT_TRUE(attach({7, 1}).ok());
  ASSERT_EQ(attached_.regions_size(), 4);
  EXPECT_EQ(attached_.regions(3).id(), 3u);
  EXPECT_EQ(attached_.regions(3).kind(), "ids");
  EXPECT_EQ(attached_.regions(3).bytes(), ids.bytes());
  detach(attached_);
  ASSERT_TRUE(load_with(ids).ok());
  EXPECT_EQ(loaded_.generation(), generation) << "it is there already";

  v1::HeldFile wrong = ids;
  wrong.set_xxh3(ids.xxh3() + 1);
  const grpc::Status damaged = load_with(wrong);
  EXPECT_EQ(damaged.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(damaged.error_message(), HasSubstr(ids.path()));
  wrong.set_bytes(ids.bytes() - 1);
  EXPECT_THAT(load_with(wrong).error_message(), HasSubstr("is not loaded"));
  wrong.set_path("ids");
  EXPECT_EQ(load_with(wrong).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(held().bytes(), small_bytes_ + ids.bytes());

  ASSERT_TRUE(load_with(write_ids("others", 6)).ok());
  EXPECT_NE(loaded_.generation(), generation) << "other ids are another segment";
  publisher_->collect();
  EXPECT_EQ(held().bytes(), small_bytes_ + ids.bytes());
}

TEST_F(ServiceSegmentsTest, HoldsTheNewestCatalogueOfEachCollection) {
  start();
  const auto list = [&] {
    v1::ListCollectionsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->ListCollections(&context, {}, &response).ok());
    return response;
  };
  EXPECT_EQ(list().collections_size(), 0);
  const v1::HeldFile first = write_catalogue("first", 8);
  ASSERT_TRUE(load_catalogue(7, 3, first).ok());
  ASSERT_TRUE(load_catalogue(8, 1, first).ok());
  const layout::SegmentKey key{7, layout::kCatalogueNumber};
  ASSERT_TRUE(attach(key).ok());
  EXPECT_EQ(attached_.manifest_json(), "");
  ASSERT_EQ(attached_.regions_size(), 1);
  EXPECT_EQ(attached_.regions(0).bytes(), first.bytes());
  const v1::HeldFile second = write_catalogue("second", 1000);
  ASSERT_TRUE(load_catalogue(7, 4, second).ok());
  const auto listed = list();
  ASSERT_EQ(listed.collections_size(), 2);
  EXPECT_EQ(listed.collections(0).collection(), 7u);
  EXPECT_EQ(listed.collections(0).name(), "set7");
  EXPECT_EQ(listed.collections(0).revision(), 4u);
  EXPECT_EQ(listed.collections(0).file_xxh3(), second.xxh3());
  EXPECT_EQ(listed.collections(1).revision(), 1u);
  EXPECT_THAT(numbers(7), ElementsAre()) << "it is no segment";
  EXPECT_EQ(held().bytes(), 2 * first.bytes() + second.bytes()) << "the first is read still";
  detach(attached_);
  EXPECT_EQ(held().bytes(), first.bytes() + second.bytes());

  EXPECT_EQ(load_catalogue(7, 5, write_file("third", "")).error_code(),
            StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load({7, layout::kCatalogueNumber}, small_).error_code(), StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(drop(key).ok());
  EXPECT_EQ(list().collections_size(), 1);
}

TEST_F(ServiceSegmentsTest, AFullNodeTakesCataloguesWithinTheirShare) {
  start();
  ASSERT_TRUE(load({7, 1}, large_).ok());
  ASSERT_TRUE(load({7, 2}, small_).ok());
  EXPECT_EQ(load({7, 3}, small_).error_code(), StatusCode::RESOURCE_EXHAUSTED);
  std::uint64_t revision = 0;
  grpc::Status full;
  std::vector<std::shared_ptr<const Publication>> read_on;  // all of them stay in memory
  while (full.ok()) {
    const v1::HeldFile file = write_catalogue("catalogue", 8);
    full = load_catalogue(7, ++revision, file);
    read_on.push_back(state_.publications.segment({7, layout::kCatalogueNumber}));
    ASSERT_LT(revision, 1000u);
  }
  EXPECT_GT(revision, 2u) << "one follows another while a full node is read";
  EXPECT_EQ(full.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(full.error_message(), HasSubstr("--segment-bytes"));
  EXPECT_LE(held().bytes(), options_.segment_bytes);
}

TEST_F(ServiceSegmentsTest, ReadsTheHeaderOfAFileFirst) {
  start();
  const v1::HeldFile secret = write_file("secret", std::string(10'000, 's'));
  const v1::HeldFile catalogue = write_catalogue("catalogue", 8);
  const v1::HeldFile ids = write_ids("ids", 5);
  EXPECT_EQ(load_catalogue(7, 1, secret).error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load_catalogue(7, 1, ids).error_code(), StatusCode::FAILED_PRECONDITION);
  for (const auto& [number, file] :
       {std::pair{1u, secret}, std::pair{1u, catalogue}, std::pair{2u, ids}}) {
    auto request = named<v1::LoadSegmentRequest>({7, number});
    request.set_index(small_);
    *request.mutable_ids() = file;
    grpc::ClientContext context;
    EXPECT_EQ(stub_->LoadSegment(&context, request, &loaded_).error_code(),
              StatusCode::FAILED_PRECONDITION)
        << file.path();
  }
  EXPECT_EQ(held().count(), 0u);
  v1::HeldFile huge = secret;
  huge.set_bytes(~0ull);
  EXPECT_EQ(load_catalogue(7, 1, huge).error_code(), StatusCode::FAILED_PRECONDITION)
      << "no memory is taken for what a caller says";
}

TEST_F(ServiceSegmentsTest, LoadsOnlyBelowItsFolders) {
  const auto inside = folder_.path() / "inside";
  std::filesystem::create_directory(inside);
  folders_ = {inside};
  start();
  layout::RandomIndex(200).write(inside / "index");
  const v1::HeldFile outside = write_catalogue("outside", 8);
  const v1::HeldFile sound = write_catalogue("inside/catalogue", 8);
  v1::HeldFile absent = outside;
  absent.set_path(folder_.path() / "absent");
  std::filesystem::create_symlink(outside.path(), inside / "link");
  v1::HeldFile link = outside;
  link.set_path(inside / "link");
  v1::HeldFile dots = outside;
  dots.set_path(inside / ".." / "outside");
  for (const v1::HeldFile& file : {outside, absent, link, dots}) {
    const grpc::Status refused = load_catalogue(7, 1, file);
    EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED) << file.path();
    EXPECT_EQ(refused.error_message(),
              "'" + file.path() +
                  "' is in no folder that this memory node loads from: name its folder with "
                  "--load-from when you start the node");
  }
  EXPECT_EQ(load({7, 1}, small_).error_code(), StatusCode::PERMISSION_DENIED);
  v1::LoadRequest publish;
  publish.set_index(small_);
  v1::LoadResponse published;
  grpc::ClientContext context;
  EXPECT_EQ(stub_->Load(&context, publish, &published).error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(load_catalogue(7, 1, sound).ok());
  EXPECT_TRUE(load({7, 1}, inside / "index").ok());
  EXPECT_TRUE(load({7, 2}, inside / "." / "index" / ".." / "index").ok());
}

TEST_F(ServiceSegmentsTest, TellsOthersThanItsOwnerNothingOfAFileThatItRefuses) {
  folders_ = {folder_.path()};
  listen_ = "127.0.0.1:0";
  start();
  v1::HeldFile secret = write_file("secret", std::string(10'000, 's'));
  const std::string same = load_catalogue(7, 1, secret).error_message();
  EXPECT_THAT(same, testing::Not(HasSubstr("10000")));
  secret.set_bytes(3);
  EXPECT_EQ(load_catalogue(7, 1, secret).error_message(), same);
  secret.set_xxh3(3);
  EXPECT_EQ(load_catalogue(7, 1, secret).error_message(), same);
  v1::HeldFile catalogue = write_catalogue("secret", 8);
  catalogue.set_xxh3(catalogue.xxh3() + 1);
  EXPECT_EQ(load_catalogue(7, 1, catalogue).error_message(), same) << "a checksum that is wrong";
  std::filesystem::remove(secret.path());
  EXPECT_EQ(load_catalogue(7, 1, secret).error_message(), same) << "and one that is not there";
  EXPECT_EQ(load({7, 1}, secret.path()).error_message(), same);
  std::filesystem::create_directory(secret.path());
  std::ofstream(secret.path() + "/manifest.json") << "the manifest of something else";
  EXPECT_EQ(load({7, 1}, secret.path()).error_message(), same);
  EXPECT_THAT(load({7, 1}, folder_.path()).error_message(), testing::Not(HasSubstr("small")))
      << "what lies in a folder";
}

}  // namespace
}  // namespace farvec::memory_node
