// SharedVectors lets rows of an index share a vector: an update that leaves the vector as it was
// makes no vertex (docs/decisions/066).
#pragma once

#include "base/clock.h"
#include "changes/row_batch.h"
#include "collection/write/collection.h"
#include "layout/collection/alias_file.h"
#include "postgres/engine/alias_table.h"
#include "postgres/engine/index_name.h"
#include "postgres/engine/vector_finder.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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
  /// What it is made of. The collection is borrowed.
  struct Parts {
    std::filesystem::path folder;
    IndexName name;
    collection::Collection& collection;
    /// What the file has. Vertices that are not there were fresh, and are lost: their rows lack,
    /// and come again.
    layout::AliasList list;
  };
  /// Throws Error where the list says what cannot be.
  explicit SharedVectors(Parts parts);

  /// Takes rows that collection.check() accepts, or, where no vector is expected to be there, any
  /// rows. Returns the numbers of those that have to be
  /// inserted; none: all of them. The others share a vertex with the same vector and values.
  std::optional<std::vector<std::size_t>> take(const changes::RowBatch& batch,
                                               const Sharing& sharing);
  /// Says that rows were inserted, so that later ones may share their vertices.
  void inserted(const changes::RowBatch& batch, const Sharing& sharing);
  /// Removes rows. A vertex that others share stays. That of a host whose last row goes is removed
  /// by save(). Throws what Collection::erase() throws.
  void erase(std::span<const std::uint64_t> vids, Ticks until);
  /// Makes the list durable, where it has changed. Throws Error.
  void save(Ticks until);

  /// Returns for each row the one whose vertex has its vector; AliasTable::kNone for one that has
  /// gone.
  std::vector<std::uint64_t> vertices_of(std::span<const std::uint64_t> vids) const;

  struct Rows {
    std::uint32_t count = 0;  ///< that were written
    std::uint64_t all = 0;    ///< that the vertices stand for
  };
  /// Writes the rows of vertices with their distances, in this order. Where they have no room, each
  /// vertex gives an equal share, of those that came last. Waits for no I/O: a core calls it.
  Rows rows_of(std::span<const std::uint64_t> vertices, std::span<const float> distances,
               std::span<std::uint64_t> vids, std::span<float> of_rows) const;

  /// Returns which rows share vertices, at this moment.
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
  };

  void begin_finding(std::size_t rows, const Sharing& sharing);
  std::vector<Found> find(const changes::RowBatch& batch, std::span<const std::size_t> rows);
  void count();

  const std::filesystem::path folder_;
  const std::string name_;
  collection::Collection& collection_;
  std::mutex saving_;            ///< is held to write the file; comes before the next
  mutable std::mutex changing_;  ///< guards all below; held where a vertex gets a row, or goes
  std::optional<VectorFinder> finder_;
  bool warned_ = false;
  bool dirty_ = false;                 ///< the table is not as the file
  std::vector<std::uint64_t> due_;     ///< vertices that are to be erased
  mutable std::shared_mutex reading_;  ///< is held too to change the table; comes last
  AliasTable table_;
  // Relaxed: they are hints and sums.
  std::atomic<bool> finds_{false};
  std::atomic<bool> shares_{false};
  std::atomic<std::int64_t> more_rows_{0};
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace farvec::postgres
