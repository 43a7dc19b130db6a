#include "ssd_baseline/paged/placement/insert_page_sweep.h"

#include <algorithm>
#include <utility>

#include "layout/store/store_page.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "ssd_baseline/paged/placement/partition_share.h"

namespace farvec::paged {
namespace {

using layout::kNoPage;
using layout::PartitionEntry;

/// The slot of the one tuple on a page of the map.
constexpr std::uint16_t kMapSlot = 0;

bool counts_nothing(const PartitionEntry& entry) {
  return entry.received == 0 && entry.wished == 0;
}

}  // namespace

InsertPageSweep::InsertPageSweep(PagedHnsw& hnsw, PageFetcher& fetcher, FetchCounts& reads)
    : hnsw_(hnsw),
      fetcher_(fetcher),
      reads_(reads),
      map_(hnsw, fetcher),
      pins_(hnsw, fetcher, ReadMode::sync) {}

Result<bool> InsertPageSweep::step(Ticks deadline) {
  Status status;
  switch (phase_) {
    case Phase::begin:
      return begin(deadline);
    case Phase::add_up:
      status = add_up(deadline);
      break;
    case Phase::list:
      status = list_unused(deadline);
      break;
    case Phase::take:
      status = take_back(unused_.back(), deadline);
      if (status.ok()) unused_.pop_back();
      if (unused_.empty()) phase_ = Phase::count_anew;
      break;
    case Phase::count_anew:
      status = begin_counts(deadline);
      break;
  }
  pins_.clear();
  if (!status.ok()) return status;
  return phase_ != Phase::begin;
}

/// Returns false when no partition has an insert page, or the share does not follow the inserts.
Result<bool> InsertPageSweep::begin(Ticks deadline) {
  const auto state = hnsw_.state(fetcher_, deadline, reads_);
  if (!state.ok()) return state.status();
  state_ = state.value();
  if (state_.insert_pages == 0 || !map_.follows()) return false;
  pages_ = state_.pages_of(layout::HnswPageKind::partitions);
  page_ = 0;
  counted_ = 0;
  phase_ = Phase::add_up;
  return true;
}

/// Calls look(tuple) with the part of the map that is on the present page.
template <typename Look>
Status InsertPageSweep::look_at_map(Ticks deadline, Look&& look) {
  const auto pin = fetcher_.fetch(state_.partitions + page_, deadline, reads_);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) -> Status {
    const auto tuple = layout::PartitionTuple::parse(
        map_.shape(), layout::StorePage(bytes).tuple(kMapSlot), page_);
    if (tuple.ok()) look(tuple.value());
    return tuple.status();
  });
}

Status InsertPageSweep::add_up(Ticks deadline) {
  const Status status = look_at_map(deadline, [&](const layout::PartitionTuple& map) {
    for (std::uint32_t i = 0; i < map.count(); ++i) {
      const PartitionEntry entry = map.entry(map.first() + i);
      counted_ += entry.received;
      counted_ += entry.wished;
    }
  });
  if (!status.ok() || ++page_ < pages_) return status;
  page_ = 0;
  phase_ = tells_who_receives(hnsw_.shape(), state_, counted_) ? Phase::list : Phase::begin;
  return {};
}

Status InsertPageSweep::list_unused(Ticks deadline) {
  unused_.clear();
  const Status status = look_at_map(deadline, [&](const layout::PartitionTuple& map) {
    for (std::uint32_t i = map.count(); i > 0; --i) {
      const PartitionEntry entry = map.entry(map.first() + i - 1);
      if (entry.insert_page != kNoPage && counts_nothing(entry)) {
        unused_.push_back(map.first() + i - 1);
      }
    }
  });
  if (status.ok()) phase_ = unused_.empty() ? Phase::count_anew : Phase::take;
  return status;
}

Status InsertPageSweep::update(const std::function<Status(PageEditor&)>& edit) {
  const auto done = pins_.update(edit);
  pins_.clear();
  if (done.ok()) position_ = std::max(position_, done.value());
  return done.status();
}

