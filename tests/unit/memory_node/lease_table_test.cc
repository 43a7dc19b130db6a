#include "memory_node/lease_table.h"

#include <gtest/gtest.h>

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using Outcome = LeaseTable::Outcome;
const LeaseTable::Clock::time_point kStart{};
const std::string kOwner = "CN=client [client]";

TEST(LeaseTable, IsBounded) {
  LeaseTable leases(2, 10ms);
  const auto first = leases.grant(kOwner, kStart);
  ASSERT_TRUE(first && leases.grant(kOwner, kStart));
  EXPECT_FALSE(leases.grant(kOwner, kStart));
  EXPECT_EQ(leases.give_back(*first, kOwner), Outcome::done);
  EXPECT_EQ(leases.give_back(*first, kOwner), Outcome::not_held);
  EXPECT_TRUE(leases.grant(kOwner, kStart));
}

TEST(LeaseTable, EndsUnlessRenewed) {
  LeaseTable leases(2, 10ms);
  const auto kept = *leases.grant(kOwner, kStart);
  const auto lost = *leases.grant(kOwner, kStart);
  EXPECT_EQ(leases.renew(kept, kOwner, kStart + 9ms), Outcome::done);
  EXPECT_FALSE(leases.holds(lost, kStart + 10ms));
  EXPECT_EQ(leases.renew(lost, kOwner, kStart + 10ms), Outcome::not_held);
  EXPECT_EQ(leases.expire(kStart + 10ms), 1u);
  EXPECT_TRUE(leases.holds(kept, kStart + 10ms));
  EXPECT_EQ(leases.expirations(), 1u);
  EXPECT_EQ(leases.size(), 1u);
}

TEST(LeaseTable, EndsSoonerUntilItIsShown) {
  LeaseTable leases(3, 10ms);
  const auto dead = *leases.grant(kOwner, kStart);
  const auto shown = *leases.grant(kOwner, kStart);
  const auto renewed = *leases.grant(kOwner, kStart);
  for (const LeaseId& lease : {dead, shown, renewed}) {
    leases.end_by(lease, kStart + 4ms);
    leases.end_by(lease, kStart + 40ms);  // never later than by itself
  }
  leases.extend(shown, kStart + 3ms);
  EXPECT_EQ(leases.renew(renewed, kOwner, kStart + 3ms), Outcome::done);
  EXPECT_FALSE(leases.holds(dead, kStart + 4ms));
  EXPECT_TRUE(leases.holds(shown, kStart + 12ms));
  EXPECT_TRUE(leases.holds(renewed, kStart + 12ms));
  leases.extend(dead, kStart + 5ms);  // it has ended
  EXPECT_FALSE(leases.holds(dead, kStart + 6ms));
  EXPECT_FALSE(leases.holds(shown, kStart + 13ms));
}

TEST(LeaseTable, ObeysItsOwnerOnly) {
  LeaseTable leases(1, 10ms);
  const auto lease = *leases.grant(kOwner, kStart);
  EXPECT_EQ(leases.renew(lease, "local", kStart + 5ms), Outcome::of_another);
  EXPECT_EQ(leases.give_back(lease, "local"), Outcome::of_another);
  EXPECT_TRUE(leases.holds(lease, kStart + 9ms));
  EXPECT_FALSE(leases.holds(lease, kStart + 10ms));  // the other one's renewal counted for nothing
  leases.revoke(lease);
  EXPECT_EQ(leases.size(), 0u);
}

TEST(LeaseTable, HasOneWriter) {
  LeaseTable leases(4, 10ms);
  const auto reader = *leases.grant(kOwner, kStart);
  const auto writer = leases.grant(kOwner, kStart, LeaseKind::write);
  ASSERT_TRUE(writer);
  EXPECT_FALSE(leases.grant(kOwner, kStart, LeaseKind::write)) << "not even its owner's";
  EXPECT_FALSE(leases.grant("CN=other", kStart, LeaseKind::write));
  EXPECT_TRUE(leases.grant("CN=other", kStart)) << "readers may come";
  EXPECT_TRUE(leases.holds(*writer, kStart, LeaseKind::write));
  EXPECT_FALSE(leases.holds(*writer, kStart, LeaseKind::read));
  EXPECT_FALSE(leases.holds(reader, kStart, LeaseKind::write));
}

