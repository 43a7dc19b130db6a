// What a client makes of a node that is not one, or has stopped being one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/unit/transport/rogue_node.h"
#include "tests/unit/transport/verbs_fixture.h"
#include "transport/verbs/verbs_endpoint.h"
#include "transport/verbs/verbs_writer.h"

namespace farvec::transport {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class VerbsPeerTest : public VerbsFixture {
 protected:
  /// What a node with one region says to a client of its own device.
  VerbsWelcome welcome() const {
    VerbsWelcome welcome;
    welcome.max_reads = 1;
    welcome.regions = 1;
    welcome.path_mtu_bytes = listener_->device().path_mtu_bytes;
    return welcome;
  }
  VerbsPeer peer(const RogueNode& node) const {
    VerbsPeer peer;
    peer.host = host_;
    peer.port = node.port();
    return peer;
  }
  void expect_end(RogueNode::Then then, StatusCode expected);
  std::string refusal(const VerbsWelcome& welcome) const {
    RogueNode node(host_, welcome);
    VerbsOptions options;
    options.peer = peer(node);
    try {
      VerbsEndpoint endpoint(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(VerbsPeerTest, TakesAGoodWelcome) {
  EXPECT_EQ(refusal(welcome()), "");
}

TEST_F(VerbsPeerTest, RefusesAWelcomeThatCannotBe) {
  VerbsWelcome wrong = welcome();
  wrong.magic ^= 1;
  EXPECT_THAT(refusal(wrong), HasSubstr("is not a farvec memory node"));
  wrong = welcome();
  wrong.version = kVerbsVersion + 1;
  EXPECT_THAT(refusal(wrong), HasSubstr("speaks version"));
  wrong = welcome();
  wrong.regions = 0;
  EXPECT_THAT(refusal(wrong), HasSubstr("0 regions"));
  wrong.regions = kMaxGrantedRegions + 1;
  EXPECT_THAT(refusal(wrong), HasSubstr("17 regions"));
  wrong = welcome();
  wrong.max_reads = 0;
  EXPECT_THAT(refusal(wrong), HasSubstr("0 outstanding reads"));
  wrong.max_reads = 0xffff;
  EXPECT_THAT(refusal(wrong), HasSubstr("65535 outstanding reads"));
  for (const std::uint32_t mtu : {0u, 1000u, 2 * welcome().path_mtu_bytes}) {
    wrong = welcome();
    wrong.path_mtu_bytes = mtu;
    EXPECT_THAT(refusal(wrong), HasSubstr("wants a path MTU of " + std::to_string(mtu)));
  }
  wrong = welcome();
  wrong.regions = 2;
  EXPECT_THAT(refusal(wrong), HasSubstr("a grant of 24 bytes for 2 regions"));
}

/// The outcome of a read of a node that does `then` before the read is posted, and of the next.
void VerbsPeerTest::expect_end(RogueNode::Then then, StatusCode expected) {
  RogueNode node(host_, welcome(), then);
  VerbsOptions options;
  options.peer = peer(node);
  VerbsEndpoint endpoint(options);
  node.await_grants();
  std::vector<std::byte> buffer(64);
  endpoint.register_memory(buffer);
  const ReadRequest read{7, 0, 64, 0, buffer.data()};
  ASSERT_TRUE(endpoint.post({&read, 1}).ok());
  const auto end = std::chrono::steady_clock::now() + 20s;
  Completion done;
  while (endpoint.poll({&done, 1}) == 0) ASSERT_LT(std::chrono::steady_clock::now(), end);
  EXPECT_EQ(done.status, expected);
  EXPECT_EQ(endpoint.post({&read, 1}).code(), StatusCode::unavailable);
}

TEST_F(VerbsPeerTest, ASilentNodeEndsReads) {
  expect_end(RogueNode::Then::falls_silent, StatusCode::unavailable);
}

/// A node that is there and does not know the key: the same read before it falls silent.
TEST_F(VerbsPeerTest, ANodeThatRefusesAReadSaysSo) {
  expect_end(RogueNode::Then::stays, StatusCode::failed_precondition);
}

/// The device's own retries take two seconds: a deadline before that comes first, one behind it
/// never.
TEST_F(VerbsPeerTest, ASilentNodeEndsAWriterInTime) {
  for (const bool soon : {true, false}) {
    RogueNode node(host_, welcome());
    VerbsWriterOptions options;
    options.peer = peer(node);
    options.max_outstanding = 1;
    options.timeout = soon ? 50ms : 20s;
    VerbsWriter writer(options);
    node.await_grants();
    const std::vector<std::byte> bytes(100);
    Status ended = writer.write(0, 0, bytes);
    if (ended.ok()) ended = writer.flush();
    const StatusCode expected = soon ? StatusCode::deadline_exceeded : StatusCode::unavailable;
    EXPECT_EQ(ended.code(), expected) << ended.message();
    EXPECT_EQ(writer.write(0, 0, bytes).code(), expected) << "and it stays dead";
    EXPECT_EQ(writer.flush().code(), expected);
  }
}

}  // namespace
}  // namespace farvec::transport
