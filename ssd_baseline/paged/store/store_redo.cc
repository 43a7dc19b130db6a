#include "ssd_baseline/paged/store/store_redo.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "layout/store/page_change.h"
#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

/// The limit for records whose pages are on their way; one more may be added.
constexpr std::size_t kMostComingBytes = 16u << 20;

}  // namespace

void StoreRedo::decode(const wal::LogRecord& record, layout::StoreRecord& parts) const {
  const Status status = layout::decode_record(record.bytes, parts);
  if (status.ok()) return;
  throw Error(
      "the log of '{}' has at {} what is no record of a store ({}): restore the folder "
      "from a backup",
      folder_.string(), record.begin, status.message());
}

void StoreRedo::survey(RecordSource& log) {
  while (const auto record = log.next()) {
    decode(*record, record_);
    remember(*record);
    ++found_.records;
    found_.log_bytes += record->bytes.size();
    end_ = record->end;
  }
  found_.torn_bytes = log.torn_bytes();
}

void StoreRedo::remember(const wal::LogRecord& record) {
  for (const layout::StorePart& part : record_.parts) {
    pages_ = std::max(pages_, part.page + 1);
    if (record_.kind == layout::StoreRecordKind::image) {
      whole_[part.page] = {record.begin, true};
      continue;
    }
    auto rest = part.bytes;
    const auto first = layout::decode_change(rest);
    if (first.ok() && first.value().change == layout::ChangeKind::init) {
      whole_[part.page] = {record.begin, false};
    }
  }
}

void StoreRedo::run(LocalPageStore& store, const std::filesystem::path& log_folder) {
  store_ = &store;
  make_room(store);
  {
    RedoReader reader(store.state(), store.writer());
    heal_pages(reader, log_folder);
    redo(reader, log_folder);
  }
  found_.pages = static_cast<std::uint64_t>(std::ranges::count(changed_, true));
  if (found_.records == 0) return;
  if (const Status status = store.checkpoint(); !status.ok()) {
    throw Error("recovering '{}': {}", folder_.string(), status.message());
  }
}

void StoreRedo::make_room(LocalPageStore& store) {
  StoreState& state = store.state();
  const std::uint64_t bytes = state.offset_of(pages_);
  if (state.file->size() < state.offset_of(checkpoint_.pages)) {
    throw Error("'{}' has {} bytes, its {} pages take {}: restore the folder from a backup",
                state.file->path(), state.file->size(), checkpoint_.pages,
                state.offset_of(checkpoint_.pages));
  }
  if (const Status status = state.parts->grow(*state.file, bytes); !status.ok()) {
    throw Error("'{}' cannot grow to {} bytes: {}: make room on the disk and open it again",
                state.file->path(), bytes, status.message());
  }
  state.pool.table().reserve(pages_);
  {
    const std::lock_guard lock(state.adding);
    state.next_page = pages_;
  }
  state.pages.store(pages_, std::memory_order_release);  // pairs with pages()
}

/// Heals pages that the log holds whole, and those that no checkpoint has ever seen: only these may
/// be torn, because no others were written since.
void StoreRedo::heal_pages(RedoReader& reader, const std::filesystem::path& log_folder) {
  FramePool& pool = store_->state().pool;
  for (PageNumber page = checkpoint_.pages; page < pages_; ++page) whole_.try_emplace(page);
  auto ahead = whole_.begin();
  for (const auto& [page, whole] : whole_) {
    while (ahead != whole_.end() && reader.ask(ahead->first)) ++ahead;
    const bool in_log = whole.image || whole.begin > 0 || page < checkpoint_.pages;
    if (in_log) {
      // Relaxed: the writer reads it under the latch of a frame that is made later.
      pool.table().find(page)->whole_since.store(whole.begin + 1, std::memory_order_relaxed);
    }
    const RedoReader::Taken taken = reader.take();
    if (!taken.status.ok()) {
      heal(*taken.frame, page, log_folder);
      if (page < checkpoint_.pages || whole.image) ++found_.healed_pages;
      pool.finish_load(*taken.frame, {});
      pool.mark_dirty(*taken.frame);
    }
    FramePool::unpin(*taken.frame);
  }
}

