#include "transport/load/read_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/memory.h"
#include "tests/unit/message_of.h"
#include "tests/unit/transport/test_regions.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/faulty/faulty_endpoint.h"
#include "transport/forwarding_endpoint.h"

namespace farvec::transport {
namespace {

constexpr double kRunUs = 2000;

/// Notes what is asked of the endpoint below.
class NotingEndpoint final : public ForwardingEndpoint {
 public:
  explicit NotingEndpoint(std::unique_ptr<Endpoint> below) : ForwardingEndpoint(std::move(below)) {}

  Status post(std::span<const ReadRequest> chain) override {
    chains.push_back(chain.size());
    outstanding += chain.size();
    most = std::max(most, outstanding);
    for (const ReadRequest& read : chain) {
      reads.push_back(read);
      EXPECT_TRUE(in_use_.insert(read.destination).second) << "two reads into one place";
    }
    return below().post(chain);
  }
  std::size_t poll(std::span<Completion> completions) override {
    const std::size_t count = below().poll(completions);
    for (const Completion& completion : completions.first(count)) {
      const auto posted = std::find_if(reads.rbegin(), reads.rend(), [&](const ReadRequest& read) {
        return read.token == completion.token;
      });
      in_use_.erase(posted->destination);
    }
    outstanding -= count;
    return count;
  }

  std::vector<ReadRequest> reads;
  std::vector<std::size_t> chains;
  std::size_t outstanding = 0;
  std::size_t most = 0;

 private:
  std::set<const std::byte*> in_use_;
};

class ReadLoadTest : public testing::Test {
 protected:
  std::unique_ptr<Endpoint> mapped() { return std::make_unique<MappedEndpoint>(regions_); }
  /// 100 us, so that few reads fit a run.
  std::unique_ptr<Endpoint> slow() {
    return std::make_unique<EmulatedEndpoint>(
        mapped(), std::make_shared<Device>(DeviceModel{"slow", 100, 10, 50, 64}));
  }

  LoadOptions options(const LoadShape& shape, RegionId region = 0) {
    LoadOptions options;
    options.shape = shape;
    options.region = region;
    options.destinations = buffer_.span().first(destination_bytes(shape));
    return options;
  }

  LoadCounts run(Endpoint& endpoint, const LoadShape& shape, RegionId region = 0) {
    return ReadLoad(endpoint, options(shape, region)).run(kRunUs);
  }

  /// The run is long: it must reach the failure, however slow the machine is.
  std::string failure(Endpoint& endpoint, const LoadShape& shape) {
    return tests::message_of([&] { (void)ReadLoad(endpoint, options(shape)).run(60e6); });
  }

