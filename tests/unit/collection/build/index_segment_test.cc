// Indexes that stand by themselves become segments of a collection.
#include "collection/build/index_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "indexing/cluster_recipe.h"
#include "indexing/graph_recipe.h"
#include "indexing/slotted_recipe.h"
#include "layout/collection/index_attributes.h"
#include "tests/unit/collection/attributed_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using testing::HasSubstr;

constexpr const char* kIndexColumns = "price: i64, name: string, tags: set";

class IndexSegment : public AttributedCollection {
 protected:
  std::filesystem::path index() const { return folder_.path() / "index"; }

  /// Makes an index of random rows, which a collection with the shape is to have.
  layout::Manifest build(std::uint64_t first_id, std::uint64_t rows,
                         const layout::CollectionManifest& shape = small_shape()) {
    Batch batch;
    for (std::uint64_t id = first_id; id < first_id + rows; ++id) {
      rows_[id] = random_row(random_);
      batch.add(id, rows_[id]);
    }
    indexing::Source source{indexing::describe_source({"set", "set"}, batch.rows(), shape.metric),
                            batch.rows()};
    const layout::WriteOptions quiet{.threads = 1, .quiet = true};
    graph::VamanaOptions options;
    options.degree = 8;
    options.list = 20;
    options.threads = 1;
    options.quiet = true;
    if (shape.options.kind == layout::IndexKind::cluster) {
      cluster::ClusteringOptions clusters;
      clusters.clusters = 9;
      clusters.threads = 1;
      clusters.quiet = true;
      return indexing::write_clusters(index(), indexing::build_clusters(source, clusters),
                                      {.layout = shape.options.clusters.layout}, quiet);
    }
    if (shape.options.in_pages()) {
      const auto recipe = indexing::resolve_slotted({}, source.rows);
      return indexing::write_slotted(
          index(), indexing::build_slotted_graph(source, recipe, options), recipe, quiet);
    }
    return indexing::write_graph(index(), indexing::build_graph(source, options),
                                 {.layout = shape.options.layout, .code_bits = 4}, quiet);
  }
  /// Gives the rows of the index attributes, those of the first columns alone.
  void attribute(const layout::Manifest& manifest, std::uint64_t first_id, std::size_t columns) {
    const auto& all = schema_.columns();
    const layout::Schema schema({all.begin(), all.begin() + static_cast<long>(columns)});
    layout::Tuples tuples;
    for (std::uint64_t id = first_id; id < first_id + manifest.count; ++id) {
      Values values = values_of(id, 1);
      values.resize(columns);
      tuples.append(schema, values);
      values.resize(all.size());
      expected_[id] = values;
    }
    layout::write_index_attributes(index(), manifest, schema, tuples.view());
  }
  void expect_all() {
    expect_attributes();
    expect_holds(collection_->view(), rows_, random_);
  }
  void insert_some(std::uint64_t first, std::uint64_t end) {
    Batch batch;
    layout::Tuples tuples;
    for (std::uint64_t id = first; id < end; ++id) {
      rows_[id] = random_row(random_);
      expected_[id] = values_of(id, 0);
      batch.add(id, rows_[id]);
      tuples.append(schema_, expected_[id]);
    }
    insert({batch.rows(), batch.ids(), tuples.view()});
  }

  Rows rows_;
};

TEST_F(IndexSegment, HasTheRowsAndTheAttributesOfTheIndex) {
  create(kIndexColumns);
  insert_some(0, 30);
  attribute(build(20, 70), 20, 3);
  const Receipt receipt = collection_->import_index(index(), 20);
  EXPECT_EQ(receipt.done, 70u);
  EXPECT_EQ(receipt.replaced, 10u);
  expect_all();
  std::filesystem::remove_all(index());  // the segment is a copy
  open();
  expect_all();
  insert_some(60, 120);
  erase(*collection_, {21, 100});
  for (const std::uint64_t id : {21, 100}) {
    rows_.erase(id);
    expected_.erase(id);
  }
  ASSERT_TRUE(collection_->compact());
  ASSERT_EQ(collection_->view()->segments.size(), 1u);
  expect_all();
}

TEST_F(IndexSegment, MayHaveFewerColumnsOrNone) {
  create(kIndexColumns);
  attribute(build(0, 40), 0, 2);
  (void)collection_->import_index(index(), 0);
  expect_all();
  std::filesystem::remove_all(index());
  build(100, 1);
  expected_[100] = Values(3);
  (void)collection_->import_index(index(), 100);
  expect_all();
  open();
  expect_all();
}

