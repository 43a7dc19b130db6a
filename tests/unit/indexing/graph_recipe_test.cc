#include "indexing/graph_recipe.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/unit/indexing/graph_fixture.h"

namespace farvec::indexing {
namespace {

using layout::LayoutKind;
using GraphRecipeTest = GraphTest;

TEST_F(GraphRecipeTest, OneGraphIsReadBackFromEveryLayout) {
  const BuiltGraph built = build();
  for (const GraphRecipe& recipe :
       {GraphRecipe{LayoutKind::csr, 2, false}, GraphRecipe{LayoutKind::csr, 4, true},
        GraphRecipe{LayoutKind::padded, 8, false}, GraphRecipe{LayoutKind::padded, 2, true},
        GraphRecipe{LayoutKind::inlined, 1, false}, GraphRecipe{LayoutKind::inlined, 4, true},
        GraphRecipe{LayoutKind::packed, 4, false}, GraphRecipe{LayoutKind::packed, 1, true}}) {
    const std::string name =
        std::string(to_string(recipe.layout)) + (recipe.record_checksum ? "-checksum" : "");
    const layout::Manifest written = write_graph(path(name), built, recipe, kWrite);
    const layout::IndexDirectory directory = open(name);
    expect_records(directory, built);
    EXPECT_EQ(manifest_to_json(directory.manifest()), manifest_to_json(written));
    EXPECT_EQ(written.graph().layout, recipe.layout);
    EXPECT_EQ(written.graph().record_checksum, recipe.record_checksum);
    EXPECT_EQ(written.graph().build.code_bits, recipe.code_bits);
    EXPECT_EQ(directory.load_codes(kLoad).header.bits, recipe.code_bits);
  }
}

TEST_F(GraphRecipeTest, SearchesFindTheNearest) {
  const BuiltGraph built = build();
  for (const LayoutKind kind : kGraphRecordLayouts) {
    const std::string name(to_string(kind));
    write_graph(path(name), built, {.layout = kind, .code_bits = 4}, kWrite);
    const layout::IndexDirectory directory = open(name);
    const search::SearchIndex index = search::load_search_index(directory, kLoad);
    const HugeBuffer region = directory.load_region(layout::kRecordsRegion, kLoad);
    search::TaskListFeed feed = queries();
    for (auto& task : feed.tasks()) {
      task.request.parameters =
          search::SearchParameters::make(10, search::GraphChoice{80, 1}).value();
    }
    search::make_core(index, region.span(), search::SearchCoreOptions())->run(feed);
    EXPECT_GE(recall(feed), 0.95) << name;
  }
}

TEST_F(GraphRecipeTest, TellsWhatItWritesAndEndsWhenItIsToldTo) {
  const BuiltGraph built = build();
  for (const LayoutKind kind : kGraphRecordLayouts) {
    const std::string name(to_string(kind));
    layout::WriteOptions write = kWrite;
    std::uint64_t bytes = 0;
    write.on_chunk = [&bytes](std::uint64_t more) { bytes += more; };
    const layout::Manifest written = write_graph(path(name), built, {.layout = kind}, write);
    std::uint64_t payload = 0;
    for (const layout::RegionEntry& region : written.regions) payload += region.payload_bytes;
    EXPECT_EQ(bytes, payload) << name;
    write.on_chunk = [](std::uint64_t) { throw WorkInterrupted(); };
    EXPECT_THROW(write_graph(path(name + "-cut"), built, {.layout = kind}, write), WorkInterrupted);
    EXPECT_FALSE(std::filesystem::exists(path(name + "-cut"))) << name;
    write = kWrite;
    write.interrupted = [] { return true; };
    EXPECT_THROW(write_graph(path(name + "-cut"), built, {.layout = kind}, write), WorkInterrupted);
  }
}

TEST_F(GraphRecipeTest, TheManifestSaysHowItWasBuilt) {
  const layout::Manifest written = write_graph(path("index"), build(), {}, kWrite);
  EXPECT_EQ(written.graph().max_degree, 16u);
  EXPECT_EQ(written.graph().build.degree, 16u);
  EXPECT_EQ(written.graph().build.list, 40u);
  EXPECT_FLOAT_EQ(static_cast<float>(written.graph().build.alpha), graph::VamanaOptions().alpha);
  EXPECT_EQ(written.graph().build.passes, 1u);
  EXPECT_EQ(written.graph().build.seed, 5u);
  EXPECT_EQ(written.dataset.name, "small");
  EXPECT_EQ(written.count, kCount);
}

TEST_F(GraphRecipeTest, TheBytesDoNotDependOnTheThreads) {
  for (const LayoutKind kind : kGraphRecordLayouts) {
    const std::string name(to_string(kind));
    const layout::Manifest one =
        write_graph(path(name + "1"), build(1), {.layout = kind}, {.threads = 1, .quiet = true});
    const layout::Manifest three =
        write_graph(path(name + "3"), build(3), {.layout = kind}, {.threads = 3, .quiet = true});
    EXPECT_EQ(manifest_to_json(one), manifest_to_json(three)) << name;
  }
}

TEST_F(GraphRecipeTest, AnIndexIsReplacedOnlyWhenThatIsSaid) {
  const BuiltGraph built = build();
  write_graph(path("index"), built, {}, kWrite);
  EXPECT_THROW(write_graph(path("index"), built, {LayoutKind::padded, 2, false}, kWrite), Error);
  EXPECT_EQ(open("index").manifest().graph().layout, LayoutKind::csr);
  write_graph(path("index"), built, {LayoutKind::padded, 2, false},
              {.overwrite = true, .threads = 2, .quiet = true});
  EXPECT_EQ(open("index").manifest().graph().layout, LayoutKind::padded);
}

}  // namespace
}  // namespace farvec::indexing
