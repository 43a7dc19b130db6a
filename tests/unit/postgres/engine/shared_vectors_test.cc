#include "postgres/engine/shared_vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>

#include "base/error.h"
#include "changes/batches.h"
#include "collection/state/matching_rows.h"
#include "layout/collection/coverage_mark.h"
#include "postgres/engine/picked_rows.h"
#include "tests/unit/postgres/engine/access.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::postgres {
namespace {

using Vids = std::vector<std::uint64_t>;
using layout::Tuples;
using layout::Value;

constexpr std::uint32_t kDimension = 6;
constexpr Sharing kAgain{.expected = true, .more_bytes = std::size_t{1} << 30};
constexpr Sharing kNew{.expected = false, .more_bytes = std::size_t{1} << 30};
const layout::Schema kSchema({{.name = "c1", .type = layout::ColumnType::i64}});

/// Vectors that differ by their first element, and the rows that have them.
struct Rows {
  Rows(Vids vids, const std::vector<float>& firsts, const std::vector<std::int64_t>& values = {})
      : ids(std::move(vids)) {
    for (const float first : firsts) {
      floats.push_back(first);
      floats.insert(floats.end(), {1, 2, 3, 4, 5});
    }
    for (const std::int64_t value : values) tuples.append(kSchema, std::vector<Value>{value});
  }
  changes::RowBatch batch() const {
    return {packed_view(floats.data(), ids.size(), kDimension, ElementType::f32), ids,
            tuples.view()};
  }

