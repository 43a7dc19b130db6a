// Over the tcp provider and the loopback device, which every machine has.
#include "transport/fabric/fabric_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_rma.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "tests/unit/transport/fabric_fixture.h"
#include "transport/fabric/fabric_listener.h"

namespace farvec::transport {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 30s;

TEST_F(FabricTest, SaysWhatItIs) {
  const auto endpoint = connect(options());
  EXPECT_EQ(endpoint->region_bytes(0), (*regions_)[0].bytes().size());
  EXPECT_EQ(endpoint->region_bytes(1), (*regions_)[1].bytes().size());
  EXPECT_EQ(endpoint->region_bytes(2), 0u);
  EXPECT_THAT(endpoint->description(), HasSubstr("fabric(" + provider_for("tcp")));
  EXPECT_EQ(listener_->grants(), 1u);
}

TEST_F(FabricTest, BringsTheBytesOfEveryRead) {
  for (const std::uint32_t piece : {0u, 100u}) {
    FabricOptions with = options();
    with.piece_bytes = piece;
    const auto endpoint = connect(with);
    std::vector<ReadRequest> reads;
    for (std::uint32_t i = 0; i < 16; ++i) reads.push_back(read(i, 1000 * i + i, 37 * i));
    reads[15] = {15, 1, 1000, 0, buffer_.data() + 15 * 8192};
    for (int round = 0; round < 20; ++round) {
      std::fill(buffer_.begin(), buffer_.end(), std::byte{0});
      ASSERT_TRUE(endpoint->post(reads).ok());
      for (const Completion& done : await(*endpoint, reads.size())) {
        EXPECT_EQ(done.status, StatusCode::ok);
        EXPECT_EQ(done.bytes, reads[done.token].bytes);
        EXPECT_TRUE(arrived(reads[done.token])) << done.token;
      }
    }
  }
}

TEST_F(FabricTest, ReadsAWholeRegionInMorePiecesThanTheQueueHolds) {
  for (const std::uint32_t piece : {0u, 333u}) {
    FabricOptions with = options();
    with.piece_bytes = piece;
    const auto endpoint = connect(with);
    std::fill(buffer_.begin(), buffer_.end(), std::byte{0});
    const ReadRequest whole = read(0, 0, 1 << 20);
    EXPECT_EQ(outcome(*endpoint, whole), StatusCode::ok);
    EXPECT_TRUE(arrived(whole));
  }
}

TEST_F(FabricTest, ReadsNothingAndTheLastByte) {
  const auto endpoint = connect(options());
  const std::uint64_t size = endpoint->region_bytes(0);
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 0)), StatusCode::ok);
  EXPECT_EQ(outcome(*endpoint, read(0, size, 0)), StatusCode::ok);
  const ReadRequest last = read(0, size - 1, 1);
  EXPECT_EQ(outcome(*endpoint, last), StatusCode::ok);
  EXPECT_TRUE(arrived(last));
  EXPECT_TRUE(endpoint->post({}).ok());
}

TEST_F(FabricTest, RefusesWhatItCannotRead) {
  const auto endpoint = connect(options());
  const std::uint64_t size = endpoint->region_bytes(0);
  EXPECT_EQ(outcome(*endpoint, read(0, size - 1, 2)), StatusCode::invalid_argument);
  EXPECT_EQ(outcome(*endpoint, read(0, size + 1, 0)), StatusCode::invalid_argument);
  EXPECT_EQ(outcome(*endpoint, read(0, ~std::uint64_t{0}, 2)), StatusCode::invalid_argument);
  ReadRequest bad = read(0, 0, 64);
  bad.region = 2;
  EXPECT_EQ(outcome(*endpoint, bad), StatusCode::invalid_argument);
  std::byte elsewhere[64];
  bad = read(0, 0, 64);
  bad.destination = elsewhere;
  EXPECT_EQ(outcome(*endpoint, bad), StatusCode::invalid_argument);
  bad.destination = nullptr;
  EXPECT_EQ(outcome(*endpoint, bad), StatusCode::invalid_argument);
  bad.destination = buffer_.data() + buffer_.size() - 63;
  EXPECT_EQ(outcome(*endpoint, bad), StatusCode::invalid_argument);
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::ok) << "none of it did any harm";
}

