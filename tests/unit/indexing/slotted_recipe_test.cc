#include "indexing/slotted_recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "disk/disk_engine.h"
#include "disk/memory_queue.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"
#include "search/disk/disk_records.h"
#include "search/disk/slotted_core.h"
#include "tests/unit/indexing/recipe_fixture.h"

namespace farvec::indexing {
namespace {

using layout::PayloadKind;

SlottedRecipe resolved(std::uint32_t dimension, ElementType type, SlottedRecipe recipe = {}) {
  return resolve_slotted(recipe, packed_view(nullptr, 1, dimension, type));
}

class SlottedRecipeTest : public RecipeTest {
 protected:
  BuiltGraph build(const SlottedRecipe& recipe) const {
    graph::VamanaOptions options;
    options.degree = 16;
    options.list = 40;
    options.threads = 2;
    options.quiet = true;
    return build_slotted_graph(source(), recipe, options);
  }
  /// Every vertex is in one page, with its neighbours and, when `vectors`, its row.
  void expect_records(const layout::IndexDirectory& directory, const BuiltGraph& built,
                      bool vectors) const {
    const layout::SlottedGeometry geometry = directory.manifest().slotted_geometry();
    const HugeBuffer region = directory.load_region(layout::kRecordsRegion, kLoad);
    std::vector<NodeId> neighbors(geometry.scratch_ids());
    std::size_t seen = 0;
    for (std::uint32_t number = 0; number < geometry.pages; ++number) {
      const auto page = layout::SlottedPage::parse(
          geometry, number,
          region.span().subspan(geometry.page_offset(number), geometry.page_bytes));
      ASSERT_TRUE(page.ok()) << page.status().message();
      for (std::uint32_t i = 0; i < page.value().count(); ++i) {
        const layout::PageSlot slot = page.value().slot(i);
        const auto record =
            layout::decode_slotted_record(geometry, page.value().record(slot), neighbors);
        ASSERT_TRUE(record.ok()) << record.status().message();
        const auto as_built = built.graph.neighbors(slot.id);
        ASSERT_TRUE(std::is_permutation(as_built.begin(), as_built.end(), neighbors.begin(),
                                        neighbors.begin() + record.value().degree))
            << slot.id;
        if (vectors) {
          ASSERT_TRUE(same_bytes(record.value().vector, rows().row(slot.id), kDimension));
        }
        ++seen;
      }
    }
    EXPECT_EQ(seen, kCount);
  }
  /// Searches the pages where they lie in memory.
  double search(const layout::IndexDirectory& directory) const {
    const slotted::SlottedIndex index = slotted::load_slotted_index(directory, kLoad);
    const HugeBuffer pages = directory.load_region(layout::kRecordsRegion, kLoad);
    const slotted::SlottedSearchOptions options{.slots = 4, .list = 80};
    const auto core = search::make_slotted_core(
        std::make_shared<slotted::SlottedStore>(index, directory.load_page_map(kLoad), options),
        std::make_unique<disk::DiskEngine>(std::make_unique<disk::MemoryQueue>(
            disk::DiskFiles{search::open_disk_records(directory, "")}, pages.span(),
            slotted::SlottedStore::reads_per_core(options))));
    search::TaskListFeed feed = queries();
    const search::GraphChoice choice{options.list, 1};
    for (auto& task : feed.tasks()) {
      task.request.parameters = search::SearchParameters::make(10, choice).value();
    }
    core->run(feed);
    return recall(feed);
  }
};

TEST_F(SlottedRecipeTest, RecordsWithVectorsAreReadBackAndSearched) {
  const SlottedRecipe recipe{.payload = PayloadKind::vector, .code_bits = 3};
  const BuiltGraph built = build(recipe);
  const layout::Manifest written = write_slotted(path("index"), built, recipe, kWrite);
  EXPECT_EQ(written.graph().build.code_bits, 3u);
  EXPECT_FALSE(written.slotted().rerank);
  const layout::IndexDirectory directory = open("index");
  expect_records(directory, built, true);
  EXPECT_GE(search(directory), 0.95);
}

TEST_F(SlottedRecipeTest, RecordsWithCodesAreReadBackAndTheVectorsBesideThem) {
  const SlottedRecipe recipe{.payload = PayloadKind::code, .extension_bits = 5};
  const BuiltGraph built = build(recipe);
  const layout::Manifest written = write_slotted(path("index"), built, recipe, kWrite);
  EXPECT_EQ(written.graph().build.code_bits, 1u);
  EXPECT_EQ(written.slotted().extension_bits, 5u);
  ASSERT_TRUE(written.slotted().rerank);
  const layout::IndexDirectory directory = open("index");
  expect_records(directory, built, false);
  const HugeBuffer vectors = directory.load_region(layout::kVectorsRegion, kLoad);
  EXPECT_TRUE(
      same_bytes(vectors.data() + layout::kRegionHeaderBytes, rows().row(0), kCount * kDimension));
}

TEST_F(SlottedRecipeTest, WhatTheBuildRemembersBringsAffineRecordsTogether) {
  SlottedRecipe recipe{.packing = slotted::PackingKind::affinity};
  const BuiltGraph built = build(recipe);
  const layout::SlottedDescription by_affinity =
      write_slotted(path("affinity"), built, recipe, kWrite).slotted();
  recipe.packing = slotted::PackingKind::id;
  const layout::SlottedDescription by_id =
      write_slotted(path("id"), built, recipe, kWrite).slotted();
  EXPECT_EQ(by_affinity.placement, "affinity");
  EXPECT_EQ(by_id.placement, "id");
  EXPECT_GT(by_affinity.affine_pairs, 0u);
  EXPECT_EQ(by_affinity.affine_pairs, by_id.affine_pairs);
  EXPECT_GT(by_affinity.affine_pairs_together, by_id.affine_pairs_together);
}

TEST_F(SlottedRecipeTest, AGraphThatRemembersNothingIsPackedToo) {
  const BuiltGraph built =
      build_graph(source(), {.degree = 16, .list = 40, .threads = 2, .quiet = true});
  const layout::Manifest written = write_slotted(path("index"), built, {}, kWrite);
  EXPECT_EQ(written.slotted().affine_pairs, 0u);
  expect_records(open("index"), built, true);
}

TEST_F(SlottedRecipeTest, OneVertexOf32FindsWhereSearchesStart) {
  const BuiltGraph built = build({});
  const auto vertices = [&](const std::string& name, std::uint32_t wanted) {
    return write_slotted(path(name), built, {.entry_vertices = wanted}, kWrite)
        .slotted()
        .entries.vertices;
  };
  EXPECT_EQ(vertices("default", 0), (kCount + 31) / 32);
  EXPECT_EQ(vertices("said", 100), 100u);
  EXPECT_EQ(vertices("more", 2 * kCount), kCount);
}

TEST_F(SlottedRecipeTest, APageThatHoldsNoRecordIsRefusedBeforeTheBuild) {
  std::vector<float> wide(2 * 1200);
  Source wide_source;
  wide_source.rows = packed_view(wide.data(), 2, 1200, ElementType::f32);
  wide_source.manifest = describe_source({"wide.fbin", {}}, wide_source.rows, Metric::l2);
  EXPECT_THROW(build_slotted_graph(std::move(wide_source), {.payload = PayloadKind::vector}, {}),
               Error);
}

TEST(SlottedRecipe, RecordsHoldVectorsWhereTwoFitAPage) {
  EXPECT_EQ(resolved(96, ElementType::f32).payload, PayloadKind::vector);
  EXPECT_EQ(resolved(96, ElementType::f32).rerank, false);
  EXPECT_EQ(resolved(512, ElementType::f32).payload, PayloadKind::vector);
  EXPECT_EQ(resolved(513, ElementType::f32).payload, PayloadKind::code);
  EXPECT_EQ(resolved(513, ElementType::f32).rerank, true);
  EXPECT_EQ(resolved(784, ElementType::u8).payload, PayloadKind::vector);
  EXPECT_EQ(resolved(784, ElementType::f32, {.page_bytes = 8192}).payload, PayloadKind::vector);
}

TEST(SlottedRecipe, WhatIsSaidStays) {
  const SlottedRecipe code =
      resolved(96, ElementType::f32, {.payload = PayloadKind::code, .rerank = false});
  EXPECT_EQ(code.payload, PayloadKind::code);
  EXPECT_EQ(code.rerank, false);
  EXPECT_EQ(resolved(96, ElementType::f32, {.payload = PayloadKind::code}).rerank, true);
  EXPECT_EQ(resolved(2000, ElementType::f32, {.payload = PayloadKind::vector}).payload,
            PayloadKind::vector);
}

}  // namespace
}  // namespace farvec::indexing
