#include "tiers/attach/placed_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <thread>

#include "base/error.h"
#include "tests/unit/transport/test_regions.h"
#include "transport/faulty/faulty_endpoint.h"

namespace farvec::tiers {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using transport::Completion;
using transport::EndpointLimits;
using transport::FaultOptions;
using transport::FaultyEndpoint;
using transport::ReadRequest;
using transport::RegionId;

constexpr std::uint32_t kNodes = 3;
constexpr std::uint64_t kExtentBytes = 8192;
constexpr std::uint64_t kRegionBytes = 20 * kExtentBytes;
constexpr std::uint32_t kReadBytes = 100;

/// What a test does to a node's endpoint while the placed endpoint owns it.
struct Hands {
  FaultyEndpoint* endpoint = nullptr;
  bool silent = false;  ///< takes reads and completes none
  bool told = false;    ///< peer_lost() was called
  int posts = 0;        ///< doorbells
};

class HeldEndpoint final : public transport::Endpoint {
 public:
  HeldEndpoint(std::unique_ptr<FaultyEndpoint> below, Hands& hands)
      : below_(std::move(below)), hands_(hands) {
    hands_.endpoint = below_.get();
  }
  ~HeldEndpoint() override {
    if (hands_.endpoint == below_.get()) hands_.endpoint = nullptr;
  }
  void register_memory(std::span<std::byte> memory) override { registered.push_back(memory); }
  Status post(std::span<const ReadRequest> reads) override {
    ++hands_.posts;
    return below_->post(reads);
  }
  std::size_t poll(std::span<Completion> completions) override {
    return hands_.silent ? 0 : below_->poll(completions);
  }
  EndpointLimits limits() const override { return {32, 4096}; }
  std::uint64_t region_bytes(RegionId region) const override {
    return below_->region_bytes(region);
  }
  std::string description() const override { return "held"; }
  void peer_lost() override { hands_.told = true; }
  void close() override { below_->close(); }

  std::vector<std::span<std::byte>> registered;

 private:
  std::unique_ptr<FaultyEndpoint> below_;
  Hands& hands_;
};

class PlacedEndpointTest : public testing::Test {
 protected:
  /// Extent i on node i mod 3, with its replicas on the next ones.
  explicit PlacedEndpointTest(std::uint32_t copies = 2) {
    std::vector<layout::PlacedExtent> extents;
    std::vector<std::uint64_t> filled(kNodes, layout::kRegionHeaderBytes);
    for (std::uint32_t i = 0; i < kRegionBytes / kExtentBytes; ++i) {
      layout::PlacedExtent extent;
      extent.begin = i * kExtentBytes;
      extent.copy_count = copies;
      for (std::uint32_t c = 0; c < copies; ++c) {
        const std::uint32_t node = (i + c) % kNodes;
        extent.copies[c] = {node, i == 0 ? 0 : filled[node]};
        filled[node] = extent.copies[c].offset + kExtentBytes;
      }
      extents.push_back(extent);
    }
    placement.nodes = kNodes;
    placement.regions.emplace_back(extents, kRegionBytes, kNodes, "test");
    const auto region = transport::random_region(kRegionBytes, 7);
    whole.assign(region.bytes().begin(), region.bytes().end());
    for (std::uint32_t node = 0; node < kNodes; ++node) shares.push_back(share_of(node));
  }

  std::shared_ptr<const transport::RegionSet> share_of(std::uint32_t node) {
    auto share = transport::random_region(placement.node_bytes(node), 100 + node);
    const auto& extents = placement.regions[0].extents();
    for (const layout::PlacedExtent& extent : extents) {
      for (std::uint32_t c = 0; c < extent.copy_count; ++c) {
        if (extent.copies[c].node != node) continue;
        std::memcpy(share.writable_bytes().data() + extent.copies[c].offset,
                    whole.data() + extent.begin, kExtentBytes);
      }
    }
    transport::RegionSet set;
    set.push_back(std::move(share));
    return std::make_shared<const transport::RegionSet>(std::move(set));
  }

