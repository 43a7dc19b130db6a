#include "cli/disk_endpoint.h"

#include <gtest/gtest.h>

#include "tests/unit/ssd_baseline/disk_fixture.h"

namespace farvec::cli {
namespace {

using ssd_baseline::DiskTest;
using ssd_baseline::kBlock;

std::vector<transport::Completion> await(DiskEndpoint& endpoint, std::size_t count) {
  std::vector<transport::Completion> found;
  transport::Completion some[4];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (found.size() < count && std::chrono::steady_clock::now() < end) {
    const std::size_t polled = endpoint.poll(some);
    found.insert(found.end(), some, some + polled);
  }
  EXPECT_EQ(found.size(), count);
  return found;
}

TEST_F(DiskTest, AsAnEndpointBringsWhatWasAskedFor) {
  make_file(3 * kBlock + 100);
  DiskEndpoint endpoint(open());
  EXPECT_EQ(endpoint.region_bytes(0), content_.size());
  EXPECT_EQ(endpoint.region_bytes(1), 0u);
  const transport::ReadRequest reads[] = {{7, 0, 128, kBlock, destination(0)},
                                          {8, 0, 100, 3 * kBlock, destination(1)}};
  ASSERT_TRUE(endpoint.post(reads).ok());
  for (const transport::Completion& completion : await(endpoint, 2)) {
    const auto& read = reads[completion.token - 7];
    EXPECT_EQ(completion.status, StatusCode::ok);
    EXPECT_EQ(completion.bytes, read.bytes);
    EXPECT_EQ(ssd_baseline::text(read.destination, read.bytes),
              content_.substr(read.offset, read.bytes));
  }
}

TEST_F(DiskTest, AsAnEndpointRefusesWhatIsOutside) {
  make_file(kBlock);
  DiskEndpoint endpoint(open());
  const transport::ReadRequest outside{1, 0, 128, kBlock, destination(0)};
  EXPECT_EQ(endpoint.post({&outside, 1}).code(), StatusCode::invalid_argument);
  const transport::ReadRequest elsewhere{1, 1, 128, 0, destination(0)};
  EXPECT_EQ(endpoint.post({&elsewhere, 1}).code(), StatusCode::invalid_argument);
  endpoint.close();
  const transport::ReadRequest late{1, 0, 128, 0, destination(0)};
  EXPECT_EQ(endpoint.post({&late, 1}).code(), StatusCode::unavailable);
}

TEST_F(DiskTest, AsAnEndpointTellsOfABadBlock) {
  make_file(kBlock);
  DiskEndpoint endpoint(open_faulty({.bad_blocks = {{.bytes = 1}}}));
  const transport::ReadRequest read{5, 0, 128, 0, destination(0)};
  ASSERT_TRUE(endpoint.post({&read, 1}).ok());
  const auto found = await(endpoint, 1);
  EXPECT_EQ(found[0].token, 5u);
  EXPECT_EQ(found[0].status, StatusCode::data_loss);
}

}  // namespace
}  // namespace farvec::cli