/// Takes the page unless the partition has received something meanwhile.
Status InsertPageSweep::take_back(std::uint32_t partition, Ticks deadline) {
  const auto found = map_.find(partition, deadline, reads_);
  if (!found.ok()) return found.status();
  const PageNumber page = found.value().entry.insert_page;
  pins_.clear();
  pins_.want(0);
  pins_.want(found.value().map_page);
  pins_.want(page);
  if (Status status = pins_.pin(deadline, reads_); !status.ok()) return status;
  bool taken = false;
  freed_ = 0;
  const Status status = update([&](PageEditor& editor) -> Status {
    const std::size_t map_page = pins_.index(found.value().map_page);
    const auto read = map_.read(editor, map_page, partition);
    if (!read.ok()) return read.status();
    PartitionEntry entry = read.value();
    if (entry.insert_page != page || page == kNoPage || !counts_nothing(entry)) return {};
    auto state = edited_state(editor, pins_.index(0));
    if (!state.ok()) return state.status();
    if (state.value().insert_pages == 0) {
      return {StatusCode::data_loss, "the meta page counts fewer insert pages than the map has"};
    }
    entry.insert_page = kNoPage;
    --state.value().insert_pages;
    taken = true;
    if (Status s = map_.write(editor, map_page, partition, entry); !s.ok()) return s;
    if (Status s = edit_page(editor, page, state.value()); !s.ok()) return s;
    return write_state(editor, pins_.index(0), state.value());
  });
  done_.taken += status.ok() && taken ? 1 : 0;
  done_.freed += status.ok() ? freed_ : 0;
  return status;
}

/// Puts a page with room on the list of those with free space. An empty one can be of any partition
/// from then on.
Status InsertPageSweep::edit_page(PageEditor& editor, PageNumber page, layout::HnswState& state) {
  const std::size_t at = pins_.index(page);
  if (Status s = PartitionMap::check_insert_page(editor.bytes(at)); !s.ok()) return s;
  if (layout::is_empty_vertex_page(editor.bytes(at))) {
    const std::uint32_t tag = layout::StorePage(editor.bytes(at)).header().tag;
    editor.set_tag(at, tag & layout::kHnswFreeListBit);
  }
  if (page == state.insert_page) return {};
  if (!layout::has_vertex_room(hnsw_.shape(), editor.bytes(at), 0)) return {};
  const PageNumber first = state.free_pages;
  const Status status = add_free_page(editor, {at, page}, state);
  freed_ = state.free_pages != first ? 1 : 0;
  return status;
}

/// Begins the counts on the present page of the map anew.
Status InsertPageSweep::begin_counts(Ticks deadline) {
  const PageNumber page = state_.partitions + page_;
  pins_.clear();
  pins_.want(page);
  if (Status status = pins_.pin(deadline, reads_); !status.ok()) return status;
  const Status status = update([&](PageEditor& editor) -> Status {
    const auto map = layout::PartitionTuple::parse(
        map_.shape(), layout::StorePage(editor.bytes(0)).tuple(kMapSlot), page_);
    if (!map.ok()) return map.status();
    // The map borrows the bytes that change.
    std::vector<std::pair<std::uint32_t, PartitionEntry>> entries;
    for (std::uint32_t i = 0; i < map.value().count(); ++i) {
      const std::uint32_t partition = map.value().first() + i;
      const PartitionEntry entry = map.value().entry(partition);
      if (!counts_nothing(entry)) entries.push_back({partition, {entry.insert_page}});
    }
    for (const auto& [partition, entry] : entries) {
      if (Status s = map_.write(editor, 0, partition, entry); !s.ok()) return s;
    }
    return {};
  });
  if (!status.ok()) return status;
  phase_ = ++page_ < pages_ ? Phase::list : Phase::begin;
  return {};
}

}  // namespace farvec::paged
