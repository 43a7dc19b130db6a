#include "ssd_baseline/paged/store/page_editor.h"

#include <algorithm>

namespace farvec::paged {

using layout::ChangeKind;

void UpdateEditor::begin(std::span<Frame* const> frames) {
  if (pages_.size() < frames.size()) {
    pages_.resize(frames.size());
    memory_ = HugeBuffer(frames.size() * page_bytes_);
  }
  count_ = frames.size();
  for (std::size_t i = 0; i < count_; ++i) {
    pages_[i].frame = frames[i];
    pages_[i].changes.clear();
    pages_[i].starts_anew = false;
  }
}

void UpdateEditor::take_back() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (!changed(i)) continue;
    std::ranges::copy(before(i), pages_[i].frame->bytes.begin());
    pages_[i].changes.clear();
  }
}

std::span<const std::byte> UpdateEditor::bytes(std::size_t page) const {
  return pages_[page].frame->bytes;
}

Status UpdateEditor::change(std::size_t page, const layout::PageChange& change) {
  Page& at = pages_[page];
  if (at.changes.empty()) std::ranges::copy(at.frame->bytes, before(page).begin());
  const Status status = layout::apply_change(at.frame->bytes, change);
  if (!status.ok()) return status;
  if (at.changes.empty()) at.starts_anew = change.change == ChangeKind::init;
  layout::encode(change, at.changes);
  return {};
}

void UpdateEditor::init(std::size_t page, std::uint16_t kind, std::uint32_t tag, PageNumber next) {
  const Status status =
      change(page, {.change = ChangeKind::init, .kind = kind, .tag = tag, .next = next});
  FARVEC_CHECK(status.ok(), "{}", status.message());
}

void UpdateEditor::set_next(std::size_t page, PageNumber next) {
  const Status status = change(page, {.change = ChangeKind::set_next, .next = next});
  FARVEC_CHECK(status.ok(), "{}", status.message());
}

void UpdateEditor::set_tag(std::size_t page, std::uint32_t tag) {
  const Status status = change(page, {.change = ChangeKind::set_tag, .tag = tag});
  FARVEC_CHECK(status.ok(), "{}", status.message());
}

Status UpdateEditor::put(std::size_t page, std::uint16_t slot, std::span<const std::byte> tuple) {
  return change(page, {.change = ChangeKind::put, .slot = slot, .bytes = tuple});
}

Status UpdateEditor::erase(std::size_t page, std::uint16_t slot) {
  return change(page, {.change = ChangeKind::erase, .slot = slot});
}

Status UpdateEditor::patch(std::size_t page, std::uint16_t slot, std::uint32_t offset,
                           std::span<const std::byte> bytes) {
  if (offset > layout::kMaxStorePageBytes) {
    return {StatusCode::invalid_argument, "bytes after the end of a tuple"};
  }
  return change(page, {.change = ChangeKind::patch,
                       .slot = slot,
                       .offset = static_cast<std::uint16_t>(offset),
                       .bytes = bytes});
}

std::span<const std::span<const std::byte>> UpdateEditor::record(
    std::span<const std::uint32_t> order) {
  part_headers_.clear();
  parts_.clear();
  part_headers_.reserve(order.size());  // parts_ points into it
  for (const std::uint32_t i : order) {
    if (!changed(i)) continue;
    const Page& at = pages_[i];
    part_headers_.push_back({at.frame->page.load(std::memory_order_relaxed),  // pinned
                             static_cast<std::uint32_t>(at.changes.size())});
    if (parts_.empty()) parts_.push_back(std::as_bytes(std::span(&header_, 1)));
    parts_.push_back(std::as_bytes(std::span(&part_headers_.back(), 1)));
    parts_.push_back(at.changes);
  }
  header_ = {static_cast<std::uint32_t>(layout::StoreRecordKind::changes),
             static_cast<std::uint32_t>(part_headers_.size())};
  return parts_;
}

}  // namespace farvec::paged
