// A SlottedCodec reads slotted pages for the pools.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "base/types.h"
#include "layout/pages/slotted_page.h"

namespace farvec::slotted {

class SlottedCodec {
 public:
  struct Page {
    layout::SlottedPage page;
    const std::byte* data = nullptr;
    const std::byte* bytes() const { return data; }
  };

  explicit SlottedCodec(const layout::SlottedGeometry& geometry) : geometry_(geometry) {}

  Result<Page> parse(std::uint32_t number, std::span<const std::byte> bytes) const {
    const auto page = layout::SlottedPage::parse(geometry_, number, bytes);
    if (!page.ok()) return page.status();
    return Page{page.value(), bytes.data()};
  }

  Result<std::span<const std::byte>> find(const Page& page, NodeId id) const {
    const auto slot = page.page.find(id);
    if (!slot.ok()) return slot.status();
    return page.page.record(slot.value());
  }

  Page moved(const Page& page, std::span<const std::byte> bytes) const {
    return {page.page.moved_to(bytes.data()), bytes.data()};
  }

  template <typename Visit>
  void for_each(const Page& page, Visit&& visit) const {
    for (std::uint32_t i = 0; i < page.page.count(); ++i) {
      const layout::PageSlot slot = page.page.slot(i);
      visit(slot.id, page.page.record(slot));
    }
  }

  template <typename Visit>
  void for_each_affine(const Page& page, NodeId id, Visit&& visit) const {
    const auto own = page.page.find(id);
    if (!own.ok() || own.value().color == 0) return;
    for (std::uint32_t i = 0; i < page.page.count(); ++i) {
      const layout::PageSlot slot = page.page.slot(i);
      if (slot.color == own.value().color && slot.id != id) {
        visit(slot.id, page.page.record(slot));
      }
    }
  }

 private:
  layout::SlottedGeometry geometry_;
};

}  // namespace farvec::slotted