TEST_F(FabricTest, TakesAllReadsOrNone) {
  FabricOptions few = options();
  few.max_outstanding = 4;
  const auto endpoint = connect(few);
  EXPECT_EQ(endpoint->limits().max_outstanding, 4u);
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 5; ++i) reads.push_back(read(i, 64 * i, 64));
  EXPECT_EQ(endpoint->post(reads).code(), StatusCode::resource_exhausted);
  reads.resize(4);
  reads[3].offset = ~std::uint64_t{0};
  EXPECT_EQ(endpoint->post(reads).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(collect(*endpoint, 1).empty());
  reads[3].offset = 0;
  ASSERT_TRUE(endpoint->post(reads).ok());
  EXPECT_EQ(endpoint->post({reads.data(), 1}).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(await(*endpoint, 4).size(), 4u);
}

TEST_F(FabricTest, TheNodeRefusesWhatTheGrantDoesNotCover) {
  FabricOptions beyond = options();
  forge(beyond, [](FabricGrant& grant) { grant.regions[1].bytes += 4096; });
  const auto endpoint = connect(beyond);
  ReadRequest outside = read(0, 990, 64);
  outside.region = 1;
  EXPECT_THAT(outcome(*endpoint, outside),
              AnyOf(StatusCode::failed_precondition, StatusCode::unavailable));

  FabricOptions guessed = options(kOtherLease);
  forge(guessed, [](FabricGrant& grant) { ++grant.regions[0].key; });
  const auto other = connect(guessed);
  EXPECT_THAT(outcome(*other, read(0, 0, 64)),
              AnyOf(StatusCode::failed_precondition, StatusCode::unavailable));
  EXPECT_EQ(other->post({}).code(), StatusCode::unavailable) << "it stays closed";
  EXPECT_EQ(outcome(*connect(options()), read(0, 0, 64)), StatusCode::ok) << "others read on";
}

TEST_F(FabricTest, KeysOfOneLeaseAreNoneOfAnother) {
  FabricOptions mine = options();
  const FabricOptions theirs = options(kOtherLease);
  const FabricGrant grant = decode_grant(std::as_bytes(std::span(theirs.grant)), "test");
  forge(mine, [&](FabricGrant& forged) { forged.regions = grant.regions; });
  EXPECT_THAT(outcome(*connect(mine), read(0, 0, 64)),
              AnyOf(StatusCode::failed_precondition, StatusCode::unavailable));
}

/// libfabric itself, asked for more than FabricEndpoint ever asks for.
TEST_F(FabricTest, AReadGrantCannotWrite) {
  const std::string bytes = listener_->grant(kLease);
  const FabricGrant grant = decode_grant(std::as_bytes(std::span(bytes)), "test");
  FabricQuery query;
  query.provider = provider_;
  query.capabilities = FI_RMA | FI_READ | FI_WRITE;
  query.address_format = grant.address_format;
  query.peer = grant.address;
  FabricPort port(query_fabric(query), false);
  fi_addr_t node = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_av_insert(&port.peers(), grant.address.data(), 1, &node, 0, nullptr), 1);
  const std::vector<std::byte> before((*regions_)[0].bytes().begin(),
                                      (*regions_)[0].bytes().begin() + 64);
  const std::vector<std::byte> zeros(64);
  const iovec local{const_cast<std::byte*>(zeros.data()), zeros.size()};
  const fi_rma_iov remote{grant.regions[0].address, zeros.size(), grant.regions[0].key};
  fi_msg_rma message{&local, nullptr, 1, node, &remote, 1, nullptr, 0};
  ssize_t posted = -FI_EAGAIN;
  ssize_t done = -FI_EAGAIN;
  const auto end = Clock::now() + kPatience;
  while (done == -FI_EAGAIN && Clock::now() < end) {
    if (posted == -FI_EAGAIN) {
      posted = fi_writemsg(&port.endpoint(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    }
    fi_cq_entry entry;
    done = fi_cq_read(&port.queue(), &entry, 1);
  }
  EXPECT_EQ(posted, 0);
  EXPECT_EQ(done, -FI_EAVAIL) << "the write was acknowledged";
  EXPECT_EQ(std::memcmp(before.data(), (*regions_)[0].bytes().data(), before.size()), 0);
}

TEST_F(FabricTest, RevocationEndsReads) {
  const auto endpoint = connect(options());
  const auto other = connect(options(kOtherLease));
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::ok);
  listener_->revoke(kLease);
  EXPECT_EQ(listener_->grants(), 1u);
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::unavailable);
  EXPECT_EQ(outcome(*other, read(0, 0, 64)), StatusCode::ok);
}