  std::unique_ptr<HeldEndpoint> node_endpoint(std::uint32_t node, FaultOptions faults = {}) {
    auto mapped = std::make_unique<transport::MappedEndpoint>(shares[node]);
    return std::make_unique<HeldEndpoint>(
        std::make_unique<FaultyEndpoint>(std::move(mapped), faults), hands[node]);
  }

  std::unique_ptr<PlacedEndpoint> open(PlacedOptions options = {}) {
    for (std::uint32_t node = 0; node < kNodes; ++node) inbox->put(node, node_endpoint(node));
    return std::make_unique<PlacedEndpoint>(placement, inbox, options);
  }

  /// One read in each of the first `count` extents.
  std::vector<ReadRequest> reads(std::uint32_t count) {
    std::vector<ReadRequest> made;
    for (std::uint32_t i = 0; i < count; ++i) {
      made.push_back({1000 + i, 0, kReadBytes, i * kExtentBytes + 5000, &buffer[i * kReadBytes]});
    }
    return made;
  }

  /// Status by read, and every byte of those that came is right.
  std::map<std::uint64_t, StatusCode> outcome(const std::vector<Completion>& completions) {
    std::map<std::uint64_t, StatusCode> found;
    for (const Completion& done : completions) {
      EXPECT_TRUE(found.emplace(done.token, done.status).second) << "completed twice";
      if (done.status != StatusCode::ok) continue;
      const std::uint64_t i = done.token - 1000;
      EXPECT_EQ(done.bytes, kReadBytes);
      EXPECT_EQ(std::memcmp(&buffer[i * kReadBytes], &whole[i * kExtentBytes + 5000], kReadBytes),
                0);
    }
    return found;
  }

  static std::size_t count_of(const std::map<std::uint64_t, StatusCode>& found, StatusCode code) {
    return static_cast<std::size_t>(std::count_if(
        found.begin(), found.end(), [&](const auto& entry) { return entry.second == code; }));
  }

