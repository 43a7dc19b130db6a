#include "postgres/engine/open_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "base/status_error.h"
#include "changes/changing.h"
#include "postgres/engine/indexes.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/postgres/engine/access.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres {
namespace {

using collection::comes;

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
constexpr double kLongUs = 3600e6;

/// An index of an engine that has a rest until the index has caught up.
class CatchingUp : public testing::Test {
 protected:
  CatchingUp() { start(); }

  void start() {
    index_.reset();
    indexes_.reset();
    collection::CollectionAccess access = access_of_tests();
    access.logged = false;
    access.link = true;
    access.rest_us = rest_us_;
    access.merge = merges_;
    indexes_ =
        std::make_unique<Indexes>(IndexesOptions{{.own = folder_.path() / "all"}, kMemory, access});
    index_ = indexes_->open(name_of(small_index().index), small_index());
  }

  /// Tells `count` rows, from this VID on.
  void tell(std::uint64_t first, std::size_t count, Coming coming = Coming::many_that_lack) {
    constexpr std::size_t kBatch = 1000;
    for (std::size_t i = 0; i < count; i += kBatch) {
      const std::size_t rows = std::min(kBatch, count - i);
      std::vector<std::uint64_t> vids(rows);
      std::vector<float> floats(rows * index_->shape().dimension);
      for (std::size_t row = 0; row < rows; ++row) vids[row] = first + i + row;
      for (float& value : floats) value = normal_(random_);
      ASSERT_TRUE(index_->insert(vids, std::as_bytes(std::span(floats)), {},
                                 now_ticks() + us_to_ticks(60e6), {.coming = coming}));
    }
  }
  std::uint64_t linked() const {
    std::uint64_t rows = 0;
    for (const auto& fresh : index_->view()->memtables) rows += fresh.memtable->linked();
    return rows;
  }
  std::size_t segments() const { return index_->view()->segments.size(); }
  /// What would be done by now without a rest.
  void expect_nothing_done(std::size_t segments_before) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(linked(), 0u);
    EXPECT_EQ(segments(), segments_before);
  }
  bool is_linked() const { return linked() == fresh(); }
  std::uint64_t fresh() const {
    std::uint64_t rows = 0;
    for (const auto& fresh : index_->view()->memtables) rows += fresh.count;
    return rows;
  }

  const tests::TemporaryFolder folder_;
  double rest_us_ = kLongUs;
  bool merges_ = true;
  std::unique_ptr<Indexes> indexes_;
  std::shared_ptr<OpenIndex> index_;
  std::mt19937 random_{3};
  std::normal_distribution<float> normal_;
};

TEST_F(CatchingUp, NothingIsLinkedOrBuiltBeforeAllHaveCome) {
  tell(1, 20'000);
  expect_nothing_done(0);
  index_->covers(20'001, true);
  EXPECT_TRUE(comes([&] { return segments() == 1 && fresh() == 0; }));
  EXPECT_EQ(index_->state().rows, 20'000u);
}

TEST_F(CatchingUp, AFewRowsAreLinkedWhenAllHaveCome) {
  tell(1, 500);
  expect_nothing_done(0);
  index_->covers(501, true);
  EXPECT_TRUE(comes([&] { return linked() == 500; }));
  EXPECT_EQ(segments(), 0u);
  tell(501, 500, Coming::new_rows);
  EXPECT_TRUE(comes([&] { return linked() == 1000; })) << "no rest begins again";
}

TEST_F(CatchingUp, SegmentsAreMergedWhenAllHaveCome) {
  merges_ = false;
  for (std::size_t i = 0; i < 2; ++i) {
    start();
    tell(1 + i * 10'000, 9000);
    index_->covers(1 + (i + 1) * 10'000, true);
    ASSERT_TRUE(comes([&] { return segments() == i + 1 && fresh() == 0; })) << i;
  }
  merges_ = true;
  start();
  expect_nothing_done(2);
  index_->covers(20'001, true);
  EXPECT_TRUE(comes([&] { return segments() == 1; }));
  EXPECT_EQ(index_->state().rows, 18'000u);
}

/// The process that tells rows ends before it has told all.
TEST_F(CatchingUp, TheRestIsOverAWhileAfterTheLastRowsHaveCome) {
  rest_us_ = 1;
  start();
  tell(1, 500);
  EXPECT_TRUE(comes([&] { return linked() == 500; }));
  EXPECT_FALSE(index_->caught_up());
  tell(501, 500);  // by another process
  index_->covers(1001, true);
  EXPECT_TRUE(comes([&] { return linked() == 1000; }));
}

TEST_F(CatchingUp, RowsThatMemtablesDoNotHoldBecomeSegmentsMeanwhile) {
  const std::uint64_t all = 4ull * index_->shape().options.memtable_rows;
  tell(1, all);
  EXPECT_GE(segments(), 1u);
  EXPECT_TRUE(comes([&] { return is_linked(); }));
  index_->covers(all + 1, true);
  EXPECT_EQ(index_->state().rows, all);
}

TEST_F(CatchingUp, AFaultyRowIsRefused) {
  tell(1, 100);
  std::vector<float> floats(4 * index_->shape().dimension, 1);
  floats[9] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::uint64_t> vids{201, 202, 203, 204};
  const std::vector<std::uint64_t> twice{201, 202, 203, 201};
  const auto told = [&](std::span<const std::uint64_t> some) {
    return index_->insert(some, std::as_bytes(std::span(floats)), {},
                          now_ticks() + us_to_ticks(60e6), {.coming = Coming::many_that_lack});
  };
  EXPECT_THROW((void)told(vids), StatusError);
  floats[9] = 1;
  EXPECT_THROW((void)told(twice), changes::Refusal);
  EXPECT_THROW((void)told(std::span(vids).first(3)), StatusError) << "vectors without VIDs";
  EXPECT_EQ(index_->state().rows, 100u);
  EXPECT_TRUE(told(vids));
  EXPECT_EQ(index_->state().rows, 104u);
}

TEST_F(CatchingUp, ABuildDoesNotWait) {
  index_->begin_build(kMemory);
  tell(1, 500, Coming::new_rows);
  ToldBuild told{};
  EXPECT_TRUE(comes([&] {
    told = index_->build(now_ticks() + us_to_ticks(20e3));
    return told.finished == 1;
  }));
  EXPECT_EQ(told.rows, 500u);
  EXPECT_EQ(segments(), 1u);
}

}  // namespace
}  // namespace farvec::postgres