TEST_F(FabricTest, ExpiryEndsReads) {
  const auto endpoint = connect(options());
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::ok);
  admits_ = false;
  const auto end = Clock::now() + kPatience;
  while (listener_->grants() > 0 && Clock::now() < end) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::unavailable);
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::unavailable);
}

TEST_F(FabricTest, AGrantThatHasEndedIsNotConnectedTo) {
  FabricOptions late = options();
  late.connect_timeout = 500ms;
  listener_->revoke(kLease);
  EXPECT_THAT(refusal(late), HasSubstr("the node under test"));
}

TEST_F(FabricTest, CloseGivesOutstandingReadsBack) {
  const auto endpoint = connect(options());
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 200; ++i) reads.push_back(read(i, i, 8192));
  ASSERT_TRUE(endpoint->post(reads).ok());
  endpoint->close();
  endpoint->close();
  const std::vector<std::byte> then = buffer_;
  std::this_thread::sleep_for(20ms);
  Completion done;
  EXPECT_EQ(endpoint->poll({&done, 1}), 0u);
  EXPECT_EQ(endpoint->post(reads).code(), StatusCode::unavailable);
  EXPECT_EQ(then, buffer_) << "nothing lands after close()";
}

TEST_F(FabricTest, ALostLeaseEndsOutstandingReads) {
  const auto endpoint = connect(options());
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 64; ++i) reads.push_back(read(i, i, 4096));
  ASSERT_TRUE(endpoint->post(reads).ok());
  endpoint->peer_lost();
  const auto found = collect(*endpoint, reads.size());
  ASSERT_EQ(found.size(), reads.size());
  for (const Completion& done : found) EXPECT_EQ(done.status, StatusCode::unavailable);
  EXPECT_EQ(endpoint->post(reads).code(), StatusCode::unavailable);
}

TEST_F(FabricTest, AListenerThatGoesEndsEveryRead) {
  const auto endpoint = connect(options());
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 200; ++i) reads.push_back(read(i, i, 8192));
  ASSERT_TRUE(endpoint->post(reads).ok());
  listener_.reset();
  EXPECT_EQ(await(*endpoint, reads.size()).size(), reads.size());
  EXPECT_EQ(outcome(*endpoint, read(0, 0, 64)), StatusCode::unavailable);
}

TEST_F(FabricTest, RefusesGrantsThatCannotBe) {
  const FabricOptions good = options();
  const auto with_bytes = [&](std::size_t at, std::uint16_t value) {
    FabricOptions bad = good;
    std::memcpy(bad.grant.data() + at, &value, sizeof(value));
    return bad;
  };
  EXPECT_THAT(refusal(with_bytes(0, 0)), HasSubstr("something else than a grant"));
  EXPECT_THAT(refusal(with_bytes(offsetof(FabricGrantHeader, version), 2)), HasSubstr("version 2"));
  EXPECT_THAT(refusal(with_bytes(offsetof(FabricGrantHeader, regions), 0)), HasSubstr("0 regions"));
  EXPECT_THAT(refusal(with_bytes(offsetof(FabricGrantHeader, regions), 17)),
              HasSubstr("17 regions"));
  EXPECT_THAT(refusal(with_bytes(offsetof(FabricGrantHeader, address_bytes), 0)),
              HasSubstr("0 bytes of address"));
  EXPECT_THAT(refusal(with_bytes(offsetof(FabricGrantHeader, address_bytes), 17)),
              HasSubstr("where its header says"));
  FabricOptions bad = good;
  for (std::size_t bytes = 0; bytes < good.grant.size(); ++bytes) {
    bad.grant = good.grant.substr(0, bytes);
    EXPECT_THAT(refusal(bad), HasSubstr("sent a grant of")) << bytes;
  }
  bad = good;
  forge(bad, [](FabricGrant& grant) { grant.regions[0].address = ~std::uint64_t{0} - 5; });
  EXPECT_THAT(refusal(bad), HasSubstr("region 0"));
  bad = good;
  forge(bad, [](FabricGrant& grant) { grant.regions[1].bytes = 0; });
  EXPECT_THAT(refusal(bad), HasSubstr("region 1"));
  bad = good;
  forge(bad, [](FabricGrant& grant) { grant.max_message_bytes = 0; });
  EXPECT_THAT(refusal(bad), HasSubstr("at most 0 bytes"));
  bad = good;
  forge(bad, [](FabricGrant& grant) { grant.protocol = 77; });
  EXPECT_THAT(refusal(bad), HasSubstr("protocol 77"));
  bad = good;
  forge(bad, [](FabricGrant& grant) { grant.provider = "shm"; });
  EXPECT_THAT(refusal(bad), HasSubstr("'shm'"));
}

