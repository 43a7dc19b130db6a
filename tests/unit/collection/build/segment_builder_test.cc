#include "collection/build/segment_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collection/state/replay.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

enum class Linked : std::uint8_t { none, all };

/// Segments of rows of tenants, which change while a segment is made of them: of a memtable whose
/// rows are linked before, or of its rows.
class OwnedSegments : public testing::TestWithParam<Linked> {
 protected:
  OwnedSegments() {
    shape_.schema = layout::parse_schema("owner: string tenant");
    MemtableOptions options = memtable_options(shape_);
    options.attributes = true;
    contents_ = std::make_unique<Contents>(options);
    contents_->begin({}, 0, shape_.schema);
    contents_->rotate(0);
  }

  static std::string owner_of(std::uint64_t id) { return "t" + std::to_string(id * 7 % 5); }
  layout::Tuples tuple_of(const std::string& owner) const {
    layout::Tuples tuples;
    tuples.append(shape_.schema, std::vector<layout::Value>{owner});
    return tuples;
  }

  void insert(std::uint64_t first, std::uint64_t end) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      batch.add(id, random_row(random_));
      tuples.append(tuple_of(owner_of(id)).view());
      owners_[id] = owner_of(id);
    }
    contents_->insert({batch.rows(), batch.ids(), tuples.view()}, ++version_);
  }
  void erase(std::uint64_t id) {
    EXPECT_EQ(contents_->erase({&id, 1}, ++version_), 1u);
    owners_.erase(id);
  }
  void give_away(std::uint64_t id, const std::string& owner) {
    EXPECT_EQ(contents_->update({&id, 1}, tuple_of(owner).view(), ++version_), 1u);
    owners_[id] = owner;
  }

  SegmentRecipe recipe() {
    const std::uint64_t number = next_++;
    return {.folder = folder_.path() / std::to_string(number),
            .number = number,
            .name = "set",
            .manifest = &shape_,
            .schema = contents_->current()->schema,
            .access = small_segments(),
            .followers = nullptr,
            .threads = 1,
            .rounds_rows = true,
            .watch = &watch_};
  }
  /// Makes a segment of the only memtable that is full.
  Replacement build() {
    contents_->rotate(1);
    auto part = std::make_shared<View>();
    part->version = contents_->current()->version;
    part->memtables = {contents_->current()->memtables.front()};
    Memtable& memtable = *contents_->memtables().front();
    if (GetParam() == Linked::all) link_rest(memtable, 1);
    Replacement made = build_segment(part, memtable, recipe());
    EXPECT_EQ(memtable.linked(), GetParam() == Linked::all ? memtable.size() : 0);
    return made;
  }
  Replacement merge() {
    auto part = std::make_shared<View>();
    part->version = contents_->current()->version;
    part->segments = contents_->current()->segments;
    return merge_segments(part, recipe());
  }

  /// Every row that is not out has the owner that it should have.
  void expect_owners() {
    std::map<std::uint64_t, std::string> found;
    const ViewPointer view = contents_->current();
    for (const View::Bulk& bulk : view->segments) {
      for (NodeId row = 0; row < bulk.segment->rows(); ++row) {
        if (bulk.out->contains(row)) continue;
        layout::Tuples tuple;
        bulk.place(row).append_attributes(tuple);
        found[bulk.segment->ids().of(row)] = layout::Tuple(tuple.view().row(0)).text(0);
      }
    }
    EXPECT_EQ(found, owners_);
  }

  const tests::TemporaryFolder folder_;
  layout::CollectionManifest shape_ = small_shape();
  std::atomic<bool> stop_{false};
  BuildWatch watch_{stop_, 0};
  Random random_{4};
  std::unique_ptr<Contents> contents_;
  std::map<std::uint64_t, std::string> owners_;
  std::uint64_t version_ = 0;
  std::uint64_t next_ = 1;
};

TEST_P(OwnedSegments, HaveWhatChangedOfAMemtableMeanwhile) {
  insert(0, 40);
  for (const std::uint64_t id : {3, 17, 39}) erase(id);
  give_away(5, "t9");
  const Replacement replacement = build();
  ASSERT_EQ(replacement.places.size(), 37u);
  for (const std::uint64_t id : {0, 20, 38}) erase(id);
  give_away(6, "t0");
  give_away(5, "t1");
  contents_->replace(replacement);
  EXPECT_EQ(contents_->current()->segments.front().updates->count(), 2u);
  expect_owners();
}

TEST_P(OwnedSegments, HaveWhatChangedOfSegmentsMeanwhile) {
  for (std::uint64_t first : {0, 30, 60}) {
    insert(first, first + 40);  // ten of them take the places of others
    erase(first + 8);
    contents_->replace(build());
  }
  give_away(41, "t3");
  const Replacement replacement = merge();
  ASSERT_EQ(replacement.places.size(), 97u);
  for (const std::uint64_t id : {0, 35, 61, 99}) erase(id);
  for (const std::uint64_t id : {1, 36, 62, 98}) give_away(id, "t2");
  contents_->replace(replacement);
  ASSERT_EQ(contents_->current()->segments.size(), 1u);
  EXPECT_EQ(contents_->current()->segments.front().updates->count(), 4u);
  expect_owners();
}

/// Nothing is moved where the rows lie so already.
TEST_P(OwnedSegments, StayAsTheyAreInOrder) {
  insert(0, 40);
  contents_->replace(build());
  erase(7);
  const Replacement replacement = merge();
  EXPECT_TRUE(replacement.places.empty());
  contents_->replace(replacement);
  expect_owners();
}

INSTANTIATE_TEST_SUITE_P(Memtables, OwnedSegments, testing::Values(Linked::none, Linked::all),
                         [](const auto& which) {
                           return which.param == Linked::all ? "linked" : "unlinked";
                         });

}  // namespace
}  // namespace farvec::collection
