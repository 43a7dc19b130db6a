#include "ssd_baseline/paged/store/page_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "layout/store/store_page.h"
#include "layout/store/store_record.h"
#include "ssd_baseline/paged/store/checkpoint_file.h"

namespace farvec::paged {
namespace {

constexpr std::size_t kBatchPages = 64;
constexpr std::uint32_t kWriteAttempts = 4;
constexpr auto kFirstRetry = std::chrono::milliseconds(1);  // then each is ten times as long
// The time between looks at the requests under way is a share of the time that they have taken so
// far.
constexpr auto kShortestPoll = std::chrono::microseconds(20);
constexpr auto kLongestPoll = std::chrono::microseconds(1000);
constexpr int kPollShare = 8;
constexpr auto kReservePatience = std::chrono::seconds(60);
constexpr auto kFullInterval = std::chrono::milliseconds(100);  // between looks at a full disk
constexpr double kWriteLimitUs = 60e6;

Ticks write_deadline() {
  return now_ticks() + us_to_ticks(kWriteLimitUs);
}

void sort_by_page(std::vector<Frame*>& frames) {
  std::ranges::sort(frames, {}, [](const Frame* frame) {
    return frame->page.load(std::memory_order_relaxed);  // dirty frames keep their pages
  });
}

std::span<const std::byte> as_span(const auto& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// Long waits (a sync of a disk takes milliseconds) are looked at less often; none is noticed more
/// than an eighth later than it ends.
void pause_polling(std::chrono::steady_clock::time_point began) {
  const auto waited = std::chrono::steady_clock::now() - began;
  std::this_thread::sleep_for(
      std::clamp<std::chrono::nanoseconds>(waited / kPollShare, kShortestPoll, kLongestPoll));
}

}  // namespace

PageWriter::PageWriter(StoreState& state, const PageWriterOptions& options)
    : state_(state),
      most_dirty_(options.most_dirty),
      redo_(options.redo),
      memory_(kBatchPages * state.page_bytes()),
      engine_(std::make_unique<disk::DiskEngine>(
          state.parts->open_queue({state.file}, kBatchPages, disk::DiskThread::owner))) {
  staged_.reserve(kBatchPages);
  chosen_.reserve(kBatchPages);
  requests_.reserve(kBatchPages);
  thread_ = std::thread([this] { run(); });
}

PageWriter::~PageWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Status PageWriter::reserve(std::size_t frames) {
  if (frames > most_dirty_) {
    return {StatusCode::resource_exhausted,
            "it changes more pages than the buffer may hold changed: open it with a larger "
            "--buffer"};
  }
  const auto give_up = std::chrono::steady_clock::now() + kReservePatience;
  std::unique_lock lock(mutex_);
  while (state_.pool.dirty() + reserved_ + frames > most_dirty_) {
    if (const Status failure = state_.failure.get(); !failure.ok()) return failure;
    frames_wanted_ =
        true;  // even if few frames are dirty, there may be too many for so large a change
    wake_.notify_all();
    if (progress_.wait_until(lock, give_up) == std::cv_status::timeout) {
      return {StatusCode::resource_exhausted, "dirty pages are not written as fast as they come"};
    }
  }
  reserved_ += frames;
  if (!low()) wake_.notify_all();
  return {};
}

void PageWriter::settle(std::size_t frames) {
  const std::lock_guard lock(mutex_);
  reserved_ -= frames;
  progress_.notify_all();
}

void PageWriter::want_frames() {
  {
    const std::lock_guard lock(mutex_);
    frames_wanted_ = true;
  }
  wake_.notify_all();
}

void PageWriter::log_grew() {
  if (log_is_long()) wake_.notify_all();
}

void PageWriter::checkpoint_every(std::uint64_t log_bytes) {
  checkpoint_log_bytes_.store(log_bytes, std::memory_order_relaxed);  // a little sooner or later
}

bool PageWriter::log_is_long() const {
  // Relaxed: a checkpoint comes a little sooner or later.
  return state_.log->end() - redo_.load(std::memory_order_relaxed) >=
         checkpoint_log_bytes_.load(std::memory_order_relaxed);
}

Status PageWriter::checkpoint() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = ++checkpoints_wanted_;
  wake_.notify_all();
  progress_.wait(lock, [&] { return checkpoints_done_ >= mine; });
  return checkpoint_status_;
}

bool PageWriter::has_work() const {
  const bool pages = state_.pool.dirty() > 0 && (frames_wanted_ || !low());
  return checkpoints_wanted_ > checkpoints_done_ || pages || log_is_long();
}

void PageWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    // The interval is for a reason to work that comes between has_work() and the wait.
    while (!stop_ && !(has_work() && state_.failure.get().ok())) {
      if (checkpoints_wanted_ > checkpoints_done_) work(lock);  // it ends with the failure
      frames_wanted_ = false;
      wake_.wait_for(lock, std::chrono::milliseconds(10));
    }
    if (stop_) return;
    work(lock);
  }
}

