// What the wire lets a client do that does not play by the endpoint's rules: it speaks rdma_cm and
// verbs itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/transport/rogue_client.h"
#include "tests/unit/transport/verbs_fixture.h"

namespace farvec::transport {
namespace {

/// With memory windows (true) and without.
class VerbsGrantTest : public VerbsFixture, public testing::WithParamInterface<bool> {
 protected:
  bool with_windows() const override { return GetParam(); }
  static VerbsHello hello() {
    VerbsHello hello;
    hello.max_reads = 1;
    hello.lease = kLease;
    return hello;
  }
  bool admitted(const VerbsHello& hello, std::size_t bytes = sizeof(VerbsHello)) const {
    return RogueClient(host_, listener_->port(), hello, bytes).connected();
  }
};

TEST_P(VerbsGrantTest, AllowsReadsOfTheRegion) {
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  const VerbsGrant& grant = client.grant(0);
  ASSERT_EQ(grant.bytes, (*regions_)[0].size());
  ASSERT_EQ(client.read(grant.address + 1000, grant.key, 64), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(client.bytes(), (*regions_)[0].bytes().data() + 1000, 64), 0);
}

TEST_P(VerbsGrantTest, RefusesReadsOutsideTheRegion) {
  for (const int side : {0, 1}) {
    RogueClient client(host_, listener_->port(), hello());
    ASSERT_TRUE(client.connected());
    const VerbsGrant& grant = client.grant(0);
    const std::uint64_t address = side == 0 ? grant.address - 32 : grant.address + grant.bytes - 32;
    EXPECT_EQ(client.read(address, grant.key, 64), IBV_WC_REM_ACCESS_ERR) << side;
  }
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.read(client.grant(0).address, client.grant(1).key, 64), IBV_WC_REM_ACCESS_ERR)
      << "one region's bytes with another's key";
}

TEST_P(VerbsGrantTest, RefusesWrites) {
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  std::byte before[64];
  std::memcpy(before, (*regions_)[0].bytes().data(), sizeof(before));
  // By the key, or already by the queue pair.
  EXPECT_THAT(client.write(client.grant(0).address, client.grant(0).key, 64),
              testing::AnyOf(IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR));
  EXPECT_EQ(std::memcmp(before, (*regions_)[0].bytes().data(), sizeof(before)), 0);
}

TEST_P(VerbsGrantTest, RefusesTheKeyOfAnotherClient) {
  RogueClient owner(host_, listener_->port(), hello());
  RogueClient thief(host_, listener_->port(), hello());
  ASSERT_TRUE(owner.connected() && thief.connected());
  EXPECT_NE(thief.read(owner.grant(0).address, owner.grant(0).key, 64), IBV_WC_SUCCESS);
  EXPECT_EQ(owner.read(owner.grant(0).address, owner.grant(0).key, 64), IBV_WC_SUCCESS);
}

TEST_P(VerbsGrantTest, RefusesReadsAfterRevocation) {
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  listener_->revoke(kLease);
  EXPECT_NE(client.read(client.grant(0).address, client.grant(0).key, 64), IBV_WC_SUCCESS);
}

TEST_P(VerbsGrantTest, RefusesAHelloThatIsNotOne) {
  EXPECT_TRUE(admitted(hello()));
  VerbsHello wrong = hello();
  wrong.version = kVerbsVersion + 1;
  EXPECT_FALSE(admitted(wrong)) << "version";
  wrong = hello();
  wrong.magic ^= 1;
  EXPECT_FALSE(admitted(wrong)) << "magic";
  wrong = hello();
  wrong.max_reads = 0;
  EXPECT_FALSE(admitted(wrong)) << "no outstanding reads";
  wrong = hello();
  wrong.path_mtu_bytes = 1000;
  EXPECT_FALSE(admitted(wrong)) << "path MTU";
  wrong = hello();
  wrong.role = static_cast<VerbsRole>(2);
  EXPECT_FALSE(admitted(wrong)) << "role";
  wrong = hello();
  wrong.lease[5] = std::byte{1};
  EXPECT_FALSE(admitted(wrong)) << "lease";
  EXPECT_TRUE(admitted(hello())) << "and listens on";
}

INSTANTIATE_TEST_SUITE_P(Verbs, VerbsGrantTest, testing::Bool());

}  // namespace
}  // namespace farvec::transport
