#include "transport/verbs/verbs_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/random.h"
#include "tests/unit/transport/rogue_client.h"
#include "tests/unit/transport/verbs_fixture.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto kWriterPatience = 20s;

/// With memory windows (true) and without.
class VerbsWriterTest : public VerbsFixture, public testing::WithParamInterface<bool> {
 protected:
  bool with_windows() const override { return GetParam(); }
  static constexpr GrantLease kWriting{std::byte{9}, std::byte{8}};

  WritableRegions writable() override {
    WritableRegions writable;
    writable.regions = {std::span(memory_).subspan(kFence, kRegionBytes),
                        std::span(memory_).last(1000)};
    writable.authorise = [this](const GrantLease& lease) {
      return lease == kWriting && admits_writer_;
    };
    return writable;
  }
  VerbsWriterOptions options() const {
    VerbsWriterOptions options;
    options.peer.host = host_;
    options.peer.port = listener_->port();
    options.peer.lease = kWriting;
    options.timeout = 10s;
    return options;
  }
  std::string refusal(const VerbsWriterOptions& options) const {
    try {
      VerbsWriter writer(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  VerbsHello hello(VerbsRole role) const {
    VerbsHello hello;
    hello.max_reads = 1;
    hello.lease = role == VerbsRole::writer ? kWriting : kLease;
    hello.role = role;
    return hello;
  }
  std::span<const std::byte> region() const {
    return std::span(memory_).subspan(kFence, kRegionBytes);
  }
  bool fences_stand() const {
    const auto untouched = [](std::byte byte) { return byte == std::byte{0}; };
    return std::all_of(memory_.begin(), memory_.begin() + kFence, untouched) &&
           std::all_of(memory_.begin() + kFence + kRegionBytes, memory_.end() - 1000, untouched);
  }
  static std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    return bytes;
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto end = Clock::now() + kWriterPatience;
    while (!condition()) {
      if (Clock::now() > end) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
  /// What ends a writer that goes on; ok when nothing does.
  static Status end_of(VerbsWriter& writer) {
    const auto end = Clock::now() + kWriterPatience;
    const std::vector<std::byte> bytes(100);
    while (writer.status().ok() && Clock::now() < end) {
      if (writer.write(0, 0, bytes).ok()) (void)writer.flush();
    }
    return writer.status();
  }

  static constexpr std::size_t kFence = 4096;
  static constexpr std::size_t kRegionBytes = 1u << 20;
  std::vector<std::byte> memory_ = std::vector<std::byte>(2 * kFence + kRegionBytes + 1000);
  std::atomic<bool> admits_writer_{true};
};

TEST_P(VerbsWriterTest, WhatIsFlushedIsInTheNodesMemory) {
  for (const std::uint32_t piece : {256u * 1024, 1000u}) {
    for (const std::uint32_t inline_bytes : {64u, 0u}) {
      VerbsWriterOptions with = options();
      with.piece_bytes = piece;
      with.max_outstanding = 4;
      with.inline_bytes = inline_bytes;
      ASSERT_TRUE(eventually([this] { return !listener_->has_writer(); }));
      VerbsWriter writer(with);
      EXPECT_EQ(writer.region_bytes(0), kRegionBytes);
      EXPECT_EQ(writer.region_bytes(1), 1000u);
      for (const std::size_t count : {0, 1, 7, 8, 63, 64, 65, 1000, 4097, 70'001}) {
        const auto bytes = random_bytes(count, count + piece + inline_bytes);
        const std::size_t offset = 3 * count;
        ASSERT_TRUE(writer.write(0, offset, bytes).ok()) << count;
        const Status flushed = writer.flush();
        ASSERT_TRUE(flushed.ok()) << count << ": " << flushed.message();
        EXPECT_EQ(std::memcmp(region().data() + offset, bytes.data(), count), 0) << count;
      }
    }
  }
  EXPECT_TRUE(fences_stand());
}

TEST_P(VerbsWriterTest, FillsRegionsToTheLastByte) {
  VerbsWriter writer(options());
  const auto bytes = random_bytes(kRegionBytes, 5);
  ASSERT_TRUE(writer.write(0, 0, bytes).ok());
  ASSERT_TRUE(writer.write(1, 0, std::span(bytes).first(1000)).ok());
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(std::memcmp(region().data(), bytes.data(), kRegionBytes), 0);
  EXPECT_EQ(std::memcmp(memory_.data() + memory_.size() - 1000, bytes.data(), 1000), 0);
  EXPECT_TRUE(fences_stand());
}

TEST_P(VerbsWriterTest, RefusesWhatIsOutsideARegion) {
  VerbsWriter writer(options());
  const std::vector<std::byte> bytes(64, std::byte{1});
  EXPECT_EQ(writer.write(0, kRegionBytes - 63, bytes).code(), StatusCode::invalid_argument);
  EXPECT_EQ(writer.write(0, ~0ull - 3, bytes).code(), StatusCode::invalid_argument);
  EXPECT_EQ(writer.write(2, 0, bytes).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(writer.write(0, kRegionBytes - 64, bytes).ok()) << "and goes on";
  EXPECT_TRUE(writer.flush().ok());
  EXPECT_TRUE(fences_stand());
}

TEST_P(VerbsWriterTest, TheWireRefusesWhatIsOutsideARegion) {
  for (const int side : {0, 1}) {
    ASSERT_TRUE(eventually([this] { return !listener_->has_writer(); }));
    RogueClient writer(host_, listener_->port(), hello(VerbsRole::writer));
    ASSERT_TRUE(writer.connected());
    const VerbsGrant& grant = writer.grant(0);
    ASSERT_EQ(writer.write(grant.address, grant.key, 64), IBV_WC_SUCCESS);
    const std::uint64_t address = side == 0 ? grant.address - 32 : grant.address + grant.bytes - 32;
    EXPECT_EQ(writer.write(address, grant.key, 64), IBV_WC_REM_ACCESS_ERR) << side;
  }
  EXPECT_TRUE(fences_stand());
}

TEST_P(VerbsWriterTest, TheWireRefusesAReadersWrites) {
  RogueClient writer(host_, listener_->port(), hello(VerbsRole::writer));
  ASSERT_TRUE(writer.connected());
  for (const bool with_own_key : {true, false}) {
    RogueClient reader(host_, listener_->port(), hello(VerbsRole::reader));
    ASSERT_TRUE(reader.connected());
    const VerbsGrant& grant = with_own_key ? reader.grant(0) : writer.grant(0);
    EXPECT_NE(reader.write(grant.address, grant.key, 64), IBV_WC_SUCCESS) << with_own_key;
  }
  EXPECT_EQ(writer.write(writer.grant(0).address, writer.grant(0).key, 64), IBV_WC_SUCCESS);
}

TEST_P(VerbsWriterTest, ThereIsOneWriter) {
  {
    VerbsWriter first(options());
    EXPECT_TRUE(listener_->has_writer());
    EXPECT_THAT(refusal(options()), HasSubstr("another writer is connected"));
    const std::vector<std::byte> bytes(64, std::byte{7});
    ASSERT_TRUE(first.write(0, 0, bytes).ok());
    EXPECT_TRUE(first.flush().ok()) << "and the first one goes on";
  }
  ASSERT_TRUE(eventually([this] { return !listener_->has_writer(); }));
  EXPECT_EQ(refusal(options()), "");
}

TEST_P(VerbsWriterTest, LeasesAreForReadingOrForWriting) {
  VerbsWriterOptions reading = options();
  reading.peer.lease = kLease;
  EXPECT_THAT(refusal(reading), HasSubstr("no such lease"));
  VerbsHello as_reader = hello(VerbsRole::reader);
  as_reader.lease = kWriting;
  EXPECT_FALSE(RogueClient(host_, listener_->port(), as_reader).connected());
}

TEST_P(VerbsWriterTest, RevocationEndsTheWriter) {
  VerbsWriter writer(options());
  ASSERT_TRUE(writer.write(0, 0, random_bytes(64, 1)).ok());
  ASSERT_TRUE(writer.flush().ok());
  listener_->revoke(kWriting);
  EXPECT_FALSE(listener_->has_writer());
  const std::vector<std::byte> before(region().begin(), region().end());
  const Status ended = end_of(writer);
  EXPECT_EQ(ended.code(), StatusCode::unavailable) << ended.message();
  EXPECT_EQ(writer.write(0, 0, random_bytes(64, 2)).code(), ended.code());
  EXPECT_EQ(writer.flush().code(), ended.code());
  EXPECT_EQ(std::memcmp(before.data(), region().data(), before.size()), 0);
  EXPECT_EQ(refusal(options()), "") << "another one may come";
}

TEST_P(VerbsWriterTest, TheEndOfTheLeaseEndsTheWriter) {
  VerbsWriter writer(options());
  admits_writer_ = false;
  ASSERT_TRUE(eventually([this] { return !listener_->has_writer(); }));
  const Status ended = end_of(writer);
  EXPECT_EQ(ended.code(), StatusCode::unavailable) << ended.message();
  EXPECT_THAT(refusal(options()), HasSubstr("no such lease"));
}

TEST_P(VerbsWriterTest, ANodeThatGoesEndsTheWriter) {
  VerbsWriter writer(options());
  ASSERT_TRUE(writer.write(0, 0, random_bytes(kRegionBytes, 1)).ok());
  listener_.reset();
  EXPECT_EQ(end_of(writer).code(), StatusCode::unavailable);
}

INSTANTIATE_TEST_SUITE_P(Verbs, VerbsWriterTest, testing::Bool());

class VerbsReadersOnlyTest : public VerbsFixture {};

TEST_F(VerbsReadersOnlyTest, TakesNoWriters) {
  VerbsWriterOptions options;
  options.peer.host = host_;
  options.peer.port = listener_->port();
  options.peer.lease = kLease;
  try {
    VerbsWriter writer(options);
    FAIL() << "it may write";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it takes no writers"));
  }
}

}  // namespace
}  // namespace farvec::transport