TEST_F(IndexSegment, MayBeOfEveryKindAndLayout) {
  std::vector<layout::CollectionManifest> shapes = {small_cluster_shape(), small_page_shape()};
  for (const auto layout :
       {layout::LayoutKind::csr, layout::LayoutKind::packed, layout::LayoutKind::inlined}) {
    shapes.push_back(small_shape());
    shapes.back().options.layout = layout;
  }
  for (const layout::CollectionManifest& shape : shapes) {
    SCOPED_TRACE(shape.options.in_pages() ? "pages" : to_string(shape.options.layout));
    collection_.reset();
    std::filesystem::remove_all(path());
    std::filesystem::remove_all(index());
    rows_.clear();
    expected_.clear();
    schema_ = layout::parse_schema(kIndexColumns);
    Collection::create(path(), [&] {
      layout::CollectionManifest with = shape;
      with.schema = schema_;
      return with;
    }());
    CollectionAccess access = small_access(shape.options.in_pages() ? "ssd" : "dram");
    collection_ = std::make_unique<Collection>(path(), access);
    attribute(build(0, 80, shape), 0, 3);
    (void)collection_->import_index(index(), 0);
    expect_all();
    insert_some(70, 150);
    ASSERT_TRUE(collection_->compact());
    expect_all();
  }
}

TEST_F(IndexSegment, ThatDoesNotFitIsRefusedAndNothingIsIn) {
  const auto refused = [&](const char* what, std::uint64_t first_id = 0) {
    EXPECT_THAT(tests::message_of([&] { (void)collection_->import_index(index(), first_id); }),
                HasSubstr(what));
    EXPECT_EQ(collection_->view()->live(), 0u);
  };
  create("price: i64, name: string, tags: set");
  refused("index");  // there is none
  const layout::Manifest manifest = build(0, 40);
  refused("more than 64 bits", std::numeric_limits<std::uint64_t>::max() - 10);
  layout::Tuples tuples;
  for (int i = 0; i < 40; ++i) tuples.append(layout::parse_schema("prize: i64"), Values(1));
  layout::write_index_attributes(index(), manifest, layout::parse_schema("prize: i64"),
                                 tuples.view());
  refused("are 'prize: i64', and those of the collection are 'price: i64, name");
  attribute(manifest, 0, 3);
  const std::filesystem::path records = layout::IndexDirectory::open(index()).region_path(0);
  const auto flip = [&] {
    std::fstream file(records, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(5000);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(5000);
    file.put(byte);
  };
  flip();
  refused("is damaged: chunk 0");
  flip();
  EXPECT_THROW((void)collection_->import_index(index(), 0, [] { return true; }), WorkInterrupted);
  EXPECT_EQ(collection_->import_index(index(), 0).done, 40u);
  expect_all();
}

TEST_F(IndexSegment, OfAnotherShapeIsRefused) {
  const auto refused = [&](const char* schema, const layout::CollectionManifest& shape,
                           const char* what) {
    collection_.reset();
    std::filesystem::remove_all(path());
    create(schema, shape);
    EXPECT_THAT(tests::message_of([&] { (void)collection_->import_index(index(), 0); }),
                HasSubstr(what));
    EXPECT_EQ(collection_->view()->live(), 0u);
  };
  build(0, 40);
  refused("price: i64", small_shape(Metric::inner_product),
          "is csr of 7 x f32 by l2, and the segments of the collection are csr of 7 x f32 by ip");
  layout::CollectionManifest other = small_shape();
  other.dimension = 8;
  refused("price: i64", other, "csr of 8 x f32 by l2");
  other = small_shape();
  other.source_type = other.stored_type = ElementType::u8;
  refused("price: i64", other, "csr of 7 x u8 by l2");
  other = small_shape();
  other.options.layout = layout::LayoutKind::packed;
  refused("price: i64", other, "packed of 7 x f32 by l2");
  refused("price: i64", small_cluster_shape(), "grouped of 7 x f32 by l2");
  refused("price: i64", reduced(small_shape(), {.type = ElementType::b1}), "second copies");
  refused("price: i64 not null", small_shape(), "are '', and those of the collection are 'price");
}

}  // namespace
}  // namespace farvec::collection