/// Fills the frame from its image; without one it is empty, and redo begins where the page was
/// made.
void StoreRedo::heal(Frame& frame, PageNumber page, const std::filesystem::path& log_folder) {
  const WholePage& whole = whole_.at(page);
  if (!whole.image) {
    layout::format_page(frame.bytes, page);
    layout::set_page_position(frame.bytes, whole.begin);
    return;
  }
  const auto log = store_->state().parts->read_log(log_folder, whole.begin);
  const auto record = log->next();
  if (!record) throw Error("the log of '{}' became shorter", folder_.string());
  decode(*record, record_);
  const Status status = layout::decode_image(record_.parts.front().bytes, page, frame.bytes);
  if (!status.ok()) fail_recovery(store_->state(), page, status);
}

void StoreRedo::redo(RedoReader& reader, const std::filesystem::path& log_folder) {
  changed_.resize(pages_);
  const auto log = store_->state().parts->read_log(log_folder, checkpoint_.redo);
  ask_ahead(reader, *log);
  while (!coming_.empty()) {
    redo_next(reader);
    ask_ahead(reader, *log);
  }
}

/// Asks for the pages of as many parts as may be on their way.
void StoreRedo::ask_ahead(RedoReader& reader, RecordSource& log) {
  while (asked_ < coming_.size() || read_changes(log)) {
    Coming& record = coming_[asked_];
    for (; record.asked < record.record.parts.size(); ++record.asked) {
      if (!reader.ask(record.record.parts[record.asked].page)) return;
    }
    ++asked_;
  }
}

/// Reads the next record of changes; false when there is none, or enough are coming.
bool StoreRedo::read_changes(RecordSource& log) {
  while (read_ < found_.records && coming_bytes_ < kMostComingBytes) {
    const auto record = log.next();
    if (!record) throw Error("the log of '{}' became shorter", folder_.string());
    ++read_;
    Coming coming;
    coming.bytes.assign(record->bytes.begin(), record->bytes.end());
    coming.end = record->end;
    decode({record->begin, record->end, coming.bytes}, coming.record);
    if (coming.record.kind != layout::StoreRecordKind::changes) continue;
    coming_bytes_ += coming.bytes.size();
    coming_.push_back(std::move(coming));
    return true;
  }
  return false;
}

/// Redoes one part; its page is the first that the reader gives.
void StoreRedo::redo_next(RedoReader& reader) {
  Coming& record = coming_.front();
  const layout::StorePart& part = record.record.parts[record.done];
  const RedoReader::Taken taken = reader.take();
  if (!taken.status.ok()) fail_recovery(store_->state(), part.page, taken.status);
  redo_part(*taken.frame, part, record.end);
  FramePool::unpin(*taken.frame);
  if (++record.done < record.record.parts.size()) return;
  coming_bytes_ -= record.bytes.size();
  coming_.pop_front();
  --asked_;
}

void StoreRedo::redo_part(Frame& frame, const layout::StorePart& part, wal::Position end) {
  StoreState& state = store_->state();
  if (layout::StorePage(frame.bytes).header().position >= end) return;
  if (const Status status = store_->writer().reserve(1); !status.ok())
    fail_recovery(state, part.page, status);
  {
    const std::lock_guard lock(frame.latch);
    state.pool.mark_dirty(frame);
    for (auto rest = part.bytes; !rest.empty();) {
      const auto change = layout::decode_change(rest);
      Status status = change.status();
      if (status.ok()) status = layout::apply_change(frame.bytes, change.value());
      if (!status.ok()) fail_recovery(state, part.page, status);
    }
    layout::set_page_position(frame.bytes, end);
  }
  changed_[part.page] = true;
  store_->writer().settle(1);
}

}  // namespace farvec::paged
