#include "tiers/attach/live_endpoint.h"

#include <gtest/gtest.h>

#include "tests/unit/transport/test_regions.h"
#include "transport/faulty/faulty_endpoint.h"

namespace farvec::tiers {
namespace {

using transport::Completion;

struct LiveEndpointTest : testing::Test {
  std::unique_ptr<transport::Endpoint> over(double drop_rate) {
    transport::FaultOptions faults;
    faults.drop_rate = drop_rate;
    return over(faults);
  }
  std::unique_ptr<transport::Endpoint> over(const transport::FaultOptions& faults) {
    return std::make_unique<transport::FaultyEndpoint>(
        std::make_unique<transport::MappedEndpoint>(transport::random_regions()), faults);
  }
  std::vector<transport::ReadRequest> reads() {
    std::vector<transport::ReadRequest> reads;
    for (std::uint32_t i = 0; i < 8; ++i) reads.push_back({i, 0, 64, i, &buffer[i * 64]});
    return reads;
  }
  std::vector<std::byte> buffer = std::vector<std::byte>(8 * 64);
  std::shared_ptr<Liveness> liveness = std::make_shared<Liveness>();
};

TEST_F(LiveEndpointTest, ALostLeaseEndsReadsThatWouldNeverComplete) {
  LiveEndpoint endpoint(over(1), liveness);
  ASSERT_TRUE(endpoint.post(reads()).ok());
  EXPECT_TRUE(transport::collect(endpoint, 1).empty());
  liveness->alive.store(false, std::memory_order_relaxed);
  const auto found = transport::collect(endpoint, 8);
  ASSERT_EQ(found.size(), 8u);
  for (const Completion& done : found) EXPECT_EQ(done.status, StatusCode::unavailable);
  EXPECT_EQ(endpoint.post(reads()).code(), StatusCode::unavailable);
}

TEST_F(LiveEndpointTest, ToldOfTheLossItTellsTheOthers) {
  LiveEndpoint endpoint(over(0), liveness);
  LiveEndpoint other(over(0), liveness);
  ASSERT_TRUE(other.post(reads()).ok());
  endpoint.peer_lost();
  for (const Completion& done : transport::collect(other, 8)) {
    EXPECT_EQ(done.status, StatusCode::unavailable);
  }
  EXPECT_EQ(other.post(reads()).code(), StatusCode::unavailable);
}

/// A device that is being killed may lose its windows before its queue pairs.
TEST_F(LiveEndpointTest, ARefusedReadIsTheEndOfTheLease) {
  transport::FaultOptions faults;
  faults.failing_read = 5;
  faults.error = StatusCode::failed_precondition;
  LiveEndpoint endpoint(over(faults), liveness);
  LiveEndpoint other(over(0), liveness);
  ASSERT_TRUE(endpoint.post(reads()).ok());
  const auto found = transport::collect(endpoint, 8);
  ASSERT_EQ(found.size(), 8u);
  for (const Completion& done : found) {
    EXPECT_TRUE(done.status == StatusCode::unavailable || done.token < 5) << done.token;
  }
  EXPECT_EQ(endpoint.post(reads()).code(), StatusCode::unavailable);
  EXPECT_EQ(other.post(reads()).code(), StatusCode::unavailable);
}

TEST_F(LiveEndpointTest, OfADeadNodeNobodyDeliversAnything) {
  LiveEndpoint endpoint(over(0), liveness);
  EXPECT_EQ(endpoint.coverage(), 1);
  endpoint.peer_lost();
  EXPECT_EQ(endpoint.coverage(), 0);
}

}  // namespace
}  // namespace farvec::tiers
