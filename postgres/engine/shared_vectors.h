// SharedVectors lets rows of an index share a vector: an update that leaves the vector as it was
// makes no vertex (docs/decisions/066). Where it changes columns, the row has its own values
// (docs/decisions/073).
#pragma once

#include "attributes/condition.h"
#include "base/clock.h"
#include "changes/row_batch.h"
#include "collection/write/collection.h"
#include "layout/collection/alias_file.h"
#include "postgres/engine/alias_table.h"
#include "postgres/engine/index_name.h"
#include "postgres/engine/own_values.h"
#include "postgres/engine/vector_finder.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

namespace farvec::postgres {

/// Says of rows that come whether their vectors are probably there, and how much more memory
/// sharing them may take.
struct Sharing {
  bool expected = false;
  std::size_t more_bytes = 0;
};

/// Any thread may call everything at any time. What a row shares is durable after save().
class SharedVectors {
 public:
  /// Rows whose values differ from those of their vertices; further ones have their own vertices. A
  /// search with a condition asks each.
  static constexpr std::size_t kMostDiffering = 65'536;

  /// What it is made of. The collection is borrowed.
  struct Parts {
    std::filesystem::path folder;
    IndexName name;
    collection::Collection& collection;
    /// What the file has. Vertices that are not there were fresh, and are lost: their rows lack,
    /// and come again.
    layout::AliasList list;
  };
  /// Throws Error where the list says what cannot be, or has tuples that are damaged.
  explicit SharedVectors(Parts parts);

  /// Takes rows that collection.check() accepts, or, where no vector is expected to be there, any
  /// rows. Returns the numbers of those that have to be
  /// inserted; none: all of them. The others share a vertex with the same vector.
  std::optional<std::vector<std::size_t>> take(const changes::RowBatch& batch,
                                               const Sharing& sharing);
  /// Says that rows were inserted, so that later ones may share their vertices.
  void inserted(const changes::RowBatch& batch, const Sharing& sharing);
  /// Removes rows. A vertex that others share stays. That of a host whose last row goes is removed
  /// by save(). Throws what Collection::erase() throws.
  void erase(std::span<const std::uint64_t> vids, Ticks until);
  /// Makes the list durable, where it has changed. Vertices whose values no row has any more get
  /// those of one that has them. Returns whether the collection has changed. Throws Error.
  bool save(Ticks until);

  /// Returns for each row the one whose vertex has its vector; AliasTable::kNone for one that has
  /// gone.
  std::vector<std::uint64_t> vertices_of(std::span<const std::uint64_t> vids) const;

  /// Vertices that have rows which meet a condition by values of their own.
  struct Hosts {
    std::vector<std::uint64_t> ids;  ///< ascending
    std::uint64_t number = 0;        ///< equal ones have equal ids
  };
  /// Returns those that a search for the condition has to find besides the vertices that meet it;
  /// null: there are none.
  std::shared_ptr<const Hosts> hosts_for(const attributes::ConditionPointer& condition) const;

  /// The vertices that a search has found.
  struct Vertices {
    std::span<const std::uint64_t> ids;
    std::span<const float> distances;
    const attributes::Condition* condition = nullptr;  ///< what rows have to meet; null: nothing
  };
  struct Rows {
    std::uint32_t count = 0;  ///< that were written
    std::uint64_t all = 0;    ///< that the vertices stand for, without those that were left out
  };
  /// Writes the rows of vertices with their distances, in this order. Where they have no room, each
  /// vertex gives an equal share, of those that came last. Rows with values of their own that do
  /// not meet the condition are left out. Waits for no I/O: a core calls it.
  Rows rows_of(const Vertices& vertices, std::span<std::uint64_t> vids,
               std::span<float> of_rows) const;
  /// Gives rows that were read from their vertices the values that are their own.
  void put_own_values(std::span<const std::uint64_t> vids, changes::FoundRows& rows) const;

  /// Returns which rows share vertices, at this moment, without values.
  layout::AliasList list() const;

  /// Returns how many rows there are beside the vertices; negative where rows have gone whose
  /// vertices are there.
  std::int64_t more_rows() const { return more_rows_.load(std::memory_order_relaxed); }
  /// Returns the bytes of memory that it takes.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Frees what only new aliases need. Returns whether there was something.
  bool forget_vectors();

 private:
  struct Found {
    std::size_t row;
    std::uint64_t host;
    bool differs = false;  ///< the host has other values
  };

  void take_own(const layout::OwnTuples& own);
  void begin_finding(std::size_t rows, const Sharing& sharing);
  std::vector<Found> candidates(const changes::RowBatch& batch, std::span<const std::size_t> rows);
  std::vector<Found> find(const changes::RowBatch& batch, std::span<const std::size_t> rows);
  bool add(std::uint64_t vid, const Found& found, std::span<const std::byte> tuple,
           std::size_t more_bytes);
  bool even_out(Ticks until);
  void give_values(std::span<const std::uint64_t> hosts, Ticks until);
  layout::AliasList list_now() const;
  bool meets(const attributes::Condition* condition, std::uint64_t vid) const;
  std::vector<std::uint64_t> find_hosts(const attributes::Condition& condition) const;
  void count();

  const std::filesystem::path folder_;
  const std::string name_;
  collection::Collection& collection_;
  std::mutex saving_;            ///< is held to write the file; comes before the next
  mutable std::mutex changing_;  ///< guards all below; held where a vertex gets a row, or goes
  std::optional<VectorFinder> finder_;
  bool warned_ = false;  ///< that rows are inserted again
  bool warned_of_values_ = false;
  bool dirty_ = false;                 ///< the table is not as the file
  std::vector<std::uint64_t> due_;     ///< vertices that are to be erased
  std::vector<std::uint64_t> uneven_;  ///< hosts whose values perhaps no row has any more
  mutable std::shared_mutex reading_;  ///< is held too to change the table; comes last
  AliasTable table_;
  OwnValues own_;
  /// What the last few conditions had.
  struct Asked {
    attributes::ConditionPointer condition;
    std::uint64_t changes = 0;
    std::shared_ptr<const Hosts> hosts;
  };
  mutable std::mutex asking_;  ///< guards the next; no other is taken with it
  mutable std::list<Asked> asked_;
  // Relaxed: they are hints and sums.
  std::atomic<bool> finds_{false};
  std::atomic<bool> shares_{false};
  std::atomic<bool> differs_{false};
  std::atomic<std::int64_t> more_rows_{0};
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace farvec::postgres
