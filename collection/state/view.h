// What a collection is at one moment: all that a search needs, and nothing of it changes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/row_set.h"
#include "collection/memtable/memtable.h"
#include "collection/segment/segment.h"

namespace farvec::collection {

/// Every live id lies in exactly one part of it, once.
struct View {
  struct Fresh {
    std::shared_ptr<const Memtable> memtable;
    std::uint32_t count = 0;            ///< of its rows; later ones came after this view
    std::shared_ptr<const RowSet> out;  ///< of these, that are replaced or deleted

    std::uint64_t live() const { return count - out->count(); }
  };
  struct Bulk {
    std::shared_ptr<Segment> segment;
    std::shared_ptr<const RowSet> out;

    std::uint64_t live() const { return segment->rows() - out->count(); }
  };

  std::uint64_t version = 0;     ///< of the last change in it
  std::vector<Fresh> memtables;  ///< the oldest first; only the last one still takes rows
  std::vector<Bulk> segments;    ///< ascending by number

  std::uint64_t live() const {
    std::uint64_t sum = 0;
    for (const Fresh& fresh : memtables) sum += fresh.live();
    for (const Bulk& bulk : segments) sum += bulk.live();
    return sum;
  }
};

using ViewPointer = std::shared_ptr<const View>;

/// By its number, which is never given twice; null where the view has none of it.
std::shared_ptr<Segment> find_segment(const View& view, std::uint64_t number);

struct ViewSize {
  std::uint64_t live = 0;
  std::uint64_t fresh = 0;          ///< of the live, in memtables
  std::uint64_t out = 0;            ///< rows of segments that are not live
  std::uint64_t segment_bytes = 0;  ///< of all files of the segments
  std::size_t dram_bytes = 0;       ///< of memtables, ids and rows that are out
};
ViewSize size_of(const View& view);

/// The newest view. Shared by threads.
class CurrentView {
 public:
  explicit CurrentView(ViewPointer view) : view_(std::move(view)) {}

  ViewPointer get() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  void set(ViewPointer view) {
    // What the old view was the last to hold goes without the lock.
    const std::lock_guard lock(mutex_);
    view_.swap(view);
  }

 private:
  mutable std::mutex mutex_;
  ViewPointer view_;
};

}  // namespace farvec::collection
