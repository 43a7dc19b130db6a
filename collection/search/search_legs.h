// These types are the parts of one search of a collection. They are for collection_part.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collection/search/collection_part.h"
#include "collection/search/probe_shares.h"
#include "coroutines/wait_group.h"

namespace farvec::collection {

/// Writes the error to the log, and returns the status of the search.
Status failed_search(const std::exception& error);

/// A Leg is one segment's or memtable's share of a search.
struct CollectionPart::Leg {
  const Segment* segment = nullptr;     ///< null for a memtable's
  const View::Fresh* fresh = nullptr;   ///< null for a segment's
  MemtableScratch* memtable = nullptr;  ///< for searches of memtables
  std::shared_ptr<const RowSet> gone;   ///< rows that are out; the view's
  /// A segment's rows whose attributes are not those of its file; the view's.
  std::shared_ptr<const layout::UpdatedTuples> updates;
  const RowSet* out = nullptr;  ///< rows that are no results; null: every row may be one
  std::uint64_t live = 0;       ///< its rows that may be results; without any it is not searched
  const RowSet* out_vertices = nullptr;  ///< see SearchRequest
  std::shared_ptr<const RowSet> others;  ///< holds the sets of a search with a condition
  const cluster::ClusterMatches* by_cluster = nullptr;  ///< in `others`; null: not known
  std::vector<NodeId> wanted;  ///< the rows that meet the condition, where few do
  search::CorePart* part = nullptr;
  const search::SearchIndex* index = nullptr;  ///< for a segment
  std::uint32_t slot = 0;
  coroutines::WaitGroup* group = nullptr;  ///< null: its caller runs it and does not wait
  search::SearchRequest request;
  search::SearchAnswer answer;
  search::QueryCounts counts;      ///< those of all its rounds
  double coverage = 1;             ///< the least of all its rounds
  std::vector<std::uint64_t> ids;  ///< numbers of rows
  std::vector<float> distances;
  std::uint32_t results = 0;  ///< how many of the search's results it has found
  bool again = false;         ///< whether it runs in the next round

  /// Forgets the part and the condition of the last search, and keeps what it has room for.
  void reset() {
    segment = nullptr;
    fresh = nullptr;
    wanted.clear();
    by_cluster = nullptr;
    out_vertices = nullptr;
    counts = {};
    coverage = 1;
  }
  std::uint32_t list() const { return request.parameters.graph().list; }
  /// A Filter is one search's condition, its text, and what decides how a segment is searched.
  struct Filter {
    const attributes::Condition& condition;
    const std::string& text;
    std::uint32_t list = 0;
    search::FilterPlan plan = search::FilterPlan::chosen;  ///< `scan` for an exact search
    const search::FurtherRows* further = nullptr;          ///< SearchRequest::further
  };
  /// Leaves only the rows that meet the condition. Where so few do that a search with the list
  /// would mostly pass others, they are compared one by one.
  void filter(const Filter& filter);
  /// Asks the leg for as many results as the whole search wants, or for all rows if these are
  /// fewer. The choice's list is raised to that number.
  Status ask(const search::SearchRequest& whole, search::SearchChoice choice);
  std::uint64_t id(NodeId row) const {
    return segment != nullptr ? segment->ids().of(row) : fresh->memtable->id(row);
  }
  RowPlace place(NodeId row) const {
    if (segment == nullptr) return fresh->place(row);
    return {.segment = segment, .row = row, .updates = updates.get()};
  }
  /// Never throws, because a fiber that waits for it would wait for ever.
  void run() {
    answer.status = search();
    counts += answer.counts;
    coverage = std::min(coverage, answer.coverage);
    if (group != nullptr) group->done();
  }
  Status search();
  void search_memtable();

 private:
  void filter_segment(const Filter& filter);
  bool scans(const Filter& filter, std::uint64_t matches) const;
  void filter_memtable(const Filter& filter);
  void scan(const attributes::RowBitmap& matches);
};

struct CollectionPart::Slot {
  explicit Slot(coroutines::Scheduler& scheduler) : group(scheduler) {}

  struct Found {
    float distance = 0;
    NodeId row = 0;  ///< its number in the leg
    std::uint64_t id = 0;
    Leg* leg = nullptr;

    bool operator<(const Found& other) const {
      return std::tie(distance, id) < std::tie(other.distance, other.id);
    }
  };

  coroutines::WaitGroup group;
  std::vector<Leg> legs;  ///< the first `used` are those of the last search
  std::size_t used = 0;
  MemtableScratch memtable;
  ProbeShares probes;
  std::vector<Found> found;  ///< those of all legs, the nearest k first
  std::size_t kept = 0;

  /// Returns a leg for one more part; bind() has made room.
  Leg& next_leg() {
    Leg& leg = legs[used++];
    leg.reset();
    return leg;
  }
  std::span<Leg> legs_used() { return std::span(legs).first(used); }
  std::span<const Leg> legs_used() const { return std::span(legs).first(used); }
};

}  // namespace farvec::collection
