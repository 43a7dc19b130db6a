// A PageStore has pages on a disk that change in place, with a buffer of them in DRAM, and a log
// that is written before every change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/status.h"
#include "layout/store/page_format.h"
#include "ssd_baseline/paged/store/frame.h"
#include "wal/log.h"

namespace farvec::paged {

using layout::PageNumber;

class PageStore;
struct StoreState;

/// Keeps a page in the buffer until it is destroyed; a fiber may hold it across a suspension. It
/// may be moved, and is used by one thread at a time. The store must outlive it.
class PagePin {
 public:
  PagePin() = default;
  PagePin(PagePin&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), frame_(other.frame_) {}
  PagePin& operator=(PagePin&& other) noexcept {
    if (this == &other) return *this;
    release();
    store_ = std::exchange(other.store_, nullptr);
    frame_ = other.frame_;
    return *this;
  }
  ~PagePin() { release(); }

  explicit operator bool() const { return store_ != nullptr; }
  PageNumber number() const;

  /// Calls look(bytes) with the page in the state after some change, never in the middle of one.
  /// The page cannot change meanwhile: `look` must not suspend, lock another page or keep the span.
  template <typename Look>
  decltype(auto) read(Look&& look) const;

  void release();

 private:
  friend class PageStore;
  friend class LocalPageStore;
  PagePin(PageStore& store, Frame& frame) : store_(&store), frame_(&frame) {}
  PageStore* store_ = nullptr;
  Frame* frame_ = nullptr;
};

/// Collects the changes of one update(). Each is checked against the page in the state after the
/// former ones, and other threads see none of them before all are in the log.
class PageEditor {
 public:
  virtual ~PageEditor() = default;
  /// Returns the page with the changes so far. The span is valid until the page's next change.
  /// `page` is a place in the pins of update(). The bytes given to a change must not be of the same
  /// page.
  virtual std::span<const std::byte> bytes(std::size_t page) const = 0;
  /// Empties the page: it has no slots, and this kind, tag and next.
  virtual void init(std::size_t page, std::uint16_t kind, std::uint32_t tag, PageNumber next) = 0;
  virtual void set_next(std::size_t page, PageNumber next) = 0;
  virtual void set_tag(std::size_t page, std::uint32_t tag) = 0;
  /// Puts a tuple at a slot: a new one (the number of slots), an unused one, or in place of the
  /// tuple there. resource_exhausted when it does not fit even after compaction.
  virtual Status put(std::size_t page, std::uint16_t slot, std::span<const std::byte> tuple) = 0;
  virtual Status erase(std::size_t page, std::uint16_t slot) = 0;
  /// Overwrites bytes inside a tuple.
  virtual Status patch(std::size_t page, std::uint16_t slot, std::uint32_t offset,
                       std::span<const std::byte> bytes) = 0;
};

struct PageStoreOptions {
  std::filesystem::path folder;     ///< holds `pages`, `checkpoint` and the log's folder `log`
  std::uint32_t page_bytes = 8192;  ///< for create(); open() takes the store's
  std::uint64_t buffer_bytes = 0;   ///< bytes of frames; everything else is needed besides
  double dirty_share = 0.5;         ///< share of the frames that may be dirty
  std::size_t change_pages = 1;     ///< pages of one update(); this many may be dirty in any case
  std::uint64_t checkpoint_log_bytes = 1ull << 30;  ///< a checkpoint begins after this much log
  wal::LogOptions log;                              ///< its folder is the store's
};

/// A StoreRecovery says what open() found and did.
struct StoreRecovery {
  std::uint64_t records = 0;     ///< records of the log, applied now or before
  std::uint64_t log_bytes = 0;   ///< bytes that were read
  std::uint64_t torn_bytes = 0;  ///< bytes of a last record that was never acknowledged
  std::uint64_t pages = 0;       ///< pages that were changed
  std::uint64_t healed_pages =
      0;  ///< pages that were torn on the disk, and made again from the log
  double seconds = 0;
};

struct StoreCounts {
  std::uint64_t page_reads = 0;   ///< from the disk
  std::uint64_t page_writes = 0;  ///< to the disk
  std::uint64_t log_bytes = 0;    ///< appended
  std::uint64_t image_bytes = 0;  ///< bytes of images of pages, a part of log_bytes
  std::uint64_t evictions = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t waits_for_frames = 0;  ///< times that no frame could be evicted at once

