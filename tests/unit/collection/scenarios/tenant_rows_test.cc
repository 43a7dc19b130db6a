// Segments of collections whose rows belong to tenants have the rows of each tenant together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "attributes/condition.h"
#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "tests/unit/collection/attributed_fixture.h"

namespace farvec::collection {
namespace {

constexpr const char* kTenantSchema = "price: i64, owner: string tenant";
constexpr std::uint64_t kOwners = 7;

class TenantRows : public FilteredCollection {
 protected:
  void begin(const layout::CollectionManifest& shape, const char* schema = kTenantSchema) {
    collection_.reset();
    std::filesystem::remove_all(path());
    expected_.clear();
    vectors_.clear();
    shape_ = shape;
    create(schema, shape);
    open_owned();
  }
  void open_owned() {
    collection_.reset();
    collection_ = std::make_unique<Collection>(path(), small_access(tier()));
  }
  const char* tier() const { return shape_.options.in_pages() ? "ssd" : "dram"; }
  bool has_clusters() const { return shape_.options.kind == layout::IndexKind::cluster; }

  std::string any_owner() { return "t" + std::to_string(random_.below(kOwners)); }

  /// Rows whose owners come in any order.
  void insert_owned(std::uint64_t first, std::uint64_t end, bool as_segment = false) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      vectors_[id] = random_row(random_);
      expected_[id] = {std::int64_t(id * 3), any_owner()};
      batch.add(id, vectors_[id]);
      tuples.append(schema_, expected_[id]);
    }
    const changes::RowBatch rows{batch.rows(), batch.ids(), tuples.view()};
    if (!as_segment) return AttributedCollection::insert(rows);
    collection_->check(rows);
    EXPECT_EQ(collection_->import(rows).done, end - first);
  }
  void erase_some(std::uint64_t first, std::uint64_t step) {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, values] : expected_) {
      if (id % step == first) ids.push_back(id);
    }
    EXPECT_EQ(erase(*collection_, ids).done, ids.size());
    for (const std::uint64_t id : ids) {
      expected_.erase(id);
      vectors_.erase(id);
    }
  }
  void give_away(std::uint64_t first, std::uint64_t step) {
    std::vector<std::uint64_t> ids;
    layout::Tuples owners;
    const std::size_t columns[] = {1};
    for (auto& [id, values] : expected_) {
      if (id % step != first) continue;
      ids.push_back(id);
      values[1] = any_owner();
      owners.append(select_columns(schema_, columns), std::span(&values[1], 1));
    }
    Receipt receipt;
    collection_->update(ids, {{"owner"}, owners.view()}, within(kPatienceUs), receipt);
    EXPECT_EQ(receipt.done, ids.size());
  }

  std::vector<std::string> owners_of(const Segment& segment) const {
    const layout::Tuples tuples = segment.attributes().read_all();
    std::vector<std::string> owners;
    for (std::size_t row = 0; row < tuples.count(); ++row) {
      owners.emplace_back(layout::Tuple(tuples.view().row(row)).text(1));
    }
    return owners;
  }
  /// `ids_ascend`: where the rows came in the order of their ids, so that those of a tenant do.
  void expect_together(const ViewPointer& view, bool ids_ascend = false) {
    ASSERT_FALSE(view->segments.empty());
    for (const View::Bulk& bulk : view->segments) {
      const std::vector<std::string> owners = owners_of(*bulk.segment);
      ASSERT_EQ(owners.size(), bulk.segment->rows());
      EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end()));
      for (NodeId row = 1; ids_ascend && row < owners.size(); ++row) {
        if (owners[row] != owners[row - 1]) continue;
        EXPECT_LT(bulk.segment->ids().of(row - 1), bulk.segment->ids().of(row));
      }
    }
  }

  /// Each row has its attributes and its vector, and each tenant finds the nearest of its rows.
  void expect_found(const ViewPointer& view) {
    for (std::uint64_t owner = 0; owner < kOwners; ++owner) {
      const std::string text = "owner = 't" + std::to_string(owner) + "'";
      const auto condition = attributes::parse_condition(text, schema_);
      Rows rows;
      for (const auto& [id, values] : expected_) {
        if (values[1] == Value("t" + std::to_string(owner))) rows[id] = vectors_[id];
      }
      const std::vector<float> query = random_row(random_);
      const auto nearest = exact(rows, Metric::l2, query);
      for (const Manner& manner : manners_of(condition.get())) {
        const Answer answer = search_view(view, query, 20, kAll, manner);
        ASSERT_EQ(answer.ids.size(), std::min<std::size_t>(20, rows.size())) << text;
        for (std::size_t r = 0; r < answer.ids.size(); ++r) {
          ASSERT_EQ(answer.ids[r], nearest[r].second) << text << ": result " << r;
          ASSERT_EQ(answer.distances[r], nearest[r].first);
        }
      }
    }
  }
  void expect_all() {
    expect_attributes();
    std::vector<std::uint64_t> ids;
    for (const auto& [id, vector] : vectors_) ids.push_back(id);
    const FoundRows found = collection_->get(ids, {});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(std::memcmp(found.rows.data() + i * kSmallDimension * sizeof(float),
                            vectors_[ids[i]].data(), kSmallDimension * sizeof(float)),
                0)
          << ids[i];
    }
    expect_found(collection_->view());
  }

  void live_through(const layout::CollectionManifest& shape) {
    begin(shape);
    insert_owned(0, 45);
    erase_some(4, 9);
    ASSERT_TRUE(collection_->flush());
    expect_together(collection_->view(), true);
    expect_all();
    for (std::uint64_t round = 1; round < 7; ++round) {
      insert_owned(round * 40, round * 40 + 70);  // 30 of them take the places of others
      if (round % 2 == 0) give_away(round, 5);
      if (round % 3 == 0) erase_some(round, 11);
    }
    ASSERT_TRUE(collection_->flush());
    collection_->settle();
    expect_together(collection_->view());
    expect_all();
    give_away(1, 3);
    expect_all();
    ASSERT_TRUE(collection_->compact());
    expect_together(collection_->view());
    expect_all();
    insert_owned(1000, 1090, true);
    expect_together(collection_->view());
    open_owned();
    expect_together(collection_->view());
    expect_all();
    const CollectionReader reader(path(), small_segments(tier()));
    expect_found(reader.view());
    ASSERT_TRUE(collection_->compact());
    ASSERT_EQ(collection_->view()->segments.size(), 1u);
    expect_together(collection_->view());
    expect_all();
  }

  layout::CollectionManifest shape_;
  Rows vectors_;
};

