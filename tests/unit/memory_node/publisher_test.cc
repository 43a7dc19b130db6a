// Publishing while leases are held, without a device: service, publisher and what is in memory.
#include "memory_node/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "device/pmem_memory.h"
#include "memory_node/service.h"
#include "rpc/channel.h"
#include "rpc/server.h"
#include "tests/unit/fifo.h"
#include "tests/unit/layout/region/index_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() {
    layout::RandomIndex(500).write(first_);
    layout::RandomIndex(800).write(second_);
    options_.load.quiet = true;
    options_.load.threads = 1;
    options_.paths.grant_path = folder_.path() / "grant";
  }

  void start() {
    publisher_ = std::make_unique<Publisher>(state_, options_);
    service_ = std::make_unique<Service>(state_, *publisher_, ServiceOptions());
    publisher_->publish(first_);
    state_.state = v1::STATE_SERVING;
    server_ = std::make_unique<rpc::Server>(
        rpc::ServerOptions{rpc::parse_address("unix:" + (folder_.path() / "node").string()),
                           false,
                           nullptr,
                           {service_.get()},
                           {}});
    stub_ = v1::MemoryNode::NewStub(rpc::connect(server_->address()));
  }

  grpc::Status load(const std::string& index) const {
    v1::LoadRequest request;
    request.set_index(index);
    v1::LoadResponse response;
    grpc::ClientContext context;
    return stub_->Load(&context, request, &response);
  }
  v1::AttachResponse attach() const {
    v1::AttachResponse response;
    grpc::ClientContext context;
    const auto status = stub_->Attach(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::uint64_t newest(const v1::AttachResponse& lease) const {
    v1::RenewRequest request;
    request.set_lease_id(lease.lease_id());
    v1::RenewResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Renew(&context, request, &response).ok());
    return response.newest_generation();
  }
  void detach(const v1::AttachResponse& lease) const {
    v1::DetachRequest request;
    request.set_lease_id(lease.lease_id());
    v1::DetachResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Detach(&context, request, &response).ok());
  }
  v1::StatsResponse stats() const {
    v1::StatsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Stats(&context, {}, &response).ok());
    return response;
  }
  /// What is published is the first index still, whole, and the only one in memory.
  void expect_unchanged(std::uint64_t generation) {
    state_.publications.collect();
    const v1::StatsResponse now = stats();
    EXPECT_EQ(now.tables(), 1u);
    EXPECT_EQ(now.table_bytes(), now.region_bytes());
    EXPECT_EQ(now.publications(), 1u);
    EXPECT_EQ(attach().generation(), generation);
    EXPECT_EQ(state_.loaded_bytes.load(), state_.total_bytes.load());
  }

  layout::TemporaryFolder folder_;
  std::string first_ = folder_.path() / "first";
  std::string second_ = folder_.path() / "second";
  PublisherOptions options_;
  NodeState state_{8, 60s};
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::MemoryNode::Stub> stub_;
};

TEST_F(PublisherTest, TheReplacedTableGoesWithItsLastLease) {
  start();
  const auto old_one = attach();
  const auto old_two = attach();
  const std::uint64_t old_bytes = stats().region_bytes();
  EXPECT_EQ(newest(old_one), old_one.generation());
  ASSERT_TRUE(load(second_).ok());
  const auto fresh = attach();
  EXPECT_NE(fresh.generation(), old_one.generation());
  EXPECT_EQ(newest(old_one), fresh.generation());
  EXPECT_EQ(newest(fresh), fresh.generation());
  const std::uint64_t new_bytes = stats().region_bytes();
  EXPECT_GT(new_bytes, old_bytes);

  state_.publications.collect();
  EXPECT_EQ(stats().tables(), 2u);
  EXPECT_EQ(stats().table_bytes(), old_bytes + new_bytes);
  detach(old_one);
  state_.publications.collect();
  EXPECT_EQ(stats().table_bytes(), old_bytes + new_bytes) << "the other lease still reads it";
  detach(old_two);
  EXPECT_EQ(stats().tables(), 2u) << "no call frees memory itself";
  state_.publications.collect();
  EXPECT_EQ(stats().tables(), 1u);
  EXPECT_EQ(stats().table_bytes(), new_bytes);
}

TEST_F(PublisherTest, AnExpiredLeaseDoesNotKeepATable) {
  start();
  attach();
  ASSERT_TRUE(load(second_).ok());
  state_.leases.expire(LeaseTable::Clock::now() + 61s);
  state_.publications.collect();
  EXPECT_EQ(stats().tables(), 1u);
}

TEST_F(PublisherTest, ManyPublicationsLeaveOneTable) {
  options_.load.backing = {BackingKind::file, folder_.path() / "memory"};
  std::filesystem::create_directory(folder_.path() / "memory");
  start();
  for (int i = 0; i < 6; ++i) {
    const auto lease = attach();
    ASSERT_TRUE(load(i % 2 == 0 ? second_ : first_).ok());
    detach(lease);
    state_.publications.collect();
    const v1::StatsResponse now = stats();
    EXPECT_EQ(now.tables(), 1u);
    EXPECT_EQ(now.table_bytes(), now.region_bytes());
  }
  using std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(directory_iterator(folder_.path() / "memory"), directory_iterator()),
            std::ptrdiff_t{layout::kRegionCount})
      << "the names of replaced tables are gone";
}

