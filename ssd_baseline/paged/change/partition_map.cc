#include "ssd_baseline/paged/change/partition_map.h"

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
PageNumber write_map(PageStore& store, const std::vector<PageNumber>& insert_pages) {
  const layout::PartitionMapShape shape{store.page_bytes()};
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

/// Writes into the meta page where the map is.
void link_map(PagedHnsw& hnsw, PageFetcher& fetcher, PageNumber first, std::uint32_t pages) {
  FetchCounts reads;
  auto meta = fetcher.fetch(0, coroutines::kNoDeadline, reads);
  require_ok(meta.status(), "reading the meta page");
  PagePin* const pins[] = {&meta.value()};
  const auto done = hnsw.store().update(pins, [&](PageEditor& editor) -> Status {
    const auto before = layout::read_hnsw_meta(editor.bytes(0));
    if (!before.ok()) return before.status();
    layout::HnswState state = before.value().state;
    state.partitions = first;
    state.pages_of(layout::HnswPageKind::partitions) += pages;
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
    const PageNumber first = write_map(hnsw.store(), last_pages(hnsw, fetcher, chosen));
    const layout::PartitionMapShape shape{hnsw.store().page_bytes()};
    link_map(hnsw, fetcher, first, shape.pages(static_cast<std::uint32_t>(chosen.size())));
  });
}

Result<InsertPage> PartitionMap::find(std::uint32_t partition, Ticks deadline) {
  if (first_ == kNoPage) {
    const auto state = hnsw_.state(fetcher_, deadline, reads_);
    if (!state.ok()) return state.status();
    first_ = state.value().partitions;
    if (first_ == kNoPage) return InsertPage{};
  }
  const std::uint32_t page = shape_.slot_of(partition).page;
  const auto pin = fetcher_.fetch(first_ + page, deadline, reads_);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) -> Result<InsertPage> {
    const auto map = layout::PartitionTuple::parse(shape_, StorePage(bytes).tuple(kOnlySlot), page);
    if (!map.ok()) return map.status();
    if (partition >= map.value().partitions()) {
      return Status(StatusCode::data_loss, "the map of partitions does not know a page's");
    }
    return InsertPage{map.value().insert_page(partition), first_ + page};
  });
}

Status PartitionMap::change(PageEditor& editor, std::size_t map_page, const Change& change) const {
  const layout::PartitionSlot slot = shape_.slot_of(change.partition);
  const auto map = layout::PartitionTuple::parse(
      shape_, StorePage(editor.bytes(map_page)).tuple(kOnlySlot), slot.page);
  if (!map.ok()) return map.status();
  if (map.value().insert_page(change.partition) != change.before) {
    return {StatusCode::cancelled, "the partition has another insert page meanwhile"};
  }
  return editor.patch(map_page, kOnlySlot, slot.offset, std::as_bytes(std::span(&change.next, 1)));
}

}  // namespace farvec::paged
