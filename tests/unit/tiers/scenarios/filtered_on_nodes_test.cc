// Searches with conditions of an index that memory nodes serve by itself: each layout, over mapped
// memory and through a device, from one node and from a placement over several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "attributes/condition.h"
#include "base/unreachable_error.h"
#include "layout/collection/segment_attributes.h"
#include "layout/index/index_writer.h"
#include "search/filter/asked_condition.h"
#include "search/index/row_attributes.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/message_of.h"
#include "tests/unit/tiers/filtered_rows.h"
#include "tests/unit/tiers/nodes_of_index.h"
#include "tiers/tier.h"

namespace farvec::tiers {
namespace {

using collection::comes;
using search::FilterPlan;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

constexpr std::array kConditions{"true",
                                 "false",
                                 "price < 50",
                                 "price is null",
                                 "id in (3, 77, 300, 900)",
                                 "tags contains any ('t1') and not price between 10 and 90"};

class OnNodes : public FilteredRows, public NodesOfIndex, public ::testing::Test {
 protected:
  std::filesystem::path served() const override { return path(); }
  static Cores cores_of(const Reader& reader, const search::SearchChoice& choice) {
    Cores cores;
    cores.push_back(
        reader.tier->prepare(*reader.index, shape_of(kNeighbours, choice))->make_core());
    return cores;
  }
  static search::BatchParameters asking(const attributes::Condition* condition,
                                        FilterPlan plan = FilterPlan::chosen, bool exact = false) {
    search::BatchParameters batch;
    batch.condition = condition;
    batch.plan = plan;
    batch.exact = exact;
    return batch;
  }
  Found search(const Reader& reader, search::BatchParameters batch) const {
    const auto choice = choose_all(reader.nodes->manifest().is_cluster());
    return FilteredRows::search(cores_of(reader, choice), queries_.view(), batch, kNeighbours,
                                choice);
  }
  void expect_found(const Reader& reader) {
    for (const char* const text : kConditions) {
      SCOPED_TRACE(text);
      const auto condition = search::asked_condition(*reader.index, text, "filter");
      for (const FilterPlan plan : {FilterPlan::chosen, FilterPlan::walk, FilterPlan::scan}) {
        expect_nearest(*condition, search(reader, asking(condition.get(), plan)));
      }
      expect_nearest(*condition, search(reader, asking(condition.get(), FilterPlan::chosen, true)));
    }
  }
  /// Each row has the attributes that it should have.
  void expect_tuples(const Reader& reader) const {
    for (NodeId row = 0; row < kRows; ++row) {
      const std::vector<std::byte> bytes = reader.index->attributes()->read(row);
      const layout::Tuple tuple(bytes);
      const auto values = values_of(row);
      ASSERT_EQ(tuple.value(schema_, 0), values[0]) << row;
      ASSERT_EQ(tuple.value(schema_, 1), values[1]) << row;
    }
  }
  void write_tenants(const layout::Manifest& manifest) const {
    const layout::Schema schema = layout::parse_schema("owner: u64 tenant");
    layout::Tuples tuples;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      tuples.append(schema, std::vector<layout::Value>{row % 3});
    }
    layout::write_index_attributes(path(), manifest, schema, tuples.view());
  }
  /// Changes a byte of a file in the index's folder, past its headers.
  void damage(const char* file, std::uint64_t from_the_end = 9) const {
    const std::string name = (path() / file).string();
    std::fstream stream(name, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-static_cast<std::streamoff>(from_the_end), std::ios::end);
    const int byte = stream.get();
    stream.seekp(-static_cast<std::streamoff>(from_the_end), std::ios::end);
    stream.put(static_cast<char>(byte ^ 1));
  }
};

struct NodeCase {
  const char* layout;
  const char* tier;
};

class FilteredOnNode : public OnNodes, public ::testing::WithParamInterface<NodeCase> {
 protected:
  FilteredOnNode() { node_tier_ = GetParam().tier; }
};

TEST_P(FilteredOnNode, FindsTheNearestThatMeetACondition) {
  write_attributes(build(GetParam().layout));
  start();
  const Reader reader = read();
  expect_found(reader);
  expect_tuples(reader);
  // The counts are those of the folder.
  const auto directory = layout::IndexDirectory::open(path());
  const auto here = search::load_search_index(directory, {.quiet = true});
  EXPECT_EQ(reader.index->must_find_rows(), here.must_find_rows());
  EXPECT_EQ(reader.index->row_bytes(), here.row_bytes());
  EXPECT_EQ(reader.index->attributes()->schema(), schema_);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FilteredOnNode,
                         ::testing::Values(NodeCase{"csr", "shm"}, NodeCase{"csr", "fabric:tcp"},
                                           NodeCase{"packed", "shm"},
                                           NodeCase{"packed", "fabric:tcp"},
                                           NodeCase{"inline", "shm"}, NodeCase{"grouped", "shm"},
                                           NodeCase{"grouped", "fabric:tcp"},
                                           NodeCase{"coded", "shm"}),
                         [](const auto& of) {
                           return std::string(of.param.layout) +
                                  (std::string(of.param.tier) == "shm" ? "_shm" : "_fabric");
                         });

class PlacedOnNodes : public OnNodes, public ::testing::WithParamInterface<const char*> {
 protected:
  PlacedOnNodes() { node_tier_ = GetParam(); }
};

TEST_P(PlacedOnNodes, HaveAttributesWhileANodeWithThemLives) {
  write_attributes(build("csr"));
  place(3, 2);
  start(3);
  const Reader reader = read(3);
  expect_found(reader);
  expect_tuples(reader);
  nodes_[0].reset();  // the one whose attributes are read
  EXPECT_TRUE(comes([&] { return message_of([&] { expect_tuples(reader); }).empty(); }));
  EXPECT_TRUE(
      comes([&] { return message_of([&] { (void)search(reader, asking(nullptr)); }).empty(); }));
  expect_found(reader);
  const Reader later = read([&] {
    PlacedNodesOptions options = set_options(3);
    options.await_absent = false;
    return options;
  }());
  expect_found(later);
}

INSTANTIATE_TEST_SUITE_P(Tiers, PlacedOnNodes, ::testing::Values("shm", "fabric:tcp"),
                         [](const auto& tier) {
                           return std::string(tier.param) == "shm" ? "shm" : "fabric";
                         });

TEST_F(OnNodes, TheFirstNodesOfManyHoldThem) {
  write_attributes(build("csr"));
  place(kNodes, 1);
  start(kNodes);
  const auto regions = [&](std::size_t node) { return nodes_[node]->stats().regions(); };
  EXPECT_EQ(regions(0), layout::kRegionCount + 2);
  EXPECT_EQ(regions(3), layout::kRegionCount + 2);
  EXPECT_EQ(regions(4), std::uint64_t{layout::kRegionCount});
  const Reader reader = read(kNodes);
  expect_found(reader);
  expect_tuples(reader);
}

/// The file has the same length, so the node is attached again; but it holds other tuples.
TEST_F(OnNodes, TuplesThatAreNotWhatTheyWereComeFromAnotherCopy) {
  const layout::Manifest manifest = build("csr");
  write_attributes(manifest);
  place(2, 2);
  start(2);
  const Reader reader = read(2);
  expect_tuples(reader);
  layout::Tuples others;
  for (NodeId row = 0; row < kRows; ++row) {
    std::vector<Value> values = values_of(row);
    if (row % 9 != 0) values[0] = std::int64_t{-1};
    others.append(schema_, values);
  }
  layout::write_index_attributes(path(), manifest, schema_, others.view());
  const auto attached = [&] { return reader.nodes->members().at(0).attached; };
  nodes_[0].reset();
  ASSERT_TRUE(comes([&] { return !attached(); }));
  start(1);
  ASSERT_TRUE(comes(attached));
  EXPECT_TRUE(comes([&] { return message_of([&] { expect_tuples(reader); }).empty(); }));
  expect_tuples(reader);
  nodes_[1].reset();
  EXPECT_TRUE(comes([&] {
    return message_of([&] { (void)reader.index->attributes()->read(1); }).find("is damaged") !=
           std::string::npos;
  }));
}

class PartialOnNodes : public OnNodes {
 protected:
  /// All nodes but the last, which has records alone.
  Reader read_partial() {
    place(kNodes, 1);
    start(kNodes - 1);
    PlacedNodesOptions options = set_options(kNodes);
    options.await_absent = false;
    options.partial = true;
    return read(std::move(options));
  }
};

TEST_F(PartialOnNodes, TakeConditionsWhereAnOffsetSaysWhereARowIs) {
  write_attributes(build("csr"));
  const Reader reader = read_partial();
  ASSERT_NE(reader.index->attributes(), nullptr);
  expect_tuples(reader);
}

TEST_F(PartialOnNodes, TakeNoneWhereRecordsThatAreMissingSayIt) {
  write_attributes(build("packed"));
  EXPECT_EQ(read_partial().index->attributes(), nullptr);
}

TEST_F(PartialOnNodes, OfTenantsAreNotServedThen) {
  write_tenants(build("packed"));
  EXPECT_THAT(message_of([&] { (void)read_partial(); }), HasSubstr("reading region"));
}

TEST_F(OnNodes, TenantsHaveToBeNamed) {
  write_tenants(build("csr"));
  start();
  const Reader reader = read();
  EXPECT_THAT(message_of([&] { (void)search(reader, asking(nullptr)); }),
              HasSubstr("belong to tenants"));
  const auto condition = search::asked_condition(*reader.index, "owner = 2", "filter");
  const Found found = search(reader, asking(condition.get()));
  EXPECT_EQ(found.counts.matches, kQueries * (kRows / 3));
  for (const NodeId id : found.neighbours.ids) EXPECT_EQ(id % 3, 2u);
}

TEST_F(OnNodes, AnIndexWithoutThemTakesNoCondition) {
  (void)build("csr");
  start();
  const Reader reader = read();
  EXPECT_EQ(reader.index->attributes(), nullptr);
  EXPECT_THAT(
      message_of([&] { (void)search::asked_condition(*reader.index, "price = 1", "--filter"); }),
      HasSubstr("--filter: the rows of the index have no attributes"));
}

TEST_F(OnNodes, AnOlderReaderIsToldWhyItGetsNoLease) {
  write_attributes(build("csr"));
  start();
  memory_node::v1::AttachRequest request;
  request.set_client("old");
  memory_node::v1::AttachResponse response;
  grpc::ClientContext context;
  const grpc::Status status = nodes_[0]->stub().Attach(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("it runs an older farvec"));
  EXPECT_EQ(nodes_[0]->leases(), 0u);
}

TEST_F(OnNodes, WhatIsDamagedIsNotServed) {
  const layout::Manifest manifest = build("csr");
  for (const char* const file : {layout::kIndexSchemaFile, layout::kSegmentAttributesFile}) {
    write_attributes(manifest);
    damage(file);
    const std::atomic<bool> stop{false};
    EXPECT_THAT(message_of([&] { memory_node::run_daemon(options_of(0), stop); }),
                AllOf(HasSubstr(path().string()), HasSubstr("damaged")));
  }
}

TEST_F(OnNodes, ALostNodeIsSaid) {
  write_attributes(build("csr"));
  start();
  const Reader reader = read();
  expect_tuples(reader);
  nodes_[0].reset();
  EXPECT_TRUE(comes([&] { return !reader.nodes->alive(); }));
  EXPECT_THROW((void)reader.index->attributes()->read(3), UnreachableError);
}

}  // namespace
}  // namespace farvec::tiers
