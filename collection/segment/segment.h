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
#include "collection/nodes/segment_nodes.h"
#include "collection/segment/segment_publisher.h"
#include "collection/segment/segment_rows.h"
#include "coroutines/scheduler.h"
#include "layout/collection/catalogue.h"
#include "layout/collection/collection_manifest.h"
#include "layout/index/index_directory.h"
#include "search/core/core_part.h"
#include "search/core/search_shape.h"
#include "search/index/search_index.h"
#include "search/searchers/probe_counts.h"
#include "tiers/attach/segment_host.h"
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
  /// The same from the memory nodes of `access` alone: another copy is read where one is damaged.
  /// `on_bytes` is told of what comes; what it throws ends the reading. Throws
  /// UnreachableError saying of each node why it cannot be read.
  using OnChunk = std::function<void(std::uint64_t bytes)>;
  Segment(const layout::SegmentEntry& entry, const layout::CatalogueSegment& contents,
          SegmentAccess access, const OnChunk& on_bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::uint64_t number() const { return number_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint64_t id(NodeId row) const { return ids_[row]; }
  /// The row that has the id, also one that is out; none when no row has it.
  std::optional<NodeId> find(std::uint64_t id) const;
  const layout::Manifest& manifest() const { return directory_ ? directory_->manifest() : held_; }
  /// Of one that was opened in a folder, and so are these two.
  const layout::IndexDirectory& directory() const;
  /// Rows in stored form, from the segment's file, wherever its records are searched.
  const SegmentRows& stored_rows() const;
  /// By which memory nodes tell its bytes; of one that is to be brought to them.
  const tiers::SegmentHost::Contents& contents() const { return files_.contents; }

  /// The segment is on a memory node, where the collection's are, when this returns. Throws
  /// UnreachableError.
  void publish() const;
  /// Loads codes and records, so that make_part() does not have to. `on_chunk` is told of every
  /// chunk that is read, with its bytes, by any of the threads that load, not where another one
  /// loads already; what it throws ends the loading, which the next one who needs it begins again.
  /// Those on memory nodes can be read when this returns. Throws Error.
  void load(const OnChunk& on_chunk = {}) const;
  /// What this process keeps of it in DRAM. Loads it where load() has not. Throws Error.
  const search::SearchIndex& index() const;
  /// Searches of the segment by fibers of `scheduler`; must not outlive the segment. Throws Error,
  /// without waiting, when no memory node can be read.
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const;

  /// How often each of its clusters was probed by this process, and what take_probes() was told.
  /// None of a graph. Any thread.
  std::optional<search::ProbeTally> probes() const;
  /// Of what it is made of: counts of a segment whose clusters these were, or are parts of. As many
  /// as it has clusters, or none.
  void take_probes(const std::vector<std::uint64_t>& counts) const;

  /// The folder is not needed any more, or not yet: no manifest names it.
  void drop() { dropped_.store(true, std::memory_order_relaxed); }
  /// A manifest is about to name it.
  void keep() { dropped_.store(false, std::memory_order_relaxed); }

  /// Ids and their order, which a writer needs.
  std::size_t dram_bytes() const;
  /// Of all its files, or of what memory nodes hold of it.
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  struct Searchable;
  void finish_opening();
  std::vector<std::uint64_t> fetch(std::size_t node, const layout::SegmentEntry& entry,
                                   const layout::CatalogueSegment& contents,
                                   const OnChunk& on_bytes);
  search::SearchShape counting_shape() const;
  const Searchable& searchable(const OnChunk& on_chunk) const;

  const std::uint64_t number_;
  const SegmentAccess access_;
  const std::optional<layout::IndexDirectory> directory_;  ///< none: on memory nodes alone
  layout::Manifest held_;                                  ///< of these
  std::vector<std::uint64_t> ids_;
  std::vector<NodeId> by_id_;  ///< rows in the order of their ids
  std::uint64_t file_bytes_ = 0;
  tiers::SegmentHost::SegmentFiles files_;       ///< for the publisher
  std::optional<SegmentRows> stored_rows_;       ///< with a directory
  std::shared_ptr<search::ProbeCounts> probes_;  ///< null: it is a graph
  mutable std::mutex loading_;                   ///< of what follows
  mutable std::unique_ptr<const Searchable> searchable_;
  std::atomic<bool> dropped_{false};
};

}  // namespace farvec::collection
