// A collection with attributes on memory nodes, and what readers without its folder must find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "attributes/condition.h"
#include "collection/read/list_rows.h"
#include "layout/collection/segment_attributes.h"
#include "tests/unit/collection/on_nodes_fixture.h"

namespace farvec::collection {

using layout::Value;
using Values = std::vector<Value>;

class AttributesOnNodes : public CollectionOnNodes {
 protected:
  static layout::CollectionManifest with_schema(layout::CollectionManifest shape,
                                                const char* schema) {
    shape.schema = layout::parse_schema(schema);
    return shape;
  }
  static constexpr const char* kSchema = "price: i64, name: string, tags: set";

  explicit AttributesOnNodes(const layout::CollectionManifest& shape = with_schema(small_shape(),
                                                                                   kSchema))
      : CollectionOnNodes(shape), schema_(shape.schema) {}

  /// What the attributes of an id are: some of them null, texts of very different lengths.
  Values values_of(std::uint64_t id, std::uint64_t round) const {
    Values values{std::int64_t(id * 7) - 100, std::string(id % 50, 'a' + char(round)),
                  std::vector<std::string>{"all", "t" + std::to_string(id % 3)}};
    if (id % 5 == 0) values[id % 3] = {};
    values.resize(schema_.size());
    return values;
  }
  void insert_rows(std::uint64_t first, std::uint64_t end, std::uint64_t round) {
    const Batch batch = new_rows(first, end);
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      values_[id] = values_of(id, round);
      if (!schema_.empty()) tuples.append(schema_, values_[id]);
    }
    Receipt receipt;
    collection_->insert({batch.rows(), batch.ids(), tuples.view()}, within(kPatienceUs), receipt);
    EXPECT_EQ(receipt.done, end - first);
  }
  void erase_rows(const std::vector<std::uint64_t>& ids) {
    erase_ids(ids);
    for (const std::uint64_t id : ids) values_.erase(id);
  }
  void update_prices(std::uint64_t begin, std::uint64_t end, std::int64_t price) {
    std::vector<std::uint64_t> ids;
    for (auto at = values_.lower_bound(begin); at != values_.end() && at->first < end; ++at) {
      ids.push_back(at->first);
      at->second[0] = price;
    }
    const std::vector<std::size_t> columns{0};
    layout::Tuples tuples;
    tuples.append(select_columns(schema_, columns), Values{price});
    Receipt receipt;
    collection_->update(ids, {{"price"}, tuples.view()}, within(kPatienceUs), receipt);
    EXPECT_EQ(receipt.done, ids.size());
  }
  void add_column(const char* column) {
    collection_->add_columns(layout::parse_schema(column));
    schema_ = schema_.with(layout::parse_schema(column));
    for (auto& [id, values] : values_) values.resize(schema_.size());
  }
  /// In several segments, some rows of which are out or updated, and in a memtable.
  void fill() {
    for (std::uint64_t round = 0; round < 4; ++round) {
      insert_rows(round * 40, round * 40 + 70, round);
    }
    settle();
    erase_rows({7, 8, 121});
    update_prices(30, 45, -7);
    insert_rows(200, 220, 1);
    collection_->flush();
    insert_rows(10, 20, 5);
    update_prices(60, 64, -8);
  }

  /// The rows that meet the condition, told row by row by what they should have.
  Rows meeting(const attributes::Condition& condition) const {
    Rows rows;
    for (const auto& [id, values] : values_) {
      layout::Tuples tuple;
      tuple.append(schema_, values);
      const layout::Tuple whole(tuple.bytes);
      if (evaluate(condition, whole, id) == attributes::Truth::yes) rows[id] = rows_.at(id);
    }
    return rows;
  }
  void expect_found(const ViewPointer& view) {
    std::size_t some = 0;
    for (const char* text : kAsked) {
      const auto condition = attributes::parse_condition(text, schema_);
      const Rows rows = meeting(*condition);
      some += rows.empty() ? 0 : 1;
      const std::vector<float> query = random_row(random_);
      const auto nearest = exact(rows, Metric::l2, query);
      for (const auto plan :
           {search::FilterPlan::chosen, search::FilterPlan::walk, search::FilterPlan::scan}) {
        const Answer answer = search_view(view, query, 20, kAll, {condition.get(), plan});
        ASSERT_EQ(answer.ids.size(), std::min<std::size_t>(20, rows.size())) << text;
        for (std::size_t r = 0; r < answer.ids.size(); ++r) {
          ASSERT_EQ(answer.ids[r], nearest[r].second) << text << ": result " << r;
        }
      }
      EXPECT_EQ(list_rows(*view, {.filter = text}, {}).matches, rows.size()) << text;
    }
    EXPECT_GT(some, 4u);
  }
  /// Every row is listed with its attributes.
  void expect_listed(const ViewPointer& view) {
    const changes::ListedRows listed =
        list_rows(*view, {.filter = "", .from = 0, .most = 10'000, .attributes = true}, {});
    ASSERT_EQ(listed.ids.size(), values_.size());
    for (std::size_t i = 0; i < listed.ids.size(); ++i) {
      const layout::Tuple tuple(listed.attributes.view().row(i));
      const Values& expected = values_.at(listed.ids[i]);
      for (std::size_t column = 0; column < schema_.size(); ++column) {
        ASSERT_EQ(tuple.value(schema_, column), expected[column]) << listed.ids[i];
      }
    }
  }
  void expect_all(const ViewPointer& view) {
    ASSERT_EQ(size_of(*view).live, rows_.size());
    ASSERT_NO_FATAL_FAILURE(expect_listed(view));
    ASSERT_NO_FATAL_FAILURE(expect_found(view));
  }

  /// Nobody repairs anything from here on. Fills files_ also with attributes.
  void end_writer_and_keep_files() {
    std::map<std::uint64_t, tiers::SegmentHost::SegmentPaths> files;
    const ViewPointer view = collection_->view();
    for (const View::Bulk& bulk : view->segments) {
      files[bulk.segment->number()] = paths_of(*bulk.segment);
    }
    end_writer();
    files_ = files;
  }
  /// A bit of one of the tuples of the first segment is another.
  void load_damaged_attributes(std::size_t node) {
    auto [number, files] = *files_.begin();
    std::tie(files.attributes, files.contents.attributes) =
        damaged(files_.begin()->second.attributes, files.attributes_bytes - 3);
    host(node).load({number_, number}, files);
  }

  static constexpr const char* kAsked[] = {"true",
                                           "price < 200",
                                           "price < 0 or tags contains any ('t1')",
                                           "name prefix 'bbb'",
                                           "price is null",
                                           "id in (3, 7, 60, 190, 1000)",
                                           "not (price >= 0)",
                                           "price < -1000"};

  layout::Schema schema_;
  std::map<std::uint64_t, Values> values_;
};

}  // namespace farvec::collection
