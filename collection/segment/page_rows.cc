// This file reads rows of segments in slotted pages.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "collection/segment/checked_records.h"
#include "collection/segment/opened_rows.h"
#include "layout/pages/page_map.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"

namespace farvec::collection {
namespace {

/// Where records hold codes, the vectors are in a file of their own.
class PageRows final : public OpenedRows {
 public:
  explicit PageRows(const layout::IndexDirectory& directory)
      : geometry_(directory.manifest().slotted_geometry()),
        map_(directory.load_page_map({.threads = 1, .quiet = true})),
        row_bytes_(directory.manifest().vector_bytes()),
        records_(directory) {
    if (geometry_.payload == layout::PayloadKind::code) {
      vectors_.emplace(directory, layout::kVectorsRegion);
    }
  }

  Status learn(Ticks) override { return {}; }
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const override;

 private:
  Status read_page(NodeId row, std::span<std::byte> out, Ticks deadline) const;

  const layout::SlottedGeometry geometry_;
  const layout::PageMap map_;
  const std::uint64_t row_bytes_;
  const CheckedRecords records_;
  std::optional<const CheckedRecords> vectors_;  ///< none: the records hold the vectors
};

Status PageRows::read(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  FARVEC_CHECK(row < geometry_.count && out.size() == row_bytes_);
  if (!vectors_) return read_page(row, out, deadline);
  return vectors_->read(layout::kRegionHeaderBytes + row * row_bytes_, out, deadline);
}

Status PageRows::read_page(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  const std::uint32_t number = map_.page_of(row);
  std::vector<std::byte> bytes(geometry_.page_bytes);
  if (Status status = records_.read(geometry_.page_offset(number), bytes, deadline); !status.ok()) {
    return status;
  }
  const auto page = layout::SlottedPage::parse(geometry_, number, bytes);
  if (!page.ok()) {
    throw Error("'{}', page {}: {}", records_.path(), number, page.status().message());
  }
  const auto slot = page.value().find(row);
  if (!slot.ok() || slot.value().length < geometry_.least_record_bytes()) {
    throw Error("'{}', page {}: it does not have row {}: it is damaged", records_.path(), number,
                row);
  }
  std::memcpy(out.data(), layout::slotted_payload(geometry_, page.value().record(slot.value())),
              out.size());
  return {};
}

}  // namespace

std::unique_ptr<OpenedRows> open_page_rows(const layout::IndexDirectory& directory) {
  return std::make_unique<PageRows>(directory);
}

}  // namespace farvec::collection
