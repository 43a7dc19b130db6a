// Rows of a collection are counted, listed and erased by a condition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/status_error.h"
#include "layout/attributes/tuple.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;

struct MatchingRowsTest : ::testing::Test {
  const layout::Schema schema{
      {{"price", layout::ColumnType::i64, true}, {"note", layout::ColumnType::string, true}}};
  tests::TemporaryFolder folder;
  layout::CollectionManifest shape = small_shape();
  std::unique_ptr<Collection> opened;
  std::map<std::uint64_t, std::int64_t> prices;  ///< of the rows that there should be
  Random random{7};

  void start() {
    shape.schema = schema;
    Collection::create(folder.file("set"), shape);
    reopen();
  }
  void reopen() {
    opened.reset();
    opened = std::make_unique<Collection>(folder.file("set"),
                                          CollectionAccess{.segments = SegmentAccess::on("dram"),
                                                           .durability = wal::Durability::none});
  }
  void insert(const std::map<std::uint64_t, std::int64_t>& rows, const std::string& note = "") {
    std::vector<float> vectors;
    std::vector<std::uint64_t> ids;
    layout::Tuples tuples;
    for (const auto& [id, price] : rows) {
      const auto row = random_row(random);
      vectors.insert(vectors.end(), row.begin(), row.end());
      ids.push_back(id);
      tuples.append(schema, std::vector<layout::Value>{price, note});
    }
    changes::Receipt receipt;
    opened->insert({packed_view(vectors.data(), ids.size(), kSmallDimension, ElementType::f32), ids,
                    tuples.view()},
                   {}, receipt);
  }
  void insert_some(std::uint64_t begin, std::uint64_t end) {
    std::map<std::uint64_t, std::int64_t> rows;
    for (std::uint64_t id = begin; id < end; ++id) {
      prices[id] = rows[id] = static_cast<std::int64_t>(random.below(100));
    }
    insert(rows);
  }
  std::vector<std::uint64_t> cheap(std::int64_t below, std::uint64_t from = 0) const {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, price] : prices) {
      if (price < below && id >= from) ids.push_back(id);
    }
    return ids;
  }
  std::uint64_t count(const std::string& filter) const {
    return opened->list({.filter = filter}, {}).matches;
  }
  changes::Receipt erase(const std::string& filter) {
    changes::Receipt receipt;
    opened->erase_matching(filter, {}, receipt);
    return receipt;
  }
};

TEST_F(MatchingRowsTest, AreCountedListedAndErasedWhereverTheyAre) {
  start();
  for (int step = 0; step < 60; ++step) {
    const std::uint64_t begin = random.below(400);
    insert_some(begin, begin + 1 + random.below(40));
    const bool moved = step % 20 == 19 ? opened->compact() : step % 13 != 7 || opened->flush();
    ASSERT_TRUE(moved);
    if (step % 25 == 24) reopen();
    const auto below = static_cast<std::int64_t>(random.below(100));
    const std::string filter = "price < " + std::to_string(below);
    EXPECT_EQ(count(filter), cheap(below).size());
    EXPECT_EQ(count(""), prices.size());
    std::vector<std::uint64_t> listed;
    changes::Listing asked{.filter = filter, .from = 100, .most = 7, .attributes = true};
    for (bool more = true; more;) {
      const changes::ListedRows rows = opened->list(asked, {});
      ASSERT_EQ(rows.attributes.count(), rows.ids.size());
      for (std::size_t i = 0; i < rows.ids.size(); ++i) {
        listed.push_back(rows.ids[i]);
        EXPECT_EQ(layout::Tuple(rows.attributes.view().row(i)).value(schema, 0),
                  layout::Value(prices.at(rows.ids[i])));
      }
      more = rows.more;
      if (more) asked.from = rows.ids.back() + 1;
    }
    EXPECT_EQ(listed, cheap(below, 100));
    if (step % 6 != 5) continue;
    const auto receipt = erase("price < 5 and id < 300");
    std::size_t gone = 0;
    for (const std::uint64_t id : cheap(5)) gone += id < 300 ? prices.erase(id) : 0;
    EXPECT_EQ(receipt.done, gone);
    EXPECT_EQ(receipt.missing, 0u);
    EXPECT_EQ(count("price < 5 and id < 300"), 0u);
    EXPECT_EQ(opened->view()->live(), prices.size());
  }
  EXPECT_EQ(erase("").done, prices.size()) << "an empty condition means every row";
}

/// Segments take rows, and rows are replaced, while they are erased.
TEST_F(MatchingRowsTest, AreErasedAndNoOthersWhileAllMoves) {
  start();
  for (int round = 0; round < 5; ++round) {
    std::map<std::uint64_t, std::int64_t> mixed;
    for (std::uint64_t id = 0; id < 1000; ++id) mixed[id] = id % 2 == 0 ? 1 : 0;
    for (auto next = mixed.begin(); next != mixed.end();) {
      std::map<std::uint64_t, std::int64_t> part;
      for (int i = 0; i < 50; ++i, ++next) part.insert(*next);
      insert(part);
    }
    std::atomic<bool> over{false};
    std::thread mover([&] {
      while (!over) {
        opened->flush();
        opened->compact();
      }
    });
    std::thread replacer([&] {
      Random dice(static_cast<std::uint64_t>(round));
      while (!over) {
        const std::uint64_t id = dice.below(500) * 2;
        float row[kSmallDimension] = {static_cast<float>(id), 1, 2, 3};
        layout::Tuples tuples;
        tuples.append(schema, std::vector<layout::Value>{std::int64_t{1}, std::string()});
        changes::Receipt receipt;
        opened->insert({packed_view(row, 1, kSmallDimension, ElementType::f32), std::span(&id, 1),
                        tuples.view()},
                       {}, receipt);
      }
    });
    const changes::Receipt receipt = erase("price = 0");
    over = true;
    mover.join();
    replacer.join();
    EXPECT_EQ(receipt.done, 500u);
    EXPECT_EQ(count("price = 0"), 0u);
    EXPECT_EQ(count("price = 1"), 500u);
  }
}

TEST_F(MatchingRowsTest, PagesEndWhereAttributesAreLarge) {
  start();
  std::size_t rows = 0;
  for (std::uint64_t id = 0; id < 400; id += 10) {
    std::map<std::uint64_t, std::int64_t> part;
    for (std::uint64_t i = id; i < id + 10; ++i) part[i] = 1;
    insert(part, std::string(60'000, 'n'));
  }
  changes::Listing asked{.most = 1000, .attributes = true};
  int pages = 0;
  for (bool more = true; more; ++pages) {
    const changes::ListedRows listed = opened->list(asked, {});
    EXPECT_LT(listed.attributes.bytes.size(), 17u << 20);
    rows += listed.ids.size();
    more = listed.more;
    if (more) asked.from = listed.ids.back() + 1;
  }
  EXPECT_EQ(rows, 400u);
  EXPECT_EQ(pages, 2);
}

TEST_F(MatchingRowsTest, AWrongConditionIsNamedAndErasesNothing) {
  start();
  insert_some(0, 10);
  EXPECT_THAT(tests::message_of([&] { (void)erase("prise < 5"); }),
              HasSubstr("filter: the condition is wrong at column 1"));
  EXPECT_THAT(tests::message_of([&] { (void)count("price <"); }), HasSubstr("filter: "));
  EXPECT_EQ(count("false"), 0u);
  EXPECT_EQ(erase("price < -5").done, 0u);
  EXPECT_EQ(opened->view()->live(), 10u);
}

}  // namespace
}  // namespace farvec::collection
