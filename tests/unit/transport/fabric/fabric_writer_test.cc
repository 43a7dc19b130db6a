#include "transport/fabric/fabric_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/transport/await.h"
#include "transport/fabric/fabric_endpoint.h"
#include "transport/fabric/fabric_listener.h"

namespace farvec::transport {
namespace {

using testing::HasSubstr;
using tests::message_of;
using namespace std::chrono_literals;

constexpr GrantLease kReads{std::byte{1}};
constexpr GrantLease kWrites{std::byte{2}};
constexpr GrantLease kWritesNext{std::byte{3}};

class FabricWriterTest : public testing::Test {
 protected:
  void listen(const std::string& provider) {
    provider_ = provider;
    const std::string host = provider == "shm" ? "" : "127.0.0.1";
    listener_ = std::make_unique<FabricListener>(
        FabricListenerOptions{provider, host}, GrantedRegions{log_, index_},
        [](const GrantLease& lease) { return lease == kReads; },
        WritableRegions{{log_}, [](const GrantLease& lease) {
                          return lease == kWrites || lease == kWritesNext;
                        }});
  }
  void SetUp() override { listen("tcp"); }

  FabricWriterOptions options(const GrantLease& lease = kWrites) {
    FabricWriterOptions options;
    options.provider = provider_;
    options.grant = listener_->grant(lease);
    options.lease = lease;
    options.peer = "the node under test";
    options.timeout = 5s;
    return options;
  }
  static Status put(FabricWriter& writer, std::uint64_t offset, std::span<const std::byte> bytes) {
    if (Status status = writer.write(0, offset, bytes); !status.ok()) return status;
    return writer.flush();
  }
  static bool is_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte byte) { return byte == std::byte{}; });
  }

  std::vector<std::byte> log_ = std::vector<std::byte>(100'000);
  std::vector<std::byte> index_ = std::vector<std::byte>(5000);
  const std::vector<std::byte> some_ = std::vector<std::byte>(3000, std::byte{7});
  std::string provider_;
  std::unique_ptr<FabricListener> listener_;
};

TEST_F(FabricWriterTest, ReadersCannotWrite) {
  FabricWriter reader(options(kReads));
  EXPECT_EQ(reader.region_bytes(1), index_.size());
  EXPECT_FALSE(put(reader, 0, some_).ok());
  EXPECT_FALSE(reader.status().ok());
  EXPECT_TRUE(is_zero(log_));
  FabricWriter writer(options());
  EXPECT_TRUE(put(writer, 0, some_).ok()) << "and others go on";
}

TEST_F(FabricWriterTest, AWriterHasTheWritableRegionsAlone) {
  const FabricWriter writer(options());
  EXPECT_EQ(writer.region_bytes(0), log_.size());
  EXPECT_EQ(writer.region_bytes(1), 0u);
}

TEST_F(FabricWriterTest, TheWireRefusesWhatIsOutsideARegion) {
  FabricWriterOptions forged = options();
  FabricGrant grant = decode_grant(std::as_bytes(std::span(forged.grant)), "test");
  grant.regions[0].bytes += 1000;
  forged.grant = encode_grant(grant);
  FabricWriter writer(forged);
  EXPECT_FALSE(put(writer, log_.size() - 100, std::span(some_).first(200)).ok());
  EXPECT_TRUE(is_zero(log_));
}

TEST_F(FabricWriterTest, RevocationEndsAWriterAndTheNextOneWrites) {
  FabricWriter first(options());
  ASSERT_TRUE(put(first, 0, some_).ok());
  listener_->revoke(kWrites);
  FabricWriter next(options(kWritesNext));
  const std::vector<std::byte> others(some_.size(), std::byte{9});
  ASSERT_TRUE(put(next, 0, others).ok());
  EXPECT_FALSE(put(first, 0, some_).ok());
  EXPECT_EQ(std::memcmp(log_.data(), others.data(), others.size()), 0);
  EXPECT_TRUE(put(next, 0, some_).ok());
}

TEST_F(FabricWriterTest, OtherProvidersSayHowTheyCanBeWritten) {
  for (const char* provider : {"tcp;ofi_rxm", "sockets", "shm"}) {
    try {
      listen(provider);
    } catch (const Error&) {
      continue;  // not in this machine's library
    }
    for (const bool delivery : {true, false}) {
      FabricWriterOptions with = options();
      with.delivery_complete = delivery;
      with.piece_bytes = 1000;
      std::fill(log_.begin(), log_.end(), std::byte{});
      try {
        FabricWriter writer(with);
        const Status status = put(writer, 11, some_);
        EXPECT_TRUE(status.ok()) << provider << ", " << delivery << ": " << status.message();
        EXPECT_EQ(std::memcmp(log_.data() + 11, some_.data(), some_.size()), 0) << provider;
        EXPECT_TRUE(delivery || !writer.completes_at_delivery());
      } catch (const Error& error) {
        EXPECT_FALSE(delivery) << provider << ": " << error.what();
        EXPECT_THAT(error.what(), HasSubstr("cannot be written through")) << provider;
      }
      listener_->revoke(kWrites);
    }
  }
}

TEST_F(FabricWriterTest, RefusesAnotherLeasesGrant) {
  FabricWriterOptions with = options();
  with.lease = kWritesNext;
  EXPECT_THAT(message_of([&] { FabricWriter writer(with); }), HasSubstr("another lease"));
  with = options();
  with.grant = "no grant";
  EXPECT_THAT(message_of([&] { FabricWriter writer(with); }), HasSubstr("the node under test"));
}

}  // namespace
}  // namespace farvec::transport
