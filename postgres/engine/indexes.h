// Indexes are all indexes of a server: a folder for each, of which those that were asked for are
// open.
#pragma once

#include "base/clock.h"
#include "base/progress.h"
#include "collection/write/collection_access.h"
#include "postgres/channel/requests.h"
#include "postgres/engine/index_name.h"
#include "postgres/engine/open_index.h"
#include "postgres/engine/places.h"
#include "postgres/engine/tablespaces.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace farvec::postgres {

struct IndexesOptions {
  TablespaceOptions folders;
  /// The most bytes that open indexes may take: records of segments that do not stay on a disk,
  /// pools, ids and fresh rows. What a merge makes meanwhile, and the memory of searches that run,
  /// come on top.
  std::uint64_t memory = 0;
  collection::CollectionAccess access;  ///< where indexes lie is left out
};

/// Any thread may call everything at any time.
class Indexes {
 public:
  /// Throws what Tablespaces throws.
  explicit Indexes(IndexesOptions options);

  /// Returns an index that is open; null where it is not. Does not wait for those that open others.
  std::shared_ptr<OpenIndex> find(const IndexName& name) const;
  /// Opens an index that has a folder, if it is not open. Where there is no room for it, closes
  /// others that were not used for a second, the longest unused first. Throws StatusError
  /// (not_found) where there is none, or what it had was not usable and was removed;
  /// (resource_exhausted) where the memory is not enough, (unavailable) where searches keep what it
  /// was from being closed. Throws Error.
  std::shared_ptr<OpenIndex> open(const IndexName& name);
  /// The same, and makes it where there is none, or where it is not usable or has another shape.
  /// Then an index of the same file with another number is gone for good, and is dropped, and so is
  /// one of the same file and number in another tablespace, from which its database has moved. One
  /// that is open in another place is opened again, and has to catch up; where it is built it
  /// stays.
  std::shared_ptr<OpenIndex> open(const IndexName& name, const AskOpen& shape);
  /// Opens indexes that have folders, those that were written last first, as long as there is room
  /// without closing others. What cannot be opened stays closed until it is asked for. It may take
  /// long, and looks at `gives_up` between two of them.
  void open_ahead(const Interruption& gives_up);
  /// Removes an index, open or not. Throws Error where files cannot be removed.
  void drop(const IndexName& name);
  /// Calls OpenIndex::save() for all open indexes, and drops those whose tablespace is gone. What
  /// fails is logged, and tried again by the next call. For one thread, which may wait.
  void save();
  /// Closes what was dropped, when no core has it any more. It may wait.
  void clean();

  /// Throws StatusError (resource_exhausted) where open indexes take all of the memory, and no
  /// other than this one can be closed.
  void require_memory(OpenIndex& index);
  /// Returns how many bytes of memory open indexes may still take.
  std::size_t memory_left() const;
  /// Returns names of folders, in order, after this one; at most `most`.
  std::vector<IndexName> list(const IndexName& after, std::size_t most) const;
  ToldSummary summary() const;

 private:
  /// An index that is, or may become, open.
  struct Entry {
    std::mutex changing;               ///< is held to open, make or drop it
    std::shared_ptr<OpenIndex> index;  ///< guarded by Indexes::mutex_
  };

  std::shared_ptr<Entry> entry_of(const IndexName& name);
  std::shared_ptr<OpenIndex> index_of(const Entry& entry) const;
  std::shared_ptr<OpenIndex> try_open(Entry& entry, const IndexName& name);
  std::shared_ptr<OpenIndex> open_there(Entry& entry, const IndexName& name,
                                        const layout::IndexPlace& place);
  void drop_former(const IndexName& name);
  std::shared_ptr<OpenIndex> keep(Entry& entry, std::shared_ptr<OpenIndex> index);
  static void save(OpenIndex& index);
  void let_go(Entry& entry);
  bool make_room(std::size_t bytes, const OpenIndex* but);
  std::shared_ptr<Entry> longest_unused(const OpenIndex* but) const;
  bool close(Entry& entry);
  void require_closed(const IndexName& name);
  bool wait_until_closed(const IndexName& name, double most_us);
  std::vector<std::shared_ptr<OpenIndex>> all_open() const;
  std::size_t memory_used() const;

  const IndexesOptions options_;
  Places places_;
  Tablespaces tablespaces_;
  mutable std::mutex mutex_;
  std::map<IndexName, std::shared_ptr<Entry>> entries_;
  std::vector<std::shared_ptr<OpenIndex>> leaving_;  ///< let go; cores may still have them
  std::multiset<IndexName> closing_;                 ///< let go, and not closed yet
  mutable std::uint64_t used_ = 0;                   ///< memory, as it was at the time below
  mutable Ticks counted_at_ = 0;
};

}  // namespace farvec::postgres
