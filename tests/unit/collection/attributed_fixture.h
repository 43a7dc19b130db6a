// Collections whose rows have attributes, and what searches among those that meet a condition must
// find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attributes/condition.h"
#include "collection/read/collection_reader.h"
#include "layout/attributes/tuple.h"
#include "search/index/further_matches.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {

using layout::Value;
using Values = std::vector<Value>;

class AttributedCollection : public ::testing::Test {
 protected:
  void create(const char* schema, layout::CollectionManifest shape = small_shape()) {
    schema_ = layout::parse_schema(schema);
    shape.schema = schema_;
    Collection::create(path(), shape);
    open();
  }
  std::filesystem::path path() const { return folder_.path() / "set"; }
  void open() {
    collection_.reset();
    collection_ = std::make_unique<Collection>(path(), small_access());
  }

  /// What the attributes of an id are: some of them null, texts of very different lengths.
  static Values values_of(std::uint64_t id, std::uint64_t round) {
    Values values{std::int64_t(id * 7) - 100, std::string(id % 50, 'a' + char(round)),
                  std::vector<std::string>{"t" + std::to_string(id % 3), "all"}};
    if (id % 5 == 0) values[id % 3] = {};
    return values;
  }

  void insert(std::uint64_t first, std::uint64_t end, std::uint64_t round) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      batch.add(id, random_row(random_));
      tuples.append(schema_, values_of(id, round));
      expected_[id] = values_of(id, round);
    }
    insert({batch.rows(), batch.ids(), tuples.view()});
  }
  void insert(const changes::RowBatch& batch) {
    Receipt receipt;
    collection_->check(batch);
    collection_->insert(batch, within(kPatienceUs), receipt);
    EXPECT_EQ(receipt.done, batch.rows.count);
  }

  /// Every row that is there has its attributes.
  void expect_attributes() {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, values] : expected_) ids.push_back(id);
    const FoundRows found = collection_->get(ids, {});
    ASSERT_EQ(found.attributes.count(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_TRUE(found.found[i]) << ids[i];
      const layout::Tuple tuple(found.attributes.view().row(i));
      for (std::size_t column = 0; column < schema_.size(); ++column) {
        ASSERT_EQ(tuple.value(schema_, column), sorted(expected_[ids[i]][column])) << ids[i];
      }
    }
  }
  static Value sorted(Value value) {
    if (auto* labels = std::get_if<std::vector<std::string>>(&value)) {
      std::sort(labels->begin(), labels->end());
    }
    return value;
  }

  tests::TemporaryFolder folder_;
  layout::Schema schema_;
  Random random_{5};
  std::map<std::uint64_t, Values> expected_;
  std::unique_ptr<Collection> collection_;
};

/// Rows of several segments, some of them out, and of a memtable.
class FilteredCollection : public AttributedCollection {
 protected:
  void fill(const layout::CollectionManifest& shape) {
    create("price: i64, name: string, tags: set", shape);
    for (std::uint64_t round = 0; round < 6; ++round) insert(round * 40, round * 40 + 90, round);
    erase(*collection_, {7, 8, 201});
    for (const std::uint64_t id : {7, 8, 201}) expected_.erase(id);
  }

  /// The rows that meet the condition, and further ones, told row by row.
  Rows matching(const attributes::Condition& condition,
                const std::vector<std::uint64_t>& further = {}) {
    Rows rows;
    std::vector<std::uint64_t> ids;
    for (const auto& [id, values] : expected_) ids.push_back(id);
    const FoundRows found = collection_->get(ids, {});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const layout::Tuple tuple(found.attributes.view().row(i));
      const bool meets = evaluate(condition, tuple, ids[i]) == attributes::Truth::yes;
      if (!meets && !std::ranges::binary_search(further, ids[i])) continue;
      std::vector<float> row(kSmallDimension);
      std::memcpy(row.data(), found.rows.data() + i * kSmallDimension * sizeof(float),
                  kSmallDimension * sizeof(float));
      rows.emplace(ids[i], row);
    }
    return rows;
  }

  void expect_filtered(const ViewPointer& view) {
    std::size_t some = 0;
    for (const char* text : kConditions) {
      const auto condition = attributes::parse_condition(text, schema_);
      expect_with_further(view, text, *condition);
      const Rows rows = matching(*condition);
      some += rows.empty() ? 0 : 1;
      for (const std::uint32_t k : {1u, 10u, 100u}) {
        const std::vector<float> query = random_row(random_);
        const auto nearest = exact(rows, Metric::l2, query);
        for (const Manner& manner : manners_of(condition.get())) {
          const std::uint32_t size = manner.exact ? k : kAll;
          const Answer answer = search_view(view, query, k, size, manner);
          ASSERT_EQ(answer.ids.size(), std::min<std::size_t>(k, rows.size())) << text;
          for (std::size_t r = 0; r < answer.ids.size(); ++r) {
            ASSERT_EQ(answer.ids[r], nearest[r].second) << text << ": result " << r;
          }
        }
      }
    }
    EXPECT_GT(some, 10u);
  }

  /// Some rows are results whatever the condition says: ids of rows that are out, of none, and
  /// of others.
  void expect_with_further(const ViewPointer& view, const char* text,
                           const attributes::Condition& condition) {
    std::vector<std::uint64_t> ids{0, 7, 8, 9, 50};
    for (int i = 0; i < 40; ++i) ids.push_back(ids.back() + 1 + random_.below(9));
    static std::uint64_t last_number = 0;
    const search::FurtherRows further{.ids = ids, .number = ++last_number};
    const Rows rows = matching(condition, ids);
    const std::vector<float> query = random_row(random_);
    const auto nearest = exact(rows, Metric::l2, query);
    for (Manner manner : manners_of(&condition)) {
      manner.further = &further;
      for (int again = 0; again < 2; ++again) {
        const Answer answer = search_view(view, query, 20, manner.exact ? 20 : kAll, manner);
        ASSERT_EQ(answer.ids.size(), std::min<std::size_t>(20, rows.size())) << text;
        for (std::size_t r = 0; r < answer.ids.size(); ++r) {
          ASSERT_EQ(answer.ids[r], nearest[r].second) << text << ": result " << r;
        }
      }
    }
  }

  /// All of them find the same: the first three with a list of everything, the last with any.
  static std::vector<Manner> manners_of(const attributes::Condition* condition) {
    using search::FilterPlan;
    return {{condition, FilterPlan::chosen},
            {condition, FilterPlan::walk},
            {condition, FilterPlan::scan},
            {condition, FilterPlan::chosen, true}};
  }

  static constexpr const char* kConditions[] = {
      "true",
      "false",
      "price < 200",
      "price < -1000",
      "price between 100 and 400 and not tags contains any ('t1')",
      "tags contains all ('all', 't2') or name is null",
      "name prefix 'bbb'",
      "not (price >= 0)",
      "price is null",
      "id = 17",
      "id in (3, 7, 60, 249, 1000)",
      "id between 100 and 140 or tags contains any ('t0')",
      "name = 'ccccc'",
      "tags is not null and price != 40",
      "price in (5, 12, 19)"};
};

}  // namespace farvec::collection
