// A collection whose rows are updated, and what is expected of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/collection/attributed_fixture.h"

namespace farvec::collection {

class UpdatedRows : public FilteredCollection {
 protected:
  /// New values of a column for the ids: one for each, or one for all.
  Receipt update(const std::vector<std::uint64_t>& ids, const std::string& column,
                 const Values& values) {
    const layout::Tuples tuples = tuples_of(column, values);
    Receipt receipt;
    collection_->update(ids, {{column}, tuples.view()}, within(kPatienceUs), receipt);
    return receipt;
  }
  Receipt update_where(const std::string& filter, const std::string& column, const Value& value) {
    const layout::Tuples tuples = tuples_of(column, {value});
    Receipt receipt;
    collection_->update_matching(filter, {{column}, tuples.view()}, within(kPatienceUs), receipt);
    return receipt;
  }
  layout::Tuples tuples_of(const std::string& column, const Values& values) const {
    const std::vector<std::size_t> columns{schema_.require(column)};
    layout::Tuples tuples;
    for (const Value& value : values) {
      tuples.append(select_columns(schema_, columns), std::span(&value, 1));
    }
    return tuples;
  }

  /// Updates some ids, a few of which are not there, and what is expected of them.
  void update_some(std::uint64_t round) {
    std::vector<std::uint64_t> ids;
    Values names;
    std::size_t there = 0;
    for (std::uint64_t id = random_.below(40); id < 400; id += 1 + random_.below(60)) {
      ids.push_back(id);
      names.emplace_back(std::string(id % 9, 'A' + static_cast<char>(round)));
      const auto known = expected_.find(id);
      if (known == expected_.end()) continue;
      known->second[1] = names.back();
      ++there;
    }
    const Receipt receipt = update(ids, "name", names);
    EXPECT_EQ(receipt.done, there);
    EXPECT_EQ(receipt.missing, ids.size() - there);
  }
  /// Gives the rows that meet a condition new tags, and what is expected of them.
  void retag(std::uint64_t round) {
    const char* const filter = round % 2 == 0 ? "price < 200" : "tags contains any ('t1')";
    const auto condition = attributes::parse_condition(filter, schema_);
    const Value tags = std::vector<std::string>{"t" + std::to_string(round % 3), "all"};
    const Rows rows = matching(*condition);
    for (const auto& [id, row] : rows) expected_[id][2] = tags;
    EXPECT_EQ(update_where(filter, "tags", tags).done, rows.size());
  }
  std::uint64_t updated() const { return size_of(*collection_->view()).updated; }

  /// Brings the rows elsewhere, in some rounds.
  void move_on(std::uint64_t round) {
    const bool moved = round % 4 == 1   ? collection_->flush()
                       : round % 6 == 5 ? collection_->compact()
                                        : true;
    ASSERT_TRUE(moved);
  }

  void change_and_compare(const layout::CollectionManifest& shape) {
    fill(shape);
    for (std::uint64_t round = 0; round < 8; ++round) {
      update_some(round);
      retag(round);
      ASSERT_NO_FATAL_FAILURE(expect_attributes()) << round;
      ASSERT_NO_FATAL_FAILURE(expect_filtered(collection_->view())) << round;
      if (round == 2) insert(30, 60, 3);
      if (round == 3 || round == 6) open();
      ASSERT_NO_FATAL_FAILURE(move_on(round));
      ASSERT_NO_FATAL_FAILURE(expect_attributes()) << round;
    }
    ASSERT_TRUE(collection_->compact());
    EXPECT_EQ(updated(), 0u) << "a compaction writes them into the segment";
    expect_attributes();
    expect_filtered(collection_->view());
  }
};

}  // namespace farvec::collection
