// A test's collection in a folder of its own, changed beside a map that says what it should hold.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "collection/write/collection.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {

/// A collection that is changed, and what it should hold.
class ChangingCollection : public testing::Test {
 protected:
  explicit ChangingCollection(const layout::CollectionManifest& shape = small_shape()) {
    Collection::create(path(), shape);
  }

  std::filesystem::path path() const { return folder_.path() / "set"; }
  std::filesystem::path segments() const { return path() / layout::kCollectionSegmentsFolder; }

  void open(const CollectionAccess& access = small_access()) {
    collection_.reset();
    collection_ = std::make_unique<Collection>(path(), access);
  }

  /// Random rows for the ids from `begin` on, also in what should be there.
  Batch new_rows(std::uint64_t begin, std::uint64_t end) {
    Batch batch;
    for (std::uint64_t id = begin; id < end; ++id) {
      rows_[id] = random_row(random_);
      batch.add(id, rows_[id]);
    }
    return batch;
  }
  void insert_ids(std::uint64_t begin, std::uint64_t end) {
    const std::size_t before = rows_.size();
    const Receipt receipt = insert(*collection_, new_rows(begin, end));
    EXPECT_EQ(receipt.done, end - begin);
    EXPECT_EQ(receipt.done - receipt.replaced, rows_.size() - before);
  }
  void erase_ids(const std::vector<std::uint64_t>& ids) {
    std::uint64_t found = 0;
    for (const std::uint64_t id : ids) found += rows_.erase(id);
    const Receipt receipt = erase(*collection_, ids);
    EXPECT_EQ(receipt.done, found);
    EXPECT_EQ(receipt.missing, ids.size() - found);
  }
  void erase_some() {
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 30; ++i) ids.insert(random_.below(340));
    erase_ids({ids.begin(), ids.end()});
  }
  void expect_same() { expect_holds(collection_->view(), rows_, random_); }

  void change_somehow(const CollectionAccess& access = small_access()) {
    const std::uint64_t begin = random_.below(300);
    switch (random_.below(8)) {
      case 0:
        return erase_some();
      case 1:
        return void(collection_->flush());
      case 2:
        return random_.below(3) == 0 ? void(collection_->compact()) : collection_->settle();
      case 3:
        return open(access);
      default:
        insert_ids(begin, begin + 1 + random_.below(40));
    }
  }

  tests::TemporaryFolder folder_;
  Random random_{7};
  Rows rows_;
  std::unique_ptr<Collection> collection_;
};

}  // namespace farvec::collection