TEST_F(FabricTest, RefusesAPeerThatIsNoNodeOrServesAnother) {
  FabricOptions stranger = options();
  forge(stranger, [](FabricGrant& grant) {
    grant.welcome_address = grant.regions[0].address;
    grant.welcome_key = grant.regions[0].key;
  });
  EXPECT_THAT(refusal(stranger), HasSubstr("not a farvec memory node"));
  FabricOptions other = options();
  other.lease = kOtherLease;
  EXPECT_THAT(refusal(other), HasSubstr("another lease"));
}

TEST_F(FabricTest, NamesTheProvidersThatThereAre) {
  try {
    listen("carrier-pigeon");
    FAIL() << "it listens";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'carrier-pigeon'"));
    EXPECT_THAT(error.what(), HasSubstr("tcp"));
  }
  try {
    listen("tcp", "192.0.2.77");
    FAIL() << "it listens";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("192.0.2.77"));
  }
}

/// The tcp of libfabric 1.17 ends its user's process, or hangs it, when a peer dies.
TEST_F(FabricTest, AnOldTcpIsReplacedByWhatIsCalledTcpLater) {
  listen("tcp");
  const bool old = FI_VERSION_LT(fabric_library().version(), FI_VERSION(1, 18));
  EXPECT_EQ(provider_for("tcp"), old ? "net" : "tcp");
  EXPECT_EQ(provider_for("tcp;ofi_rxm"), "tcp;ofi_rxm");
  EXPECT_EQ(provider_for("shm"), "shm");
  EXPECT_THAT(connect(options())->description(), HasSubstr(old ? "fabric(net" : "fabric(tcp"));
}

TEST_F(FabricTest, GrantsNoMoreThanItMay) {
  listener_ =
      std::make_unique<FabricListener>(FabricListenerOptions{"tcp", kHost, 2}, spans_of(*regions_),
                                       [](const GrantLease&) { return true; });
  (void)listener_->grant(kLease);
  (void)listener_->grant(kOtherLease);
  EXPECT_THROW((void)listener_->grant(GrantLease{}), Error);
  listener_->revoke(kLease);
  EXPECT_NO_THROW((void)listener_->grant(GrantLease{}));
}

/// Every provider that this machine may have without a device; other names go the same way.
class FabricProviders : public FabricTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (fabric_providers().find(GetParam()) == std::string::npos) {
      GTEST_SKIP() << "libfabric has no provider " << GetParam() << " here";
    }
    listen(GetParam(), std::string(GetParam()) == "shm" ? "" : kHost);
  }
};

TEST_P(FabricProviders, BringTheBytesAndEndWithTheGrant) {
  const auto endpoint = connect(options());
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 64; ++i) reads.push_back(read(i, 4099 * i, 100 * i + 1));
  for (int round = 0; round < 20; ++round) {
    std::fill(buffer_.begin(), buffer_.end(), std::byte{0});
    ASSERT_TRUE(endpoint->post(reads).ok());
    const auto found = await(*endpoint, reads.size());
    ASSERT_EQ(found.size(), reads.size());
    for (const Completion& done : found) {
      EXPECT_EQ(done.status, StatusCode::ok);
      EXPECT_TRUE(arrived(reads[done.token])) << done.token;
    }
  }
  RecordProperty("selective", endpoint->selective());
}

INSTANTIATE_TEST_SUITE_P(Fabric, FabricProviders,
                         testing::Values("tcp;ofi_rxm", "tcp", "net", "sockets", "shm"));

}  // namespace
}  // namespace farvec::transport
