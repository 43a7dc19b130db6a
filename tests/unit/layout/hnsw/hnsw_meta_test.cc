#include "layout/hnsw/hnsw_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/layout/hnsw/hnsw_page.h"

namespace farvec::layout {
namespace {

using ::testing::HasSubstr;

HnswMeta sound_meta() {
  HnswMeta meta;
  meta.parameters.dimension = 96;
  meta.state.loaded = 1;
  return meta;
}

Result<HnswMeta> read(const HnswMeta& meta, std::size_t bytes = sizeof(HnswMeta)) {
  testing::HnswPage page(HnswShape{}, HnswPageKind::meta);
  EXPECT_TRUE(page.put(0, std::as_bytes(std::span(&meta, 1)).first(bytes)).ok());
  return read_hnsw_meta(page.bytes);
}

TEST(HnswMeta, IsReadAsItWasWritten) {
  HnswMeta meta = sound_meta();
  meta.state.vertices = 5;
  meta.state.set_entry({7, 8}, 2);
  meta.state.pages_of(HnswPageKind::vertices) = 9;
  meta.state.pages_of(HnswPageKind::partitions) = 1;
  meta.state.insert_pages = meta.partition_map().capacity();
  meta.parameters.most_insert_pages = kMillionPages;
  const auto found = read(meta);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().state.entry(), (HnswPlace{7, 8}));
  EXPECT_EQ(found.value().state.entry_level, 2u);
  EXPECT_EQ(found.value().state.pages[2], 9u);
  EXPECT_EQ(found.value().state.insert_pages, 1018u);
  EXPECT_EQ(found.value().parameters.most_insert_pages, kMillionPages);
  EXPECT_EQ(found.value().shape().dimension, 96u);
}

TEST(HnswMeta, OfVersion1HasAMapWithoutCounts) {
  HnswMeta meta = sound_meta();
  EXPECT_TRUE(meta.partition_map().has_counts());
  meta.parameters.version = 1;
  const auto found = read(meta);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_FALSE(found.value().partition_map().has_counts());
}

TEST(HnswMeta, SaysWhatIsWrong) {
  const auto refused = [](void (*change)(HnswMeta&), const char* why) {
    HnswMeta meta = sound_meta();
    change(meta);
    const auto found = read(meta);
    ASSERT_FALSE(found.ok()) << why;
    EXPECT_THAT(found.status().message(), HasSubstr(why));
  };
  refused([](HnswMeta& m) { m.parameters.magic = 1; }, "not the meta page");
  for (const auto change : {+[](HnswMeta& m) { m.parameters.version = 0; },
                            +[](HnswMeta& m) { m.parameters.version = kHnswVersion + 1; }}) {
    refused(change, "another format version");
  }
  constexpr const char* kTooMany = "more insert pages than there are partitions";
  refused([](HnswMeta& m) { m.state.insert_pages = 1; }, kTooMany);
  refused(
      [](HnswMeta& m) {
        m.state.pages_of(HnswPageKind::partitions) = 2;
        m.state.insert_pages = 2 * m.partition_map().capacity() + 1;
      },
      kTooMany);
  refused(
      [](HnswMeta& m) {
        m.parameters.version = 1;
        m.state.pages_of(HnswPageKind::partitions) = 1;
        m.state.insert_pages = 1;
      },
      kTooMany);
  constexpr const char* kTooLarge = "more insert pages than there are pages";
  refused([](HnswMeta& m) { m.parameters.most_insert_pages = kMillionPages + 1; }, kTooLarge);
  refused(
      [](HnswMeta& m) {
        m.parameters.version = 1;
        m.parameters.most_insert_pages = 1;
      },
      kTooLarge);
  refused([](HnswMeta& m) { m.parameters.page_bytes = 4096; }, "another page size");
  refused([](HnswMeta& m) { m.parameters.dimension = 0; }, "vectors that there cannot be");
  refused([](HnswMeta& m) { m.parameters.type = 4; }, "vectors that there cannot be");
  refused([](HnswMeta& m) { m.parameters.metric = 3; }, "vectors that there cannot be");
  refused([](HnswMeta& m) { m.parameters.m = 1; }, "parameters that there cannot be");
  refused([](HnswMeta& m) { m.parameters.max_level = 16; }, "parameters that there cannot be");
  refused([](HnswMeta& m) { m.parameters.dimension = 4000; }, "larger than a page");
  refused([](HnswMeta& m) { m.state.loaded = 0; }, "never written to its end");
  refused([](HnswMeta& m) { m.state.vertices = 1; }, "nowhere to begin");
  refused([](HnswMeta& m) { m.state.id_map_height = 4; }, "too high");
  refused(
      [](HnswMeta& m) {
        m.parameters.metric = 2;
        m.parameters.type = 2;
      },
      "unit vectors");
}

TEST(HnswMeta, OfAnotherLengthOrKindIsNone) {
  EXPECT_EQ(read(sound_meta(), 11).status().code(), StatusCode::data_loss);
  EXPECT_EQ(read(sound_meta(), 100).status().code(), StatusCode::data_loss);
  testing::HnswPage page(HnswShape{});
  EXPECT_EQ(read_hnsw_meta(page.bytes).status().code(), StatusCode::data_loss);
}

}  // namespace
}  // namespace farvec::layout