/// Writes one batch, or makes a checkpoint.
void PageWriter::work(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t wanted = checkpoints_wanted_;
  const bool checkpoint = wanted > checkpoints_done_ || log_is_long();
  frames_wanted_ = false;
  lock.unlock();
  Status status = state_.failure.get();
  if (status.ok()) status = checkpoint ? make_checkpoint() : write_some();
  if (will_pass(status)) std::this_thread::sleep_for(kFullInterval);
  lock.lock();
  if (checkpoint) {
    checkpoints_done_ = wanted;
    checkpoint_status_ = status;
  }
  progress_.notify_all();
}

Status PageWriter::write_some() {
  choose_frames();
  return write_batch(chosen_);
}

/// A full disk takes pages and their images when it has room again. Until then they stay dirty, and
/// what was acknowledged is in the log.
bool PageWriter::will_pass(Status status) const {
  return status.code() == StatusCode::resource_exhausted && state_.log->failure().ok();
}

/// Chooses among the dirty frames that the clock's hand comes to next: those that it would take, or
/// else any.
void PageWriter::choose_frames() {
  chosen_.clear();
  FramePool& pool = state_.pool;
  const std::size_t first = pool.hand();
  for (const bool any : {false, true}) {
    for (std::size_t i = 0; i < pool.size() && chosen_.size() < kBatchPages; ++i) {
      Frame& frame = pool.frame((first + i) % pool.size());
      const FrameWord now = word_of(frame);
      if (now.dirty() && (any || now.uses() == 0)) chosen_.push_back(&frame);
    }
    if (!chosen_.empty()) break;
  }
  sort_by_page(chosen_);
}

std::vector<Frame*> PageWriter::dirty_frames() {
  std::vector<Frame*> frames;
  for (std::size_t i = 0; i < state_.pool.size(); ++i) {
    if (word_of(state_.pool.frame(i)).dirty()) frames.push_back(&state_.pool.frame(i));
  }
  sort_by_page(frames);
  return frames;
}

/// Changes before redo were marked dirty before they went to the log, so that the frames found here
/// hold all of them. Only this thread writes pages, so the pages whose images belong to the former
/// checkpoint are on the disk when the sync has ended.
Status PageWriter::make_checkpoint() {
  const wal::Position former = redo_.load(std::memory_order_relaxed);  // this thread's own
  const wal::Position redo = state_.log->end();
  redo_.store(redo, std::memory_order_relaxed);  // from now on pages need images after it
  PageNumber pages = 0;
  {
    const std::lock_guard lock(state_.adding);
    pages = state_.next_page;
  }
  const std::vector<Frame*> frames = dirty_frames();
  Status status = write_frames(frames);
  if (will_pass(status)) {
    redo_.store(former, std::memory_order_relaxed);  // recovery still begins there
    return status;
  }
  if (status.ok()) status = sync();
  if (status.ok()) status = state_.log->flush(redo, write_deadline());
  if (status.ok()) status = save_checkpoint(redo, pages);
  if (!status.ok()) {
    state_.failure.set(status);
    return status;
  }
  state_.log->cut(redo);
  StoreCounters::add(state_.counters.checkpoints, 1);
  return {};
}

Status PageWriter::save_checkpoint(wal::Position redo, PageNumber pages) {
  try {
    paged::save_checkpoint(state_.folder,
                           {.page_bytes = state_.page_bytes(), .redo = redo, .pages = pages});
    return {};
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return {StatusCode::unavailable, "the checkpoint file cannot be replaced"};
  }
}

Status PageWriter::write_frames(std::span<Frame* const> frames) {
  for (std::size_t i = 0; i < frames.size(); i += kBatchPages) {
    const Status status = write_batch(frames.subspan(i, std::min(kBatchPages, frames.size() - i)));
    if (!status.ok()) return status;
    const std::lock_guard lock(mutex_);
    progress_.notify_all();
  }
  return {};
}

std::span<std::byte> PageWriter::staging(std::size_t i) {
  return memory_.span().subspan(i * state_.page_bytes(), state_.page_bytes());
}

Status PageWriter::write_batch(std::span<Frame* const> frames) {
  staged_.clear();
  for (Frame* const frame : frames) stage(*frame);
  Status status = log_images();
  if (status.ok()) status = write_staged();
  for (const Staged& staged : staged_) {
    if (!staged.written) state_.pool.mark_dirty(*staged.frame);
    FramePool::unpin(*staged.frame);
  }
  if (!status.ok() && !will_pass(status)) {
    spdlog::error(
        "'{}': pages cannot be written back ({}): nothing can be changed until it is "
        "opened again; what was acknowledged is in the log",
        state_.file->path(), status.message());
    state_.failure.set(status);
  }
  return status;
}

