#include "search/index/updated_matches.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace farvec::search {
namespace {

constexpr NodeId kRows = 500;

/// Values of a column, and all values of the updates that led to them.
struct Updated {
  layout::Schema schema = layout::parse_schema("price: i64");
  std::vector<std::vector<std::int64_t>> prices{std::vector<std::int64_t>(kRows, 50)};
  std::vector<UpdatesPointer> updates{std::make_shared<const layout::UpdatedTuples>()};
  Random random{3};

  void update(std::size_t count) {
    prices.push_back(prices.back());
    std::vector<NodeId> rows;
    layout::Tuples tuples;
    for (NodeId row = static_cast<NodeId>(random.below(9)); row < kRows && rows.size() < count;
         row += 1 + static_cast<NodeId>(random.below(2 * kRows / count))) {
      rows.push_back(row);
      prices.back()[row] = static_cast<std::int64_t>(random.below(100));
      tuples.append(schema, std::vector<layout::Value>{prices.back()[row]});
    }
    updates.push_back(
        std::make_shared<const layout::UpdatedTuples>(updates.back()->with(rows, tuples.view())));
  }
};

/// Newer and older values in any order: each has its own answer.
TEST(UpdatedMatches, AreThoseOfTheUpdatesThatAreAsked) {
  Updated updated;
  for (const std::size_t count : {40u, 1u, 7u, 200u, 1u, 1u, 30u}) updated.update(count);
  const attributes::IdLookup ids{.row_of = [](std::uint64_t id) { return static_cast<NodeId>(id); },
                                 .id_of = [](NodeId row) { return std::uint64_t{row}; }};
  UpdatedMatches cache;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t version = 1 + updated.random.below(updated.updates.size() - 1);
    const std::int64_t below = static_cast<std::int64_t>(updated.random.below(20)) * 5;
    const std::string text = "price < " + std::to_string(below) + " or id = 3";
    const auto condition = attributes::parse_condition(text, updated.schema);
    attributes::RowBitmap matches;
    attributes::RowBitmap expected;
    for (NodeId row = 0; row < kRows; ++row) {
      if (updated.prices.front()[row] < below || row == 3) matches.add(row);
      if (updated.prices[version][row] < below || row == 3) expected.add(row);
    }
    const auto base = std::make_shared<const attributes::RowBitmap>(matches);
    const auto found =
        cache.rows_of(base, {*condition, to_string(*condition), ids, updated.updates[version]});
    ASSERT_TRUE(*found == expected) << text << " at " << version;
  }
  EXPECT_GT(cache.dram_bytes(), 0u);
}

/// The same answer is the same object, so that what is made of it is kept as well.
TEST(UpdatedMatches, AreKept) {
  Updated updated;
  updated.update(10);
  const attributes::IdLookup ids{.row_of = [](std::uint64_t) { return std::nullopt; },
                                 .id_of = [](NodeId row) { return std::uint64_t{row}; }};
  const auto condition = attributes::parse_condition("price < 60", updated.schema);
  const auto none = std::make_shared<const attributes::RowBitmap>();
  UpdatedMatches cache;
  const UpdatedMatches::Asked asked{*condition, "price < 60", ids, updated.updates[1]};
  const auto first = cache.rows_of(none, asked);
  EXPECT_EQ(cache.rows_of(none, asked), first);
  for (int i = 0; i < 20; ++i) {
    (void)cache.rows_of(none, {*condition, std::to_string(i), ids, updated.updates[1]});
  }
  EXPECT_NE(cache.rows_of(none, asked), first) << "it was the oldest of too many";
}

}  // namespace
}  // namespace farvec::search
