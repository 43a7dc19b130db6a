#include "layout/hnsw/partition_page.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/memory.h"

namespace farvec::layout {
namespace {

static_assert(std::endian::native == std::endian::little);

/// The number of partitions on page `page` of a map.
std::uint32_t partitions_of_page(const PartitionMapShape& shape, std::uint32_t partitions,
                                 std::uint32_t page) {
  return std::min(partitions - page * shape.capacity(), shape.capacity());
}

}  // namespace

std::vector<std::byte> encode_partition_tuple(const PartitionMapShape& shape,
                                              std::span<const PageNumber> insert_pages,
                                              std::uint32_t page) {
  const auto partitions = static_cast<std::uint32_t>(insert_pages.size());
  FARVEC_CHECK(page < shape.pages(partitions), "page {} of {}", page, shape.pages(partitions));
  const PartitionTupleHeader header{page * shape.capacity(), partitions};
  const auto entries =
      insert_pages.subspan(header.first, partitions_of_page(shape, partitions, page));
  std::vector<std::byte> tuple(sizeof(header));
  store_unaligned(tuple.data(), header);
  for (const PageNumber insert_page : entries) {
    const PartitionEntry entry{.insert_page = insert_page};
    const auto bytes = partition_entry_bytes(shape, entry);
    tuple.insert(tuple.end(), bytes.begin(), bytes.end());
  }
  return tuple;
}

Result<PartitionTuple> PartitionTuple::parse(const PartitionMapShape& shape,
                                             std::span<const std::byte> tuple, std::uint32_t page) {
  PartitionTupleHeader header;
  if (tuple.size() < sizeof(header)) {
    return Status(StatusCode::data_loss, "a page of partitions has no map");
  }
  header = load_unaligned<PartitionTupleHeader>(tuple.data());
  if (header.first != std::uint64_t{page} * shape.capacity() || header.first >= header.partitions) {
    return Status(StatusCode::data_loss, "a page of partitions begins with another partition");
  }
  const std::uint32_t count = partitions_of_page(shape, header.partitions, page);
  if (tuple.size() != sizeof(header) + std::size_t{count} * shape.entry_bytes) {
    return Status(StatusCode::data_loss, "a page of partitions is not as long as its map");
  }
  return PartitionTuple(shape, header, tuple);
}

std::span<const std::byte> partition_entry_bytes(const PartitionMapShape& shape,
                                                 const PartitionEntry& entry) {
  return std::as_bytes(std::span(&entry, 1)).first(shape.entry_bytes);
}

PartitionEntry PartitionTuple::entry(std::uint32_t partition) const {
  FARVEC_CHECK(partition >= first() && partition - first() < count(), "partition {}", partition);
  PartitionEntry entry;
  const std::size_t at = sizeof(header_) + std::size_t{partition - first()} * shape_.entry_bytes;
  std::copy_n(bytes_.data() + at, shape_.entry_bytes, reinterpret_cast<std::byte*>(&entry));
  return entry;
}

}  // namespace farvec::layout
