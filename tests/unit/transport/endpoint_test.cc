// What every endpoint must do, whatever lies below it.
#include "transport/endpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>

#include "tests/unit/transport/test_regions.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/faulty/faulty_endpoint.h"

namespace farvec::transport {
namespace {

constexpr std::uint32_t kOutstanding = 16;
constexpr std::uint32_t kReadBytes = 100'000;

std::unique_ptr<Endpoint> make_mapped(std::shared_ptr<const RegionSet> regions) {
  return std::make_unique<MappedEndpoint>(
      std::move(regions),
      MappedOptions{.max_outstanding = kOutstanding, .max_read_bytes = kReadBytes});
}

const DeviceModel kQuick{"quick", 3, 10, 50, 64};

std::unique_ptr<Endpoint> make_emulated(std::shared_ptr<const RegionSet> regions) {
  return std::make_unique<EmulatedEndpoint>(make_mapped(std::move(regions)),
                                            std::make_shared<Device>(kQuick));
}

std::unique_ptr<Endpoint> make_faulty(std::shared_ptr<const RegionSet> regions) {
  return std::make_unique<FaultyEndpoint>(make_mapped(std::move(regions)),
                                          FaultOptions{.delay_rate = 0.5, .delay_polls = 3});
}

std::unique_ptr<Endpoint> make_faulty_emulated(std::shared_ptr<const RegionSet> regions) {
  return std::make_unique<FaultyEndpoint>(make_emulated(std::move(regions)));
}

std::unique_ptr<Endpoint> make_emulated_faulty(std::shared_ptr<const RegionSet> regions) {
  return std::make_unique<EmulatedEndpoint>(make_faulty(std::move(regions)),
                                            std::make_shared<Device>(kQuick));
}

struct Maker {
  const char* name;
  std::function<std::unique_ptr<Endpoint>(std::shared_ptr<const RegionSet>)> make;
};

class EndpointTest : public testing::TestWithParam<Maker> {
 protected:
  EndpointTest() : regions_(random_regions()), endpoint_(GetParam().make(regions_)) {}

  const std::byte* source(const ReadRequest& read) const {
    return (*regions_)[read.region].bytes().data() + read.offset;
  }

  std::shared_ptr<const RegionSet> regions_;
  std::unique_ptr<Endpoint> endpoint_;
  std::byte buffer_[1000] = {};
};

TEST_P(EndpointTest, KnowsItsRegions) {
  EXPECT_EQ(endpoint_->region_bytes(0), 1u << 20);
  EXPECT_EQ(endpoint_->region_bytes(1), 1000u);
  EXPECT_EQ(endpoint_->region_bytes(2), 0u);
  EXPECT_FALSE(endpoint_->description().empty());
  EXPECT_EQ(endpoint_->limits().max_outstanding, kOutstanding);
}

TEST_P(EndpointTest, NothingPostedNothingPolled) {
  Completion completion;
  EXPECT_TRUE(endpoint_->post({}).ok());
  EXPECT_EQ(endpoint_->poll({&completion, 1}), 0u);
}

TEST_P(EndpointTest, BringsTheBytesOfEveryRead) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<ReadRequest> reads(1 + random.below(kOutstanding));
    std::vector<std::vector<std::byte>> buffers(reads.size());
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const auto region = static_cast<RegionId>(random.below(2));
      const auto bytes = static_cast<std::uint32_t>(random.below(900));
      buffers[i].resize(bytes + 1, std::byte{0x5a});
      reads[i] = {.token = 1000 + i,
                  .region = region,
                  .bytes = bytes,
                  .offset = random.below(endpoint_->region_bytes(region) - bytes + 1),
                  .destination = buffers[i].data()};
    }
    ASSERT_TRUE(endpoint_->post(reads).ok());
    const auto completions = collect(*endpoint_, reads.size());
    ASSERT_EQ(completions.size(), reads.size());
    std::vector<int> seen(reads.size());
    for (const Completion& completion : completions) {
      const std::size_t i = completion.token - 1000;
      ASSERT_LT(i, reads.size());
      ++seen[i];
      EXPECT_EQ(completion.status, StatusCode::ok);
      EXPECT_EQ(completion.bytes, reads[i].bytes);
      EXPECT_EQ(std::memcmp(buffers[i].data(), source(reads[i]), reads[i].bytes), 0);
      EXPECT_EQ(buffers[i].back(), std::byte{0x5a}) << "wrote past the end";
    }
    EXPECT_EQ(seen, std::vector<int>(reads.size(), 1)) << "each token once";
  }
}