TEST(LeaseTable, AWriterFollowsAnother) {
  LeaseTable leases(4, 10ms);
  const auto first = *leases.grant(kOwner, kStart, LeaseKind::write);
  EXPECT_EQ(leases.give_back(first, "CN=other"), Outcome::of_another);
  EXPECT_FALSE(leases.grant("CN=other", kStart + 5ms, LeaseKind::write));
  EXPECT_EQ(leases.give_back(first, kOwner), Outcome::done);
  const auto second = leases.grant("CN=other", kStart + 5ms, LeaseKind::write);
  ASSERT_TRUE(second);
  EXPECT_FALSE(leases.grant(kOwner, kStart + 14ms, LeaseKind::write));
  EXPECT_TRUE(leases.grant(kOwner, kStart + 15ms, LeaseKind::write)) << "the second has ended";
  EXPECT_FALSE(leases.holds(*second, kStart + 15ms, LeaseKind::write));
  EXPECT_EQ(leases.writer_expirations(), 1u) << "the first one was given back";
}

TEST(LeaseTable, TheWriterAndItsReadingAreBesideTheBound) {
  LeaseTable leases(1, 10ms);
  const auto reader = *leases.grant("CN=other", kStart);
  const auto writer = leases.grant(kOwner, kStart, LeaseKind::write);
  ASSERT_TRUE(writer);
  EXPECT_FALSE(leases.grant_beside(*writer, "CN=other", kStart));
  EXPECT_FALSE(leases.grant_beside(reader, "CN=other", kStart)) << "it does not write";
  const auto reads = leases.grant_beside(*writer, kOwner, kStart);
  ASSERT_TRUE(reads);
  EXPECT_TRUE(leases.holds(*reads, kStart, LeaseKind::read));
  EXPECT_FALSE(leases.grant_beside(*writer, kOwner, kStart)) << "one is enough";
  EXPECT_FALSE(leases.grant("CN=other", kStart));
  EXPECT_EQ(leases.give_back(*writer, kOwner), Outcome::done);
  EXPECT_FALSE(leases.holds(*reads, kStart)) << "it ends with the lease for writing";
  EXPECT_EQ(leases.size(), 1u);
}

TEST(LeaseTable, TheWritersReadingEndsWhenItsLeaseExpires) {
  LeaseTable leases(1, 10ms);
  const auto writer = *leases.grant(kOwner, kStart, LeaseKind::write);
  const auto reads = *leases.grant_beside(writer, kOwner, kStart);
  EXPECT_EQ(leases.renew(reads, kOwner, kStart + 9ms), Outcome::done);
  EXPECT_TRUE(leases.grant(kOwner, kStart + 10ms, LeaseKind::write)) << "the next writer";
  EXPECT_FALSE(leases.holds(reads, kStart + 10ms));
}

TEST(LeaseTable, TellsUntilWhenThereIsAWriter) {
  LeaseTable leases(4, 10ms);
  const auto reader = *leases.grant(kOwner, kStart);
  EXPECT_FALSE(leases.writer_end(kStart));
  const auto writer = *leases.grant(kOwner, kStart + 1ms, LeaseKind::write);
  EXPECT_EQ(leases.writer_end(kStart + 5ms), kStart + 11ms);
  EXPECT_EQ(leases.renew(writer, kOwner, kStart + 5ms), Outcome::done);
  EXPECT_EQ(leases.writer_end(kStart + 5ms), kStart + 15ms);
  EXPECT_FALSE(leases.writer_end(kStart + 15ms));
  EXPECT_EQ(leases.kind(writer, kStart + 14ms), LeaseKind::write);
  EXPECT_EQ(leases.kind(reader, kStart + 9ms), LeaseKind::read);
  EXPECT_FALSE(leases.kind(reader, kStart + 10ms));
}

}  // namespace
}  // namespace farvec::memory_node