/// Copies the page. A dirty frame is not evicted, and only this thread makes it clean.
void PageWriter::stage(Frame& frame) {
  FramePool::pin(frame);
  const auto copy = staging(staged_.size());
  Staged staged{.frame = &frame, .page = frame.page.load(std::memory_order_relaxed)};  // pinned
  {
    const std::shared_lock lock(frame.latch);
    std::ranges::copy(frame.bytes, copy.begin());
    state_.pool.mark_clean(frame);
    // Under the latch: the value that update() has set belongs to a record up to the page's
    // position.
    const wal::Position since =
        state_.pool.table().find(staged.page)->whole_since.load(std::memory_order_relaxed);
    staged.whole = since > redo_.load(std::memory_order_relaxed);  // this thread's own
  }
  staged.position = layout::StorePage(copy).header().position;
  staged_.push_back(staged);
}

Status PageWriter::log_images() {
  wal::Position needed = 0;
  for (std::size_t i = 0; i < staged_.size(); ++i) {
    Staged& staged = staged_[i];
    if (!staged.whole) {
      const layout::PageImage image = layout::image_of(staging(i));
      const layout::StoreRecordHeader record{
          static_cast<std::uint32_t>(layout::StoreRecordKind::image), 1};
      const layout::StorePartHeader part{staged.page, static_cast<std::uint32_t>(image.bytes())};
      const std::span<const std::byte> parts[] = {as_span(record), as_span(part), image.front,
                                                  image.back};
      const wal::Position before = state_.log->end();
      const Result<wal::Position> end = state_.log->append(parts);
      if (!end.ok()) return end.status();
      // Relaxed: this thread reads it under the latch, or it is read after this thread has ended.
      state_.pool.table()
          .find(staged.page)
          ->whole_since.store(before + 1, std::memory_order_relaxed);
      staged.position = std::max(staged.position, end.value());
      StoreCounters::add(state_.counters.image_bytes, image.bytes());
      StoreCounters::add(state_.counters.log_bytes, sizeof(record) + sizeof(part) + image.bytes());
    }
    needed = std::max(needed, staged.position);
  }
  return state_.log->flush(needed, write_deadline());
}

Status PageWriter::write_staged() {
  for (std::size_t i = 0; i < staged_.size(); ++i) layout::seal_page(staging(i));
  auto pause = kFirstRetry;
  for (std::uint32_t attempt = 1;; ++attempt) {
    requests_.clear();
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      if (staged_[i].written) continue;
      requests_.push_back({.token = i,
                           .offset = state_.offset_of(staged_[i].page),
                           .memory = staging(i).data(),
                           .deadline = write_deadline(),
                           .bytes = state_.page_bytes(),
                           .operation = disk::DiskOperation::write});
    }
    if (requests_.empty()) return {};
    const Status status = run_requests(requests_);
    // After a deadline the memory is the kernel's, so there is no second attempt.
    const bool hopeless = status.code() == StatusCode::deadline_exceeded;
    if (status.ok() || hopeless || attempt == kWriteAttempts) return status;
    std::this_thread::sleep_for(pause);
    pause *= 10;
  }
}

/// Waits for all requests, and marks the pages that were written. Returns the worst status.
Status PageWriter::run_requests(std::span<const disk::DiskRequest> requests) {
  if (const Status status = engine_->post(requests); !status.ok()) return status;
  Status worst;
  const auto began = std::chrono::steady_clock::now();
  disk::DiskCompletion completions[kBatchPages];
  for (std::size_t left = requests.size(); left > 0;) {
    const std::size_t count = engine_->poll(completions);
    for (std::size_t i = 0; i < count; ++i) {
      const disk::DiskCompletion& completion = completions[i];
      if (completion.status == StatusCode::deadline_exceeded) {
        return {completion.status, "the disk does not write in time"};
      }
      --left;
      if (completion.status != StatusCode::ok) {
        worst = {completion.status, "the disk does not write"};
      } else if (completion.token < staged_.size()) {
        staged_[completion.token].written = true;
        StoreCounters::add(state_.counters.page_writes, 1);
      }
    }
    if (count == 0) pause_polling(began);
  }
  return worst;
}

Status PageWriter::sync() {
  staged_.clear();
  const disk::DiskRequest request{
      .token = kBatchPages, .deadline = write_deadline(), .operation = disk::DiskOperation::sync};
  return run_requests({&request, 1});
}

}  // namespace farvec::paged
