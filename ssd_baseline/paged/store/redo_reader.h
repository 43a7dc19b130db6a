// A RedoReader reads pages ahead for recovery, in the order in which they will be needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "disk/disk_engine.h"
#include "ssd_baseline/paged/store/page_writer.h"
#include "ssd_baseline/paged/store/store_state.h"

namespace farvec::paged {

/// It is a queue: the page that was asked for first is taken first. Each page in it has a pin. It
/// belongs to the thread that recovers, which is the only one that asks for pages; the writer
/// writes meanwhile.
class RedoReader {
 public:
  /// State and writer must outlive it.
  RedoReader(StoreState& state, PageWriter& writer);

  /// Starts to read the page if it is in no frame; a page may be asked for again before it is
  /// taken. False when the queue is full, or there is no frame, so that a page has to be taken
  /// first. Throws Error when the queue is empty and no frame becomes free.
  bool ask(PageNumber page);

  struct Taken {
    Frame* frame = nullptr;  ///< its pin belongs to the caller
    /// data_loss: the bytes are not the page. The frame is then still loading; the caller mends it
    /// and calls FramePool::finish_load().
    Status status;
  };
  /// Returns the first page of the queue, which must not be empty, and waits for it. Throws Error
  /// when the disk does not give its bytes.
  Taken take();
  /// Returns the number of the page that take() returns next.
  PageNumber next() const { return ring_[first_].page; }
  std::size_t size() const { return size_; }

 private:
  struct Asked {
    PageNumber page = 0;
    Frame* frame = nullptr;
    bool reads =
        false;  ///< the frame is loading because of this entry, and no earlier one asked for it
    bool arrived = false;
    StatusCode status = StatusCode::ok;
  };

  Frame* claim(PageNumber page);
  void submit();
  void wait(const Asked& asked);

  StoreState& state_;
  PageWriter& writer_;
  std::vector<Asked> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::vector<disk::DiskRequest> requests_;  ///< collected for submit()
  disk::DiskEngine engine_;                  ///< closed before the frames may go
};

/// Throws the Error of a recovery that cannot go on because of a page.
[[noreturn]] void fail_recovery(const StoreState& state, PageNumber page, Status status);

}  // namespace farvec::paged
