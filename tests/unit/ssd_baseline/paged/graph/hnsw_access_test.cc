#include "ssd_baseline/paged/graph/hnsw_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "ssd_baseline/paged/cores/hnsw_crew.h"
#include "tests/unit/message_of.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using tests::message_of;

constexpr std::uint32_t kBytes = 8192;  // of a page
constexpr std::size_t kChange = 222;    // pages of a change with m 24
constexpr std::uint64_t kLarge = 100'000ull * kBytes;

std::uint64_t pages_for(const std::string& text, std::uint64_t at_once, std::uint64_t whole = 0) {
  const auto needs = BufferNeeds::for_changes(kChange, kBytes, at_once);
  return buffer_bytes(text, whole, needs, "--buffer") / kBytes;
}

TEST(BufferBytes, HaveRoomForEveryChangeWhereNothingIsChosen) {
  EXPECT_EQ(pages_for("", 1), 2u * kChange + 32);
  EXPECT_EQ(pages_for("", 8), 8u * kChange + 32);
  EXPECT_EQ(pages_for("", 500), 500u * kChange + 32);
  // 1 GiB has room for 593 changes; more of them wait for each other.
  EXPECT_EQ(pages_for("", 1u << 20), 590u * kChange + 32);
  EXPECT_EQ(pages_for("", 8, kLarge), 25'000u);
  EXPECT_EQ(pages_for("", 0), kMinFrames);
}

TEST(BufferBytes, OfAShareHaveRoomForTwoChanges) {
  for (const std::uint64_t at_once : {1, 8, 500}) {
    EXPECT_EQ(pages_for("25%", at_once), 2u * kChange + 32);
    EXPECT_EQ(pages_for("10%", at_once, kLarge), 10'000u);
  }
  EXPECT_EQ(pages_for("10%", 0), kMinFrames);
}

TEST(BufferBytes, ThatAreTooFewForOneChangeAreRefusedWithTheSmallestSize) {
  const std::string least = std::to_string((kChange + 16) * kBytes);
  EXPECT_EQ(pages_for(least, 500), kChange + 16);
  const std::string fewer = std::to_string((kChange + 16) * kBytes - 1);
  EXPECT_THAT(message_of([&] { (void)pages_for(fewer, 1); }),
              AllOf(HasSubstr("--buffer " + fewer), HasSubstr("may change 222 at once"),
                    HasSubstr("at least " + least + " bytes (238 pages)")));
  EXPECT_EQ(pages_for("512KiB", 0), kMinFrames);
  EXPECT_THAT(message_of([&] { (void)pages_for("511KiB", 0); }),
              AllOf(HasSubstr("63 pages"), HasSubstr("at least 524288 bytes (64 pages)")));
}

TEST(BufferBytes, FollowFromTheGraphThatIsToBeMade) {
  HnswConfig config = small_config(12, 64);
  config.ef_construction = 200;
  EXPECT_EQ(BufferNeeds::for_changes(config, kBytes, 1).change_pages, 6u + 128 + 6 * 64);
  config.m = 24;
  EXPECT_EQ(BufferNeeds::for_changes(config, kBytes, 1).change_pages, kChange);
}

/// The smallest buffer that is not refused, and many more fibers than it has room for.
TEST(OpenHnsw, WithTheSmallestBufferTakesAllInserts) {
  const tests::TemporaryFolder folder;
  const HnswConfig config = small_config(12, 24);
  const Rows rows(700, config);
  const PageStoreOptions options = store_options(folder);
  make_paged(options, config, rows, 350).reset();
  const std::string path = options.folder.string();
  const std::string least = std::to_string((kChange + 16) * kBytes);
  const auto hnsw = open_hnsw(path, {.buffer = least, .durability = "none", .changes_at_once = 96});
  EXPECT_EQ(hnsw->store().frames(), kChange + 16);
  HnswCrewOptions options_of_crew;
  options_of_crew.threads = 3;
  options_of_crew.slots = 32;
  options_of_crew.acknowledge_each = false;
  HnswCrew crew(*hnsw, options_of_crew);
  std::vector<NodeId> more(350);
  for (NodeId i = 0; i < more.size(); ++i) more[i] = 350 + i;
  EXPECT_EQ(crew.insert({rows.view(), more, {}}).done, 350u);
  expect_sound(*hnsw, 700);
}

}  // namespace
}  // namespace farvec::paged
