// SegmentRecords are a segment's records on a tier, where they are searched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "collection/segment/segment_access.h"
#include "collection/segment/segment_bytes.h"
#include "coroutines/scheduler.h"
#include "search/core/core_part.h"
#include "search/index/search_index.h"
#include "search/searchers/probe_counts.h"

namespace farvec::collection {

/// Reads nothing until load() or the first search brings the records to the tier. Threads share it.
class SegmentRecords {
 public:
  using OnChunk = std::function<void(std::uint64_t bytes)>;

  /// The bytes are borrowed. `number` is that of their segment. `finds_rows`: searches have
  /// conditions, so that it is learned where each row is.
  SegmentRecords(std::uint64_t number, const SegmentBytes& bytes, const SegmentAccess& access,
                 bool finds_rows);
  ~SegmentRecords();
  SegmentRecords(const SegmentRecords&) = delete;
  SegmentRecords& operator=(const SegmentRecords&) = delete;

  /// Loads codes and records, so that make_part() does not have to. `on_chunk` is called with the
  /// bytes of every chunk that is read, by any of the threads that load, but not where another
  /// caller is loading already. An exception from it ends the loading, and the next caller that
  /// needs it begins again. Records on memory nodes can be read when this returns. Throws Error.
  void load(const OnChunk& on_chunk = {}) const;
  /// Returns what this process keeps of the segment in DRAM. Loads it where load() has not. Throws
  /// Error.
  const search::SearchIndex& index() const;
  /// Makes searches of the segment by fibers of `scheduler`; they must not outlive these records.
  /// Throws Error, without waiting, when no memory node can be read.
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const;

  const SegmentAccess& access() const { return access_; }

  /// Returns the records in memory from the header of their region on, once they are loaded, where
  /// the tier has them in memory of this process; else nothing. It may be called from any thread,
  /// and reads nothing.
  std::span<const std::byte> in_memory() const;

  /// Returns the bytes of DRAM that say where each row is, once the records are loaded. It may be
  /// called from any thread, and does not wait.
  std::size_t row_bytes() const { return row_bytes_.load(std::memory_order_relaxed); }

  /// Goes on with sharing the pools' budget out over the segments of this process, where they have
  /// one. It is for cores that search, now and then.
  void settle_pools() const;

  /// Returns how often each of its clusters was probed by this process, with the counts given to
  /// take_probes(). None for a graph. It may be called from any thread.
  std::optional<search::ProbeTally> probes() const;
  /// Takes over the counts of a segment that had these clusters, or clusters of which these are
  /// parts. There are as many as it has clusters, or none.
  void take_probes(const std::vector<std::uint64_t>& counts) const;

 private:
  struct Searchable;
  const Searchable& searchable(const OnChunk& on_chunk) const;

  const std::uint64_t number_;
  const SegmentBytes& bytes_;
  const SegmentAccess access_;
  const bool finds_rows_;
  const std::shared_ptr<search::ProbeCounts> probes_;  ///< null: it is a graph
  mutable std::mutex loading_;                         ///< guards the member below
  mutable std::unique_ptr<const Searchable> searchable_;
  mutable std::atomic<const Searchable*> loaded_ = nullptr;  ///< release, after it was made
  mutable std::atomic<std::size_t> row_bytes_ = 0;           ///< relaxed: it is only reported
};

}  // namespace farvec::collection
