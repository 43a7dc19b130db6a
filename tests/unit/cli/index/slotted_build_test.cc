#include "cli/index/slotted_build.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/types.h"
#include "cli/search/disk_choices.h"

namespace farvec::cli {
namespace {

SlottedOptions resolved(std::uint32_t dimension, ElementType type, SlottedOptions options = {}) {
  return resolve_slotted(std::move(options), packed_view(nullptr, 1, dimension, type));
}

TEST(SlottedBuild, RecordsHoldVectorsWhereTwoFitAPage) {
  EXPECT_EQ(resolved(96, ElementType::f32).payload, "vector");
  EXPECT_EQ(resolved(96, ElementType::f32).rerank, "off");
  EXPECT_EQ(resolved(512, ElementType::f32).payload, "vector");
  EXPECT_EQ(resolved(513, ElementType::f32).payload, "code");
  EXPECT_EQ(resolved(513, ElementType::f32).rerank, "on");
  EXPECT_EQ(resolved(784, ElementType::u8).payload, "vector");
  EXPECT_EQ(resolved(784, ElementType::f32, {.page_bytes = 8192}).payload, "vector");
}

TEST(SlottedBuild, WhatIsSaidStays) {
  const SlottedOptions code = resolved(96, ElementType::f32, {.payload = "code", .rerank = "off"});
  EXPECT_EQ(code.payload, "code");
  EXPECT_EQ(code.rerank, "off");
  EXPECT_EQ(resolved(96, ElementType::f32, {.payload = "code"}).rerank, "on");
  EXPECT_EQ(resolved(2000, ElementType::f32, {.payload = "vector"}).payload, "vector");
}

TEST(SlottedBuild, SearchesRankAgainWhereThereAreVectors) {
  layout::Manifest manifest;
  manifest.graph().make_slotted().payload = layout::PayloadKind::code;
  EXPECT_EQ(search::resolve_rerank({}, manifest, 10, 64).rerank, 0u);
  manifest.slotted().rerank = true;
  EXPECT_EQ(search::resolve_rerank({}, manifest, 10, 64).rerank, 20u);
  EXPECT_EQ(search::resolve_rerank({}, manifest, 10, 15).rerank, 15u);
  for (const std::uint32_t said : {0u, 40u}) {
    DiskChoice choice;
    choice.rerank = said;
    EXPECT_EQ(search::resolve_rerank(choice, manifest, 10, 64).rerank, said);
  }
  EXPECT_EQ(search::resolve_rerank({}, layout::Manifest(), 10, 64).rerank, 0u);
}

}  // namespace
}  // namespace farvec::cli
