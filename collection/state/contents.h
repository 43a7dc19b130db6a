// Contents are the parts of a collection, which changes and finished segments alter. There are no
// I/O and no threads in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/row_set.h"
#include "base/types.h"
#include "changes/row_batch.h"
#include "collection/memtable/memtable.h"
#include "collection/segment/segment.h"
#include "collection/state/view.h"
#include "wal/log.h"

namespace farvec::collection {

/// A ReplacedPart names the rows of a part of a view that a new segment holds.
struct ReplacedPart {
  const void* part = nullptr;  ///< a Memtable or a Segment
  std::vector<NodeId> rows;    ///< all that were live, ascending
};

/// A Replacement is a segment that holds the live rows of some parts of a view, which it is to
/// replace.
struct Replacement {
  ViewPointer of;  ///< the view whose rows it holds
  std::vector<ReplacedPart> parts;
  std::shared_ptr<Segment> segment;  ///< null: no row was live
  /// The segment's row of each row of the parts, one part after the other. Empty: the segment has
  /// its rows in this order.
  std::vector<NodeId> places = {};

  /// Returns the segment's row of the row with this number among those of all parts.
  NodeId place(NodeId number) const { return places.empty() ? number : places.at(number); }
};

/// Makes changes one after the other, by threads that take turns; current() may be called by any
/// thread. All changes are in the view before the call returns. A call that throws, because there
/// is no memory, has done nothing.
class Contents {
 public:
  using RowOfId = std::unordered_map<std::uint64_t, NodeId>;

  explicit Contents(const MemtableOptions& options);

  /// Must be called before any change. `segments` are those of `version`.
  void begin(std::vector<View::Bulk> segments, std::uint64_t version,
             const layout::Schema& schema = {});

  ViewPointer current() const { return view_.get(); }

  /// The rows that the newest memtable still takes; 0: the next insert needs rotate() before.
  std::uint32_t room() const {
    return fresh_.empty() ? 0 : fresh_.back().memtable->capacity() - fresh_.back().memtable->size();
  }
  /// Makes the newest memtable an empty one, whose rows will be in the log from `log_begin` on. It
  /// is a new one, and the former is frozen, unless the newest has no rows yet.
  void rotate(wal::Position log_begin);
  /// Returns the position from which the log has to be read, for all that no segment holds; none
  /// when no memtable holds a row.
  std::optional<wal::Position> log_begin() const;
  /// Returns the number of memtables that take no more rows.
  std::size_t frozen() const { return fresh_.empty() ? 0 : fresh_.size() - 1; }
  /// Says whether the newest memtable has rows.
  bool holds_rows() const { return !fresh_.empty() && fresh_.back().memtable->size() > 0; }
  /// The number of rows of all memtables that no graph has: searches compare with each.
  std::uint64_t unlinked() const {
    std::uint64_t rows = 0;
    for (const Fresh& fresh : fresh_) rows += fresh.memtable->unlinked();
    return rows;
  }
  /// Returns all memtables, the oldest first; for linking their rows.
  std::vector<std::shared_ptr<Memtable>> memtables() const;

  /// Gives the rows a schema that begins with the present one. Where that has no columns, rows that
  /// come from now on need another memtable than those that are there.
  void set_schema(const layout::Schema& schema);

  /// Inserts rows in stored form, at most room(); ids differ from each other. Those that are there
  /// already are replaced. Returns how many were.
  std::uint64_t insert(const changes::RowBatch& batch, std::uint64_t version);
  /// Erases the ids, and returns how many of them were there.
  std::uint64_t erase(std::span<const std::uint64_t> ids, std::uint64_t version);
  /// Gives the ids, which differ from each other, new attributes: there is a whole tuple for each.
  /// Returns how many of them were there.
  std::uint64_t update(std::span<const std::uint64_t> ids, const layout::TupleView& tuples,
                       std::uint64_t version);
  bool holds(std::uint64_t id) const;

  /// A RowLocation says where an id is in a view: in part i of its memtables, or else of its
  /// segments.
  struct RowLocation {
    bool fresh = false;
    std::size_t part = 0;
    NodeId row = 0;

    RowPlace in(const View& view) const {
      return fresh ? view.memtables[part].place(row) : view.segments[part].place(row);
    }
  };
  /// Finds an id in current(). It is for threads that take turns, as changes are.
  std::optional<RowLocation> find(std::uint64_t id) const { return find(*current(), id); }

  /// Adds a segment: all its rows are in the view, in place of those that have their ids. Returns
  /// how many were replaced.
  std::uint64_t add(std::shared_ptr<Segment> segment, std::uint64_t version);

  /// Replaces parts by the segment. What changed meanwhile in these parts changes in the segment
  /// too; that is what the call costs, and not how large the parts are. Memtables go oldest first.
  void replace(const Replacement& replacement);

 private:
  /// A memtable, and what only changes need to know of it.
  struct Fresh {
    std::shared_ptr<Memtable> memtable;
    wal::Position log_begin = 0;
    RowOfId rows;  ///< the newest row of every id
  };
  void push_memtable(View& view, wal::Position log_begin);
  std::optional<RowLocation> find(const View& view, std::uint64_t id) const;
  std::uint64_t put_out(View& view, std::span<const std::uint64_t> ids) const;

  MemtableOptions options_;
  std::vector<Fresh> fresh_;  ///< in the order of the view's memtables
  CurrentView view_;
};

}  // namespace farvec::collection