  layout::Placement placement;
  std::vector<std::byte> whole;
  std::vector<std::shared_ptr<const transport::RegionSet>> shares;
  std::vector<std::byte> buffer = std::vector<std::byte>(32 * kReadBytes);
  Hands hands[kNodes];
  std::shared_ptr<EndpointInbox> inbox = std::make_shared<EndpointInbox>(kNodes);
};

class WithoutReplica : public PlacedEndpointTest {
 protected:
  WithoutReplica() : PlacedEndpointTest(1) {}
};

TEST_F(PlacedEndpointTest, ReadsGoToAllNodesWithOneDoorbellEach) {
  const auto endpoint = open();
  EXPECT_EQ(endpoint->region_bytes(0), kRegionBytes);
  EXPECT_EQ(endpoint->region_bytes(1), 0u);
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  for (const Hands& hand : hands) EXPECT_EQ(hand.posts, 1);
  const auto found = outcome(transport::collect(*endpoint, 18));
  EXPECT_EQ(count_of(found, StatusCode::ok), 18u);
  EXPECT_EQ(endpoint->coverage(), 1);
}

TEST_F(PlacedEndpointTest, EveryOffsetOfTheWholeRegionCanBeRead) {
  const auto endpoint = open();
  for (std::uint64_t offset = 0; offset + 64 <= kRegionBytes; offset += 64) {
    const ReadRequest read{1, 0, 64, offset, buffer.data()};
    ASSERT_TRUE(endpoint->post({&read, 1}).ok());
    ASSERT_EQ(transport::collect(*endpoint, 1).front().status, StatusCode::ok);
    ASSERT_EQ(std::memcmp(buffer.data(), &whole[offset], 64), 0) << offset;
  }
}

TEST_F(PlacedEndpointTest, RefusesReadsThatNoNodeCanAnswerWhole) {
  const auto endpoint = open();
  for (const ReadRequest& read :
       {ReadRequest{1, 0, 64, kExtentBytes - 32, buffer.data()},
        ReadRequest{1, 0, 64, kRegionBytes - 32, buffer.data()},
        ReadRequest{1, 0, 64, ~std::uint64_t{0} - 8, buffer.data()},
        ReadRequest{1, 1, 64, 0, buffer.data()}, ReadRequest{1, 0, 4097, 0, buffer.data()}}) {
    EXPECT_EQ(endpoint->post({&read, 1}).code(), StatusCode::invalid_argument);
  }
  EXPECT_TRUE(transport::collect(*endpoint, 1).empty());
  std::vector<ReadRequest> many(33, {1, 0, 1, 0, buffer.data()});
  EXPECT_EQ(endpoint->post(many).code(), StatusCode::resource_exhausted);
}

TEST_F(PlacedEndpointTest, ANodeThatDiesIsReplacedByItsReplicas) {
  const auto endpoint = open();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  hands[1].endpoint->kill();
  const auto found = outcome(transport::collect(*endpoint, 18));
  EXPECT_EQ(count_of(found, StatusCode::ok), 18u);
  EXPECT_TRUE(hands[1].told);
  EXPECT_EQ(hands[1].endpoint, nullptr) << "closed and gone";
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  EXPECT_EQ(count_of(outcome(transport::collect(*endpoint, 18)), StatusCode::ok), 18u);
}

TEST_F(PlacedEndpointTest, ANodeThatRefusesAPostIsReplacedToo) {
  const auto endpoint = open();
  hands[2].endpoint->close();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  EXPECT_EQ(count_of(outcome(transport::collect(*endpoint, 18)), StatusCode::ok), 18u);
}

TEST_F(PlacedEndpointTest, ASilentNodeIsGivenUpAfterItsTime) {
  const auto endpoint = open({.node_timeout = 20ms});
  hands[0].silent = true;
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  std::vector<Completion> found;
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (found.size() < 18 && std::chrono::steady_clock::now() < end) {
    const auto more = transport::collect(*endpoint, 1);
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(count_of(outcome(found), StatusCode::ok), 18u);
  EXPECT_TRUE(hands[0].told);
}

TEST_F(WithoutReplica, ASilentNodeHasLongerBecauseNoOtherCopyCanBeRead) {
  const auto endpoint = open({.node_timeout = 1ms});
  hands[0].silent = true;
  ASSERT_TRUE(endpoint->post(reads(3)).ok());
  std::vector<Completion> found = transport::collect(*endpoint, 2);
  std::array<Completion, 3> more;
  const auto end = std::chrono::steady_clock::now() + 50ms;
  while (std::chrono::steady_clock::now() < end) ASSERT_EQ(endpoint->poll(more), 0u);
  ASSERT_NE(hands[0].endpoint, nullptr);
  hands[0].silent = false;
  found.push_back(transport::collect(*endpoint, 1).at(0));
  EXPECT_EQ(count_of(outcome(found), StatusCode::ok), 3u);
}

TEST_F(WithoutReplica, ASilentNodeIsGivenUpInTheEnd) {
  const auto endpoint = open({.node_timeout = 1ms, .last_copy_timeout = 5ms});
  hands[0].silent = true;
  ASSERT_TRUE(endpoint->post(reads(3)).ok());
  std::vector<Completion> found;
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (found.size() < 3 && std::chrono::steady_clock::now() < end) {
    const auto more = transport::collect(*endpoint, 1);
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(count_of(outcome(found), StatusCode::unavailable), 1u);
  EXPECT_EQ(hands[0].endpoint, nullptr);
}

TEST_F(PlacedEndpointTest, ACoreThatDidNotPollBlamesNobody) {
  const auto endpoint = open({.node_timeout = 20ms});
  hands[0].silent = true;
  ASSERT_TRUE(endpoint->post(reads(3)).ok());
  std::this_thread::sleep_for(60ms);
  EXPECT_FALSE(transport::collect(*endpoint, 2).empty());
  EXPECT_NE(hands[0].endpoint, nullptr);
  hands[0].silent = false;
  EXPECT_EQ(transport::collect(*endpoint, 1).size(), 1u);
}

TEST_F(PlacedEndpointTest, SaysWhatIsReadInstead) {
  const auto endpoint = open();
  testing::internal::CaptureStdout();
  hands[1].endpoint->kill();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  ASSERT_EQ(transport::collect(*endpoint, 18).size(), 18u);
  const std::string first = testing::internal::GetCapturedStdout();
  EXPECT_THAT(first, HasSubstr("memory node 1 is lost to this core"));
  EXPECT_THAT(first, HasSubstr("copies on other nodes are read instead"));
  testing::internal::CaptureStdout();
  hands[2].endpoint->kill();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  ASSERT_EQ(transport::collect(*endpoint, 18).size(), 18u);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("65% of the index can still be read"));
}

TEST_F(PlacedEndpointTest, TwoLostNodesLeaveWhatTheThirdHolds) {
  const auto endpoint = open();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  hands[1].endpoint->kill();
  hands[2].endpoint->kill();
  const auto found = outcome(transport::collect(*endpoint, 18));
  // Extents 1, 4, 7, ... have copies on nodes 1 and 2 only.
  EXPECT_EQ(count_of(found, StatusCode::ok), 12u);
  EXPECT_EQ(count_of(found, StatusCode::unavailable), 6u);
  EXPECT_DOUBLE_EQ(endpoint->coverage(), 13.0 / 20);
}

TEST_F(WithoutReplica, TheRestIsReadAndTheCoverageSaysHowMuch) {
  const auto endpoint = open();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  hands[0].endpoint->kill();
  const auto found = outcome(transport::collect(*endpoint, 18));
  EXPECT_EQ(count_of(found, StatusCode::ok), 12u);
  EXPECT_EQ(count_of(found, StatusCode::unavailable), 6u);
  EXPECT_DOUBLE_EQ(endpoint->coverage(), 13.0 / 20);
  hands[1].endpoint->kill();
  hands[2].endpoint->kill();
  ASSERT_TRUE(endpoint->post(reads(18)).ok()) << "nobody has noticed yet";
  EXPECT_EQ(count_of(outcome(transport::collect(*endpoint, 18)), StatusCode::unavailable), 18u);
  EXPECT_EQ(endpoint->post(reads(1)).code(), StatusCode::unavailable);
  EXPECT_DOUBLE_EQ(endpoint->coverage(), 0);
}

TEST_F(WithoutReplica, ANodeThatComesBackIsReadAgain) {
  const auto endpoint = open();
  std::byte memory[64];
  endpoint->register_memory(memory);
  hands[0].endpoint->kill();
  ASSERT_TRUE(endpoint->post(reads(3)).ok());
  EXPECT_EQ(count_of(outcome(transport::collect(*endpoint, 3)), StatusCode::ok), 2u);
  auto fresh = node_endpoint(0);
  const HeldEndpoint& seen = *fresh;
  inbox->put(0, std::move(fresh));
  EXPECT_EQ(seen.registered.size(), 1u) << "with the core's memory";
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  EXPECT_EQ(count_of(outcome(transport::collect(*endpoint, 18)), StatusCode::ok), 18u);
}

TEST_F(WithoutReplica, ReadsOfAnEndpointThatIsReplacedAreAskedForOnceMore) {
  const auto endpoint = open();
  hands[0].silent = true;
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  inbox->put(0, node_endpoint(0));
  hands[0].silent = false;
  EXPECT_EQ(count_of(outcome(transport::collect(*endpoint, 18)), StatusCode::ok), 18u);
}

TEST_F(PlacedEndpointTest, OtherErrorsAreTheReadsOwn) {
  for (std::uint32_t node = 1; node < kNodes; ++node) inbox->put(node, node_endpoint(node));
  FaultOptions faults;
  faults.failing_read = 0;
  inbox->put(0, node_endpoint(0, faults));
  PlacedEndpoint endpoint(placement, inbox, {});
  ASSERT_TRUE(endpoint.post(reads(18)).ok());
  const auto found = outcome(transport::collect(endpoint, 18));
  EXPECT_EQ(count_of(found, StatusCode::internal), 1u);
  EXPECT_EQ(count_of(found, StatusCode::ok), 17u);
}

TEST_F(PlacedEndpointTest, BeginsWithoutANodeAndTakesItLater) {
  inbox->put(1, node_endpoint(1));
  inbox->put(2, node_endpoint(2));
  PlacedEndpoint endpoint(placement, inbox, {});
  ASSERT_TRUE(endpoint.post(reads(18)).ok());
  EXPECT_EQ(count_of(outcome(transport::collect(endpoint, 18)), StatusCode::ok), 18u);
  inbox->put(0, node_endpoint(0));
  ASSERT_TRUE(endpoint.post(reads(18)).ok());
  EXPECT_EQ(count_of(outcome(transport::collect(endpoint, 18)), StatusCode::ok), 18u);
  EXPECT_EQ(hands[0].posts, 1);
}

TEST_F(PlacedEndpointTest, WhatANodeHasElsewhereIsBroughtToTheDestination) {
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    inbox->put(node, std::make_unique<transport::MappedEndpoint>(
                         shares[node], transport::MappedOptions{.by_reference = true}));
  }
  PlacedEndpoint endpoint(placement, inbox, {});
  ASSERT_TRUE(endpoint.post(reads(18)).ok());
  const auto found = transport::collect(endpoint, 18);
  EXPECT_EQ(count_of(outcome(found), StatusCode::ok), 18u);
  for (const Completion& done : found) EXPECT_EQ(done.region, nullptr);
}

TEST_F(PlacedEndpointTest, AfterTheLossOfAllNothingIsCovered) {
  const auto endpoint = open();
  endpoint->peer_lost();
  EXPECT_EQ(endpoint->post(reads(1)).code(), StatusCode::unavailable);
  EXPECT_EQ(endpoint->coverage(), 0);
}

TEST_F(PlacedEndpointTest, NeedsSomebody) {
  EXPECT_THROW(PlacedEndpoint(placement, inbox, {}), Error);
}

TEST_F(PlacedEndpointTest, ClosedItReadsNothingAndTakesNothing) {
  const auto endpoint = open();
  ASSERT_TRUE(endpoint->post(reads(18)).ok());
  endpoint->close();
  EXPECT_TRUE(transport::collect(*endpoint, 1).empty());
  EXPECT_EQ(endpoint->post(reads(1)).code(), StatusCode::unavailable);
  inbox->put(0, node_endpoint(0));
  EXPECT_FALSE(inbox->has_any());
}

/// Nodes die and come back at random while reads go on: none is lost, none is wrong.
TEST_F(PlacedEndpointTest, SurvivesEveryOrderOfDeathsAndReturns) {
  const auto endpoint = open({.node_timeout = 10s});
  Random random(3);
  std::size_t ok = 0;
  for (int round = 0; round < 400; ++round) {
    const auto posted = 1 + static_cast<std::uint32_t>(random.next() % 18);
    const Status status = endpoint->post(reads(posted));
    const auto node = static_cast<std::uint32_t>(random.next() % kNodes);
    if (hands[node].endpoint != nullptr && random.next() % 2 == 0) hands[node].endpoint->kill();
    if (random.next() % 2 == 0) {
      const auto back = static_cast<std::uint32_t>(random.next() % kNodes);
      inbox->put(back, node_endpoint(back));
    }
    if (!status.ok()) {
      EXPECT_EQ(status.code(), StatusCode::unavailable);
      continue;
    }
    const auto found = outcome(transport::collect(*endpoint, posted));
    ASSERT_EQ(found.size(), posted) << "round " << round;
    ok += count_of(found, StatusCode::ok);
    ASSERT_EQ(count_of(found, StatusCode::ok) + count_of(found, StatusCode::unavailable), posted);
  }
  EXPECT_GT(ok, 1000u);
}

}  // namespace
}  // namespace farvec::tiers