TEST_F(PublisherTest, WithoutMemoryForBothTheOldOneStays) {
  std::atomic<bool> full{false};
  options_.load.memory = [&full] {
    MemoryInfo memory;
    if (full) memory.available_bytes = 100;
    return memory;
  };
  start();
  const std::uint64_t generation = attach().generation();
  full = true;
  const grpc::Status status = load(second_);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("what was published stays"));
  EXPECT_THAT(status.error_message(), HasSubstr("0.0 MiB available"));
  expect_unchanged(generation);
  full = false;
  EXPECT_TRUE(load(second_).ok());
}

TEST_F(PublisherTest, ADamagedIndexAndNoneChangeNothing) {
  start();
  const std::uint64_t generation = attach().generation();
  EXPECT_THAT(load(folder_.path() / "absent").error_message(), HasSubstr("absent"));
  EXPECT_EQ(load("second").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  {
    const auto manifest = layout::IndexDirectory::open(second_).manifest();
    std::fstream file(second_ + "/" + manifest.region(layout::kRecordsRegion).file,
                      std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(-1, std::ios::end);
    const int last = file.get();
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
  }
  const grpc::Status damaged = load(second_);
  EXPECT_EQ(damaged.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(damaged.error_message(), HasSubstr("checksum"));
  expect_unchanged(generation);
}

TEST_F(PublisherTest, AFifoForAManifestDoesNotHoldThePublisher) {
  start();
  const std::uint64_t generation = attach().generation();
  const std::string broken = folder_.path() / "broken";
  std::filesystem::create_directory(broken);
  EXPECT_THAT(tests::error_with_fifo(broken + "/manifest.json",
                                     [&] { publisher_->publish(broken, [] { return false; }); }),
              HasSubstr("not a regular file"));
  expect_unchanged(generation);
  EXPECT_TRUE(load(second_).ok());
}

TEST_F(PublisherTest, AStoppedLoadChangesNothing) {
  start();
  const std::uint64_t generation = attach().generation();
  EXPECT_THROW(publisher_->publish(second_, [] { return true; }), LoadStopped);
  expect_unchanged(generation);
}

TEST_F(PublisherTest, OneLoadAtATime) {
  start();
  const std::uint64_t generation = attach().generation();
  std::promise<void> loading, go_on;
  const std::shared_future<void> gate = go_on.get_future().share();
  std::atomic<bool> told{false};
  auto running = std::async(std::launch::async, [&] {
    publisher_->publish(second_, [&] {
      if (!told.exchange(true)) loading.set_value();
      gate.wait_for(20s);
      return true;
    });
  });
  loading.get_future().wait();
  const grpc::Status busy = load(second_);
  EXPECT_EQ(busy.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(busy.error_message(), HasSubstr("another index is being loaded"));
  go_on.set_value();
  EXPECT_THROW(running.get(), LoadStopped);
  expect_unchanged(generation);
}

TEST_F(PublisherTest, CallersOfOtherMachinesAreNotLocal) {
  for (const char* peer : {"unix:", "ipv4:127.0.0.1:4711", "ipv6:%5B::1%5D:4711"}) {
    EXPECT_TRUE(rpc::is_local_peer(peer)) << peer;
  }
  for (const char* peer : {"", "ipv4:10.0.0.1:4711", "ipv6:%5B2001:db8::1%5D:4711", "dns:unix:"}) {
    EXPECT_FALSE(rpc::is_local_peer(peer)) << peer;
  }
}

/// A node whose indexes lie on a device and outlive it.
class StoredPublisherTest : public PublisherTest {
 protected:
  StoredPublisherTest() {
    device::create_pmem_file(path_, 16 * layout::kDeviceUnitBytes);
    device::DeviceStore::format(
        device::open_pmem(path_, {.access = device::MemoryAccess::read_write}), false);
  }

  void start_on_device() {
    options_.load.backing = {BackingKind::pmem, path_};
    options_.load.device = open_device(options_.load.backing);
    start();
  }
  /// The node ends, as by a signal: nothing is left of it but the device.
  void end() {
    server_.reset();
    service_.reset();
    publisher_.reset();
    state_.publications.publish(nullptr);
    state_.leases.revoke_all();
    state_.publications.collect();
    options_.load.device.reset();
    stub_.reset();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& index : device::open_store(path_)->directory().slots) {
      if (index) found.push_back(index->name);
    }
    return found;
  }
  std::uint64_t attached_bytes() const {
    return state_.publications.current()->table->total_bytes();
  }
  void await_verified() const {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (state_.verified_bytes < attached_bytes() && state_.damaged == 0 &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
  }

  const std::string path_ = folder_.path() / "pmem";
};

TEST_F(StoredPublisherTest, AttachesWhatLiesThere) {
  start_on_device();
  EXPECT_FALSE(state_.publications.current()->table->attached);
  end();
  start_on_device();
  const auto table = state_.publications.current()->table;
  EXPECT_TRUE(table->attached);
  const auto index = layout::IndexDirectory::open(first_);
  EXPECT_EQ(table->manifest_json, layout::manifest_to_json(index.manifest()));
  for (const Region& region : table->regions) {
    const HugeBuffer expected = index.load_region(region.id, {.threads = 1, .quiet = true});
    EXPECT_TRUE(std::ranges::equal(region.backing->bytes(), expected.span())) << region.kind;
    // What a client of this machine maps.
    const auto descriptor = region.backing->read_only_descriptor();
    const auto mapped = transport::MappedRegion::map_fd(descriptor.get(), region.bytes,
                                                        transport::Access::read_only,
                                                        region.backing->descriptor_offset());
    EXPECT_TRUE(std::ranges::equal(mapped.bytes(), expected.span())) << region.kind;
  }
  await_verified();
  EXPECT_EQ(state_.verified_bytes, attached_bytes());
  EXPECT_EQ(state_.damaged, 0u);
  EXPECT_THAT(names(), testing::ElementsAre("first"));
  EXPECT_EQ(attach().regions(1).offset(), table->regions[1].backing->descriptor_offset());
}

TEST_F(StoredPublisherTest, VerifyingIsNotLoading) {
  start_on_device();
  EXPECT_EQ(state_.verified_bytes, attached_bytes()) << "a load has checked everything";
  end();
  start_on_device();
  EXPECT_EQ(state_.loaded_bytes, state_.total_bytes);
  EXPECT_EQ(state_.total_bytes, attached_bytes());
  ASSERT_TRUE(load(second_).ok());  // beside what is being verified
  EXPECT_EQ(state_.loaded_bytes, state_.total_bytes);
  EXPECT_EQ(state_.verified_bytes, attached_bytes());
  await_verified();
  EXPECT_EQ(state_.verified_bytes, attached_bytes()) << "nobody counts the replaced index any more";
}

TEST_F(StoredPublisherTest, WithoutAnIndexServesTheNewest) {
  start_on_device();
  ASSERT_TRUE(load(second_).ok());
  const std::string manifest = state_.publications.current()->table->manifest_json;
  end();
  options_.load.device = open_device({BackingKind::pmem, path_});
  Publisher again(state_, options_);
  EXPECT_EQ(again.publish("")->manifest_json, manifest);
}

TEST_F(StoredPublisherTest, SpaceOfAReplacedIndexIsFreedWithItsLastLease) {
  start_on_device();
  const auto lease = attach();
  ASSERT_TRUE(load(second_).ok());
  publisher_->collect();
  EXPECT_THAT(names(), testing::ElementsAre("first", "second")) << "a lease reads it";
  detach(lease);
  publisher_->collect();
  publisher_->collect();
  EXPECT_THAT(names(), testing::ElementsAre("second"));
  ASSERT_TRUE(load(first_).ok());
  publisher_->collect();
  EXPECT_THAT(names(), testing::ElementsAre("first"));
}

TEST_F(StoredPublisherTest, ACrashBetweenPublishingAndFreeingLosesNoSpace) {
  start_on_device();
  end();
  {
    // The same name, another index: as it is after a rebuild.
    const auto store = device::open_store(path_, {.access = device::MemoryAccess::read_write});
    (void)device::store_index(store, layout::IndexDirectory::open(second_), 0, "first",
                              {.threads = 1, .quiet = true});
  }
  EXPECT_THAT(names(), testing::ElementsAre("first", "first"));
  options_.load.device = open_device({BackingKind::pmem, path_});
  Publisher again(state_, options_);
  (void)again.publish("");
  again.collect();
  EXPECT_THAT(names(), testing::ElementsAre("first"));
}

TEST_F(StoredPublisherTest, DamageIsToldWhileItServes) {
  start_on_device();
  const std::uint64_t offset =
      state_.publications.current()->table->regions[0].backing->descriptor_offset();
  end();
  {
    const auto memory = device::open_pmem(path_, {.access = device::MemoryAccess::read_write});
    memory->bytes()[offset + layout::kRegionHeaderBytes + 5] ^= std::byte{1};
  }
  start_on_device();
  EXPECT_EQ(attach().regions_size(), 3);
  await_verified();
  EXPECT_EQ(state_.damaged, 1u);
}

TEST_F(StoredPublisherTest, RefusesADeviceOfTheOtherKind) {
  EXPECT_THAT(tests::message_of([this] {
                open_device({BackingKind::devdax, path_});
              }),
              HasSubstr("is no device: write --backing pmem"));
  EXPECT_THAT(tests::message_of([] {
                open_device({BackingKind::pmem, "/dev/null"});
              }),
              HasSubstr("is a device: write --backing devdax"));
  EXPECT_THAT(tests::message_of([] {
                open_device({BackingKind::devdax, ""});
              }),
              HasSubstr("needs --backing-path"));
}

}  // namespace
}  // namespace farvec::memory_node
