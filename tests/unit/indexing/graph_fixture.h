// A graph over the rows of a RecipeTest, to be written in the layouts that have records.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "indexing/graph_recipe.h"
#include "layout/graph/record_reader.h"
#include "tests/unit/indexing/recipe_fixture.h"

namespace farvec::indexing {

inline constexpr layout::LayoutKind kGraphRecordLayouts[] = {
    layout::LayoutKind::csr, layout::LayoutKind::padded, layout::LayoutKind::inlined,
    layout::LayoutKind::packed};

class GraphTest : public RecipeTest {
 protected:
  BuiltGraph build(unsigned threads = 2) const {
    graph::VamanaOptions options;
    options.degree = 16;
    options.list = 40;
    options.seed = 5;
    options.threads = threads;
    options.quiet = true;
    return build_graph(source(), options);
  }
  /// Every record holds its row, and the neighbours of its vertex; in an order of their own where
  /// the layout has one.
  void expect_records(const layout::IndexDirectory& directory, const BuiltGraph& built) const {
    const layout::GraphLocator locator = directory.load_locator(kLoad);
    const HugeBuffer region = directory.load_region(layout::kRecordsRegion, kLoad);
    layout::RecordReader records(locator, region.span());
    const bool packed = directory.manifest().graph().layout == layout::LayoutKind::packed;
    std::vector<NodeId> row_of(kCount);
    for (NodeId id = 0; id < kCount; ++id) row_of[id] = packed ? records.read(id).row : id;
    for (NodeId id = 0; id < kCount; ++id) {
      const NodeRecord record = records.read(id);
      ASSERT_TRUE(same_bytes(record.vector, rows().row(row_of[id]), kDimension)) << id;
      std::vector<NodeId> found;
      for (std::uint32_t i = 0; i < record.degree; ++i) {
        found.push_back(row_of[record.neighbor(i)]);
      }
      expect_neighbors(found, built.graph.neighbors(row_of[id]), packed);
    }
    EXPECT_EQ(row_of[directory.manifest().graph().entry], built.graph.entry);
  }
  /// `any_order`: of ids that a layout sorts.
  static void expect_neighbors(std::span<const NodeId> found, std::span<const NodeId> expected,
                               bool any_order) {
    const bool same = found.size() == expected.size() &&
                      (any_order ? std::is_permutation(found.begin(), found.end(), expected.begin())
                                 : std::equal(found.begin(), found.end(), expected.begin()));
    ASSERT_TRUE(same);
  }
};

}  // namespace farvec::indexing
