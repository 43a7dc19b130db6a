#include "ssd_baseline/paged/store/local_store.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "layout/store/store_page.h"

namespace farvec::paged {
namespace {

constexpr std::uint32_t kGrowPages = 256;           // at least this many at a time,
constexpr std::uint32_t kGrowShare = 16;            // or this part of what is there,
constexpr std::uint64_t kGrowBytes = 256ull << 20;  // but no more than this
constexpr double kFramePatienceUs = 10e6;
constexpr double kPinnedPatienceUs = 100e3;
constexpr auto kFrameInterval = std::chrono::microseconds(50);

/// Returns how many of the frames may be dirty.
std::size_t most_dirty(const PageStoreOptions& options, std::size_t frames) {
  const auto share = static_cast<std::size_t>(options.dirty_share * static_cast<double>(frames));
  return std::clamp<std::size_t>(std::max(share, options.change_pages), 1, frames - kCleanFrames);
}

Status all_pinned() {
  return {StatusCode::resource_exhausted,
          "every page of the buffer is in use: open it with a larger --buffer, or with fewer "
          "--slots or --threads"};
}

}  // namespace

void log_damage(const StoreState& state, PageNumber page, Status status) {
  spdlog::error("'{}': page {} (at {}): {}: restore the folder from a backup", state.file->path(),
                page, state.offset_of(page), status.message());
}

void PagePin::release() {
  if (store_ == nullptr) return;
  FramePool::unpin(*frame_);
  store_ = nullptr;
}

PageNumber PagePin::number() const {
  return frame_->page.load(std::memory_order_relaxed);  // does not change while it is pinned
}

/// Keeps room for frames that are going to be dirty.
class LocalPageStore::Reservation {
 public:
  Reservation(PageWriter& writer, std::size_t frames)
      : writer_(writer), frames_(frames), status_(writer.reserve(frames)) {}
  ~Reservation() {
    if (status_.ok()) writer_.settle(frames_);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  const Status& status() const { return status_; }

 private:
  PageWriter& writer_;
  const std::size_t frames_;
  const Status status_;
};

/// Holds the scratch of one update, which goes back to the store however the update ends.
class LocalPageStore::ScratchLease {
 public:
  explicit ScratchLease(LocalPageStore& store) : store_(store) {
    const std::lock_guard lock(store_.scratch_mutex_);
    if (store_.scratch_.empty()) {
      scratch_ = std::make_unique<UpdateScratch>(store_.page_bytes());
    } else {
      scratch_ = std::move(store_.scratch_.back());
      store_.scratch_.pop_back();
    }
  }
  ~ScratchLease() {
    const std::lock_guard lock(store_.scratch_mutex_);
    store_.scratch_.push_back(std::move(scratch_));
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  UpdateScratch& operator*() const { return *scratch_; }
  UpdateScratch* operator->() const { return scratch_.get(); }

 private:
  LocalPageStore& store_;
  std::unique_ptr<UpdateScratch> scratch_;
};

/// Locks the frames of an update, in the order of their pages.
class LocalPageStore::LatchedFrames {
 public:
  explicit LatchedFrames(const UpdateScratch& scratch) : scratch_(scratch) {
    for (const std::uint32_t i : scratch_.order) scratch_.frames[i]->latch.lock();
  }
  ~LatchedFrames() {
    for (const std::uint32_t i : scratch_.order) scratch_.frames[i]->latch.unlock();
  }
  LatchedFrames(const LatchedFrames&) = delete;
  LatchedFrames& operator=(const LatchedFrames&) = delete;

