#include "cli/index/slotted_build.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"
#include "measure/sweep/disk_choices.h"

namespace farvec::cli {
namespace {

TEST(SlottedBuild, WordsBecomeARecipe) {
  SlottedOptions options;
  const indexing::SlottedRecipe open = slotted_recipe(options, 4);
  EXPECT_EQ(open.payload, std::nullopt);
  EXPECT_EQ(open.rerank, std::nullopt);
  EXPECT_EQ(open.packing, slotted::PackingKind::bnf);

  options = {.payload = "code",
             .extension_bits = 6,
             .page_bytes = 8192,
             .placement = "affinity",
             .rerank = "off",
             .entry_vertices = 70};
  const indexing::SlottedRecipe said = slotted_recipe(options, 3);
  EXPECT_EQ(said.payload, layout::PayloadKind::code);
  EXPECT_EQ(said.code_bits, 3u);
  EXPECT_EQ(said.extension_bits, 6u);
  EXPECT_EQ(said.page_bytes, 8192u);
  EXPECT_EQ(said.packing, slotted::PackingKind::affinity);
  EXPECT_EQ(said.rerank, false);
  EXPECT_EQ(said.entry_vertices, 70u);
}

TEST(SlottedBuild, AWordThatIsNoneIsRefused) {
  EXPECT_THROW(slotted_recipe({.payload = "vectors"}, 4), Error);
  EXPECT_THROW(slotted_recipe({.placement = "near"}, 4), Error);
}

TEST(SlottedBuild, SearchesRankAgainWhereThereAreVectors) {
  layout::Manifest manifest;
  manifest.graph().make_slotted().payload = layout::PayloadKind::code;
  EXPECT_EQ(search::resolve_rerank({}, manifest, 10, 64).rerank, 0u);
  manifest.slotted().rerank = true;
  EXPECT_EQ(search::resolve_rerank({}, manifest, 10, 64).rerank, 20u);
  EXPECT_EQ(search::resolve_rerank({}, manifest, 10, 15).rerank, 15u);
  for (const std::uint32_t said : {0u, 40u}) {
    search::DiskChoice choice;
    choice.rerank = said;
    EXPECT_EQ(search::resolve_rerank(choice, manifest, 10, 64).rerank, said);
  }
  EXPECT_EQ(search::resolve_rerank({}, layout::Manifest(), 10, 64).rerank, 0u);
}

}  // namespace
}  // namespace farvec::cli