  std::shared_ptr<const RegionSet> regions_ = random_regions();
  HugeBuffer buffer_ = HugeBuffer(1u << 20);
};

TEST_F(ReadLoadTest, KeepsAllInFlightAndPostsInBatches) {
  NotingEndpoint endpoint(slow());
  const LoadCounts counts = run(endpoint, {256, 10, 4, 0});
  EXPECT_EQ(endpoint.most, 10u);
  EXPECT_EQ(endpoint.outstanding, 0u);
  // The first round ends with what is left of it; behind it only whole batches.
  ASSERT_GT(endpoint.chains.size(), 4u);
  EXPECT_EQ(endpoint.chains[2], 2u);
  endpoint.chains[2] = 4;
  EXPECT_EQ(std::count(endpoint.chains.begin(), endpoint.chains.end(), 4u),
            static_cast<std::ptrdiff_t>(endpoint.chains.size()));
  EXPECT_GT(counts.reads, 0u);
  EXPECT_LE(counts.reads, endpoint.reads.size());
  EXPECT_EQ(counts.bytes, counts.reads * 256);
  EXPECT_EQ(counts.latency.count(), counts.reads);
  EXPECT_GE(ticks_to_us(counts.elapsed), kRunUs);
  EXPECT_GE(counts.latency.mean(), static_cast<double>(us_to_ticks(100)));
}

TEST_F(ReadLoadTest, ReadsThatGoTogetherAreFollowedWhenAllHaveCome) {
  NotingEndpoint endpoint(slow());
  const LoadShape shape{.payload_bytes = 256, .inflight = 12, .batch = 4, .together = true};
  const LoadCounts counts = run(endpoint, shape);
  EXPECT_EQ(endpoint.most, 12u);
  EXPECT_EQ(endpoint.outstanding, 0u);
  EXPECT_EQ(counts.bytes, counts.reads * 256);
  ASSERT_GT(endpoint.chains.size(), 3u);
  EXPECT_EQ(std::count(endpoint.chains.begin(), endpoint.chains.end(), 4u),
            static_cast<std::ptrdiff_t>(endpoint.chains.size()));
  // Those of one chain stay together for good.
  for (std::size_t i = 0; i < endpoint.reads.size(); i += 4) {
    for (std::size_t j = i; j < i + 4; ++j) {
      EXPECT_EQ(endpoint.reads[j].token / (kTokensApart * 4),
                endpoint.reads[i].token / (kTokensApart * 4));
    }
  }
}

TEST_F(ReadLoadTest, OfReadsThatGoTogetherNoMoreAreOutThanMay) {
  NotingEndpoint endpoint(slow());
  LoadShape shape{.payload_bytes = 256, .inflight = 32, .batch = 8, .together = true};
  shape.most_outstanding = 22;
  (void)run(endpoint, shape);
  EXPECT_EQ(endpoint.most, 22u);
  EXPECT_EQ(endpoint.outstanding, 0u);
  // Two whole batches, then what a quarter of the room takes of the third.
  ASSERT_GT(endpoint.chains.size(), 3u);
  EXPECT_EQ(endpoint.chains[0], 8u);
  EXPECT_EQ(endpoint.chains[1], 8u);
  EXPECT_EQ(endpoint.chains[2], 6u);
  for (const std::size_t chain : endpoint.chains) EXPECT_LE(chain, 8u);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(endpoint.reads[i].token, kTokensApart * i);
  shape.most_outstanding = 4;  // fewer than go together
  NotingEndpoint narrow(slow());
  (void)run(narrow, shape);
  EXPECT_EQ(narrow.most, 4u);
}

TEST_F(ReadLoadTest, ReadsTheWholeRegionAtMultiplesOf64) {
  NotingEndpoint endpoint(mapped());
  (void)run(endpoint, {100, 8, 8, 0}, 1);  // of 1000 bytes
  std::set<std::uint64_t> offsets;
  for (const ReadRequest& read : endpoint.reads) {
    EXPECT_EQ(read.offset % kLoadAlignment, 0u);
    EXPECT_LE(read.offset + read.bytes, 1000u);
    offsets.insert(read.offset);
  }
  if (endpoint.reads.size() > 1000) {
    EXPECT_EQ(offsets.size(), (1000u - 100) / 64 + 1);
  }
}

TEST_F(ReadLoadTest, ReadsAtOtherMultiplesIntoAlignedPlaces) {
  NotingEndpoint endpoint(mapped());
  const LoadShape shape{.payload_bytes = 700, .inflight = 4, .batch = 4, .alignment = 512};
  EXPECT_EQ(destination_bytes(shape), 4u * 1024);
  (void)run(endpoint, shape);
  for (const ReadRequest& read : endpoint.reads) {
    EXPECT_EQ(read.offset % 512, 0u);
    EXPECT_EQ((read.destination - buffer_.data()) % 512, 0);
  }
}

TEST_F(ReadLoadTest, ARegionOfExactlyOneRead) {
  NotingEndpoint endpoint(mapped());
  (void)run(endpoint, {1000, 2, 1, 0}, 1);
  for (const ReadRequest& read : endpoint.reads) EXPECT_EQ(read.offset, 0u);
}

TEST_F(ReadLoadTest, MixesSmallReadsIn) {
  for (double share : {0.0, 0.25, 0.9, 1.0}) {
    NotingEndpoint endpoint(mapped());
    const LoadCounts counts = run(endpoint, {4096, 16, 8, share});
    const auto small =
        std::count_if(endpoint.reads.begin(), endpoint.reads.end(),
                      [](const ReadRequest& read) { return read.bytes == kSmallReadBytes; });
    const auto all = static_cast<double>(endpoint.reads.size());
    // 5 standard deviations of the share; none at 0 and 1.
    const double slack = 5 * std::sqrt(share * (1 - share) / all);
    EXPECT_NEAR(static_cast<double>(small) / all, share, slack);
    EXPECT_LE(counts.bytes, counts.reads * 4096);
  }
}

TEST_F(ReadLoadTest, SmallReadsMayBeTheLongerOnes) {
  NotingEndpoint endpoint(mapped());
  const LoadShape shape{64, 4, 2, 0.5};
  EXPECT_EQ(destination_bytes(shape), 4 * kSmallReadBytes);
  (void)run(endpoint, shape);
}

TEST_F(ReadLoadTest, TheSameSeedReadsTheSamePlaces) {
  std::vector<std::uint64_t> offsets[2];
  for (auto& seen : offsets) {
    NotingEndpoint endpoint(mapped());
    (void)run(endpoint, {64, 4, 2, 0.5});
    for (std::size_t i = 0; i < 12; ++i) seen.push_back(endpoint.reads.at(i).offset);
  }
  EXPECT_EQ(offsets[0], offsets[1]);
}

TEST_F(ReadLoadTest, RunsAgain) {
  const auto endpoint = slow();
  ReadLoad load(*endpoint, options({64, 16, 8, 0}));
  for (int i = 0; i < 3; ++i) EXPECT_GT(load.run(300).reads, 0u);
}

TEST_F(ReadLoadTest, WaitsForReadsThatTakeLongerThanTheRun) {
  const auto endpoint = slow();
  const LoadCounts counts = ReadLoad(*endpoint, options({64, 4, 2, 0})).run(1);
  EXPECT_GT(counts.reads, 0u);
  EXPECT_GT(counts.elapsed, 0u);
}

TEST_F(ReadLoadTest, AFailedReadEndsIt) {
  FaultyEndpoint endpoint(mapped(), {.failing_read = 100});
  EXPECT_NE(failure(endpoint, {256, 8, 4, 0}).find("a read of 256 bytes at offset"),
            std::string::npos);
}

TEST_F(ReadLoadTest, AShortReadEndsIt) {
  FaultyEndpoint endpoint(mapped(), {.short_rate = 0.2});
  EXPECT_NE(failure(endpoint, {256, 8, 4, 0}).find("brought"), std::string::npos);
}

TEST_F(ReadLoadTest, ARefusedPostEndsIt) {
  FaultyEndpoint endpoint(mapped(), {.failing_post = 3});
  EXPECT_NE(failure(endpoint, {256, 8, 4, 0}).find("posting 4 reads"), std::string::npos);
}

TEST_F(ReadLoadTest, ADeadPeerEndsIt) {
  FaultyEndpoint endpoint(mapped(), {.dead_from_read = 50});
  EXPECT_NE(failure(endpoint, {256, 8, 4, 0}).find("UNAVAILABLE"), std::string::npos);
}

TEST_F(ReadLoadTest, LostReadsEndItWhenNoOtherCompletes) {
  FaultyEndpoint endpoint(mapped(), {.drop_rate = 1});
  LoadOptions impatient = options({256, 8, 4, 0});
  impatient.patience_us = 20e3;
  const std::string said =
      tests::message_of([&] { (void)ReadLoad(endpoint, impatient).run(kRunUs); });
  EXPECT_NE(said.find("none of 8 reads completed within 0.02 s"), std::string::npos) << said;
}

TEST_F(ReadLoadTest, RefusesWhatDoesNotFit) {
  const auto endpoint = mapped();
  const auto refused = [&](const LoadShape& shape, const std::string& words) {
    const std::string said = failure(*endpoint, shape);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  refused({0, 1, 1, 0}, "payload of 0");
  refused({(1u << 20) + 1, 1, 1, 0}, "from a region of 1048576");
  refused({64, 0, 1, 0}, "0 reads in flight");
  refused({64, 1025, 1, 0}, "takes from 1 to 1024");
  refused({64, 4, 0, 0}, "0 reads per doorbell");
  refused({64, 4, 5, 0}, "5 reads per doorbell");
  refused({64, 4, 1, 1.5}, "share of small reads of 1.5");
  refused({64, 4, 1, -0.1}, "share of small reads");
  refused({.inflight = 10, .batch = 4, .together = true}, "use a multiple");
  EXPECT_THROW(check_load({64, 1, 1, 0}, *endpoint, 7), Error);  // no such region
  MappedEndpoint narrow(regions_, {.max_read_bytes = 100});
  EXPECT_THROW(check_load({101, 1, 1, 0}, narrow, 0), Error);
  EXPECT_THROW(check_load({64, 1, 1, 0.5}, narrow, 0), Error);
  LoadOptions cramped = options({64, 4, 1, 0});
  cramped.destinations = cramped.destinations.first(255);
  EXPECT_THROW(ReadLoad(*endpoint, cramped), Error);
}

}  // namespace
}  // namespace farvec::transport
