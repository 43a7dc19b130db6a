// Readers that follow what a writer does.
#include "collection/read/collection_follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"

namespace farvec::collection {
namespace {

const FollowOptions kQuick{.poll_us = 500, .manifest_us = 2'000, .retry_us = 5'000, .link = true};
const FollowOptions kSlow{.poll_us = 40'000, .manifest_us = 100'000, .retry_us = 5'000};

class FollowedCollection : public ChangingCollection {
 protected:
  void expect_follows(const CollectionFollower& follower) {
    const std::uint64_t version = collection_->view()->version;
    ASSERT_TRUE(comes([&] { return follower.view()->version >= version; }))
        << follower.state().failure;
    EXPECT_EQ(follower.view()->version, version);
    expect_holds(follower.view(), rows_, random_);
  }
};

TEST_F(FollowedCollection, HasEveryChange) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  open(access);
  const CollectionFollower quick(path(), small_segments(), kQuick);
  const CollectionFollower slow(path(), small_segments(), kSlow);
  for (int i = 0; i < 120; ++i) {
    change_somehow(access);
    if (i % 3 == 0) expect_follows(quick);
    if (i % 30 == 0) expect_follows(slow);
  }
  collection_->compact();
  expect_follows(quick);
  expect_follows(slow);
  EXPECT_GT(quick.state().switches, 0u);
  EXPECT_TRUE(comes([&] { return quick.view()->segments.size() == 1; }));
  EXPECT_TRUE(
      comes([&] { return quick.view()->memtables.empty() || size_of(*quick.view()).fresh == 0; }));
}

TEST_F(FollowedCollection, IsSeenWithoutSegmentsToo) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  access.merge = false;
  open(access);
  const CollectionFollower follower(path(), small_segments(), kQuick);
  for (std::uint64_t id = 0; id < 40; ++id) {
    insert_ids(id, id + 1);
    if (id % 5 == 4) erase_ids({id - 1});
    expect_follows(follower);
  }
  EXPECT_EQ(follower.state().switches, 0u);
  EXPECT_EQ(follower.state().changes, 48u);
  EXPECT_TRUE(comes([&] { return follower.view()->memtables.back().memtable->unlinked() == 0; }));
}

TEST_F(FollowedCollection, ABatchIsSeenAsAWhole) {
  constexpr std::uint64_t kIds = 40;
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  open(access);
  // All rows of batch n are (n, n, ...): whoever sees two different ones has seen a part.
  const auto batch_of = [](std::uint64_t n) {
    Batch batch;
    for (std::uint64_t id = 0; id < kIds; ++id) {
      batch.add(id, std::vector<float>(kSmallDimension, static_cast<float>(n)));
    }
    return batch;
  };
  insert(*collection_, batch_of(0));
  const CollectionFollower follower(path(), small_segments(), kQuick);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t n = 1; !stop; ++n) insert(*collection_, batch_of(n));
  });
  for (int i = 0; i < 300; ++i) {
    const ViewPointer view = follower.view();
    const Answer answer = search_view(view, std::vector<float>(kSmallDimension, 0.0F), kIds);
    EXPECT_EQ(answer.ids.size(), kIds);
    EXPECT_EQ(answer.distances.front(), answer.distances.back()) << "version " << view->version;
  }
  stop = true;
  writer.join();
  const std::uint64_t version = collection_->view()->version;
  EXPECT_TRUE(comes([&] { return follower.view()->version == version; }));
}

TEST_F(FollowedCollection, WhatCannotBeReadIsSaidAndTriedAgain) {
  open();
  insert_ids(0, 120);
  collection_->flush();
  collection_->settle();  // or a merge would write the manifest once more
  const CollectionFollower follower(path(), small_segments(), kQuick);
  const std::filesystem::path manifest = path() / layout::kCollectionFile;
  std::filesystem::rename(manifest, path() / "away");
  EXPECT_TRUE(comes([&] { return !follower.state().failure.empty(); }));
  expect_holds(follower.view(), rows_, random_);
  const std::uint64_t failures = follower.state().failures;
  EXPECT_GT(failures, 0u);
  EXPECT_TRUE(comes([&] { return follower.state().failures > failures; }));
  std::filesystem::rename(path() / "away", manifest);
  insert_ids(60, 200);
  collection_->flush();
  expect_follows(follower);
  EXPECT_TRUE(comes([&] { return follower.state().failure.empty(); }));
}

/// More than a second's worth of records comes at once.
TEST_F(FollowedCollection, WhatTakesLongToReadIsSeenInPieces) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  open(access);
  insert_ids(0, 40);
  FollowOptions rare = kQuick;
  rare.poll_us = 2e6;
  const CollectionFollower follower(path(), small_segments(), rare);
  std::vector<std::uint64_t> ids(100'000);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 1'000'000 + 7 * i;
  const Ticks end = now_ticks() + us_to_ticks(1e6);
  int batches = 0;
  while (batches < 12 || (batches < 60 && now_ticks() < end)) {
    erase_ids(ids);
    ++batches;
  }
  const std::uint64_t version = collection_->view()->version;
  std::set<std::uint64_t> seen;
  EXPECT_TRUE(comes([&] {
    (void)follower.state();  // does not wait until all is read
    seen.insert(follower.view()->version);
    return follower.view()->version >= version;
  }));
  EXPECT_GE(seen.size(), 5u) << "of " << batches << " batches";
  expect_follows(follower);
}

