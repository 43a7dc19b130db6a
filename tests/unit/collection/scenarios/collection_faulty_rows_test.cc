// Rows that have no distances to others: none goes in, and one that an older farvec has let into
// the log stops nobody.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "collection/read/collection_reader.h"
#include "layout/collection/change_record.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/message_of.h"
#include "wal/log.h"

namespace farvec::collection {
namespace {

std::vector<std::vector<float>> faulty_rows() {
  std::vector<std::vector<float>> rows(4, std::vector<float>(kSmallDimension, 0.5f));
  rows[0].assign(kSmallDimension, 1e19f);  // the squared length is beyond a float
  rows[1][2] = 1.5e19f;                    // the squared distance to its negative is
  rows[2][3] = std::numeric_limits<float>::quiet_NaN();
  rows[3][6] = -std::numeric_limits<float>::infinity();
  return rows;
}

class FaultyRows : public ChangingCollection {
 protected:
  /// As a farvec that looked at no length did, or a writer whose rows changed under its hands.
  void log(const Batch& batch, std::uint64_t version) {
    collection_.reset();
    wal::LogOptions options;
    options.folder = path() / layout::kCollectionLogFolder;
    const auto log = wal::Log::open(options);
    const auto end =
        log->append(layout::RowChangeRecord::insert(version, batch.ids(), batch.rows()).parts());
    ASSERT_TRUE(end.ok());
    ASSERT_TRUE(log->wait(end.value(), now_ticks() + us_to_ticks(kPatienceUs)).ok());
  }
};

Receipt insert_unchecked(Collection& collection, const Batch& batch) {
  Receipt receipt;
  collection.insert({batch.rows(), batch.ids()}, within(kPatienceUs), receipt);
  return receipt;
}

TEST_F(FaultyRows, AreRefusedByRowAndId) {
  open();
  insert_ids(0, 20);
  for (const std::vector<float>& faulty : faulty_rows()) {
    Batch batch;
    batch.add(100, random_row(random_));
    batch.add(77, faulty);
    const char* const fault = std::isfinite(faulty[3]) && std::isfinite(faulty[6])
                                  ? "row 1 (id 77) is too long"
                                  : "row 1 (id 77) holds NaN or infinity";
    const auto said = [&](const auto& call) { return tests::message_of(call); };
    EXPECT_EQ(said([&] { collection_->check({batch.rows(), batch.ids()}); }).find(fault), 0u);
    // Without check() what is kept is looked at.
    EXPECT_EQ(said([&] { (void)insert_unchecked(*collection_, batch); }).find("row 1 "), 0u);
    EXPECT_EQ(said([&] {
                (void)collection_->import({batch.rows(), batch.ids()});
              }).find("row 1 "),
              0u);
  }
  expect_same();
  collection_->compact();
  open();
  expect_same();
}

TEST_F(FaultyRows, OfALogAreLeftOutAndStopNobody) {
  open();
  insert_ids(0, 30);
  Batch batch;
  std::uint64_t id = 10;  // and what they replaced stays away
  for (const std::vector<float>& faulty : faulty_rows()) {
    batch.add(id, faulty);
    rows_.erase(id++);
    rows_[id] = random_row(random_);
    batch.add(id, rows_[id]);
    ++id;
  }
  log(batch, 31);
  {
    CollectionReader reader(path(), small_segments());
    expect_holds(reader.view(), rows_, random_);
    EXPECT_EQ(reader.recovery().left_out, 4u);
  }
  open();
  EXPECT_EQ(collection_->recovery().left_out, 4u);
  expect_same();
  insert_ids(12, 13);  // such an id may come again
  collection_->flush();
  EXPECT_EQ(size_of(*collection_->view()).fresh, 0u);
  expect_same();
  insert_ids(200, 400);
  collection_->compact();
  open();
  EXPECT_EQ(collection_->recovery().left_out, 0u);
  expect_same();
}

class FaultyCosineRows : public ChangingCollection {
 protected:
  FaultyCosineRows() : ChangingCollection(small_shape(Metric::cosine)) {}
};

TEST_F(FaultyCosineRows, AreThoseWithoutADirection) {
  open();
  Batch batch;
  batch.add(1, std::vector<float>(kSmallDimension, std::numeric_limits<float>::max()));
  batch.add(2, std::vector<float>(kSmallDimension, std::numeric_limits<float>::denorm_min()));
  batch.add(3, {1, -1, 1, -1, 1, -1, 0});
  collection_->check({batch.rows(), batch.ids()});
  EXPECT_EQ(insert(*collection_, batch).done, 3u);
  collection_->flush();
  const Answer answer =
      search_view(collection_->view(), std::vector<float>(kSmallDimension, std::sqrt(1 / 7.f)), 3);
  EXPECT_NEAR(answer.distances[0], 0, 1e-5);
  EXPECT_NEAR(answer.distances[1], 0, 1e-5);
  EXPECT_EQ(answer.ids[2], 3u);
}

}  // namespace
}  // namespace farvec::collection
