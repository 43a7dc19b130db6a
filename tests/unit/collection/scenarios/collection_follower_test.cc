// Readers that follow what a writer does.
#include "collection/collection_follower.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/error.h"
#include "tests/unit/collection/changing_collection.h"

namespace farvec::collection {
namespace {

constexpr FollowOptions kQuick{
    .poll_us = 500, .manifest_us = 2'000, .retry_us = 5'000, .link = true};
constexpr FollowOptions kSlow{.poll_us = 40'000, .manifest_us = 100'000, .retry_us = 5'000};

/// Whether it came true within the time that anything may take here.
bool comes(const std::function<bool()>& true_by_now) {
  const Ticks deadline = now_ticks() + us_to_ticks(kPatienceUs);
  while (!true_by_now()) {
    if (now_ticks() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

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

TEST_F(FollowedCollection, OneThatIsNotThereIsRefused) {
  EXPECT_THROW(const CollectionFollower follower(folder_.path() / "none", small_segments()), Error);
}

}  // namespace
}  // namespace farvec::collection
