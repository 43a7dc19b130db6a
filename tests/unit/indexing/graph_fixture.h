// A graph over the rows of a RecipeTest, to be written in the layouts that have records.
#pragma once

#include <gtest/gtest.h>

#include "indexing/graph_recipe.h"
#include "tests/unit/indexing/recipe_fixture.h"

namespace farvec::indexing {

inline constexpr layout::LayoutKind kGraphRecordLayouts[] = {
    layout::LayoutKind::csr, layout::LayoutKind::padded, layout::LayoutKind::inlined};

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
  /// Every record holds its row, and the neighbours of its vertex.
  void expect_records(const layout::IndexDirectory& directory, const BuiltGraph& built) const {
    const layout::GraphLocator locator = directory.load_locator(kLoad);
    const HugeBuffer region = directory.load_region(layout::kRecordsRegion, kLoad);
    for (NodeId id = 0; id < kCount; ++id) {
      const layout::Extent extent = locator.locate(id);
      const auto record =
          locator.parse(id, extent, region.span().subspan(extent.offset, extent.bytes));
      ASSERT_TRUE(record.ok()) << record.status().message();
      ASSERT_TRUE(same_bytes(record.value().vector, rows().row(id), kDimension)) << id;
      const auto neighbors = built.graph.neighbors(id);
      ASSERT_EQ(record.value().degree, neighbors.size()) << id;
      ASSERT_TRUE(same_bytes(record.value().neighbors,
                             reinterpret_cast<const std::byte*>(neighbors.data()),
                             neighbors.size_bytes()))
          << id;
    }
  }
};

}  // namespace farvec::indexing
