#include "indexing/merge_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/unit/indexing/graph_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::indexing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kBase = 1600;

class MergeRecipeTest : public GraphTest {
 protected:
  MergeRecipeTest() {
    const VectorView base = rows().part(0, kBase);
    const Source source{describe_source({"small.u8bin", "small"}, base, Metric::l2), base};
    write_graph(path("base"), build_graph(source, options()), {}, kWrite);
    for (NodeId row = 0; row < kBase; row += 9) out_.push_back(row);
  }

  static graph::VamanaOptions options() {
    return {.degree = 16, .list = 40, .seed = 5, .threads = 2, .quiet = true};
  }
  dataset::VectorSet more() const { return rows_from(kBase, kCount); }
  dataset::VectorSet rows_from(std::size_t first, std::size_t end) const {
    dataset::VectorSet set(end - first, kDimension, ElementType::u8);
    for (std::size_t i = first; i < end; ++i) {
      std::memcpy(set.mutable_row(i - first), rows().row(i), kDimension);
    }
    return set;
  }
  StoredGraph merge(const std::string& name, dataset::VectorSet more) const {
    return merge_graph(read_graph(open(name), kLoad), {RowSet().with(out_), std::move(more)},
                       options());
  }
  /// [i] is the row of all that is row i of a merge.
  std::vector<std::size_t> expected_rows() const {
    std::vector<std::size_t> expected;
    for (std::size_t row = 0; row < kCount; ++row) {
      if (row >= kBase || row % 9 != 0) expected.push_back(row);
    }
    return expected;
  }
  void expect_rows(const StoredGraph& graph) const {
    const std::vector<std::size_t> expected = expected_rows();
    ASSERT_EQ(graph.rows.count(), expected.size());
    ASSERT_EQ(graph.graph.count(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(same_bytes(graph.rows.view().row(i), rows().row(expected[i]), kDimension)) << i;
    }
  }

  std::vector<NodeId> out_;
};

TEST_F(MergeRecipeTest, IsWrittenAndReadInEveryLayout) {
  StoredGraph merged = merge("base", more());
  expect_rows(merged);
  const BuiltGraph built = std::move(merged).built();
  for (const layout::LayoutKind kind : kGraphRecordLayouts) {
    const std::string name(to_string(kind));
    write_graph(path(name), built, {.layout = kind}, kWrite);
    const StoredGraph again = read_graph(open(name), kLoad);
    expect_rows(again);
    EXPECT_EQ(again.graph.entry, built.graph.entry);
    for (NodeId v = 0; v < built.graph.count(); ++v) {
      expect_neighbors(again.graph.neighbors(v), built.graph.neighbors(v),
                       kind == layout::LayoutKind::packed);
    }
  }
}

TEST_F(MergeRecipeTest, TheManifestSaysThatItIsMerged) {
  StoredGraph merged = merge("base", more());
  EXPECT_EQ(open("base").manifest().graph().build.merges, 0u);
  EXPECT_EQ(merged.manifest.graph().build.merges, 1u);
  EXPECT_EQ(merged.manifest.count, merged.rows.count());
  merged = merge_graph(std::move(merged), {RowSet().with(std::vector<NodeId>{0}), rows_from(0, 1)},
                       {.degree = 12, .list = 30, .seed = 6, .threads = 2, .quiet = true});
  write_graph(path("twice"), std::move(merged).built(), {}, kWrite);
  const layout::Manifest manifest = open("twice").manifest();
  EXPECT_EQ(manifest.graph().build.merges, 2u);
  EXPECT_EQ(manifest.graph().build.degree, 12u);
  EXPECT_EQ(manifest.graph().max_degree, 12u);
  EXPECT_EQ(manifest.graph().build.seed, 6u);
  EXPECT_EQ(manifest.dataset.name, "small");
  EXPECT_EQ(manifest.dataset.file, "");
  EXPECT_EQ(manifest.dataset.rows_hashed, 0u);
}

TEST_F(MergeRecipeTest, RowsThatDoNotFitAreRefused) {
  const auto refusal = [&](dataset::VectorSet more) {
    return tests::message_of([&] { (void)merge("base", std::move(more)); });
  };
  EXPECT_THAT(refusal(dataset::VectorSet(3, kDimension + 1, ElementType::u8)),
              AllOf(HasSubstr("25"), HasSubstr("24")));
  EXPECT_THAT(refusal(dataset::VectorSet(3, kDimension, ElementType::f32)),
              AllOf(HasSubstr("f32"), HasSubstr("u8")));
  out_.clear();
  for (NodeId row = 0; row < kBase; ++row) out_.push_back(row);
  EXPECT_THAT(refusal(dataset::VectorSet(0, kDimension, ElementType::u8)), HasSubstr("no row"));
  EXPECT_EQ(merge("base", rows_from(0, 40)).graph.count(), 40u);
}

TEST_F(MergeRecipeTest, WithoutNewRowsOnlyThoseThatStayAreThere) {
  const StoredGraph merged = merge("base", dataset::VectorSet(0, kDimension, ElementType::u8));
  EXPECT_EQ(merged.graph.count(), kBase - out_.size());
}

}  // namespace
}  // namespace farvec::indexing
