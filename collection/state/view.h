// A View is what a collection is at one moment: it has all that a search needs, and nothing of it
// changes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/row_set.h"
#include "collection/memtable/memtable.h"
#include "collection/segment/segment.h"
#include "layout/attributes/schema.h"
#include "layout/attributes/updated_tuples.h"

namespace farvec::collection {

/// Says where a row is: in a memtable or in a segment, which the view holds.
struct RowPlace {
  const Memtable* memtable = nullptr;  ///< null for a segment's
  const Segment* segment = nullptr;    ///< null for a memtable's
  NodeId row = 0;
  const layout::UpdatedTuples* updates = nullptr;  ///< those of the part; not null

  /// Returns the Memtable or the Segment.
  const void* part() const {
    return memtable != nullptr ? static_cast<const void*>(memtable) : segment;
  }
  /// Says whether its attributes are read from the segment's file.
  bool reads_file() const { return segment != nullptr && updates->find(row).empty(); }
  /// Appends the row's tuple, of a segment's from its file. Throws Error naming the file.
  void append_attributes(layout::Tuples& tuples) const;
};

/// Returns what a part has when none of its rows was updated.
const std::shared_ptr<const layout::UpdatedTuples>& no_updates();

/// Every live id is in exactly one part of it, once.
struct View {
  struct Fresh {
    std::shared_ptr<const Memtable> memtable;
    std::uint32_t count = 0;  ///< number of its rows in this view; later ones came after it
    std::shared_ptr<const RowSet> out;  ///< rows among these that were replaced or deleted
    std::shared_ptr<const layout::UpdatedTuples> updates = no_updates();

    std::uint64_t live() const { return count - out->count(); }
    RowPlace place(NodeId row) const {
      return {.memtable = memtable.get(), .row = row, .updates = updates.get()};
    }
    /// Returns the tuple of a row, which stays as long as this object does.
    std::span<const std::byte> attributes(NodeId row) const {
      const std::span<const std::byte> updated = updates->find(row);
      return updated.empty() ? memtable->attributes(row) : updated;
    }
  };
  struct Bulk {
    std::shared_ptr<Segment> segment;
    std::shared_ptr<const RowSet> out;
    std::shared_ptr<const layout::UpdatedTuples> updates = no_updates();

    std::uint64_t live() const { return segment->rows() - out->count(); }
    RowPlace place(NodeId row) const {
      return {.segment = segment.get(), .row = row, .updates = updates.get()};
    }
  };

  std::uint64_t version = 0;  ///< that of the last change in it
  /// The columns of the rows' attributes. Older rows may have only the first ones. Not null.
  std::shared_ptr<const layout::Schema> schema = std::make_shared<const layout::Schema>();
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

/// Finds a segment by its number, which is never given twice; null where the view does not have it.
std::shared_ptr<Segment> find_segment(const View& view, std::uint64_t number);

/// Says what has changed of the rows of a part since it was made.
struct PartChanges {
  const RowSet* out = nullptr;  ///< null: the view does not have the part
  const layout::UpdatedTuples* updates = nullptr;
};
/// Finds a part, a Memtable or a Segment.
PartChanges find_changes(const View& view, const void* part);
/// Says whether a row that was found in an earlier view is in the same part of this one, is not
/// out, and has the attributes that it had. The earlier view must still be held.
bool is_unchanged(const View& now, const RowPlace& found);

struct ViewSize {
  std::uint64_t live = 0;
  std::uint64_t fresh = 0;          ///< live rows in memtables
  std::uint64_t out = 0;            ///< rows of segments that are not live
  std::uint64_t segment_bytes = 0;  ///< bytes of all files of the segments
  std::uint64_t loaded_bytes = 0;   ///< those of them that searches have in memory
  std::uint64_t updated = 0;        ///< rows of segments whose attributes are not in their file
  std::size_t dram_bytes = 0;       ///< bytes of memtables, ids, updates and rows that are out
};
ViewSize size_of(const View& view);

/// A CurrentView is the newest view. Threads share it.
class CurrentView {
 public:
  explicit CurrentView(ViewPointer view) : view_(std::move(view)) {}

  ViewPointer get() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  void set(ViewPointer view) {
    // What only the old view holds is released without the lock.
    const std::lock_guard lock(mutex_);
    view_.swap(view);
  }

 private:
  mutable std::mutex mutex_;
  ViewPointer view_;
};

}  // namespace farvec::collection
