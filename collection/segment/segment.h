// A Segment is an immutable part of a collection: an index on a tier, and the user's id of every
// row.
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

/// Says where the records of all segments of a process are, and for how many searches.
struct SegmentAccess {
  /// Returns the access to a tier that parse_tier() takes. Throws Error.
  static SegmentAccess on(std::string_view tier);

  tiers::TierSpecPointer tier;
  /// The tier's device, for all segments; null where nothing is modelled.
  std::shared_ptr<transport::Device> device;
  search::SearchShape shape;  ///< largest search; for each core that searches segments
  unsigned threads = 0;       ///< threads that load; 0: all
  /// The nodes from which records are read, in the way that `tier` says; null: a tier of this
  /// process.
  std::shared_ptr<const SegmentNodes> nodes;
  std::uint64_t collection = 0;  ///< that of the manifest, for nodes
  /// Set in the process that changes the collection: it brings segments to the nodes. Otherwise
  /// null.
  std::shared_ptr<SegmentPublisher> publisher;
};

/// Threads share it. Its folder stays until drop() was called and its last holder is gone.
class Segment {
 public:
  /// Reads the ids and the index's manifest, and checks them; load() or the first search brings the
  /// records to the tier. Throws Error naming the file.
  Segment(const std::filesystem::path& folder, const layout::SegmentEntry& entry,
          SegmentAccess access);
  /// Reads the same from the memory nodes of `access` alone: another copy is read where one is
  /// damaged. `on_bytes` is called with the number of bytes that come; an exception from it ends
  /// the reading. Throws UnreachableError saying of each node why it cannot be read.
  using OnChunk = std::function<void(std::uint64_t bytes)>;
  Segment(const layout::SegmentEntry& entry, const layout::CatalogueSegment& contents,
          SegmentAccess access, const OnChunk& on_bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::uint64_t number() const { return number_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint64_t id(NodeId row) const { return ids_[row]; }
  /// Returns the row that has the id, also one that is out; none when no row has it.
  std::optional<NodeId> find(std::uint64_t id) const;
  const layout::Manifest& manifest() const { return directory_ ? directory_->manifest() : held_; }
  /// This and the next two functions are for a segment that was opened in a folder.
  const layout::IndexDirectory& directory() const;
  /// Rows in stored form, from the segment's file, wherever its records are searched.
  const SegmentRows& stored_rows() const;
  /// Returns what memory nodes distinguish its bytes by. It is for a segment that is to be brought
  /// to them.
  const tiers::SegmentHost::Contents& contents() const { return files_.contents; }

  /// Returns when the segment is on a memory node, where the collection's segments are on nodes.
  /// Throws UnreachableError.
  void publish() const;
  /// Loads codes and records, so that make_part() does not have to. `on_chunk` is called with the
  /// bytes of every chunk that is read, by any of the threads that load, but not where another
  /// caller is loading already. An exception from it ends the loading, and the next caller that
  /// needs it begins again. Records on memory nodes can be read when this returns. Throws Error.
  void load(const OnChunk& on_chunk = {}) const;
  /// Returns what this process keeps of the segment in DRAM. Loads it where load() has not. Throws
  /// Error.
  const search::SearchIndex& index() const;
  /// Makes searches of the segment by fibers of `scheduler`; they must not outlive the segment.
  /// Throws Error, without waiting, when no memory node can be read.
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const;

  /// Returns how often each of its clusters was probed by this process, with the counts given to
  /// take_probes(). None for a graph. It may be called from any thread.
  std::optional<search::ProbeTally> probes() const;
  /// Takes over the counts of a segment that had these clusters, or clusters of which these are
  /// parts. There are as many as it has clusters, or none.
  void take_probes(const std::vector<std::uint64_t>& counts) const;

  /// The folder is not needed any more, or not yet: no manifest names it.
  void drop() { dropped_.store(true, std::memory_order_relaxed); }
  /// A manifest is about to name it.
  void keep() { dropped_.store(false, std::memory_order_relaxed); }

  /// Returns the bytes of ids and their order, which a writer needs.
  std::size_t dram_bytes() const;
  /// Returns the bytes of all its files, or of what memory nodes hold of it.
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
  const std::optional<layout::IndexDirectory> directory_;  ///< none: it is on memory nodes alone
  layout::Manifest held_;                                  ///< for a segment on memory nodes
  std::vector<std::uint64_t> ids_;
  std::vector<NodeId> by_id_;  ///< rows in the order of their ids
  std::uint64_t file_bytes_ = 0;
  tiers::SegmentHost::SegmentFiles files_;       ///< for the publisher
  std::optional<SegmentRows> stored_rows_;       ///< set when there is a directory
  std::shared_ptr<search::ProbeCounts> probes_;  ///< null: it is a graph
  mutable std::mutex loading_;                   ///< guards the members below
  mutable std::unique_ptr<const Searchable> searchable_;
  std::atomic<bool> dropped_{false};
};

}  // namespace farvec::collection
