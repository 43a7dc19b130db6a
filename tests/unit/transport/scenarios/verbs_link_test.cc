// What the device says by itself: its port goes down and up, it is taken away. Only where the
// network device is the test's to switch: in the lab's guests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/error.h"
#include "tests/unit/transport/rogue_node.h"
#include "tests/unit/transport/verbs_fixture.h"
#include "transport/verbs/verbs_endpoint.h"
#include "transport/verbs/verbs_writer.h"

namespace farvec::transport {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

bool run(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

bool eventually(const std::function<bool()>& condition) {
  const auto end = Clock::now() + 20s;
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class VerbsLinkTest : public VerbsFixture {
 protected:
  void SetUp() override {
    const char* link = std::getenv("FARVEC_LAB_LINK");
    if (link == nullptr) {
      GTEST_SKIP() << "no network device that a test may switch off (FARVEC_LAB_LINK): run this "
                      "program in a guest of scripts/lab/lab.sh";
    }
    link_ = link;
    VerbsFixture::SetUp();
  }
  void TearDown() override {
    if (link_.empty()) return;
    EXPECT_TRUE(run("ip link set " + link_ + " up"));
  }
  WritableRegions writable() override {
    return {{memory_}, [](const GrantLease& lease) { return lease == kLease; }};
  }
  VerbsPeer peer() const {
    VerbsPeer peer;
    peer.host = host_;
    peer.port = listener_->port();
    peer.lease = kLease;
    return peer;
  }
  std::unique_ptr<VerbsEndpoint> reader(const VerbsPeer& peer) {
    VerbsOptions options;
    options.peer = peer;
    auto endpoint = std::make_unique<VerbsEndpoint>(options);
    endpoint->register_memory(buffer_);
    return endpoint;
  }
  bool reads() {
    try {
      const auto endpoint = reader(peer());
      const ReadRequest read{0, 0, 4096, 0, buffer_.data()};
      if (!endpoint->post({&read, 1}).ok()) return false;
      const auto done = collect(*endpoint, 1);
      return done.size() == 1 && done[0].status == StatusCode::ok;
    } catch (const Error&) {
      return false;
    }
  }
  /// Polls until the endpoint has failed; why it refuses reads from then on.
  Status end_of(VerbsEndpoint& endpoint) {
    const ReadRequest read{0, 0, 4096, 0, buffer_.data()};
    Status status = endpoint.post({&read, 1});
    const auto end = Clock::now() + 20s;
    while (status.ok() && Clock::now() < end) {
      Completion done;
      if (endpoint.poll({&done, 1}) == 1) status = endpoint.post({&read, 1});
    }
    return status;
  }

  std::string link_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 20);
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
};

TEST_F(VerbsLinkTest, APortThatGoesDownEndsItsConnections) {
  for (int round = 0; round < 2; ++round) {
    {
      const auto endpoint = reader(peer());
      VerbsWriter writer({.peer = peer()});
      ASSERT_EQ(listener_->connections(), 2u);
      const std::uint32_t seen = listener_->device_events().port_down;
      ASSERT_TRUE(run("ip link set " + link_ + " down"));
      EXPECT_TRUE(eventually([&] { return listener_->connections() == 0; }));
      EXPECT_EQ(listener_->device_events().port_down, seen + 1);

      const Status ended = end_of(*endpoint);
      EXPECT_EQ(ended.code(), StatusCode::unavailable);
      EXPECT_THAT(ended.message(), HasSubstr("port of this machine's RDMA device is down"));
      EXPECT_EQ(endpoint->device_events().port_down, 1u);
      const auto writes = [&] { return writer.write(0, 0, std::span(memory_).first(100)).ok(); };
      EXPECT_TRUE(eventually([&] { return !writes() || !writer.flush().ok(); }));
      EXPECT_THAT(writer.status().message(), HasSubstr("port of this machine's RDMA device"));
      EXPECT_EQ(writer.device_events().port_down, 1u);
      EXPECT_FALSE(reads());
    }
    const std::uint32_t seen = listener_->device_events().port_up;
    ASSERT_TRUE(run("ip link set " + link_ + " up"));
    EXPECT_TRUE(eventually([&] { return listener_->device_events().port_up > seen; }));
    EXPECT_TRUE(eventually([&] { return reads(); })) << "round " << round;
  }
}

/// The last one in its guest: the device stays away. The device's word and the peer's good-bye come
/// in either order, because both ends have the same device: here each order is forced, too.
TEST_F(VerbsLinkTest, ADeviceThatIsTakenAwayEndsEverything) {
  VerbsWelcome welcome;
  welcome.max_reads = 1;
  welcome.regions = 1;
  welcome.path_mtu_bytes = listener_->device().path_mtu_bytes;
  RogueNode mute(host_, welcome);
  const auto peer_first = reader(peer());
  VerbsPeer mute_peer = peer();
  mute_peer.port = mute.port();
  const auto device_first = reader(mute_peer);
  mute.await_grants();
  listener_->revoke(kLease);
  EXPECT_EQ(end_of(*peer_first).code(), StatusCode::unavailable);
  const auto either = reader(peer());
  ASSERT_EQ(listener_->connections(), 1u);

  // Ends with this process: librdmacm keeps the device open, and soft-RoCE waits for that.
  ASSERT_TRUE(run("rdma link delete " + listener_->device().device + " >/dev/null 2>&1 &"));
  for (auto* endpoint : {device_first.get(), peer_first.get(), either.get()}) {
    EXPECT_TRUE(eventually([&] {
      return std::string(end_of(*endpoint).message()).find("device of this machine is gone") !=
             std::string::npos;
    })) << end_of(*endpoint).message();
    EXPECT_EQ(end_of(*endpoint).code(), StatusCode::unavailable);
    EXPECT_EQ(endpoint->device_events().device_gone, 1u);
  }
  EXPECT_TRUE(eventually([&] { return listener_->connections() == 0; }));
  EXPECT_EQ(listener_->device_events().device_gone, 1u);
  EXPECT_FALSE(reads());
}

}  // namespace
}  // namespace farvec::transport