/// An import is in no log, and nobody looks for another manifest for a long time.
TEST_F(FollowedCollection, WhatComesAfterAnImportIsNotSeenWithoutIt) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  open(access);
  insert_ids(0, 30);
  FollowOptions options = kQuick;
  options.manifest_us = 1e12;
  const CollectionFollower follower(path(), small_segments(), options);
  for (std::uint64_t begin = 20; begin < 200; begin += 60) {
    const Batch batch = new_rows(begin, begin + 50);
    (void)collection_->import({batch.rows(), batch.ids()});
    if (begin == 80) erase_ids({5, begin});
    insert_ids(begin + 40, begin + 55);
    expect_follows(follower);
  }
  EXPECT_GE(follower.state().switches, 3u);
  EXPECT_EQ(follower.state().failure, "");
}

/// The manifest cannot be read for a while, and says what it said when it can.
TEST_F(FollowedCollection, AFailureThatHasPassedIsNotSaidAnyMore) {
  open();
  insert_ids(0, 120);
  collection_->flush();
  collection_->settle();
  const CollectionFollower follower(path(), small_segments(), kQuick);
  const std::filesystem::path manifest = path() / layout::kCollectionFile;
  std::filesystem::rename(manifest, path() / "away");
  EXPECT_TRUE(comes([&] { return !follower.state().failure.empty(); }));
  std::filesystem::rename(path() / "away", manifest);
  EXPECT_TRUE(comes([&] { return follower.state().failure.empty(); }, 10e6));
  EXPECT_EQ(follower.state().switches, 0u);
}

/// Files that hold the ids of segments, spoiled for readers: the writer has read them.
class SpoiledIds {
 public:
  explicit SpoiledIds(std::filesystem::path segments) : segments_(std::move(segments)) {}

  void spoil() {
    for (const auto& entry : std::filesystem::directory_iterator(segments_)) {
      const std::filesystem::path file = entry.path() / layout::kSegmentIdsFile;
      if (!entry.is_directory() || away_.contains(file)) continue;
      const std::filesystem::path away = file.string() + ".away";
      std::filesystem::rename(file, away);
      std::ofstream(file) << "spoiled";
      away_[file] = away;
    }
  }
  void mend() const {
    for (const auto& [file, away] : away_) std::filesystem::rename(away, file);
  }

 private:
  const std::filesystem::path segments_;
  std::map<std::filesystem::path, std::filesystem::path> away_;
};

/// Memtables have their bound, and what is not followed any more is said by its age.
TEST_F(FollowedCollection, WithoutSegmentsItStandsStillUntilTheyAreThere) {
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  access.merge = false;
  open(access);
  insert_ids(0, 50);
  collection_->flush();
  const CollectionFollower follower(path(), small_segments(), kQuick);
  SpoiledIds ids(segments());
  std::uint64_t next = 100;
  const auto add_segment = [&] {
    insert_ids(next, next + 50);
    next += 50;
    collection_->flush();
    ids.spoil();
  };
  // On a busy machine it opens many before they are spoilt.
  while (follower.state().failure.empty() && next < 20'000) add_segment();
  for (std::size_t i = 0; i < kMostFollowedMemtables + 4; ++i) add_segment();
  EXPECT_TRUE(comes([&] { return !follower.state().failure.empty(); }));
  insert_ids(next, next + 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(follower.view()->memtables.size(), kMostFollowedMemtables + 1);
  EXPECT_LT(follower.view()->version, collection_->view()->version);
  EXPECT_GT(follower.state().stale_us, 90e3);
  EXPECT_FALSE(follower.state().failure.empty());
  ids.mend();
  expect_follows(follower);
  EXPECT_TRUE(comes([&] { return follower.state().failure.empty(); }));
}

/// The segments are replaced, and the same rows are fresh.
TEST_F(FollowedCollection, RowsAreLinkedBeforeASwitch) {
  constexpr std::uint64_t kFresh = 4000;
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  access.merge = false;
  layout::CollectionManifest shape = small_shape();
  shape.options.memtable_rows = 5000;
  const std::filesystem::path set = folder_.path() / "large";
  Collection::create(set, shape);
  collection_ = std::make_unique<Collection>(set, access);
  for (std::uint64_t id = 0; id < 90; id += 30) {
    insert_ids(id, id + 30);
    collection_->flush();
  }
  for (std::uint64_t id = 1000; id < 1000 + kFresh; id += 500) insert_ids(id, id + 500);
  const CollectionFollower follower(set, small_segments(), kQuick);
  const auto unlinked = [&] {
    std::uint64_t rows = 0;
    const ViewPointer view = follower.view();
    for (const View::Fresh& fresh : view->memtables) rows += fresh.memtable->unlinked();
    return rows;
  };
  ASSERT_EQ(size_of(*follower.view()).fresh, kFresh);
  EXPECT_TRUE(comes([&] { return unlinked() == 0; }));
  collection_.reset();
  access.merge = true;
  collection_ = std::make_unique<Collection>(set, access);
  std::uint64_t most = 0;
  EXPECT_TRUE(comes([&] {
    const bool switched = follower.state().switches > 0;
    most = std::max(most, unlinked());
    return switched;
  }));
  EXPECT_LE(most, kFresh / 10);
  expect_follows(follower);
  EXPECT_EQ(size_of(*follower.view()).fresh, kFresh);
}

TEST_F(FollowedCollection, OneThatIsNotThereIsRefused) {
  EXPECT_THROW(const CollectionFollower follower(folder_.path() / "none", small_segments()), Error);
}

}  // namespace
}  // namespace farvec::collection
