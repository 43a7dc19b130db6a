#include "ssd_baseline/store/store_redo.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "layout/store/page_change.h"
#include "layout/store/store_page.h"

namespace farvec::ssd_baseline {
namespace {

constexpr double kRedoReadLimitUs = 60e6;
constexpr double kRedoClaimLimitUs = 60e6;

}  // namespace

void StoreRedo::decode(const wal::LogRecord& record) {
  const Status status = layout::decode_record(record.bytes, record_);
  if (status.ok()) return;
  throw Error(
      "the log of '{}' has at {} what is no record of a store ({}): restore the folder "
      "from a backup",
      folder_.string(), record.begin, status.message());
}

void StoreRedo::survey(RecordSource& log) {
  while (const auto record = log.next()) {
    decode(*record);
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
  engine_ =
      std::make_unique<disk::DiskEngine>(store.state().parts->open_queue({store.state().file}, 1));
  make_room(store);
  heal_pages(store, log_folder);
  changed_.resize(pages_);
  const auto log = store.state().parts->read_log(log_folder, checkpoint_.redo);
  for (std::uint64_t i = 0; i < found_.records; ++i) {
    const auto record = log->next();
    if (!record) throw Error("the log of '{}' became shorter", folder_.string());
    decode(*record);
    if (record_.kind == layout::StoreRecordKind::changes) redo_record(*record);
  }
  engine_.reset();
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

/// Pages that the log holds whole, and those that no checkpoint has ever seen: only these may be
/// torn, as no others were written since.
void StoreRedo::heal_pages(LocalPageStore& store, const std::filesystem::path& log_folder) {
  for (PageNumber page = checkpoint_.pages; page < pages_; ++page) whole_.try_emplace(page);
  for (const auto& [page, whole] : whole_) {
    const bool in_log = whole.image || whole.begin > 0 || page < checkpoint_.pages;
    if (in_log) {
      // Relaxed: the writer reads it under the latch of a frame that is made later.
      store.state().pool.table().find(page)->whole_since.store(whole.begin + 1,
                                                               std::memory_order_relaxed);
    }
    Frame& frame = claim(page);
    const Status status = read(frame, page);
    if (!status.ok()) {
      heal(frame, page, log_folder);
      if (page < checkpoint_.pages || whole.image) ++found_.healed_pages;
    }
    store.state().pool.finish_load(frame, {});
    if (!status.ok()) store.state().pool.mark_dirty(frame);
    FramePool::unpin(frame);
  }
}

/// Of its image; or empty, and redo begins where it was made.
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
  decode(*record);
  const Status status = layout::decode_image(record_.parts.front().bytes, page, frame.bytes);
  if (!status.ok()) fail(page, status);
}

void StoreRedo::redo_record(const wal::LogRecord& record) {
  for (const layout::StorePart& part : record_.parts) redo_part(part, record.end);
}

void StoreRedo::redo_part(const layout::StorePart& part, wal::Position end) {
  StoreState& state = store_->state();
  if (const Status status = store_->writer().reserve(1); !status.ok()) fail(part.page, status);
  Frame& frame = fetch(part.page);
  if (layout::StorePage(frame.bytes).header().position < end) {
    const std::lock_guard lock(frame.latch);
    state.pool.mark_dirty(frame);
    for (auto rest = part.bytes; !rest.empty();) {
      const auto change = layout::decode_change(rest);
      Status status = change.status();
      if (status.ok()) status = layout::apply_change(frame.bytes, change.value());
      if (!status.ok()) fail(part.page, status);
    }
    layout::set_page_position(frame.bytes, end);
    changed_[part.page] = true;
  }
  FramePool::unpin(frame);
  store_->writer().settle(1);
}

/// Pinned, resident.
Frame& StoreRedo::fetch(PageNumber page) {
  const FrameLook look = store_->state().pool.look(page);
  if (look.outcome == FrameLook::Outcome::resident) return *look.frame;
  Frame& frame = claim(page);
  if (const Status status = read(frame, page); !status.ok()) fail(page, status);
  store_->state().pool.finish_load(frame, {});
  return frame;
}

/// A frame for a page that is in none; loading.
Frame& StoreRedo::claim(PageNumber page) {
  const Ticks give_up = now_ticks() + us_to_ticks(kRedoClaimLimitUs);
  while (true) {
    const FrameClaim claim = store_->state().pool.claim();
    if (claim.outcome == ClaimOutcome::claimed) {
      FARVEC_CHECK(store_->state().pool.publish(*claim.frame, page, FrameState::loading),
                   "recovery is alone");
      return *claim.frame;
    }
    if (now_ticks() > give_up) fail(page, {StatusCode::resource_exhausted, "no frame for it"});
    if (const Status failure = store_->state().failure.get(); !failure.ok()) fail(page, failure);
    store_->writer().want_frames();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// data_loss when the bytes are not the page; throws when the disk does not give them.
Status StoreRedo::read(Frame& frame, PageNumber page) {
  StoreState& state = store_->state();
  StoreCounters::add(state.counters.page_reads, 1);
  const disk::DiskRequest request{.offset = state.offset_of(page),
                                  .memory = frame.bytes.data(),
                                  .deadline = now_ticks() + us_to_ticks(kRedoReadLimitUs),
                                  .bytes = state.page_bytes()};
  if (const Status status = engine_->post({&request, 1}); !status.ok()) fail(page, status);
  disk::DiskCompletion completion;
  while (engine_->poll({&completion, 1}) == 0) std::this_thread::yield();
  if (completion.status != StatusCode::ok) {
    engine_->close();  // the frame is the kernel's until then
    fail(page, {completion.status, "the disk cannot read it"});
  }
  return layout::check_sealed_page(frame.bytes, page);
}

void StoreRedo::fail(PageNumber page, Status status) const {
  throw Error("recovering '{}': page {} of 'pages' (at {}): {}: restore the folder from a backup",
              folder_.string(), page, store_->state().offset_of(page), status.message());
}

}  // namespace farvec::ssd_baseline
