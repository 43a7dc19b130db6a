#include "transport/verbs/verbs_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/error.h"
#include "tests/unit/transport/verbs_fixture.h"
#include "transport/verbs/local_device.h"

namespace farvec::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

class VerbsTest : public VerbsFixture {
 protected:
  VerbsOptions options() const {
    VerbsOptions options;
    options.peer.host = host_;
    options.peer.port = listener_->port();
    options.peer.lease = kLease;
    return options;
  }
  std::unique_ptr<VerbsEndpoint> connect(const VerbsOptions& options) {
    auto endpoint = std::make_unique<VerbsEndpoint>(options);
    endpoint->register_memory(buffer_);
    return endpoint;
  }
  std::string refusal(const VerbsOptions& options) {
    try {
      VerbsEndpoint endpoint(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  ReadRequest read(std::uint64_t token, std::uint64_t offset, std::uint32_t bytes) {
    return {token, 0, bytes, offset, buffer_.data() + token * 8192};
  }
  StatusCode first_failure(Endpoint& endpoint);
  /// True when the bytes of a read of region 0 are those of the region.
  bool arrived(const ReadRequest& read) const {
    return std::memcmp(read.destination, (*regions_)[0].bytes().data() + read.offset, read.bytes) ==
           0;
  }

  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 20);
};

TEST_F(VerbsTest, AsksTheDeviceForItsLimits) {
  const auto endpoint = connect(options());
  EXPECT_GE(endpoint->device().max_reads_started, 1u);
  EXPECT_EQ(endpoint->path_mtu_bytes(), endpoint->device().path_mtu_bytes);
  EXPECT_EQ(listener_->path_mtu_bytes(kLease), endpoint->path_mtu_bytes());
  EXPECT_EQ(endpoint->region_bytes(0), (*regions_)[0].bytes().size());
  EXPECT_EQ(endpoint->region_bytes(99), 0u);
  EXPECT_THAT(endpoint->description(), HasSubstr("verbs("));
}

TEST_F(VerbsTest, BringsTheBytesOfEveryRead) {
  for (const bool signal : {false, true}) {
    for (const std::uint32_t piece : {0u, 100u}) {
      VerbsOptions with = options();
      with.tuning.signal_every_read = signal;
      with.tuning.doorbell_every_read = signal;
      with.piece_bytes = piece;
      const auto endpoint = connect(with);
      std::vector<ReadRequest> reads;
      for (std::uint32_t i = 0; i < 16; ++i) reads.push_back(read(i, 1000 * i + i, 37 * i));
      for (int round = 0; round < 20; ++round) {
        std::fill(buffer_.begin(), buffer_.end(), std::byte{0});
        ASSERT_TRUE(endpoint->post(reads).ok());
        for (const Completion& done : collect(*endpoint, reads.size())) {
          EXPECT_EQ(done.status, StatusCode::ok);
          EXPECT_EQ(done.bytes, reads[done.token].bytes);
          EXPECT_TRUE(arrived(reads[done.token])) << done.token;
        }
      }
    }
  }
}

TEST_F(VerbsTest, TakesNoMoreThanItsLimit) {
  VerbsOptions few = options();
  few.max_outstanding = 4;
  const auto endpoint = connect(few);
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 5; ++i) reads.push_back(read(i, 0, 64));
  EXPECT_EQ(endpoint->post(reads).code(), StatusCode::resource_exhausted);
  reads.pop_back();
  EXPECT_TRUE(endpoint->post(reads).ok());
  EXPECT_EQ(collect(*endpoint, 4).size(), 4u);
}

TEST_F(VerbsTest, RefusesDestinationsThatItDoesNotKnow) {
  const auto endpoint = connect(options());
  std::byte elsewhere[64];
  ReadRequest outside = read(0, 0, 64);
  outside.destination = elsewhere;
  EXPECT_EQ(endpoint->post({&outside, 1}).code(), StatusCode::invalid_argument);
  outside.destination = nullptr;
  EXPECT_EQ(endpoint->post({&outside, 1}).code(), StatusCode::invalid_argument);
}

TEST_F(VerbsTest, RefusesALeaseThatIsNotHeld) {
  admits_ = false;
  EXPECT_THAT(refusal(options()), HasSubstr("refused"));
  EXPECT_EQ(listener_->connections(), 0u);
}

TEST_F(VerbsTest, ALeaseTakesNoConnectionsOfAnother) {
  static constexpr GrantLease kOther{std::byte{7}};
  listener_ = std::make_unique<VerbsListener>(
      VerbsListenerOptions{.host = host_, .connections_per_lease = 2}, spans_of(*regions_),
      [](const GrantLease& lease) { return lease == kLease || lease == kOther; });
  VerbsOptions other = options();
  other.peer.lease = kOther;
  const auto first = connect(options());
  const auto second = connect(options());
  EXPECT_THAT(refusal(options()),
              AllOf(HasSubstr("as many connections"), HasSubstr("--connections-per-lease")));
  EXPECT_EQ(refusal(other), "");

  first->close();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!refusal(options()).empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "room of a closed one is not given back";
  }
}