TEST_P(EndpointTest, RefusesAReadWithoutADestination) {
  const ReadRequest read{.token = 9, .region = 0, .bytes = 300, .offset = 77};
  EXPECT_EQ(endpoint_->post({&read, 1}).code(), StatusCode::invalid_argument);
}

TEST_P(EndpointTest, RefusesWhatIsOutsideAndPostsNothing) {
  const ReadRequest good{.region = 1, .bytes = 10, .offset = 0, .destination = buffer_};
  const ReadRequest bad[] = {
      {.region = 1, .bytes = 1001, .offset = 0, .destination = buffer_},
      {.region = 1, .bytes = 1, .offset = 1000, .destination = buffer_},
      {.region = 1, .bytes = 2, .offset = ~std::uint64_t{0}, .destination = buffer_},
      {.region = 2, .bytes = 0, .offset = 0, .destination = buffer_},
      {.region = 0, .bytes = kReadBytes + 1, .offset = 0, .destination = buffer_},
  };
  for (const ReadRequest& read : bad) {
    const ReadRequest reads[] = {good, read};
    EXPECT_EQ(endpoint_->post(reads).code(), StatusCode::invalid_argument);
  }
  Completion completion;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(endpoint_->poll({&completion, 1}), 0u);
}

TEST_P(EndpointTest, ZeroBytesAtTheEndOfARegionComplete) {
  const ReadRequest read{.token = 5, .region = 1, .offset = 1000, .destination = buffer_};
  ASSERT_TRUE(endpoint_->post({&read, 1}).ok());
  const auto completions = collect(*endpoint_, 1);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].token, 5u);
  EXPECT_EQ(completions[0].bytes, 0u);
}

TEST_P(EndpointTest, BoundsWhatIsOutstanding) {
  const std::vector<ReadRequest> full(
      kOutstanding, {.region = 1, .bytes = 8, .offset = 0, .destination = buffer_});
  const std::vector<ReadRequest> too_many(
      kOutstanding + 1, {.region = 1, .bytes = 8, .offset = 0, .destination = buffer_});
  EXPECT_EQ(endpoint_->post(too_many).code(), StatusCode::resource_exhausted);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(endpoint_->post(full).ok());
    EXPECT_EQ(endpoint_->post({full.data(), 1}).code(), StatusCode::resource_exhausted);
    EXPECT_EQ(collect(*endpoint_, kOutstanding).size(), kOutstanding);
  }
}

TEST_P(EndpointTest, CloseGivesDestinationsBack) {
  const ReadRequest read{.region = 1, .bytes = 500, .offset = 0, .destination = buffer_};
  ASSERT_TRUE(endpoint_->post({&read, 1}).ok());
  endpoint_->close();
  const std::byte before[500] = {};
  EXPECT_EQ(std::memcmp(buffer_, before, 500), 0);
  Completion completion;
  EXPECT_EQ(endpoint_->poll({&completion, 1}), 0u);
  EXPECT_EQ(endpoint_->post({&read, 1}).code(), StatusCode::unavailable);
  endpoint_->close();
  EXPECT_EQ(endpoint_->poll({&completion, 1}), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, EndpointTest,
                         testing::Values(Maker{"mapped", make_mapped},
                                         Maker{"emulated", make_emulated},
                                         Maker{"faulty", make_faulty},
                                         Maker{"faulty_emulated", make_faulty_emulated},
                                         Maker{"emulated_faulty", make_emulated_faulty}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace farvec::transport
