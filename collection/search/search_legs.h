// What one search of a collection consists of. For collection_part.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <tuple>
#include <vector>

#include "collection/search/collection_part.h"
#include "collection/search/probe_shares.h"
#include "coroutines/wait_group.h"

namespace farvec::collection {

/// Says it in the log.
Status failed_search(const std::exception& error);

/// One segment's or memtable's share of a search.
struct CollectionPart::Leg {
  const Segment* segment = nullptr;     ///< null: a memtable's
  const View::Fresh* fresh = nullptr;   ///< null: a segment's
  MemtableScratch* memtable = nullptr;  ///< of searches of memtables
  const RowSet* out = nullptr;
  std::uint64_t live = 0;
  search::CorePart* part = nullptr;
  const search::SearchIndex* index = nullptr;  ///< of a segment
  std::uint32_t slot = 0;
  coroutines::WaitGroup* group = nullptr;  ///< null: whoever runs it does not wait
  search::SearchTask task;
  search::QueryCounts counts;  ///< of all its rounds
  double coverage = 1;         ///< the least of them
  std::vector<NodeId> ids;
  std::vector<float> distances;
  std::uint32_t results = 0;  ///< of the search's, that it has found
  bool again = false;         ///< in the next round

  std::uint32_t list() const { return task.parameters.graph().list; }
  /// As many results of it as there are to be in all, or rows. The choice's list is raised to that.
  Status ask(const search::SearchTask& whole, search::SearchChoice choice);
  std::uint64_t id(NodeId row) const {
    return segment != nullptr ? segment->id(row) : fresh->memtable->id(row);
  }
  /// Never throws: who waits for it would wait for ever.
  void run() {
    task.status = search();
    counts += task.counts;
    coverage = std::min(coverage, task.coverage);
    if (group != nullptr) group->done();
  }
  Status search();
  void search_memtable();
};

struct CollectionPart::Slot {
  explicit Slot(coroutines::Scheduler& scheduler) : group(scheduler) {}

  struct Found {
    float distance = 0;
    std::uint64_t id = 0;
    Leg* leg = nullptr;

    bool operator<(const Found& other) const {
      return std::tie(distance, id) < std::tie(other.distance, other.id);
    }
  };

  coroutines::WaitGroup group;
  std::vector<Leg> legs;  ///< of the last search the first `used`
  std::size_t used = 0;
  MemtableScratch memtable;
  ProbeShares probes;
  std::vector<Found> found;  ///< of all legs, the nearest k first
  std::size_t kept = 0;

  std::span<Leg> legs_used() { return std::span(legs).first(used); }
  std::span<const Leg> legs_used() const { return std::span(legs).first(used); }
};

}  // namespace farvec::collection
