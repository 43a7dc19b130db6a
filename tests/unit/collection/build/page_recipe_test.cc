#include "collection/build/page_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "collection/write/collection.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection::of_recipes {
namespace {

using testing::HasSubstr;

TEST(PageRecipe, PagesAreAsLargeAsRecordsNeed) {
  layout::CollectionManifest shape = small_page_shape();
  EXPECT_EQ(page_recipe(shape).page_bytes, 4096u);
  EXPECT_EQ(page_recipe(shape).payload, layout::PayloadKind::vector);
  EXPECT_EQ(page_recipe(shape).code_bits, 4u);
  shape.options.degree = 1000;
  EXPECT_EQ(page_recipe(shape).page_bytes, 4096u);
  // A list of 1000 takes 3377 bytes at most, and the vector 1000.
  shape.dimension = 250;
  EXPECT_EQ(page_recipe(shape).page_bytes, 8192u);
  shape.dimension = 513;
  shape.options.code_bits = std::nullopt;
  EXPECT_EQ(page_recipe(shape).payload, layout::PayloadKind::code);
  shape.dimension = kMaxDimension;
  shape.options.degree = layout::kDegreeBounds.most;
  EXPECT_EQ(page_recipe(shape).page_bytes, 16384u);
}

TEST(PageRecipe, BitsOfCodesThatRecordsHoldAreRefusedBeforeAnythingIsMade) {
  const tests::TemporaryFolder folder;
  layout::CollectionManifest shape = small_page_shape();
  const auto refusal = [&] {
    return tests::message_of(
        [&] { Collection::create(folder.path() / "set", shape, layout::as_tool_option); });
  };
  shape.dimension = 513;  // two vectors are wider than a page
  EXPECT_THAT(refusal(), HasSubstr("--code-bits: "));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "set"));
}

}  // namespace
}  // namespace farvec::collection::of_recipes
