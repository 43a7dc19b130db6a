// The parts of a collection, and how changes and finished segments alter them. No I/O, no threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/row_set.h"
#include "base/types.h"
#include "collection/memtable/memtable.h"
#include "collection/segment/segment.h"
#include "collection/state/view.h"
#include "wal/log.h"

namespace farvec::collection {

/// What a new segment holds of a part of a view.
struct ReplacedPart {
  const void* part = nullptr;  ///< a Memtable or a Segment
  std::vector<NodeId> rows;    ///< all that were live, ascending: the segment's next ones
};

/// A segment that holds the live rows of some parts of a view, which it is to replace.
struct Replacement {
  ViewPointer of;                    ///< the view whose rows it holds
  std::vector<ReplacedPart> parts;   ///< in the order of the segment's rows
  std::shared_ptr<Segment> segment;  ///< null: no row was live
};

/// Changes one after the other, by threads that take turns; current() by any thread. All changes
/// are in the view before the call returns; one that throws, for want of memory, has done nothing.
class Contents {
 public:
  using RowOfId = std::unordered_map<std::uint64_t, NodeId>;

  explicit Contents(const MemtableOptions& options);

  /// Before any change. `segments` as of `version`.
  void begin(std::vector<View::Bulk> segments, std::uint64_t version);

  ViewPointer current() const { return view_.get(); }

  /// Rows that the newest memtable still takes; 0: the next insert needs rotate() before.
  std::uint32_t room() const;
  /// The newest memtable is empty, and its rows will lie in the log from `log_begin` on: a new one,
  /// the one before is frozen, or else one that has no rows yet.
  void rotate(wal::Position log_begin);
  /// Where the log has to be read from, for all that no segment holds; none when no memtable holds
  /// a row.
  std::optional<wal::Position> log_begin() const;
  /// Memtables that take no more rows.
  std::size_t frozen() const;
  bool holds_rows() const;  ///< the newest memtable has some
  /// Rows of all memtables that no graph has: searches compare with each.
  std::uint64_t unlinked() const;
  /// All memtables, the oldest first, to link their rows.
  std::vector<std::shared_ptr<Memtable>> memtables() const;

  /// Rows in stored form, at most room(); ids differ from each other. Those that are there already
  /// are replaced. Returns how many were.
  std::uint64_t insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                       std::uint64_t version);
  /// Returns how many of the ids were there.
  std::uint64_t erase(std::span<const std::uint64_t> ids, std::uint64_t version);
  bool holds(std::uint64_t id) const;

  /// Where an id lies in a view: part i of its memtables, or else of its segments.
  struct Place {
    bool fresh = false;
    std::size_t part = 0;
    NodeId row = 0;
  };
  /// In current(). As changes: by threads that take turns.
  std::optional<Place> find(std::uint64_t id) const { return find(*current(), id); }

  /// All its rows are in, in place of those that have their ids. Returns how many were replaced.
  std::uint64_t add(std::shared_ptr<Segment> segment, std::uint64_t version);

  /// What changed meanwhile in the parts that it replaces changes in the segment too: that, and not
  /// how large they are, is what it costs. Memtables go oldest first.
  void replace(const Replacement& replacement);

 private:
  /// A memtable, and what only changes need to know of it.
  struct Fresh {
    std::shared_ptr<Memtable> memtable;
    wal::Position log_begin = 0;
    RowOfId rows;  ///< of every id the newest
  };
  std::optional<Place> find(const View& view, std::uint64_t id) const;
  std::uint64_t put_out(View& view, std::span<const std::uint64_t> ids) const;

  const MemtableOptions options_;
  std::vector<Fresh> fresh_;  ///< as the view's memtables
  CurrentView view_;
};

}  // namespace farvec::collection
