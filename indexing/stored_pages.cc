#include "indexing/stored_pages.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"

namespace farvec::indexing {
namespace {

constexpr std::size_t kPageRun = 64;

/// Puts the records of pages into a graph, and their vectors into its rows. There is one reader per
/// thread.
class PageReader {
 public:
  /// `vectors` has the bytes of all rows, where the records hold codes; else it is empty.
  PageReader(const layout::SlottedGeometry& geometry, std::span<const std::byte> vectors,
             std::vector<std::atomic<bool>>& read, StoredGraph& out)
      : geometry_(geometry),
        vectors_(vectors),
        read_(read),
        out_(out),
        scratch_(geometry.scratch_ids()) {}

  void read(std::uint32_t number, std::span<const std::byte> bytes) {
    const auto page = layout::SlottedPage::parse(geometry_, number, bytes);
    if (!page.ok()) throw Error("page {}: {}", number, page.status().message());
    for (std::uint32_t i = 0; i < page.value().count(); ++i) {
      const layout::PageSlot slot = page.value().slot(i);
      const auto record =
          layout::decode_slotted_record(geometry_, page.value().record(slot), scratch_);
      if (!record.ok()) throw Error("vertex {}: {}", slot.id, record.status().message());
      put(slot.id, record.value());
    }
  }

 private:
  void put(NodeId id, const NodeRecord& record) {
    if (id >= geometry_.count || read_[id].exchange(true, std::memory_order_relaxed)) {
      throw Error("vertex {} does not exist, or is there twice", id);
    }
    const std::span<const NodeId> neighbors(scratch_.data(), record.degree);
    for (const NodeId neighbor : neighbors) {
      if (neighbor >= geometry_.count) {
        throw Error("vertex {} points to {}, which does not exist", id, neighbor);
      }
    }
    out_.graph.set_neighbors(id, neighbors);
    const std::size_t row_bytes = out_.rows.view().row_bytes();
    const std::byte* vector =
        vectors_.empty() ? record.vector : vectors_.data() + std::size_t{id} * row_bytes;
    std::memcpy(out_.rows.mutable_row(id), vector, row_bytes);
  }

  const layout::SlottedGeometry& geometry_;
  const std::span<const std::byte> vectors_;
  std::vector<std::atomic<bool>>& read_;  ///< [vertex]; relaxed: only its own value matters
  StoredGraph& out_;
  std::vector<NodeId> scratch_;
};

}  // namespace

void read_pages(const layout::IndexDirectory& directory, const layout::LoadOptions& options,
                StoredGraph& out) {
  const layout::Manifest& manifest = directory.manifest();
  const layout::SlottedGeometry geometry = manifest.slotted_geometry();
  HugeBuffer vectors;
  if (geometry.payload == layout::PayloadKind::code) {
    if (!manifest.slotted().rerank) {
      throw Error("{} has codes in its records and no vectors beside them",
                  directory.path().string());
    }
    vectors = directory.load_region(layout::kVectorsRegion, options);
  }
  const HugeBuffer region = directory.load_region(layout::kRecordsRegion, options);
  const std::span<const std::byte> rows = vectors.size() == 0
                                              ? std::span<const std::byte>()
                                              : vectors.span().subspan(layout::kRegionHeaderBytes);
  std::vector<std::atomic<bool>> read(geometry.count);
  parallel_for(
      geometry.pages, kPageRun, resolve_threads(options.threads),
      [&](std::size_t begin, std::size_t end, unsigned) {
        PageReader reader(geometry, rows, read, out);
        for (std::size_t p = begin; p < end; ++p) {
          const auto page = static_cast<std::uint32_t>(p);
          reader.read(page, region.span().subspan(geometry.page_offset(page), geometry.page_bytes));
        }
      });
  const auto missing = std::find(read.begin(), read.end(), false);
  if (missing != read.end()) throw Error("vertex {} is in no page", missing - read.begin());
}

}  // namespace farvec::indexing
