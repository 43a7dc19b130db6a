#include "transport/disk/disk_endpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::transport {
namespace {

using disk::kBlock;

class DiskEndpointTest : public disk::DiskTest {
 protected:
  static constexpr std::size_t kFileBytes = 40 * kBlock + 123;
  static constexpr DiskEndpointOptions kOptions{8 * kBlock, 6 * kBlock};
  void SetUp() override { make_file(kFileBytes); }

  /// Completions by token.
  static std::map<std::uint64_t, Completion> await_all(DiskEndpoint& endpoint, std::size_t count) {
    std::map<std::uint64_t, Completion> found;
    Completion some[4];
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (found.size() < count && std::chrono::steady_clock::now() < end) {
      const std::size_t polled = endpoint.poll(some);
      for (std::size_t i = 0; i < polled; ++i) found[some[i].token] = some[i];
    }
    EXPECT_EQ(found.size(), count);
    return found;
  }
  void expect_bytes(const ReadRequest& read) const {
    EXPECT_EQ(disk::text(read.destination, read.bytes), content_.substr(read.offset, read.bytes))
        << read.bytes << " bytes at " << read.offset;
  }
};

TEST_F(DiskEndpointTest, BringsAnyBytes) {
  DiskEndpoint endpoint(open(), kOptions);
  EXPECT_EQ(endpoint.region_bytes(0), kFileBytes);
  EXPECT_EQ(endpoint.region_bytes(1), 0u);
  std::vector<ReadRequest> reads;
  const auto add = [&](std::uint64_t offset, std::uint32_t bytes) {
    reads.push_back({reads.size(), 0, bytes, offset, destination(reads.size())});
  };
  add(0, 1);
  add(kBlock - 1, 2);
  add(3, 5 * kBlock);           // over several blocks
  add(kBlock, 2 * kBlock);      // straight to its destination
  add(2 * kBlock, kBlock - 1);  // whole blocks but for a byte
  add(kFileBytes - 1, 1);
  add(kFileBytes - 200, 200);
  add(7, 0);
  add(kFileBytes, 0);
  for (int round = 0; round < 3; ++round) {
    std::fill_n(memory_.data(), reads.size() * kStretch, std::byte{0});
    ASSERT_TRUE(endpoint.post(reads).ok());
    const auto found = await_all(endpoint, reads.size());
    for (const ReadRequest& read : reads) {
      ASSERT_EQ(found.at(read.token).status, StatusCode::ok);
      EXPECT_EQ(found.at(read.token).bytes, read.bytes);
      expect_bytes(read);
      EXPECT_EQ(read.destination[read.bytes], std::byte{0}) << "wrote past the read";
    }
  }
}

TEST_F(DiskEndpointTest, CountsReadsAndTheirBlocks) {
  DiskEndpoint endpoint(open(), kOptions);
  const std::uint64_t block = disk::DiskFile(path()).block_bytes();
  const std::vector<ReadRequest> reads{{0, 0, 1, block - 1, destination(0)},
                                       {1, 0, 2, block - 1, destination(1)},
                                       {2, 0, kBlock, 2 * kBlock, destination(2)},
                                       {3, 0, 0, 5, destination(3)}};
  ASSERT_TRUE(endpoint.post(reads).ok());
  await_all(endpoint, reads.size());
  EXPECT_EQ(endpoint.use().device_reads, 3u);
  EXPECT_EQ(endpoint.use().device_bytes, block + 2 * block + kBlock);
  EXPECT_GE(endpoint.use().dram_bytes, 16 * std::size_t{kOptions.max_staged_bytes});
}

TEST_F(DiskEndpointTest, DestinationsMayLieAnywhere) {
  DiskEndpoint endpoint(open(), kOptions);
  const ReadRequest read{7, 0, kBlock, kBlock, destination(0) + 13};
  ASSERT_TRUE(endpoint.post({&read, 1}).ok());
  EXPECT_EQ(await_all(endpoint, 1).at(7).status, StatusCode::ok);
  expect_bytes(read);
}

TEST_F(DiskEndpointTest, RefusesAllOrNone) {
  DiskEndpoint endpoint(open(), kOptions);
  const ReadRequest good{1, 0, 10, 0, destination(0)};
  const ReadRequest outside{2, 0, 10, kFileBytes - 9, destination(1)};
  const ReadRequest elsewhere{3, 1, 10, 0, destination(1)};
  const ReadRequest unaligned{4, 0, kOptions.max_staged_bytes + 1, 0, destination(1)};
  const ReadRequest longer{5, 0, kOptions.max_read_bytes + kBlock, 0, destination(1)};
  for (const ReadRequest& bad : {outside, elsewhere, unaligned, longer}) {
    EXPECT_EQ(endpoint.post(std::vector{good, bad}).code(), StatusCode::invalid_argument);
  }
  const ReadRequest straight{6, 0, kOptions.max_read_bytes, 0, destination(1)};
  ASSERT_TRUE(endpoint.post({&straight, 1}).ok());
  await_all(endpoint, 1);
  expect_bytes(straight);
  const std::vector<ReadRequest> many(endpoint.limits().max_outstanding + 1, good);
  EXPECT_EQ(endpoint.post(many).code(), StatusCode::resource_exhausted);
  Completion none[1];
  EXPECT_EQ(endpoint.poll(none), 0u);
  ASSERT_TRUE(endpoint.post({&good, 1}).ok());
  await_all(endpoint, 1);
}

TEST_F(DiskEndpointTest, BadBlocksEndTheirReadsOnly) {
  disk::DiskFaults faults;
  faults.bad_blocks = {{0, 4 * kBlock, kBlock}};
  DiskEndpoint endpoint(open_faulty(faults), kOptions);
  const std::vector<ReadRequest> reads{{0, 0, 100, 4 * kBlock + 5, destination(0)},
                                       {1, 0, 100, 6 * kBlock, destination(1)}};
  ASSERT_TRUE(endpoint.post(reads).ok());
  const auto found = await_all(endpoint, 2);
  EXPECT_EQ(found.at(0).status, StatusCode::data_loss);
  EXPECT_EQ(found.at(1).status, StatusCode::ok);
  expect_bytes(reads[1]);
}

TEST_F(DiskEndpointTest, ClosesWithReadsOut) {
  disk::DiskFaults faults;
  faults.drop_rate = 1;
  DiskEndpoint endpoint(open_faulty(faults), kOptions);
  const ReadRequest read{1, 0, 10, 0, destination(0)};
  ASSERT_TRUE(endpoint.post({&read, 1}).ok());
  endpoint.close();
  EXPECT_EQ(endpoint.post({&read, 1}).code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace farvec::transport