  Vids ids;
  std::vector<float> floats;
  Tuples tuples;
};

class SharedVectorsTest : public testing::Test {
 protected:
  void make(Metric metric = Metric::l2, const layout::Schema& schema = {}) {
    layout::CollectionManifest manifest;
    manifest.source_type = ElementType::f32;
    manifest.metric = metric;
    manifest.dimension = kDimension;
    manifest.schema = schema;
    manifest.options.memtable_rows = 5000;
    collection::Collection::create(folder_.path() / "collection", std::move(manifest));
    layout::write_aliases(folder_.path(), to_string(kName), {});
    open();
  }
  void open() {
    shared_.reset();
    collection_.reset();
    collection_ =
        std::make_unique<collection::Collection>(folder_.path() / "collection", access_of_tests());
    shared_ = std::make_unique<SharedVectors>(
        SharedVectors::Parts{.folder = folder_.path(),
                             .name = kName,
                             .collection = *collection_,
                             .list = layout::read_aliases(folder_.path(), to_string(kName))});
  }
  /// Inserts what has to be inserted, and returns these rows.
  Vids insert(const Rows& rows, const Sharing& sharing) {
    changes::Receipt receipt;
    const auto left = shared_->take(rows.batch(), sharing);
    std::vector<std::size_t> all(rows.ids.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const PickedRows rest(rows.batch(), left ? *left : all);
    if (!rest.batch().ids.empty()) collection_->insert(rest.batch(), {}, receipt);
    shared_->inserted(rest.batch(), sharing);
    return {rest.batch().ids.begin(), rest.batch().ids.end()};
  }
  void erase(const Vids& vids) { shared_->erase(vids, changes::Patience::kWithoutEnd); }
  bool save() { return shared_->save(changes::Patience::kWithoutEnd); }
  bool has_vertex(std::uint64_t vid) const {
    return changes::get_all(*collection_, Vids{vid}, {}).found[0];
  }
  Vids rows_of(const Vids& vertices, std::size_t room = 100,
               const attributes::ConditionPointer& condition = nullptr) const {
    Vids vids(room);
    std::vector<float> distances(room);
    const std::vector<float> of_vertices(vertices.size(), 1.0f);
    const SharedVectors::Rows rows =
        shared_->rows_of({vertices, of_vertices, condition.get()}, vids, distances);
    EXPECT_GE(rows.all, rows.count);
    vids.resize(rows.count);
    return vids;
  }

  attributes::ConditionPointer condition(const std::string& text) const {
    return attributes::parse_condition(text, *collection_->view()->schema);
  }
  /// The rows that a search finds which asks the collection.
  void expect_found(const std::string& text, const Vids& expected) const {
    const attributes::ConditionPointer asked = condition(text);
    Vids vertices;
    for (const collection::MatchingRows& part :
         collection::matching_rows(*collection_->view(), *asked, Interruption())) {
      for (const NodeId row : part.rows) vertices.push_back(part.id(row));
    }
    const auto hosts = shared_->hosts_for(asked);
    EXPECT_EQ(hosts, shared_->hosts_for(condition(text))) << "nothing has changed";
    if (hosts != nullptr) vertices.insert(vertices.end(), hosts->ids.begin(), hosts->ids.end());
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    EXPECT_EQ(rows_of(vertices, 100, asked), expected) << text;
  }
  static std::optional<std::int64_t> value_of(const changes::FoundRows& rows) {
    const layout::Tuple tuple(rows.attributes.view().row(0));
    if (tuple.is_null(0)) return std::nullopt;
    return static_cast<std::int64_t>(tuple.word(0));
  }
  std::int64_t vertex_value(std::uint64_t vid) const {
    return *value_of(changes::get_all(*collection_, Vids{vid}, {}));
  }
  std::optional<std::int64_t> own_value(std::uint64_t vid) const {
    const Vids vids{vid};
    const Vids hosts{shared_->list().aliases.empty() ? vid : host_of(vid)};
    changes::FoundRows rows = changes::get_all(*collection_, hosts, {});
    shared_->put_own_values(vids, rows);
    return value_of(rows);
  }
  std::uint64_t host_of(std::uint64_t vid) const {
    for (const layout::Alias& alias : shared_->list().aliases) {
      if (alias.id == vid) return alias.host;
    }
    return vid;
  }
  /// Opens it with a collection in which the vertex of row 1 has another value, as after a kill.
  void make_older(std::int64_t value) {
    Tuples tuples;
    tuples.append(kSchema, std::vector<Value>{value});
    changes::Receipt receipt;
    collection_->update(Vids{1}, {.columns = {"c1"}, .values = tuples.view()}, {}, receipt);
    collection_->make_durable({});
    open();
  }

  static constexpr IndexName kName{7, 1, 2, 3};
  tests::TemporaryFolder folder_;
  std::unique_ptr<collection::Collection> collection_;
  std::unique_ptr<SharedVectors> shared_;
};

TEST_F(SharedVectorsTest, ARowThatIsExpectedSharesAVector) {
  make();
  EXPECT_EQ(insert({{1, 2, 3}, {10, 20, 30}}, kNew), Vids({1, 2, 3}));
  EXPECT_EQ(insert({{4, 5, 6}, {20, 40, 10}}, kAgain), Vids({5}));
  EXPECT_EQ(rows_of({1, 2, 3, 5}), Vids({6, 1, 4, 2, 3, 5}));
  EXPECT_EQ(shared_->vertices_of(Vids{4, 5, 6}), Vids({2, 5, 1}));
  EXPECT_EQ(shared_->more_rows(), 2);
  EXPECT_GT(shared_->bytes(), 0u);
  EXPECT_EQ(collection_->view()->live(), 4u);
}

TEST_F(SharedVectorsTest, OneThatIsNotExpectedHasItsOwn) {
  make();
  insert({{1}, {10}}, kNew);
  EXPECT_EQ(insert({{2}, {10}}, kNew), Vids({2}));
  EXPECT_EQ(shared_->bytes(), 0u);
}

TEST_F(SharedVectorsTest, RowsThatCameSinceAreFoundToo) {
  make();
  insert({{1}, {10}}, kAgain);
  insert({{2}, {20}}, kNew);
  EXPECT_EQ(insert({{3}, {20}}, kAgain), Vids());
  EXPECT_EQ(rows_of({2}), Vids({3, 2}));
}

TEST_F(SharedVectorsTest, RowsOfSegmentsAreFound) {
  make();
  insert({{1, 2}, {10, 20}}, kNew);
  ASSERT_TRUE(collection_->flush());
  insert({{3}, {30}}, kNew);
  EXPECT_EQ(insert({{4, 5, 6}, {10, 30, 50}}, kAgain), Vids({6}));
  ASSERT_TRUE(collection_->compact());
  EXPECT_EQ(rows_of({1, 3}), Vids({4, 1, 5, 3}));
  EXPECT_EQ(insert({{7}, {20}}, kAgain), Vids());
}

TEST_F(SharedVectorsTest, AnEqualUnitVectorIsTheSame) {
  make(Metric::cosine);
  insert({{1}, {10}}, kNew);
  EXPECT_EQ(insert({{2, 3}, {10, 11}}, kAgain), Vids({3}));
}

TEST_F(SharedVectorsTest, ARowIsFoundByItsOwnValues) {
  make(Metric::l2, kSchema);
  insert({{1, 2}, {10, 20}, {100, 200}}, kNew);
  ASSERT_TRUE(collection_->flush());
  EXPECT_EQ(insert({{3, 4}, {10, 20}, {100, 100}}, kAgain), Vids());
  EXPECT_EQ(rows_of({1, 2}), Vids({3, 1, 4, 2}));
  expect_found("c1 = 100", {3, 1, 4, 2});
  EXPECT_EQ(rows_of({1, 2}, 100, condition("c1 = 200")), Vids({3, 1, 2})) << "4 has another value";
  EXPECT_EQ(own_value(4), 100);
  EXPECT_EQ(own_value(2), 200);
  // Without tuples all values are null.
  EXPECT_EQ(insert({{5}, {10}}, kAgain), Vids());
  EXPECT_EQ(own_value(5), std::nullopt);
  expect_found("c1 is null", {5, 3, 1});
}

TEST_F(SharedVectorsTest, AHostWithTheSameValuesComesFirst) {
  make(Metric::l2, kSchema);
  insert({{1, 2}, {10, 10}, {100, 200}}, kNew);
  EXPECT_EQ(insert({{3, 4, 5}, {10, 10, 10}, {200, 100, 300}}, kAgain), Vids());
  EXPECT_EQ(rows_of({1}, 100, condition("c1 = 100")), Vids({4, 1}));
  EXPECT_EQ(shared_->vertices_of(Vids{3, 4}), Vids({2, 1}));
}

TEST_F(SharedVectorsTest, AVertexGetsTheValuesOfItsRowsWhenNoneHasItsOwn) {
  make(Metric::l2, kSchema);
  insert({{1, 2}, {10, 20}, {100, 200}}, kNew);
  ASSERT_TRUE(collection_->flush());
  insert({{3, 4}, {10, 20}, {101, 201}}, kAgain);
  insert({{5}, {10}, {102}}, kAgain);
  save();
  EXPECT_EQ(vertex_value(1), 100) << "1 has it";
  erase({1});
  EXPECT_TRUE(save());
  EXPECT_EQ(vertex_value(1), 102) << "that of the row that came last";
  EXPECT_EQ(vertex_value(2), 200);
  EXPECT_EQ(own_value(3), 101);
  EXPECT_EQ(own_value(5), 102);
  expect_found("c1 = 101", {3});
  expect_found("c1 = 102", {5});
  expect_found("c1 = 100", {});
  erase({5});
  EXPECT_TRUE(save());
  EXPECT_EQ(vertex_value(1), 101);
  // One that comes now keeps its values too, because those of the vertex may not be durable.
  insert({{6}, {10}, {101}}, kAgain);
  save();
  EXPECT_EQ(layout::read_aliases(folder_.path(), to_string(kName)).own.ids.size(), 3u);
  // A later manifest has them.
  insert({{7}, {70}, {700}}, kNew);
  ASSERT_TRUE(collection_->flush());
  open();
  EXPECT_EQ(vertex_value(1), 101);
  EXPECT_EQ(own_value(6), 101);
  EXPECT_EQ(own_value(4), 201);
  expect_found("c1 = 101", {6, 3});
  insert({{8}, {10}, {103}}, kAgain);
  save();
  EXPECT_EQ(layout::read_aliases(folder_.path(), to_string(kName)).own.ids, Vids({4, 8}))
      << "what the vertex has was left out when it was opened";
}

TEST_F(SharedVectorsTest, ValuesThatTheCollectionHasLostAreInTheFile) {
  make(Metric::l2, kSchema);
  insert({{1}, {10}, {100}}, kNew);
  ASSERT_TRUE(collection_->flush());
  insert({{2, 3}, {10, 10}, {101, 102}}, kAgain);
  erase({1});
  save();
  ASSERT_EQ(vertex_value(1), 102);
  const layout::AliasList list = layout::read_aliases(folder_.path(), to_string(kName));
  make_older(100);
  EXPECT_EQ(layout::read_aliases(folder_.path(), to_string(kName)), list);
  EXPECT_EQ(own_value(2), 101);
  EXPECT_EQ(own_value(3), 102);
  expect_found("c1 = 102", {3});
  expect_found("c1 = 100", {});
  EXPECT_TRUE(save());
  EXPECT_EQ(vertex_value(1), 102);
}

TEST_F(SharedVectorsTest, ValuesInTheFileThatCannotBeAreRefused) {
  make(Metric::l2, kSchema);
  insert({{1}, {10}, {100}}, kNew);
  ASSERT_TRUE(collection_->flush());
  layout::AliasList list{{{2, 1}}, {}};
  list.own.ids = {2};
  list.own.tuples.append(std::vector<std::byte>(5, std::byte{7}));
  layout::write_aliases(folder_.path(), to_string(kName), list);
  EXPECT_THROW(open(), Error);
}

TEST_F(SharedVectorsTest, SomeRowsAtMostHaveOtherValues) {
  make(Metric::l2, kSchema);
  insert({{1}, {10}, {100}}, kNew);
  std::uint64_t vid = 2;
  for (; vid < 2 + SharedVectors::kMostDiffering; vid += 4096) {
    Vids vids(4096);
    std::iota(vids.begin(), vids.end(), vid);
    std::vector<std::int64_t> values(vids.begin(), vids.end());
    for (std::int64_t& value : values) value += 1000;
    ASSERT_EQ(insert({vids, std::vector<float>(4096, 10), values}, kAgain), Vids());
  }
  EXPECT_EQ(insert({{vid}, {10}, {5}}, kAgain), Vids({vid}));
  EXPECT_EQ(insert({{vid + 1}, {10}, {100}}, kAgain), Vids()) << "it has its host's";
  erase({2});
  EXPECT_EQ(insert({{vid + 2}, {10}, {7}}, kAgain), Vids());
}

TEST_F(SharedVectorsTest, AVertexGoesWithItsLastRow) {
  make();
  insert({{1, 2}, {10, 20}}, kNew);
  insert({{3, 4}, {10, 20}}, kAgain);
  erase({1, 4});
  EXPECT_TRUE(has_vertex(1));
  EXPECT_EQ(rows_of({1, 2}), Vids({3, 2}));
  EXPECT_EQ(shared_->vertices_of(Vids{1, 3}), Vids({AliasTable::kNone, 1}));
  EXPECT_EQ(shared_->more_rows(), 0);
  erase({3});
  EXPECT_TRUE(has_vertex(1)) << "a file may say that 3 has its vector";
  EXPECT_EQ(rows_of({1, 2}), Vids({2}));
  EXPECT_EQ(shared_->more_rows(), -1);
  save();
  EXPECT_FALSE(has_vertex(1));
  EXPECT_TRUE(has_vertex(2));
  EXPECT_EQ(shared_->more_rows(), 0);
  erase({2});
  save();
  EXPECT_FALSE(has_vertex(2));
  EXPECT_EQ(rows_of({2}), Vids({2})) << "it is not known";
}

TEST_F(SharedVectorsTest, AVertexWithoutRowsMayGetSome) {
  make();
  insert({{1}, {10}}, kNew);
  insert({{2}, {10}}, kAgain);
  erase({1, 2});
  EXPECT_EQ(insert({{3}, {10}}, kAgain), Vids());
  save();
  EXPECT_TRUE(has_vertex(1));
  EXPECT_EQ(rows_of({1}), Vids({3}));
  erase({3});
  save();
  EXPECT_FALSE(has_vertex(1));
  EXPECT_EQ(insert({{4}, {10}}, kAgain), Vids({4})) << "nobody has its vector now";
}

TEST_F(SharedVectorsTest, ARowThatComesAgainIsThere) {
  make();
  insert({{1}, {10}}, kNew);
  insert({{2}, {10}}, kAgain);
  EXPECT_EQ(insert({{2}, {10}}, kNew), Vids());
  erase({1});
  EXPECT_EQ(insert({{1}, {10}}, kNew), Vids());
  EXPECT_EQ(rows_of({1}), Vids({2, 1}));
}

TEST_F(SharedVectorsTest, WhatWasSavedIsThereWhenItIsOpened) {
  make();
  insert({{1, 2}, {10, 20}}, kNew);
  insert({{3, 4}, {10, 20}}, kAgain);
  erase({1});
  save();
  insert({{5}, {20}}, kAgain);
  open();
  EXPECT_EQ(rows_of({1, 2}), Vids({3, 4, 2})) << "5 was not saved";
  EXPECT_EQ(shared_->more_rows(), 1);
  insert({{5}, {20}}, kAgain);
  save();
  open();
  EXPECT_EQ(rows_of({1, 2}), Vids({3, 5, 4, 2}));
  erase({3});
  save();
  EXPECT_FALSE(has_vertex(1));
  open();
  EXPECT_EQ(rows_of({2}), Vids({5, 4, 2}));
  EXPECT_EQ(shared_->more_rows(), 2) << "the file still names 1";
}

TEST_F(SharedVectorsTest, RowsOfAVertexThatIsNotThereComeAgain) {
  make();
  insert({{1}, {10}}, kNew);
  layout::write_aliases(folder_.path(), to_string(kName), {{{3, 1}, {4, 2}}, {5}});
  open();
  EXPECT_EQ(rows_of({1}), Vids({3, 1}));
  EXPECT_EQ(shared_->more_rows(), 1) << "2 was fresh and is lost, and 4 with it";
  EXPECT_EQ(insert({{4}, {10}}, kNew), Vids({4}));
  save();
  EXPECT_EQ(layout::read_aliases(folder_.path(), to_string(kName)).aliases.size(), 1u);
}

TEST_F(SharedVectorsTest, AFileThatCannotBeWrittenLosesNothing) {
  make();
  insert({{1}, {10}}, kNew);
  insert({{2}, {10}}, kAgain);
  erase({1, 2});
  const std::filesystem::path away = folder_.path() / "away";
  std::filesystem::rename(folder_.path() / layout::kAliasFile, away);
  std::filesystem::create_directory(folder_.path() / layout::kAliasFile);
  EXPECT_THROW(save(), Error);
  EXPECT_TRUE(has_vertex(1));
  std::filesystem::remove(folder_.path() / layout::kAliasFile);
  save();
  EXPECT_FALSE(has_vertex(1));
}

TEST_F(SharedVectorsTest, WithoutMemoryRowsHaveTheirOwnVertices) {
  make();
  insert({{1}, {10}}, kNew);
  EXPECT_EQ(insert({{2}, {10}}, {.expected = true, .more_bytes = 0}), Vids({2}));
  EXPECT_EQ(insert({{3}, {10}}, kAgain), Vids());
  EXPECT_TRUE(shared_->forget_vectors());
  EXPECT_FALSE(shared_->forget_vectors());
  EXPECT_EQ(insert({{4}, {10}}, kAgain), Vids()) << "it learns them again";
}

TEST_F(SharedVectorsTest, EachVertexGivesAnEqualShare) {
  make();
  insert({{1, 2, 3}, {10, 20, 30}}, kNew);
  for (std::uint64_t vid = 4; vid <= 3000; ++vid) {
    ASSERT_EQ(insert({{vid}, {vid % 3 == 0 ? 20.0f : 10.0f}}, kAgain), Vids());
  }
  EXPECT_EQ(rows_of({1, 2, 3}, 4000).size(), 3000u);
  // The last ones first.
  EXPECT_EQ(rows_of({1, 2, 3}, 9), Vids({2999, 2998, 2996, 3000, 2997, 2994, 3}));
}

TEST_F(SharedVectorsTest, RowsThatWentAreNotLearnt) {
  make();
  insert({{1, 2, 3}, {10, 20, 30}}, kNew);
  erase({2});
  EXPECT_EQ(insert({{4}, {20}}, kAgain), Vids({4}));
  erase({4});
  EXPECT_EQ(insert({{5}, {20}}, kAgain), Vids({5}));
}

}  // namespace
}  // namespace farvec::postgres
