// Pages for recovery, read ahead in the order in which they will be wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "disk/disk_engine.h"
#include "ssd_baseline/paged/store/page_writer.h"
#include "ssd_baseline/paged/store/store_state.h"

namespace farvec::paged {

/// A queue: what is asked for first is taken first. Each page in it has a pin. Of the thread that
/// recovers, which is the only one that asks for pages; the writer writes meanwhile.
class RedoReader {
 public:
  /// Both must outlive it.
  RedoReader(StoreState& state, PageWriter& writer);

  /// Starts to read the page if it is in no frame; a page may be asked for again before it is
  /// taken. False when so many are in the queue that one has to be taken first. Throws Error when
  /// the queue is empty and no frame can be had.
  bool ask(PageNumber page);

  struct Taken {
    Frame* frame = nullptr;  ///< its pin is the caller's
    /// data_loss: the bytes are not the page. The frame is then loading still; whoever mends it
    /// calls FramePool::finish_load().
    Status status;
  };
  /// The first of the queue, which is not empty; waits for it. Throws Error when the disk does not
  /// give its bytes.
  Taken take();
  /// Of the page that take() gives next.
  PageNumber next() const { return ring_[first_].page; }
  std::size_t size() const { return size_; }

 private:
  struct Asked {
    PageNumber page = 0;
    Frame* frame = nullptr;
    bool reads = false;  ///< the frame is loading by this entry, and not asked for before
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