TEST_F(VerbsTest, SaysWhenNobodyListens) {
  VerbsOptions wrong = options();
  wrong.peer.port = 1;
  EXPECT_THAT(refusal(wrong), HasSubstr(host_));
}

TEST_F(VerbsTest, TakesTheDeviceAndGidThatItIsTold) {
  VerbsOptions chosen = options();
  chosen.peer.device.name = connect(options())->device().device;
  EXPECT_EQ(connect(chosen)->device().device, chosen.peer.device.name);
  std::uint32_t connected = 0;
  for (std::uint32_t gid = 0; gid < 16; ++gid) {
    chosen.peer.device.gid_index = gid;
    connected += refusal(chosen).empty() ? 1 : 0;
  }
  EXPECT_GE(connected, 1u);
  EXPECT_LT(connected, 16u);
}

TEST_F(VerbsTest, SaysWhichDevicesThereAre) {
  VerbsOptions wrong = options();
  wrong.peer.device.name = "nic7";
  const std::string device = connect(options())->device().device;
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("no RDMA device 'nic7'"), HasSubstr(device),
                                    HasSubstr(host_), HasSubstr("RoCE v2")));
  wrong.peer.device = {device, 255};
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("GID 255"), HasSubstr(device)));
}

TEST(VerbsDevices, AMachineWithoutTheDeviceSaysSo) {
  try {
    (void)local_address({"nic7", 3}, AF_INET);
    FAIL() << "it has a nic7";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'nic7' with a GID 3"), HasSubstr("there are")));
  }
}

/// Reads until one fails; how it ended.
StatusCode VerbsTest::first_failure(Endpoint& endpoint) {
  const ReadRequest late = read(0, 0, 64);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (const Status status = endpoint.post({&late, 1}); !status.ok()) return status.code();
    Completion done;
    while (endpoint.poll({&done, 1}) == 0 && std::chrono::steady_clock::now() < end) {
    }
    if (done.status != StatusCode::ok) return done.status;
  }
  return StatusCode::ok;
}

TEST_F(VerbsTest, RevocationEndsReads) {
  const auto endpoint = connect(options());
  ASSERT_EQ(listener_->connections(), 1u);
  listener_->revoke(kLease);
  EXPECT_EQ(first_failure(*endpoint), StatusCode::unavailable);
}

/// Whatever the order in which the node's device sees the reads and the end of their key.
TEST_F(VerbsTest, RevocationUnderReadsNeverLooksLikeARefusal) {
  for (int round = 0; round < 8; ++round) {
    const auto endpoint = connect(options());
    std::thread revoker([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
      listener_->revoke(kLease);
    });
    EXPECT_EQ(first_failure(*endpoint), StatusCode::unavailable) << "round " << round;
    revoker.join();
  }
}

TEST_F(VerbsTest, APeerThatGoesEndsEveryRead) {
  const auto endpoint = connect(options());
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 64; ++i) reads.push_back(read(i, i, 4096));
  ASSERT_TRUE(endpoint->post(reads).ok());
  listener_.reset();
  EXPECT_EQ(collect(*endpoint, reads.size()).size(), reads.size());
}

}  // namespace
}  // namespace farvec::transport
