// Publishing while leases are held, without a device: service, publisher and what is in memory.
#include "memory_node/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "layout/index/index_directory.h"
#include "tests/unit/fifo.h"
#include "tests/unit/memory_node/publisher_fixture.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

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

TEST_F(PublisherTest, AttributesAreRegionsAfterThoseOfTheIndex) {
  start();
  give_attributes("owner: string tenant", std::string("a"));
  ASSERT_TRUE(load(second_).ok());
  EXPECT_EQ(state_.loaded_bytes.load(), state_.total_bytes.load());
  EXPECT_EQ(state_.verified_bytes.load(), stats().region_bytes());
  v1::AttachRequest request;
  request.set_takes_files(true);
  v1::AttachResponse lease;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Attach(&context, request, &lease).ok());
  ASSERT_EQ(lease.regions_size(), int{layout::kRegionCount} + 2);
  const v1::Region& schema = lease.regions(layout::kRegionCount);
  const v1::Region& attributes = lease.regions(layout::kRegionCount + 1);
  EXPECT_EQ(schema.kind(), "schema");
  EXPECT_EQ(schema.bytes(), std::filesystem::file_size(second_ + "/schema.bin"));
  EXPECT_EQ(attributes.kind(), "attributes");
  EXPECT_EQ(attributes.bytes(), std::filesystem::file_size(second_ + "/attributes.bin"));
}

TEST_F(PublisherTest, AttributesThatAreNotWholeChangeNothing) {
  start();
  const std::uint64_t generation = attach().generation();
  give_attributes("price: i64", std::int64_t{5});
  {
    std::fstream bytes(second_ + "/attributes.bin",
                       std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-1, std::ios::end);
    bytes.put('x');
  }
  const grpc::Status refused = load(second_);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("is damaged"));
  expect_unchanged(generation);
  std::filesystem::remove(second_ + "/attributes.bin");
  EXPECT_THAT(load(second_).error_message(), HasSubstr("attributes.bin"));
  expect_unchanged(generation);
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

}  // namespace
}  // namespace farvec::memory_node
