#include "ssd_baseline/paged/placement/partition_map.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

using layout::kNoPage;
using layout::PageNumber;
using layout::StorePage;

/// The slot of the one tuple on a page of the map, and on the meta page.
constexpr std::uint16_t kOnlySlot = 0;

void require_ok(const Status& status, const char* what) {
  if (!status.ok())
    throw Error("cannot make the map of partitions: {}: {}", what, status.message());
}

/// Returns the partition of a page of vertices plus one; 0 for every other page.
std::uint32_t partition_tag(std::span<const std::byte> page) {
  const layout::StorePageHeader header = StorePage(page).header();
  if (header.kind != static_cast<std::uint16_t>(layout::HnswPageKind::vertices)) return 0;
  return header.tag & ~layout::kHnswFreeListBit;
}

/// Returns the last page of each chosen partition.
std::vector<PageNumber> last_pages(PagedHnsw& hnsw, PageFetcher& fetcher,
                                   const std::vector<bool>& chosen) {
  std::vector<PageNumber> pages(chosen.size(), kNoPage);
  FetchCounts reads;
  for (PageNumber number = 0; number < hnsw.store().pages(); ++number) {
    const auto pin = fetcher.fetch(number, coroutines::kNoDeadline, reads);
    require_ok(pin.status(), "reading a page");
    const std::uint32_t tag =
        pin.value().read([](std::span<const std::byte> page) { return partition_tag(page); });
    if (tag > chosen.size()) {
      throw Error("page {} is of partition {}, but only {} are known: choose among all partitions",
                  number, tag - 1, chosen.size());
    }
    if (tag > 0 && chosen[tag - 1]) pages[tag - 1] = number;
  }
  return pages;
}

/// Adds the pages of the map, one after the other; returns the first.
PageNumber write_map(PagedHnsw& hnsw, const std::vector<PageNumber>& insert_pages) {
  PageStore& store = hnsw.store();
  const layout::PartitionMapShape shape = hnsw.partition_map();
  const auto pages = shape.pages(static_cast<std::uint32_t>(insert_pages.size()));
  PageNumber first = kNoPage;
  for (std::uint32_t i = 0; i < pages; ++i) {
    const auto tuple = layout::encode_partition_tuple(shape, insert_pages, i);
    auto added = store.add_page();
    require_ok(added.status(), "adding a page");
    PagePin& pin = added.value();
    if (i == 0) first = pin.number();
    if (pin.number() != first + i) throw Error("the graph was changed while its map was made");
    PagePin* const pins[] = {&pin};
    const auto done = store.update(pins, [&](PageEditor& editor) {
      editor.init(0, static_cast<std::uint16_t>(layout::HnswPageKind::partitions), i, kNoPage);
      return editor.put(0, kOnlySlot, tuple);
    });
    require_ok(done.status(), "writing a page");
  }
  return first;
}

/// Writes into the meta page where the map is, and how many insert pages it has.
void link_map(PagedHnsw& hnsw, PageFetcher& fetcher, PageNumber first,
              const std::vector<PageNumber>& insert_pages) {
  FetchCounts reads;
  auto meta = fetcher.fetch(0, coroutines::kNoDeadline, reads);
  require_ok(meta.status(), "reading the meta page");
  PagePin* const pins[] = {&meta.value()};
  const auto done = hnsw.store().update(pins, [&](PageEditor& editor) -> Status {
    const auto before = layout::read_hnsw_meta(editor.bytes(0));
    if (!before.ok()) return before.status();
    layout::HnswState state = before.value().state;
    state.partitions = first;
    state.pages_of(layout::HnswPageKind::partitions) +=
        hnsw.partition_map().pages(static_cast<std::uint32_t>(insert_pages.size()));
    state.insert_pages = static_cast<std::uint32_t>(
        insert_pages.size() - static_cast<std::size_t>(std::ranges::count(insert_pages, kNoPage)));
    return editor.patch(0, kOnlySlot, offsetof(layout::HnswMeta, state),
                        std::as_bytes(std::span(&state, 1)));
  });
  require_ok(done.status(), "writing the meta page");
}

}  // namespace

void create_partition_map(PagedHnsw& hnsw, const std::vector<bool>& chosen) {
  if (hnsw.describe().state.partitions != kNoPage) throw Error("the graph has a map of partitions");
  if (chosen.empty()) return;
  run_on_pages(hnsw.store(), [&](PageFetcher& fetcher) {
    const std::vector<PageNumber> insert_pages = last_pages(hnsw, fetcher, chosen);
    link_map(hnsw, fetcher, write_map(hnsw, insert_pages), insert_pages);
  });
}

Result<MapEntry> PartitionMap::find(std::uint32_t partition, Ticks deadline, FetchCounts& reads) {
  if (first_ == kNoPage) {
    const auto state = hnsw_.state(fetcher_, deadline, reads);
    if (!state.ok()) return state.status();
    first_ = state.value().partitions;
    if (first_ == kNoPage) return MapEntry{};
  }
  const std::uint32_t page = shape_.slot_of(partition).page;
  const auto pin = fetcher_.fetch(first_ + page, deadline, reads);
  if (!pin.ok()) return pin.status();
  const auto entry = pin.value().read(
      [&](std::span<const std::byte> bytes) { return entry_on(bytes, partition); });
  if (!entry.ok()) return entry.status();
  return MapEntry{entry.value(), first_ + page};
}

Result<layout::PartitionEntry> PartitionMap::entry_on(std::span<const std::byte> page,
                                                      std::uint32_t partition) const {
  const auto map = layout::PartitionTuple::parse(shape_, StorePage(page).tuple(kOnlySlot),
                                                 shape_.slot_of(partition).page);
  if (!map.ok()) return map.status();
  if (partition >= map.value().partitions()) {
    return Status(StatusCode::data_loss, "the map of partitions does not know a page's");
  }
  const layout::PartitionEntry entry = map.value().entry(partition);
  if (entry.insert_page != kNoPage && entry.insert_page >= hnsw_.store().pages()) {
    return Status(StatusCode::data_loss, "the map of partitions names a page that does not exist");
  }
  return entry;
}

Result<layout::PartitionEntry> PartitionMap::read(const PageEditor& editor, std::size_t map_page,
                                                  std::uint32_t partition) const {
  return entry_on(editor.bytes(map_page), partition);
}

Status PartitionMap::check_insert_page(std::span<const std::byte> page) {
  if (StorePage(page).header().kind == static_cast<std::uint16_t>(layout::HnswPageKind::vertices)) {
    return {};
  }
  return {StatusCode::data_loss, "the map of partitions names a page that is none of vertices"};
}

Status PartitionMap::write(PageEditor& editor, std::size_t map_page, std::uint32_t partition,
                           const layout::PartitionEntry& entry) const {
  return editor.patch(map_page, kOnlySlot, shape_.slot_of(partition).offset,
                      layout::partition_entry_bytes(shape_, entry));
}

}  // namespace farvec::paged
