// Publishing indexes that lie on a device and outlive the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "device/pmem_memory.h"
#include "tests/unit/memory_node/publisher_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

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
