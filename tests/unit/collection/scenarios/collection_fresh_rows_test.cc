// Rows that no graph has: how many there may be, who links them, and the segments they become.
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

constexpr std::uint64_t kMostUnlinked = 8;

std::uint64_t unlinked(const View& view) {
  std::uint64_t rows = 0;
  for (const View::Fresh& fresh : view.memtables) {
    const std::uint32_t vertices = fresh.memtable->linked();
    rows += fresh.count - std::min(fresh.count, vertices);
  }
  return rows;
}

class FreshRows : public ChangingCollection {
 protected:
  static CollectionAccess linking() {
    CollectionAccess access = small_access();
    access.link = true;
    access.most_unlinked = kMostUnlinked;
    return access;
  }
  StatusCode insert_now(std::uint64_t id) {
    Batch batch;
    const std::vector<float> row = random_row(random_);
    batch.add(id, row);
    Receipt receipt;
    const StatusCode code = code_of([&] {
      collection_->insert({batch.rows(), batch.ids()}, {.until = 0}, receipt);
    });
    if (code == StatusCode::ok) rows_[id] = row;
    return code;
  }
};

TEST_F(FreshRows, NoMoreOfThemAreUnlinkedThanMayBe) {
  open(linking());
  for (std::uint64_t id = 0; id < 700; id += 5) {
    insert_ids(id, id + 5);
    ASSERT_LE(unlinked(*collection_->view()), kMostUnlinked) << id;
  }
  expect_same();
  collection_->settle();
  expect_same();
}

TEST_F(FreshRows, ABatchOfMoreComesWhenAllOthersAreLinked) {
  open(linking());
  for (std::uint64_t id = 0; id < 300; id += 30) {
    insert_ids(id, id + 30);
    ASSERT_LE(unlinked(*collection_->view()), 30u) << id;
  }
  expect_same();
}

TEST_F(FreshRows, SeveralWhoInsertLinkTogether) {
  open(linking());
  std::vector<std::thread> writers;
  std::vector<Batch> batches;
  for (std::uint64_t id = 0; id < 1200; id += 3) batches.push_back(new_rows(id, id + 3));
  for (std::size_t w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (std::size_t b = w; b < batches.size(); b += 3) {
        (void)insert(*collection_, batches[b]);
        EXPECT_LE(unlinked(*collection_->view()), kMostUnlinked);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  expect_same();
}

TEST_F(FreshRows, WhoDoesNotWaitIsRefusedAndNothingIsLost) {
  open(linking());
  std::uint64_t refused = 0;
  for (std::uint64_t id = 0; id < 3000; ++id) {
    const StatusCode code = insert_now(id);
    if (code == StatusCode::ok) continue;
    EXPECT_EQ(code, StatusCode::resource_exhausted);
    ++refused;
  }
  EXPECT_GT(refused, 0u);
  collection_->settle();
  expect_same();
  open();
  expect_same();
}

/// What the log has is not linked when it is opened: inserts go on all the same, and make it no
/// more.
TEST_F(FreshRows, AfterOpeningTheyBecomeNoMore) {
  open();
  insert_ids(0, 49);
  open(linking());
  std::uint64_t most = 49;
  for (std::uint64_t id = 100; id < 200; ++id) {
    const std::uint64_t before = unlinked(*collection_->view());
    insert_ids(id, id + 1);
    ASSERT_LE(unlinked(*collection_->view()), std::max(most, kMostUnlinked));
    most = std::min(most, std::max(before + 1, kMostUnlinked));
  }
  expect_same();
}

TEST_F(FreshRows, AreLinkedThoughSegmentsCannotBeBuilt) {
  open(linking());
  insert_ids(0, 40);
  {
    const tests::FileSizeLimit full(0);
    EXPECT_NE(tests::message_of([&] { collection_->flush(); }), "");
    EXPECT_FALSE(collection_->state().failure.empty());
    expect_same();
  }
  insert_ids(100, 180);
  EXPECT_LE(unlinked(*collection_->view()), 80u);
  collection_->settle();
  expect_same();
}

TEST_F(FreshRows, ClosingDoesNotWaitForThem) {
  for (std::uint64_t id = 0; id < 400; id += 40) {
    open(linking());
    insert_ids(id, id + 40);
  }
  open();
  expect_same();
}

/// A segment of a memtable's graph answers as comparing with all of its rows does: with duplicates,
/// with rows that are out, of one row.
class SegmentsOfMemtables : public ::testing::TestWithParam<Metric> {};

TEST_P(SegmentsOfMemtables, AnswerAsAllOfTheirRows) {
  const Metric metric = GetParam();
  for (const std::uint64_t count : {1u, 2u, 50u, 400u}) {
    for (const std::uint64_t repeat : {0u, 2u}) {
      tests::TemporaryFolder folder;
      layout::CollectionManifest shape = small_shape(metric);
      shape.options.memtable_rows = 500;
      Collection::create(folder.path() / "set", shape);
      CollectionAccess access = small_access();
      access.link = repeat == 0;
      Collection collection(folder.path() / "set", access);
      Random random(count + repeat);
      Rows rows;
      Batch batch;
      for (std::uint64_t id = 0; id < count; ++id) {
        std::vector<float> row = random_row(random);
        if (repeat > 0 && id % repeat != 0) row = rows[id - 1];
        if (metric == Metric::cosine) {
          distance::to_stored(row.data(), ElementType::f32, metric, kSmallDimension, row.data());
        }
        rows[id] = row;
        batch.add(id, row);
      }
      (void)insert(collection, batch);
      for (std::uint64_t id = 0; id + 1 < count; id += 3) {
        rows.erase(id);
        (void)erase(collection, {id});
      }
      collection.flush();
      ASSERT_EQ(collection.view()->segments.size(), 1u);
      ASSERT_TRUE(size_of(*collection.view()).fresh == 0);
      const std::vector<float> query = random_row(random);
      const Answer found = search_view(collection.view(), query, 1000);
      EXPECT_EQ(found.ids.size(), rows.size()) << "not all of them are reachable";
      const auto expected = exact(rows, metric, query);
      for (std::size_t r = 0; r < found.ids.size(); ++r) {
        ASSERT_NEAR(found.distances[r], expected[r].first, 1e-5) << r;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SegmentsOfMemtables,
                         ::testing::Values(Metric::l2, Metric::inner_product, Metric::cosine),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

}  // namespace
}  // namespace farvec::collection