  /// Returns what was counted since `before`.
  StoreCounts operator-(const StoreCounts& before) const {
    return {.page_reads = page_reads - before.page_reads,
            .page_writes = page_writes - before.page_writes,
            .log_bytes = log_bytes - before.log_bytes,
            .image_bytes = image_bytes - before.image_bytes,
            .evictions = evictions - before.evictions,
            .checkpoints = checkpoints - before.checkpoints,
            .waits_for_frames = waits_for_frames - before.waits_for_frames};
  }
};

/// Shared by cores; each core reads through a PageFetcher of its own. A thread of the store writes
/// dirty pages back (through io_uring, O_DIRECT), keeps their number within dirty_share, and makes
/// checkpoints. The log holds a page's changes before the page is written, and an image of the page
/// before its first write after a checkpoint, so that a page torn by a power cut heals.
class PageStore {
 public:
  /// Throws Error when the page size is not a power of two from 4 to 32 KiB, buffer_bytes are too
  /// few, or dirty_share is not a share.
  static void check_options(const PageStoreOptions& options);
  /// Makes an empty store without pages. Throws Error when there is one already, and where
  /// check_options() does.
  static std::unique_ptr<PageStore> create(const PageStoreOptions& options);
  /// Recovers: redoes the log from the last checkpoint. Throws Error with the file, the place and
  /// what to do when bytes are damaged, of another version, or in use by another process.
  static std::unique_ptr<PageStore> open(const PageStoreOptions& options);
  /// Says whether the folder holds a store.
  static bool is_store(const std::filesystem::path& folder);
  /// Returns the bytes of the folder's pages; 0 when it holds no store.
  static std::uint64_t stored_bytes(const std::filesystem::path& folder);
  virtual ~PageStore() = default;  ///< makes a checkpoint, if nothing has failed

  virtual std::uint32_t page_bytes() const = 0;
  /// Returns the number of pages that exist: numbers below it have been made.
  virtual PageNumber pages() const = 0;
  virtual std::size_t frames() const = 0;
  virtual const StoreRecovery& recovery() const = 0;
  virtual StoreCounts counts() const = 0;
  virtual wal::Log& log() = 0;

  /// Returns the page if it is in the buffer, else an empty pin. It never reads.
  virtual PagePin find(PageNumber page) = 0;

  /// Returns a frame for a new page after all others. The page exists when an update() with it
  /// succeeds; pages begin to exist in the order of their numbers (an earlier number that fails
  /// leaves an empty page: kind 0). It blocks the thread until there is a frame; fibers call
  /// PageFetcher::add_page(). resource_exhausted when the disk is full or there is no frame.
  virtual Result<PagePin> add_page() = 0;
  /// Does the same, but returns an empty pin when no frame is free at the moment.
  virtual Result<PagePin> try_add_page() = 0;

  /// Changes pages as one: all changes are in one record of the log, or none is made. Locks the
  /// pages in the order of their numbers (pins are of different pages, in any order), calls `edit`,
  /// appends, applies. `edit` may read all of them, and must not suspend. A bad status from it ends
  /// the update without a change; so does an exception, which is thrown here. Returns the position
  /// to wait for (log().durable()).
  virtual Result<wal::Position> update(std::span<PagePin* const> pins,
                                       const std::function<Status(PageEditor&)>& edit) = 0;

  /// Writes all dirty pages and remembers where recovery begins. It blocks the thread.
  /// resource_exhausted when the log's disk is full: nothing is lost, and it may be tried again.
  virtual Status checkpoint() = 0;

 protected:
  friend class PageFetcher;
  friend class PageBatch;
  /// Returns the state that the fetchers share with the store.
  virtual StoreState& state() = 0;
  static PagePin make_pin(PageStore& store, Frame& frame) { return {store, frame}; }
};

template <typename Look>
decltype(auto) PagePin::read(Look&& look) const {
  const std::shared_lock lock(frame_->latch);
  return std::forward<Look>(look)(std::span<const std::byte>(frame_->bytes));
}

}  // namespace farvec::paged
