// A PageWriter is the store's thread, which writes dirty pages back and makes checkpoints.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "disk/disk_engine.h"
#include "ssd_baseline/paged/store/store_state.h"

namespace farvec::paged {

struct PageWriterOptions {
  std::size_t most_dirty = 0;  ///< frames
  wal::Position redo = 0;      ///< where the last checkpoint's redo begins
};

/// A page is copied under its latch, so that changes wait for a copy and never for the disk. The
/// copy is written when the log is durable up to the page's last change, and up to an image of the
/// page, unless the log holds the whole page since the last checkpoint already.
class PageWriter {
 public:
  PageWriter(StoreState& state, const PageWriterOptions& options);
  ~PageWriter();  ///< stops; writes nothing more
  PageWriter(const PageWriter&) = delete;
  PageWriter& operator=(const PageWriter&) = delete;

  /// Waits until `frames` more frames may become dirty, and keeps room for them until settle().
  /// resource_exhausted beyond most_dirty, and when the disk is too slow for long; otherwise the
  /// store's failure.
  Status reserve(std::size_t frames);
  void settle(std::size_t frames);

  /// Tells the writer that a thread needs a frame and found only dirty ones.
  void want_frames();
  /// From now on a checkpoint is made after this many bytes of log; before, only when one is asked
  /// for: what recovery has not redone yet must stay in the log.
  void checkpoint_every(std::uint64_t log_bytes);
  /// Checks whether the log has become long enough for a checkpoint.
  void log_grew();
  /// Blocks until a checkpoint that began after the call is done.
  Status checkpoint();

 private:
  struct Staged {
    Frame* frame = nullptr;
    PageNumber page = 0;
    wal::Position position = 0;  ///< the log must be durable up to it before the write
    bool whole = false;          ///< the log can make it again without this image
    bool written = false;
  };

  void run();
  bool has_work() const;
  void work(std::unique_lock<std::mutex>& lock);
  Status write_some();
  Status make_checkpoint();
  bool will_pass(Status status) const;
  std::vector<Frame*> dirty_frames();
  void choose_frames();
  Status write_frames(std::span<Frame* const> frames);
  Status write_batch(std::span<Frame* const> frames);
  void stage(Frame& frame);
  Status log_images();
  Status write_staged();
  Status run_requests(std::span<const disk::DiskRequest> requests);
  Status sync();
  Status save_checkpoint(wal::Position redo, PageNumber pages);
  std::span<std::byte> staging(std::size_t i);
  bool log_is_long() const;
  bool low() const { return state_.pool.dirty() <= most_dirty_ / 2; }

  StoreState& state_;
  const std::size_t most_dirty_;
  std::atomic<std::uint64_t> checkpoint_log_bytes_ = ~std::uint64_t{0};  ///< relaxed
  std::atomic<wal::Position> redo_;  ///< relaxed: the next image epoch or recovery begins there
  HugeBuffer memory_;
  std::unique_ptr<disk::DiskEngine> engine_;
  std::vector<Staged> staged_;
  std::vector<Frame*> chosen_;
  std::vector<disk::DiskRequest> requests_;

  std::mutex mutex_;  ///< guards the members below
  std::condition_variable wake_;
  std::condition_variable progress_;
  std::size_t reserved_ = 0;
  std::uint64_t checkpoints_wanted_ = 0;
  std::uint64_t checkpoints_done_ = 0;
  Status checkpoint_status_;
  bool frames_wanted_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace farvec::paged
