#include "layout/hnsw/partition_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/memory.h"

namespace farvec::layout {
namespace {

constexpr std::uint32_t kOldEntryBytes = 4;  // of format version 1

std::vector<PageNumber> insert_pages(std::uint32_t partitions) {
  std::vector<PageNumber> pages(partitions);
  for (std::uint32_t p = 0; p < partitions; ++p) pages[p] = p % 3 == 1 ? kNoPage : 1000 + p;
  return pages;
}

/// What the map says of a partition, found as a reader finds it.
PageNumber look_up(const PartitionMapShape& shape, std::span<const PageNumber> pages,
                   std::uint32_t partition) {
  const PartitionSlot slot = shape.slot_of(partition);
  const auto tuple = encode_partition_tuple(shape, pages, slot.page);
  EXPECT_EQ(load_unaligned<PageNumber>(tuple.data() + slot.offset), pages[partition]);
  const PartitionEntry entry =
      PartitionTuple::parse(shape, tuple, slot.page).value().entry(partition);
  EXPECT_EQ(entry, PartitionEntry{.insert_page = pages[partition]});
  return entry.insert_page;
}

TEST(PartitionMapShape, FillsPages) {
  EXPECT_EQ(PartitionMapShape{8192}.capacity(), 1018u);
  EXPECT_EQ((PartitionMapShape{8192, kOldEntryBytes}.capacity()), 2037u);
  for (const std::uint32_t page_bytes : {4096u, 8192u, 16384u, 32768u}) {
    const PartitionMapShape shape{page_bytes};
    EXPECT_LE(sizeof(StorePageHeader) + 4 + sizeof(PartitionTupleHeader) + shape.capacity() * 8,
              page_bytes);
    EXPECT_EQ(shape.pages(0), 0u);
    EXPECT_EQ(shape.pages(1), 1u);
    EXPECT_EQ(shape.pages(shape.capacity()), 1u);
    EXPECT_EQ(shape.pages(shape.capacity() + 1), 2u);
    EXPECT_EQ(shape.pages(0xffffffff), (0xffffffffu - 1) / shape.capacity() + 1);
  }
}

TEST(PartitionTuple, SaysWhatWasEncoded) {
  for (const std::uint32_t entry_bytes : {kOldEntryBytes, std::uint32_t{sizeof(PartitionEntry)}}) {
    const PartitionMapShape shape{4096, entry_bytes};
    EXPECT_EQ(shape.has_counts(), entry_bytes == 8);
    const auto pages = insert_pages(2 * shape.capacity() + 5);
    for (const std::uint32_t p : {0u, 1u, shape.capacity() - 1, shape.capacity(),
                                  2 * shape.capacity() - 1, 2 * shape.capacity() + 4}) {
      EXPECT_EQ(look_up(shape, pages, p), pages[p]) << p;
    }
    const auto last = encode_partition_tuple(shape, pages, 2);
    const PartitionTuple tuple = PartitionTuple::parse(shape, last, 2).value();
    EXPECT_EQ(tuple.count(), 5u);
    EXPECT_EQ(tuple.partitions(), pages.size());
    EXPECT_EQ(tuple.first(), 2 * shape.capacity());
  }
}

TEST(PartitionTuple, HasTheCountsThatWereWrittenIntoIt) {
  const PartitionMapShape shape{4096};
  const auto pages = insert_pages(shape.capacity() + 9);
  auto tuple = encode_partition_tuple(shape, pages, 1);
  const std::uint32_t partition = shape.capacity() + 3;
  const PartitionEntry entry{.insert_page = 77, .received = 65535, .wished = 258};
  const auto bytes = partition_entry_bytes(shape, entry);
  ASSERT_EQ(bytes.size(), 8u);
  std::copy(bytes.begin(), bytes.end(), tuple.begin() + shape.slot_of(partition).offset);
  const auto map = PartitionTuple::parse(shape, tuple, 1);
  EXPECT_EQ(map.value().entry(partition), entry);
  EXPECT_EQ(map.value().entry(partition - 1).insert_page, pages[partition - 1]);
  EXPECT_EQ(map.value().entry(partition + 1).insert_page, pages[partition + 1]);
  EXPECT_EQ(partition_entry_bytes({4096, kOldEntryBytes}, entry).size(), 4u);
}

TEST(PartitionTuple, OfOtherBytesIsRefused) {
  const PartitionMapShape shape{4096};
  const auto pages = insert_pages(shape.capacity() + 9);
  const auto good = encode_partition_tuple(shape, pages, 1);
  ASSERT_TRUE(PartitionTuple::parse(shape, good, 1).ok());
  EXPECT_EQ(PartitionTuple::parse(shape, good, 0).status().code(), StatusCode::data_loss);
  EXPECT_EQ(PartitionTuple::parse(shape, good, 0xffffffff).status().code(), StatusCode::data_loss);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(PartitionTuple::parse(shape, std::span(good).first(bytes), 1).ok()) << bytes;
  }
  auto longer = good;
  longer.resize(good.size() + 8);
  EXPECT_FALSE(PartitionTuple::parse(shape, longer, 1).ok());
  for (const std::uint32_t partitions : {0u, shape.capacity(), shape.capacity() + 8, 0xffffffffu}) {
    auto changed = good;
    store_unaligned(changed.data() + 4, partitions);
    EXPECT_FALSE(PartitionTuple::parse(shape, changed, 1).ok()) << partitions;
  }
}

}  // namespace
}  // namespace farvec::layout