 private:
  const UpdateScratch& scratch_;
};

LocalPageStore::LocalPageStore(const PageStoreOptions& options, StoreOpening opening,
                               std::unique_ptr<wal::Log> log)
    : lock_(std::move(opening.lock)),
      state_(options.buffer_bytes / opening.checkpoint.page_bytes, opening.checkpoint.page_bytes) {
  state_.folder = options.folder;
  state_.parts = std::move(opening.parts);
  state_.file = std::make_shared<disk::DiskFile>((options.folder / "pages").string(),
                                                 disk::DiskAccess::write);
  state_.log = std::move(log);
  state_.durability = options.log.durability;
  state_.next_page = opening.checkpoint.pages;
  state_.pool.table().reserve(opening.checkpoint.pages);
  state_.pages.store(opening.checkpoint.pages,
                     std::memory_order_relaxed);  // no other thread is here yet
  writer_ = std::make_unique<PageWriter>(
      state_, PageWriterOptions{.most_dirty = most_dirty(options, state_.pool.size()),
                                .redo = opening.checkpoint.redo});
  state_.writer = writer_.get();
}

LocalPageStore::~LocalPageStore() {
  if (!state_.failure.get().ok() || !state_.log->failure().ok()) return;
  {
    // There are no more updates: numbers that were given out and not used are given out again.
    const std::lock_guard lock(state_.adding);
    state_.next_page = pages();
  }
  Status status = checkpoint();
  // The first checkpoint leaves images in the log after it; the second has nothing dirty, and
  // leaves none to recover.
  if (status.ok()) status = checkpoint();
  if (!status.ok()) {
    spdlog::error("'{}': no checkpoint when it was closed: {}", state_.folder.string(),
                  status.message());
  }
}

StoreCounts LocalPageStore::counts() const {
  const auto get = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);  // counts
  };
  const StoreCounters& counters = state_.counters;
  return {.page_reads = get(counters.page_reads),
          .page_writes = get(counters.page_writes),
          .log_bytes = get(counters.log_bytes),
          .image_bytes = get(counters.image_bytes),
          .evictions = state_.pool.evictions(),
          .checkpoints = get(counters.checkpoints),
          .waits_for_frames = get(counters.waits_for_frames)};
}

PagePin LocalPageStore::find(PageNumber page) {
  if (page >= pages()) return {};
  const FrameLook look = state_.pool.look(page);
  if (look.outcome == FrameLook::Outcome::resident) return make_pin(*this, *look.frame);
  if (look.outcome == FrameLook::Outcome::loading) FramePool::unpin(*look.frame);
  return {};
}

Result<Frame*> LocalPageStore::wait_for_frame() {
  const Ticks began = now_ticks();
  for (bool first = true;; first = false) {
    const FrameClaim claim = state_.pool.claim();
    if (claim.outcome == ClaimOutcome::claimed) return claim.frame;
    if (first) StoreCounters::add(state_.counters.waits_for_frames, 1);
    const double waited_us = ticks_to_us(now_ticks() - began);
    const bool pinned = claim.outcome == ClaimOutcome::pinned && waited_us > kPinnedPatienceUs;
    if (pinned || waited_us > kFramePatienceUs) return all_pinned();
    if (const Status failure = state_.failure.get(); !failure.ok()) return failure;
    writer_->want_frames();
    std::this_thread::sleep_for(kFrameInterval);
  }
}

Result<PagePin> LocalPageStore::add_page() {
  if (const Status failure = state_.failure.get(); !failure.ok()) return failure;
  const Reservation reservation(*writer_, 1);
  if (!reservation.status().ok()) return reservation.status();
  const Result<Frame*> frame = wait_for_frame();
  if (!frame.ok()) return frame.status();
  return place_new_page(*frame.value());
}

Result<PagePin> LocalPageStore::try_add_page() {
  if (const Status failure = state_.failure.get(); !failure.ok()) return failure;
  const Reservation reservation(*writer_, 1);
  if (!reservation.status().ok()) return reservation.status();
  const FrameClaim claim = state_.pool.claim();
  if (claim.outcome == ClaimOutcome::claimed) return place_new_page(*claim.frame);
  writer_->want_frames();
  return PagePin{};
}

Result<PagePin> LocalPageStore::place_new_page(Frame& frame) {
  const std::lock_guard lock(state_.adding);
  const PageNumber page = state_.next_page;
  if (const Status status = grow_for(page); !status.ok()) {
    FramePool::abandon(frame);
    return status;
  }
  state_.pool.table().reserve(page + 1);
  layout::format_page(frame.bytes, page);
  FARVEC_CHECK(state_.pool.publish(frame, page, FrameState::resident), "a new page is there");
  state_.pool.mark_dirty(frame);
  state_.next_page = page + 1;
  return make_pin(*this, frame);
}

/// Grows the file by many pages at once, and by as few as are needed where the disk is nearly full.
/// It blocks.
Status LocalPageStore::grow_for(PageNumber page) {
  if (page == layout::kNoPage - 1) {
    return {StatusCode::resource_exhausted, "a store has no more page numbers"};
  }
  const std::uint64_t needed = state_.offset_of(page + 1);
  if (needed <= state_.file->size()) return {};
  const std::uint64_t share = std::min(needed / kGrowShare, kGrowBytes) / page_bytes();
  const std::uint64_t more = std::max<std::uint64_t>(share, kGrowPages) * page_bytes();
  const Status status = state_.parts->grow(*state_.file, needed - page_bytes() + more);
  if (status.code() != StatusCode::resource_exhausted) return status;
  return state_.parts->grow(*state_.file, needed);
}

Result<wal::Position> LocalPageStore::update(std::span<PagePin* const> pins,
                                             const std::function<Status(PageEditor&)>& edit) {
  if (const Status failure = state_.failure.get(); !failure.ok()) return failure;
  const ScratchLease scratch(*this);
  scratch->frames.clear();
  for (const PagePin* pin : pins) scratch->frames.push_back(pin->frame_);
  scratch->order.resize(pins.size());
  std::iota(scratch->order.begin(), scratch->order.end(), 0);
  std::ranges::sort(scratch->order, {}, [&](std::uint32_t i) { return pins[i]->number(); });
  const auto same = std::ranges::adjacent_find(scratch->order, {},
                                               [&](std::uint32_t i) { return pins[i]->number(); });
  if (same != scratch->order.end()) {
    return Status(StatusCode::invalid_argument, "an update has two pins of one page");
  }
  const Result<wal::Position> result = update_locked(*scratch, edit);
  writer_->log_grew();
  return result;
}

/// When `edit` throws, the pages are unlocked and as they were.
Result<wal::Position> LocalPageStore::update_locked(
    UpdateScratch& scratch, const std::function<Status(PageEditor&)>& edit) {
  const Reservation reservation(*writer_, scratch.frames.size());
  if (!reservation.status().ok()) return reservation.status();
  const LatchedFrames latched(scratch);
  scratch.editor.begin(scratch.frames);
  try {
    const Status status = edit(scratch.editor);
    const auto end = status.ok() ? log_changes(scratch) : Result<wal::Position>(status);
    if (!end.ok()) scratch.editor.take_back();
    return end;
  } catch (...) {
    scratch.editor.take_back();
    throw;
  }
}

/// A page is dirty before its change is in the log, so that a checkpoint that begins after the
/// change finds it.
Result<wal::Position> LocalPageStore::log_changes(UpdateScratch& scratch) {
  const auto parts = scratch.editor.record(scratch.order);
  if (parts.empty()) return wal::Position{0};
  for (const std::uint32_t i : scratch.order) {
    if (scratch.editor.changed(i)) state_.pool.mark_dirty(*scratch.frames[i]);
  }
  const wal::Position before = state_.log->end();
  const Result<wal::Position> end = state_.log->append(parts);
  if (!end.ok()) {
    if (const Status failure = state_.log->failure(); !failure.ok()) state_.failure.set(failure);
    return end;
  }
  std::uint64_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  StoreCounters::add(state_.counters.log_bytes, bytes);
  note_position(scratch, before, end.value());
  return end;
}

void LocalPageStore::note_position(UpdateScratch& scratch, wal::Position before,
                                   wal::Position end) {
  for (const std::uint32_t i : scratch.order) {
    if (!scratch.editor.changed(i)) continue;
    Frame& frame = *scratch.frames[i];
    layout::set_page_position(frame.bytes, end);
    const PageNumber page = frame.page.load(std::memory_order_relaxed);  // pinned
    if (scratch.editor.starts_anew(i)) {
      // Relaxed: the writer reads it under the latch.
      state_.pool.table().find(page)->whole_since.store(before + 1, std::memory_order_relaxed);
    }
    exists(page);
  }
}

void LocalPageStore::exists(PageNumber page) {
  PageNumber now = state_.pages.load(std::memory_order_relaxed);
  // Release: pairs with pages().
  while (now <= page && !state_.pages.compare_exchange_weak(
                            now, page + 1, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace farvec::paged
