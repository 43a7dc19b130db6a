// An immutable part of a collection: an index on a tier, and the user's id of every row.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "collection/segment_nodes.h"
#include "collection/segment_publisher.h"
#include "collection/segment_rows.h"
#include "coroutines/scheduler.h"
#include "layout/collection/collection_manifest.h"
#include "layout/region/index_directory.h"
#include "search/core_part.h"
#include "search/search_index.h"
#include "search/search_shape.h"
#include "tiers/tier.h"

namespace farvec::collection {

/// Where the records of all segments of a process lie, and for how many searches.
struct SegmentAccess {
  /// On a tier that parse_tier() takes. Throws Error.
  static SegmentAccess on(std::string_view tier);

  tiers::TierSpecPointer tier;
  /// Of the tier, for all segments; null where nothing is modelled.
  std::shared_ptr<transport::Device> device;
  search::SearchShape shape;  ///< largest search; of each core that searches segments
  unsigned threads = 0;       ///< that load; 0: all
  /// Where records are read from, as `tier` says; null: a tier of this process.
  std::shared_ptr<const SegmentNodes> nodes;
  std::uint64_t collection = 0;  ///< of the manifest, for nodes
  /// Of the process that changes the collection: brings segments to the nodes. Else null.
  std::shared_ptr<SegmentPublisher> publisher;
};

/// Shared by threads. Its folder stays until drop() was called and nobody holds the segment any
/// more.
class Segment {
 public:
  /// Reads the ids and the index's manifest, and checks them; records are brought to the tier by
  /// load() or the first search. Throws Error naming the file.
  Segment(const std::filesystem::path& folder, const layout::SegmentEntry& entry,
          SegmentAccess access);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::uint64_t number() const { return number_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint64_t id(NodeId row) const { return ids_[row]; }
  /// The row that has the id, also one that is out; none when no row has it.
  std::optional<NodeId> find(std::uint64_t id) const;
  const layout::IndexDirectory& directory() const { return directory_; }
  /// Rows in stored form, from the segment's file, wherever its records are searched.
  const SegmentRows& stored_rows() const { return stored_rows_; }

  /// The segment is on a memory node, where the collection's are, when this returns. Throws
  /// search::UnreachableError.
  void publish() const;
  /// Told of every chunk that is read, with its bytes, by any of the threads that load. What it
  /// throws ends the loading, which the next one who needs it begins again.
  using OnChunk = std::function<void(std::uint64_t bytes)>;
  /// Loads codes and records, so that make_part() does not have to. `on_chunk` is called until it
  /// returns, not where another thread loads already. Those on
  /// memory nodes can be read when this returns. Throws Error.
  void load(const OnChunk& on_chunk = {}) const;
  /// What this process keeps of it in DRAM. Loads it where load() has not. Throws Error.
  const search::SearchIndex& index() const;
  /// Searches of the segment by fibers of `scheduler`; must not outlive the segment. Throws Error,
  /// without waiting, when no memory node can be read.
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const;

  /// The folder is not needed any more, or not yet: no manifest names it.
  void drop() { dropped_.store(true, std::memory_order_relaxed); }
  /// A manifest is about to name it.
  void keep() { dropped_.store(false, std::memory_order_relaxed); }

  /// Ids and their order, which a writer needs.
  std::size_t dram_bytes() const;
  /// Of all its files.
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  struct Searchable;
  const Searchable& searchable(const OnChunk& on_chunk) const;

  const std::uint64_t number_;
  const SegmentAccess access_;
  const layout::IndexDirectory directory_;
  std::vector<std::uint64_t> ids_;
  std::vector<NodeId> by_id_;  ///< rows in the order of their ids
  std::uint64_t file_bytes_;
  const SegmentRows stored_rows_;
  mutable std::mutex loading_;  ///< of what follows
  mutable std::unique_ptr<const Searchable> searchable_;
  std::atomic<bool> dropped_{false};
};

}  // namespace farvec::collection
