#include "memory_node/log_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"
#include "transport/fabric/fabric_writer.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using tests::message_of;

constexpr std::uint64_t kLogBytes = 100'000;

class LogStoreTest : public testing::Test {
 protected:
  ~LogStoreTest() override { leases_.revoke_all(); }

  LogOptions options(BackingKind kind = BackingKind::dram) const {
    LogOptions options;
    options.bytes = kLogBytes;
    options.backing = {kind, kind == BackingKind::file ? folder_.path().string()
                                                       : folder_.path().filename().string()};
    options.paths.grant_path = folder_.path() / "grant";
    return options;
  }

  tests::TemporaryFolder folder_;
  LeaseTable leases_{8, 60s};
};

TEST_F(LogStoreTest, IsOneRegionOfZeros) {
  for (const auto kind : {BackingKind::dram, BackingKind::shm, BackingKind::file}) {
    const LogStore log(options(kind), leases_);
    const RegionTable& table = *log.publication()->table;
    ASSERT_EQ(table.regions.size(), 1u);
    EXPECT_EQ(table.regions[0].kind, "log");
    EXPECT_EQ(log.bytes(), kLogBytes);
    const auto bytes = table.regions[0].backing->bytes();
    EXPECT_TRUE(
        std::all_of(bytes.begin(), bytes.end(), [](auto byte) { return byte == std::byte{}; }));
    EXPECT_NE(table.generation, LogStore(options(), leases_).publication()->table->generation);
  }
}

TEST_F(LogStoreTest, HandsOutWritableAndReadOnlyDescriptors) {
  for (const auto kind : {BackingKind::dram, BackingKind::shm, BackingKind::file}) {
    const LogStore log(options(kind), leases_);
    Backing& backing = *log.publication()->table->regions[0].backing;
    const Descriptor writable = backing.writable_descriptor();
    auto region =
        transport::MappedRegion::map_fd(writable.get(), kLogBytes, transport::Access::read_write);
    region.writable_bytes()[17] = std::byte{42};
    EXPECT_EQ(backing.bytes()[17], std::byte{42});
    const Descriptor readable = backing.read_only_descriptor();
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, readable.get(), 0),
              MAP_FAILED);
    if (kind == BackingKind::dram) {
      EXPECT_NE(ftruncate(writable.get(), 10), 0) << "its length is sealed";
    }
  }
}

TEST_F(LogStoreTest, EpochsGrowFromWriterToWriter) {
  LogStore log(options(), leases_);
  EXPECT_EQ(log.epoch(), 0u);
  const auto first = log.grant_writer("local", 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->epoch, 1u);
  EXPECT_FALSE(log.grant_writer("local", 0)) << "there is one";
  EXPECT_EQ(log.epoch(), 1u);
  leases_.revoke(first->lease);
  EXPECT_EQ(log.grant_writer("local", 0)->epoch, 2u);
  leases_.revoke_all();
  EXPECT_EQ(log.grant_writer("local", 41)->epoch, 42u) << "above what was asked for";
  leases_.revoke_all();
  EXPECT_EQ(log.grant_writer("local", 7)->epoch, 43u) << "and above its own";
  leases_.revoke_all();
  EXPECT_GT(log.grant_writer("local", LogStore::kMaxAskedEpoch)->epoch, LogStore::kMaxAskedEpoch);
}

TEST_F(LogStoreTest, NothingOfAnEarlierWriterWritesOnceThereIsAnother) {
  LogOptions with = options();
  with.paths.fabric = "tcp:127.0.0.1";
  LogStore log(with, leases_);
  ReadPath& path = *log.publication()->find_path(v1::TRANSPORT_FABRIC);
  const auto connect = [&](const LogStore::Holder& writer) {
    v1::AttachResponse response;
    path.offer(writer.lease, response);
    transport::FabricWriterOptions options;
    options.provider = "tcp";
    options.grant = response.fabric().grant();
    options.lease = writer.lease;
    return std::make_unique<transport::FabricWriter>(options);
  };
  const auto first = *log.grant_writer("local", 0);
  const auto before = connect(first);
  const std::vector<std::byte> bytes(100, std::byte{1});
  ASSERT_TRUE(before->write(0, 0, bytes).ok());
  ASSERT_TRUE(before->flush().ok());
  leases_.revoke(first.lease);  // its listeners find out within 50 ms
  const auto next = *log.grant_writer("local", 0);
  const std::vector<std::byte> late(100, std::byte{2});
  EXPECT_FALSE(before->write(0, 0, late).ok() && before->flush().ok());
  const auto memory = log.publication()->table->regions[0].backing->bytes();
  EXPECT_EQ(std::memcmp(memory.data(), bytes.data(), bytes.size()), 0);
  const auto after = connect(next);
  EXPECT_TRUE(after->write(0, 0, late).ok() && after->flush().ok());
  EXPECT_EQ(std::memcmp(memory.data(), late.data(), late.size()), 0);
  leases_.revoke_all();  // before the log: they must not be the last to name it
}

TEST_F(LogStoreTest, RefusesMemoryDevicesAndMoreThanThereIs) {
  for (const auto kind : {BackingKind::devdax, BackingKind::pmem}) {
    EXPECT_THAT(message_of([&] { LogStore log(options(kind), leases_); }),
                HasSubstr("cannot lie on a memory device"));
  }
  LogOptions large = options();
  large.bytes = std::uint64_t{1} << 60;
  EXPECT_THAT(message_of([&] { LogStore log(large, leases_); }), HasSubstr("memory"));
}

}  // namespace
}  // namespace farvec::memory_node
