#include "transport/faulty/faulty_endpoint.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "tests/unit/transport/test_regions.h"

namespace farvec::transport {
namespace {

constexpr std::uint32_t kBytes = 256;

class FaultyTest : public testing::Test {
 protected:
  FaultyEndpoint make(FaultOptions options) {
    return FaultyEndpoint(std::make_unique<MappedEndpoint>(regions_), options);
  }

  Status post_one(FaultyEndpoint& endpoint, std::uint64_t token) {
    const ReadRequest read{
        .token = token, .bytes = kBytes, .offset = token * 100, .destination = buffer_};
    return endpoint.post({&read, 1});
  }

  int wrong_bits(std::uint64_t token) const {
    int bits = 0;
    for (std::uint32_t i = 0; i < kBytes; ++i) {
      const std::byte expected = (*regions_)[0].bytes()[token * 100 + i];
      bits += std::popcount(std::to_integer<std::uint8_t>(expected ^ buffer_[i]));
    }
    return bits;
  }

  /// One character per read: what became of it.
  std::string story(FaultOptions options, std::size_t reads = 1000) {
    FaultyEndpoint endpoint = make(options);
    std::string text;
    for (std::uint64_t token = 0; token < reads; ++token) {
      if (!post_one(endpoint, token).ok()) {
        text += 'p';
        continue;
      }
      Completion completion;
      std::size_t polls = 0;
      while (endpoint.poll({&completion, 1}) == 0 && ++polls < 50) {
      }
      if (polls == 50) {
        text += 'd';
      } else if (completion.status != StatusCode::ok) {
        text += completion.status == StatusCode::internal ? 'e' : 'u';
      } else if (completion.bytes < kBytes) {
        text += 's';
      } else if (wrong_bits(token) > 0) {
        text += wrong_bits(token) == 1 ? 'f' : '?';
      } else {
        text += polls > 0 ? 'l' : '.';
      }
    }
    return text;
  }

  std::shared_ptr<const RegionSet> regions_ = random_regions();
  std::byte buffer_[kBytes] = {};
};

long count(const std::string& text, char c) {
  return std::count(text.begin(), text.end(), c);
}

TEST_F(FaultyTest, BringsWhatLiesElsewhereToTheDestination) {
  FaultyEndpoint endpoint(
      std::make_unique<MappedEndpoint>(regions_, MappedOptions{.by_reference = true}));
  ASSERT_TRUE(post_one(endpoint, 3).ok());
  const auto found = collect(endpoint, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].region, nullptr);
  EXPECT_EQ(wrong_bits(3), 0);
}

TEST_F(FaultyTest, WithoutFaultsChangesNothing) {
  EXPECT_EQ(story({}), std::string(1000, '.'));
}

TEST_F(FaultyTest, InjectsEachFaultAtItsRate) {
  const std::pair<char, FaultOptions> cases[] = {
      {'d', {.drop_rate = 0.2}}, {'s', {.short_rate = 0.2}},
      {'f', {.flip_rate = 0.2}}, {'e', {.error_rate = 0.2}},
      {'p', {.post_rate = 0.2}}, {'l', {.delay_rate = 0.2, .delay_polls = 10}},
  };
  for (const auto& [letter, options] : cases) {
    const std::string text = story(options);
    EXPECT_NEAR(static_cast<double>(count(text, letter)), 200, 60) << letter;
    EXPECT_EQ(count(text, letter) + count(text, '.'), 1000) << letter;
  }
}

TEST_F(FaultyTest, IsTheSameForTheSameSeed) {
  FaultOptions options{.seed = 9, .drop_rate = 0.1, .short_rate = 0.1, .flip_rate = 0.1};
  options.error_rate = options.delay_rate = options.post_rate = 0.1;
  options.delay_polls = 5;
  const std::string text = story(options);
  EXPECT_EQ(text, story(options));
  options.seed = 10;
  EXPECT_NE(text, story(options));
}

TEST_F(FaultyTest, FailsTheNth) {
  EXPECT_EQ(story({.failing_read = 3}, 6), "...e..");
  EXPECT_EQ(story({.failing_post = 2}, 6), "..p...");
}

TEST_F(FaultyTest, ADeadPeerEndsEverything) {
  EXPECT_EQ(story({.dead_from_read = 2}, 5), "..upp");
  FaultyEndpoint endpoint = make({.drop_rate = 1});
  for (std::uint64_t token = 0; token < 5; ++token) ASSERT_TRUE(post_one(endpoint, token).ok());
  Completion completions[8];
  EXPECT_EQ(endpoint.poll(completions), 0u);
  endpoint.kill();
  ASSERT_EQ(endpoint.poll(completions), 5u) << "dropped reads end too";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(completions[i].status, StatusCode::unavailable);
  EXPECT_EQ(post_one(endpoint, 0).code(), StatusCode::unavailable);
  EXPECT_EQ(endpoint.poll(completions), 0u);
}

TEST_F(FaultyTest, DroppedReadsStayOutstandingUntilClose) {
  FaultyEndpoint endpoint(
      std::make_unique<MappedEndpoint>(regions_, MappedOptions{.max_outstanding = 4}),
      {.drop_rate = 1});
  for (std::uint64_t token = 0; token < 4; ++token) ASSERT_TRUE(post_one(endpoint, token).ok());
  EXPECT_EQ(post_one(endpoint, 4).code(), StatusCode::resource_exhausted);
  endpoint.close();
  EXPECT_EQ(post_one(endpoint, 4).code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace farvec::transport
