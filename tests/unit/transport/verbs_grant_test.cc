// What the wire lets a client do that does not play by the endpoint's rules: it speaks rdma_cm and
// verbs itself.
#include <gtest/gtest.h>
#include <rdma/rdma_verbs.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/unit/transport/verbs_fixture.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

/// A connection with its grants, and reads and writes wherever it likes.
class RogueClient {
 public:
  /// connected() is false when the node refused.
  RogueClient(const std::string& host, std::uint16_t port, VerbsHello hello,
              std::size_t hello_bytes = sizeof(VerbsHello)) {
    rdma_addrinfo hints{};
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    FARVEC_CHECK(rdma_getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &info) == 0);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = 1;
    attributes.cap = {4, 1, 1, 1, 0};
    FARVEC_CHECK(rdma_create_ep(&id_, info, nullptr, &attributes) == 0);
    rdma_freeaddrinfo(info);
    memory_ = rdma_reg_msgs(id_, buffer_, sizeof(buffer_));
    FARVEC_CHECK(memory_ != nullptr);
    FARVEC_CHECK(rdma_post_recv(id_, nullptr, buffer_, sizeof(buffer_), memory_) == 0);
    rdma_conn_param parameters{};
    parameters.private_data = &hello;
    parameters.private_data_len = static_cast<std::uint8_t>(hello_bytes);
    parameters.initiator_depth = 1;
    connected_ = rdma_connect(id_, &parameters) == 0;
    if (!connected_ || await(id_->recv_cq) != IBV_WC_SUCCESS) return;
    std::memcpy(grants_, buffer_, sizeof(grants_));
  }
  ~RogueClient() {
    if (connected_) (void)rdma_disconnect(id_);
    (void)rdma_dereg_mr(memory_);
    rdma_destroy_ep(id_);
  }
  RogueClient(const RogueClient&) = delete;
  RogueClient& operator=(const RogueClient&) = delete;

  bool connected() const { return connected_; }
  const VerbsGrant& grant(std::size_t region) const { return grants_[region]; }
  const std::byte* bytes() const { return buffer_; }

  ibv_wc_status read(std::uint64_t address, std::uint32_t key, std::size_t bytes) {
    FARVEC_CHECK(rdma_post_read(id_, nullptr, buffer_, bytes, memory_, 0, address, key) == 0);
    return await(id_->send_cq);
  }
  ibv_wc_status write(std::uint64_t address, std::uint32_t key, std::size_t bytes) {
    FARVEC_CHECK(rdma_post_write(id_, nullptr, buffer_, bytes, memory_, 0, address, key) == 0);
    return await(id_->send_cq);
  }

 private:
  /// IBV_WC_GENERAL_ERR when nothing came in time.
  static ibv_wc_status await(ibv_cq* queue) {
    const auto end = Clock::now() + kPatience;
    ibv_wc completion{};
    while (ibv_poll_cq(queue, 1, &completion) == 0) {
      if (Clock::now() > end) return IBV_WC_GENERAL_ERR;
      std::this_thread::sleep_for(100us);
    }
    return completion.status;
  }

  rdma_cm_id* id_ = nullptr;
  ibv_mr* memory_ = nullptr;
  bool connected_ = false;
  alignas(64) std::byte buffer_[4096] = {};
  VerbsGrant grants_[2];
};

class VerbsGrantTest : public VerbsFixture {
 protected:
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

TEST_F(VerbsGrantTest, AllowsReadsOfTheRegion) {
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  const VerbsGrant& grant = client.grant(0);
  ASSERT_EQ(grant.bytes, (*regions_)[0].size());
  ASSERT_EQ(client.read(grant.address + 1000, grant.key, 64), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(client.bytes(), (*regions_)[0].bytes().data() + 1000, 64), 0);
}

TEST_F(VerbsGrantTest, RefusesReadsOutsideTheRegion) {
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

TEST_F(VerbsGrantTest, RefusesWrites) {
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  std::byte before[64];
  std::memcpy(before, (*regions_)[0].bytes().data(), sizeof(before));
  EXPECT_EQ(client.write(client.grant(0).address, client.grant(0).key, 64), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(std::memcmp(before, (*regions_)[0].bytes().data(), sizeof(before)), 0);
}

TEST_F(VerbsGrantTest, RefusesTheKeyOfAnotherClient) {
  RogueClient owner(host_, listener_->port(), hello());
  RogueClient thief(host_, listener_->port(), hello());
  ASSERT_TRUE(owner.connected() && thief.connected());
  EXPECT_NE(thief.read(owner.grant(0).address, owner.grant(0).key, 64), IBV_WC_SUCCESS);
  EXPECT_EQ(owner.read(owner.grant(0).address, owner.grant(0).key, 64), IBV_WC_SUCCESS);
}

TEST_F(VerbsGrantTest, RefusesReadsAfterRevocation) {
  RogueClient client(host_, listener_->port(), hello());
  ASSERT_TRUE(client.connected());
  listener_->revoke(kLease);
  EXPECT_NE(client.read(client.grant(0).address, client.grant(0).key, 64), IBV_WC_SUCCESS);
}

TEST_F(VerbsGrantTest, RefusesAHelloThatIsNotOne) {
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
  wrong.lease[5] = std::byte{1};
  EXPECT_FALSE(admitted(wrong)) << "lease";
  EXPECT_TRUE(admitted(hello())) << "and listens on";
}

}  // namespace
}  // namespace farvec::transport
