// An UpdateEditor makes the changes of one update on the locked pages, and writes them down for the
// log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "layout/store/page_change.h"
#include "layout/store/store_record.h"
#include "ssd_baseline/paged/store/page_store.h"

namespace farvec::paged {

/// The caller locks the frames from begin() until the update has been logged or taken back: no
/// other thread sees a change before. It is used for one update after another, and allocates only
/// for one with more pages or bytes than any before.
class UpdateEditor final : public PageEditor {
 public:
  explicit UpdateEditor(std::uint32_t page_bytes) : page_bytes_(page_bytes) {}

  /// Takes the frames in the order of the update's pins.
  void begin(std::span<Frame* const> frames);
  /// Makes the pages what they were.
  void take_back();

  std::span<const std::byte> bytes(std::size_t page) const override;
  void init(std::size_t page, std::uint16_t kind, std::uint32_t tag, PageNumber next) override;
  void set_next(std::size_t page, PageNumber next) override;
  void set_tag(std::size_t page, std::uint32_t tag) override;
  Status put(std::size_t page, std::uint16_t slot, std::span<const std::byte> tuple) override;
  Status erase(std::size_t page, std::uint16_t slot) override;
  Status patch(std::size_t page, std::uint16_t slot, std::uint32_t offset,
               std::span<const std::byte> bytes) override;

  bool changed(std::size_t page) const { return !pages_[page].changes.empty(); }
  /// Whether the record begins the page anew, whatever the page was.
  bool starts_anew(std::size_t page) const { return pages_[page].starts_anew; }
  /// Returns the record in parts, with the pages in this order; empty when nothing was changed.
  std::span<const std::span<const std::byte>> record(std::span<const std::uint32_t> order);

 private:
  struct Page {
    Frame* frame = nullptr;
    std::vector<std::byte> changes;  ///< encoded
    bool starts_anew = false;
  };
  Status change(std::size_t page, const layout::PageChange& change);
  /// Returns the memory that keeps the page in the state before its first change.
  std::span<std::byte> before(std::size_t page) {
    return memory_.span().subspan(page * page_bytes_, page_bytes_);
  }

  const std::uint32_t page_bytes_;
  std::vector<Page> pages_;  ///< its size is that of the largest update so far
  std::size_t count_ = 0;    ///< pages of this update
  HugeBuffer memory_;        ///< a page for each of pages_
  layout::StoreRecordHeader header_;
  std::vector<layout::StorePartHeader> part_headers_;
  std::vector<std::span<const std::byte>> parts_;
};

}  // namespace farvec::paged
