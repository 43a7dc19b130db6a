#include "ssd_baseline/paged/graph/change_pages.h"

#include <algorithm>
#include <vector>

#include "base/input_file.h"
#include "layout/hnsw/hnsw_meta.h"
#include "ssd_baseline/paged/store/local_store.h"

namespace farvec::paged {
namespace {

/// Pages besides those of neighbours: the meta page, the leaf of the id map, the vertex's page and
/// the one that its placement notes.
constexpr std::size_t kOwnPages = 4;
/// The number for a graph whose meta page is not on the disk yet: more than usual parameters need.
constexpr std::size_t kUnknownChangePages = 512;
/// One part in this many of the buffer is for reads.
constexpr std::size_t kReadShare = 8;
/// The time between two looks whether there is room.
constexpr double kLookUs = 50;

/// Returns the layers above the lowest that 2^32 vertices fill: each layer has one vertex for m of
/// the layer below.
std::uint32_t upper_layers(const layout::HnswShape& shape) {
  const std::uint32_t m = std::max(shape.m, 2u);  // callers refuse an m below 2
  std::uint32_t layers = 0;
  for (std::uint64_t vertices = std::uint64_t{1} << 32; vertices > 1; vertices /= m) ++layers;
  return std::min(layers, shape.max_level);
}

}  // namespace

std::size_t most_change_pages(const layout::HnswShape& shape, std::uint32_t ef_construction) {
  std::size_t pages = kOwnPages;
  for (std::uint32_t layer = 0; layer <= upper_layers(shape); ++layer) {
    pages += std::min(shape.degree(layer), ef_construction);
  }
  return pages;
}

std::size_t stored_change_pages(const std::filesystem::path& folder, std::uint32_t page_bytes) {
  const InputFile file((folder / "pages").string());
  if (file.size() < page_bytes) return kUnknownChangePages;
  std::vector<std::byte> page(page_bytes);
  file.read_at(0, page.data(), page.size());
  const auto meta = layout::read_hnsw_meta(page);
  if (!meta.ok()) return kUnknownChangePages;
  return most_change_pages(meta.value().shape(), meta.value().parameters.ef_construction);
}

std::size_t frames_for_changes(std::size_t change_pages) {
  return 2 * change_pages + kMinFrames / 2;
}

PinBudget::PinBudget(std::size_t frames) : most_(frames - frames / kReadShare) {}

bool PinBudget::try_take(std::size_t pages) {
  std::size_t now = taken_.load(std::memory_order_relaxed);
  do {
    if (now > 0 && now + pages > most_) return false;
  } while (!taken_.compare_exchange_weak(now, now + pages, std::memory_order_relaxed));
  return true;
}

Status PinBudget::take(std::size_t pages, Ticks deadline, coroutines::Scheduler& scheduler) {
  while (!try_take(pages)) {
    const Ticks now = now_ticks();
    if (now >= deadline) {
      return {StatusCode::deadline_exceeded,
              "other changes held the pages of the buffer until the deadline"};
    }
    scheduler.suspend_until(std::min(deadline, now + us_to_ticks(kLookUs)));
  }
  return {};
}

}  // namespace farvec::paged
