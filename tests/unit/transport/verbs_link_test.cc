// What the device says by itself: its port goes down and up, it is taken away. Only where the
// network device is the test's to switch: in the lab's guests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/error.h"
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
  VerbsWritable writable() override {
    return {{memory_}, [](const GrantLease& lease) { return lease == kLease; }};
  }
  VerbsPeer peer() const {
    VerbsPeer peer;
    peer.host = host_;
    peer.port = listener_->port();
    peer.lease = kLease;
    return peer;
  }
  std::unique_ptr<VerbsEndpoint> reader() {
    VerbsOptions options;
    options.peer = peer();
    auto endpoint = std::make_unique<VerbsEndpoint>(options);
    endpoint->register_memory(buffer_);
    return endpoint;
  }
  bool reads() {
    try {
      const auto endpoint = reader();
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
      const auto endpoint = reader();
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

/// The last one in its guest: the device stays away.
TEST_F(VerbsLinkTest, ADeviceThatIsTakenAwayEndsEverything) {
  const auto endpoint = reader();
  ASSERT_EQ(listener_->connections(), 1u);
  // Ends with this process: librdmacm keeps the device open, and soft-RoCE waits for that.
  ASSERT_TRUE(run("rdma link delete " + listener_->device().device + " >/dev/null 2>&1 &"));
  const Status ended = end_of(*endpoint);
  EXPECT_EQ(ended.code(), StatusCode::unavailable);
  EXPECT_THAT(ended.message(), HasSubstr("RDMA device of this machine is gone"));
  EXPECT_EQ(endpoint->device_events().device_gone, 1u);
  EXPECT_TRUE(eventually([&] { return listener_->connections() == 0; }));
  EXPECT_EQ(listener_->device_events().device_gone, 1u);
  EXPECT_FALSE(reads());
}

}  // namespace
}  // namespace farvec::transport
