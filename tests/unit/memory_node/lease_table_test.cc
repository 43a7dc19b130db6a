#include "memory_node/lease_table.h"

#include <gtest/gtest.h>

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
const LeaseTable::Clock::time_point kStart{};

TEST(LeaseTable, IsBounded) {
  LeaseTable leases(2, 10ms);
  const auto first = leases.grant(kStart);
  ASSERT_TRUE(first && leases.grant(kStart));
  EXPECT_FALSE(leases.grant(kStart));
  EXPECT_TRUE(leases.release(*first));
  EXPECT_FALSE(leases.release(*first));
  EXPECT_TRUE(leases.grant(kStart));
}

TEST(LeaseTable, EndsUnlessRenewed) {
  LeaseTable leases(2, 10ms);
  const auto kept = *leases.grant(kStart);
  const auto lost = *leases.grant(kStart);
  EXPECT_TRUE(leases.renew(kept, kStart + 9ms));
  EXPECT_FALSE(leases.holds(lost, kStart + 10ms));
  EXPECT_FALSE(leases.renew(lost, kStart + 10ms));
  EXPECT_EQ(leases.expire(kStart + 10ms), 1u);
  EXPECT_TRUE(leases.holds(kept, kStart + 10ms));
  EXPECT_EQ(leases.expirations(), 1u);
  EXPECT_EQ(leases.size(), 1u);
}

}  // namespace
}  // namespace farvec::memory_node