TEST_F(TenantRows, LieTogetherInGraphsOfEachLayout) {
  for (const layout::LayoutKind kind :
       {layout::LayoutKind::csr, layout::LayoutKind::inlined, layout::LayoutKind::packed}) {
    SCOPED_TRACE(layout::to_string(kind));
    layout::CollectionManifest shape = small_shape();
    shape.options.layout = kind;
    ASSERT_NO_FATAL_FAILURE(live_through(shape));
  }
}

TEST_F(TenantRows, LieTogetherInPages) {
  live_through(small_page_shape());
  const auto segment = collection_->view()->segments.front().segment;
  EXPECT_EQ(segment->manifest().slotted().placement, "id") << "the tenants are small";
}

TEST_F(TenantRows, LieTogetherInClustersOfEachLayout) {
  for (const layout::ClusterLayoutKind kind : layout::kClusterLayouts) {
    SCOPED_TRACE(to_string(kind));
    ASSERT_NO_FATAL_FAILURE(live_through(small_cluster_shape(kind)));
  }
}

/// All of their rows were out in between, or of one tenant.
TEST_F(TenantRows, MayBeFew) {
  begin(small_shape());
  insert_owned(0, 1);
  ASSERT_TRUE(collection_->flush());
  expect_all();
  erase_some(0, 1);
  ASSERT_TRUE(collection_->compact());
  EXPECT_TRUE(collection_->view()->segments.empty());
  insert_owned(5, 8);
  ASSERT_TRUE(collection_->compact());
  expect_together(collection_->view());
  expect_all();
}

/// What changes while segments are made is of the right rows of these.
TEST_F(TenantRows, ChangeWhileSegmentsAreMade) {
  begin(small_shape());
  insert_owned(0, 300);
  std::atomic<bool> stop{false};
  std::thread compacting([&] {
    while (!stop) EXPECT_TRUE(collection_->compact());
  });
  for (std::uint64_t round = 0; round < 60; ++round) {
    give_away(round % 10, 10);
    if (round % 7 == 0) erase_some(round, 61);
    insert_owned(300 + round * 5, 310 + round * 5);
  }
  stop = true;
  compacting.join();
  expect_all();
  ASSERT_TRUE(collection_->compact());
  expect_together(collection_->view());
  expect_all();
}

TEST_F(TenantRows, AreSeenByAFollower) {
  begin(small_shape());
  collection_.reset();
  CollectionAccess access = small_access();
  access.durability = wal::Durability::commit;
  collection_ = std::make_unique<Collection>(path(), access);
  const CollectionFollower follower(path(), small_segments(),
                                    {.poll_us = 500, .manifest_us = 2'000, .retry_us = 2'000});
  for (std::uint64_t round = 0; round < 4; ++round) {
    insert_owned(round * 50, round * 50 + 90);
    give_away(round, 4);
    if (round % 2 == 1) {
      ASSERT_TRUE(collection_->compact());
    }
    const std::uint64_t version = collection_->view()->version;
    const Ticks deadline = now_ticks() + us_to_ticks(kPatienceUs);
    while (follower.view()->version < version && now_ticks() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(follower.view()->version, version);
    expect_found(follower.view());
  }
}

/// Where there is no tenant, rows stay in the order in which they came.
TEST_F(TenantRows, AreOrderedForATenantsColumnAlone) {
  begin(small_shape(), "price: i64, owner: string");
  insert_owned(0, 45);
  ASSERT_TRUE(collection_->flush());
  insert_owned(45, 80);
  insert_owned(80, 120, true);
  ASSERT_TRUE(collection_->compact());
  const Segment& segment = *collection_->view()->segments.front().segment;
  ASSERT_EQ(segment.rows(), 120u);
  const std::vector<std::string> owners = owners_of(segment);
  EXPECT_FALSE(std::is_sorted(owners.begin(), owners.end()));
  std::size_t ascending = 0;
  for (NodeId row = 1; row < 120; ++row) {
    ascending += segment.ids().of(row - 1) < segment.ids().of(row) ? 1 : 0;
  }
  EXPECT_GE(ascending, 117u) << "one part after the other";
  expect_all();
}

}  // namespace
}  // namespace farvec::collection
