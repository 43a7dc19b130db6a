// A SearchCore is one core's share of a compute node: a scheduler, an endpoint, and slots that run
// searches.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/row_set.h"
#include "base/status.h"
#include "base/types.h"
#include "search/core/search_parameters.h"

namespace farvec::transport {
class Device;
class Endpoint;
}  // namespace farvec::transport

namespace farvec::attributes {
class Condition;
}  // namespace farvec::attributes

namespace farvec::cluster {
struct ClusterMatches;
}  // namespace farvec::cluster

namespace farvec::layout {
struct Tuples;
}  // namespace farvec::layout

namespace farvec::search {

class ProbeCounts;
class SearchIndex;
struct FurtherRows;

/// Counts the cache lines for which a search of a graph asked. A line that it asks for again counts
/// again only where a comment here says so.
struct LineCounts {
  /// Lines of codes in local DRAM, counted at every estimate; or lines of the entries' vectors,
  /// where the codes are in the records.
  std::uint64_t codes = 0;
  std::uint64_t offsets = 0;  ///< one for every vertex that becomes a candidate
  std::uint64_t visited = 0;  ///< one for every lookup in the visited set or the table of estimates
  std::uint64_t records = 0;  ///< lines of the tier, counted at every expansion

  LineCounts& operator+=(const LineCounts& other) {
    codes += other.codes;
    offsets += other.offsets;
    visited += other.visited;
    records += other.records;
    return *this;
  }
};

/// Means "no id" among the ids of users.
inline constexpr std::uint64_t kNoUserId = std::numeric_limits<std::uint64_t>::max();

/// Says what one search cost. The counts are exact: the same for the same index and parameters on
/// every machine.
struct QueryCounts {
  std::uint64_t hops = 0;  ///< expand() calls; none in a search among given rows
  /// Reads of the tier: of a record each, or of several near each other.
  std::uint64_t reads = 0;
  std::uint64_t cache_hits = 0;  ///< records found in a cache or pool instead
  std::uint64_t estimates = 0;   ///< distances estimated from codes
  std::uint64_t distances = 0;   ///< exact distances
  std::uint64_t bytes = 0;       ///< bytes fetched from the tier
  std::uint64_t lost = 0;        ///< those of `reads` that no memory node could deliver
  std::uint64_t matches = 0;     ///< rows that meet SearchRequest::condition; 0 without one
  // How graphs and slotted pages were searched: each of the segments that a search reads is one.
  std::uint64_t walks = 0;  ///< walked from their entries
  std::uint64_t scans = 0;  ///< not walked: the rows that may be results were compared one by one
  /// Vertices that walks read for their neighbours alone, because their rows may not be results.
  /// Where records are read one by one, their vectors are not read (layouts csr and packed).
  std::uint64_t bridges = 0;
  /// Results whose attributes have to be read from a file: each is one more read, of its bytes.
  std::uint64_t attribute_reads = 0;
  /// Those of `reads` that fetch vectors beside the pages, or rows of the second copy.
  std::uint64_t rerank_reads = 0;
  /// Records that were not in the pool when they were asked for. It is counted for slotted pages
  /// only. Their reads are reads of pages, prefetched ones included.
  std::uint64_t pool_misses = 0;
  // These are counted for cluster indexes only. Group, list and stray reads make up `reads`.
  std::uint64_t clusters = 0;            ///< probed
  std::uint64_t centroid_distances = 0;  ///< exact ones
  std::uint64_t centroid_estimates = 0;  ///< from centroids' codes
  std::uint64_t group_reads = 0;  ///< reads that bring a cluster's group, with or without its list
  std::uint64_t list_reads = 0;   ///< reads that bring a list alone
  std::uint64_t stray_reads = 0;  ///< reads that bring one stray or a few near each other
  LineCounts lines;  ///< if SearchRequest::count_lines; not for slotted pages or clusters

  QueryCounts& operator+=(const QueryCounts& other) {
    hops += other.hops;
    reads += other.reads;
    cache_hits += other.cache_hits;
    estimates += other.estimates;
    distances += other.distances;
    bytes += other.bytes;
    lost += other.lost;
    matches += other.matches;
    walks += other.walks;
    scans += other.scans;
    bridges += other.bridges;
    attribute_reads += other.attribute_reads;
    pool_misses += other.pool_misses;
    rerank_reads += other.rerank_reads;
    clusters += other.clusters;
    centroid_distances += other.centroid_distances;
    centroid_estimates += other.centroid_estimates;
    group_reads += other.group_reads;
    list_reads += other.list_reads;
    stray_reads += other.stray_reads;
    lines += other.lines;
    return *this;
  }
};

/// ResultAttributes read the attributes of the rows that a search has found, as they were when it
/// began. Any thread may read them, also when the core is gone.
class ResultAttributes {
 public:
  virtual ~ResultAttributes() = default;
  /// Returns a tuple for each result, in their order; none where rows have no attributes. Reads
  /// files. Throws Error naming the file.
  virtual layout::Tuples read() const = 0;
};

/// A SearchCaller is who waits for a search. It outlives the search.
class SearchCaller {
 public:
  virtual ~SearchCaller() = default;
  /// Says whether the answer is not wanted any more. A core asks often, so it must not wait.
  virtual bool gave_up() const = 0;
};

/// Returns cancelled when the caller has given up (null: it never does), and deadline_exceeded
/// after the deadline.
Status check_time(Ticks deadline, const SearchCaller* caller);

/// A SearchRequest is what a search is asked for.
struct SearchRequest {
  /// Says which index is asked, for a part that searches several; others do not heed it.
  const void* index = nullptr;
  /// A vector in the form of the index's rows (search/index/row_form.h).
  const std::byte* query = nullptr;
  SearchParameters parameters;
  Ticks deadline = 0;  ///< absolute
  /// When it gives up, the search ends soon with the status cancelled; null: only the deadline ends
  /// it. Graphs and clusters heed it before they read more, scans of rows, and collections between
  /// their parts. Searches of slotted pages go on to their end.
  const SearchCaller* caller = nullptr;
  bool partial = false;      ///< go on without records that no memory node can deliver
  bool count_lines = false;  ///< counting takes time; a search without it does nothing for it
  /// The k results are the nearest of all rows that may be results: the vector of each is read and
  /// compared with the query. The list, the width and the clusters to probe do not matter then. A
  /// graph on pages that change answers with invalid_argument.
  bool exact = false;
  /// Results are no farther than this from the query; k is then the most that there are
  /// (search/core/search_within.h). It is no NaN.
  float within = std::numeric_limits<float>::infinity();
  /// Rows that are not results; null: every row may be a result. They take no places in the list,
  /// nor among the members of the clusters that are probed: k rows are found where k are left, even
  /// where max_list and max_probe would not allow such a search, and the counts say what that has
  /// cost.
  const RowSet* out = nullptr;
  /// The vertices of `out`, where a vertex has another number than its row; null: not known. A
  /// graph whose vertices have the numbers of their rows does not ask for it.
  const RowSet* out_vertices = nullptr;
  /// Results meet this condition; null: every row may be a result. It is for indexes whose rows
  /// have attributes (CorePart::takes_conditions()); others refuse it.
  const attributes::Condition* condition = nullptr;
  /// Rows of a collection that are results too, whether they meet the condition or not; null: there
  /// are none. Without a condition, and for other indexes, it is not heeded.
  const FurtherRows* further = nullptr;
  FilterPlan plan = FilterPlan::chosen;  ///< for graphs, where there is a condition
  /// SearchAnswer::attributes are asked for. It is for indexes that take conditions; others do not
  /// heed it.
  bool attributes = false;
  // These are for indexes that have a second copy of their vectors; others do not heed them.
  /// How many times k candidates are ranked again by the second copy: at least k of them, and at
  /// most the list. 0: the whole list.
  std::uint32_t refine = 0;
  /// Results are the candidates themselves, k of them, with the distances that the index computes.
  bool candidates = false;
  /// The rows to search, ascending, each below the count of rows (else: invalid_argument); null
  /// data: all rows. A set of none has data that is not null, and no results. The graph is not
  /// walked: these rows, except for those that are also in `out`, are read and compared with the
  /// query. Where codes in DRAM say which are near, there are more than `list`, and the search is
  /// not exact, only the `list` nearest by code are read. Rows at the same distance are in
  /// ascending order, and it is the lower ones that are found.
  ///
  /// They are numbers of rows, which is what searches return and what `out` has, in the packed
  /// layout too. Only a packed record itself says which row it has. So the first searches of a
  /// packed index among some rows read all its records, which their counts include, and the index
  /// then keeps 4 bytes for each row. What they have learned by their deadline stays known.
  ///
  /// For graphs whose records do not change. Others answer with invalid_argument.
  std::span<const NodeId> only = {};

  /// For clusters: the rows that are not in `out`, by the clusters that have them; null: not known.
  /// One round then probes clusters that have some, as many as were asked for, or more where few
  /// rows are wanted. In layouts other than the coupled one no other rows are read, except between
  /// two of these that share a read.
  const cluster::ClusterMatches* matches = nullptr;

  bool is_among_rows() const { return only.data() != nullptr; }
  bool has_bound() const { return within < std::numeric_limits<float>::infinity(); }
};

/// A SearchAnswer is what a search has found, and what that has cost.
struct SearchAnswer {
  /// Room for k ids, nearest first. An index answers with the numbers of rows, a collection with
  /// the ids of its users.
  std::uint64_t* ids = nullptr;
  float* distances = nullptr;  ///< room for k; exact

  /// How to read the attributes of the results; null where they were not asked for.
  std::shared_ptr<const ResultAttributes> attributes;

  Status status;
  std::uint32_t found = 0;  ///< how many of the k are filled in
  QueryCounts counts;
  /// Share of the index's records that could be read when one was lost; 1 when none was.
  double coverage = 1;
};

struct SearchClock {
  Ticks started = 0;
  Ticks finished = 0;
};

/// A SearchTask is one query from admission to answer. The code that feeds it to a core owns it; it
/// is not moved while a core has it.
struct SearchTask {
  SearchRequest request;
  SearchAnswer answer;
  SearchClock clock;
};

/// Supplies a core with tasks. All calls come from the core's thread, and none but idle() may
/// block.
class TaskFeed {
 public:
  virtual ~TaskFeed() = default;
  /// Returns a task to start now, or nullptr. A core calls it only when it has all that a search
  /// needs.
  virtual SearchTask* next() = 0;
  /// Returns true when next() will never again return a task.
  virtual bool finished() = 0;
  /// Says that the task has its result. Called inside the task's fiber.
  virtual void done(SearchTask& task) = 0;
  /// Called when the core has no live search: may block for at most a few milliseconds.
  virtual void idle() = 0;
};

struct SearchCoreOptions {
  std::uint32_t slots = 16;     ///< searches in flight on this core; 1 is synchronous
  std::size_t cache_bytes = 0;  ///< size of the record cache; for endpoints only, loads need none
  /// Loads take as long as this device's loads; null: loads are not slowed down. Not for endpoints.
  std::shared_ptr<transport::Device> device;
  std::uint32_t max_list = 1024;   ///< largest list of a search that is not refused
  std::uint32_t max_probe = 4096;  ///< most clusters that a search which is not refused probes
  /// Vectors of clusters with at most this many bytes between them share a read, and so do records
  /// of a graph that a search compares one by one. Without a value, no read brings more than one
  /// vector that was asked for by its address.
  std::optional<std::uint32_t> merge_gap_bytes;
  std::shared_ptr<ProbeCounts> probe_counts;  ///< for a cluster index; may be null
  std::uint32_t request_bytes = 0;            ///< see CorePart::request_bytes()
};

/// Says what a core has done since it was made.
struct CoreStatistics {
  std::uint64_t stalls = 0;            ///< posts that found the endpoint's limit of reads reached
  std::uint64_t late_completions = 0;  ///< after their search's deadline
  std::uint32_t in_flight_reads = 0;
  std::uint32_t live_searches = 0;
  std::size_t dram_bytes = 0;  ///< scratch, lane buffers, record cache, the endpoint's own memory
  // What the endpoint has asked of its device (transport::EndpointUse), which may be more than what
  // was asked of the endpoint. 0 where reads go to the device unchanged.
  std::uint64_t device_reads = 0;
  std::uint64_t device_bytes = 0;

  CoreStatistics& operator+=(const CoreStatistics& other) {
    stalls += other.stalls;
    late_completions += other.late_completions;
    in_flight_reads += other.in_flight_reads;
    live_searches += other.live_searches;
    dram_bytes += other.dram_bytes;
    device_reads += other.device_reads;
    device_bytes += other.device_bytes;
    return *this;
  }
};

/// Runs searches on the thread that calls run(). The index must outlive it. make_core() makes it,
/// or make_slotted_core() for slotted pages.
class SearchCore {
 public:
  SearchCore() = default;
  virtual ~SearchCore() = default;
  SearchCore(const SearchCore&) = delete;
  SearchCore& operator=(const SearchCore&) = delete;

  /// Serves the feed until it is finished and every task is done. A task whose parameters the index
  /// and the options do not allow (another kind of index, k above the count of vectors, list above
  /// max_list, clusters above max_probe) ends with invalid_argument. An exception that the feed
  /// throws ends the run and is rethrown.
  virtual void run(TaskFeed& feed) = 0;

  /// run()'s thread writes counters without synchronisation: read them in the feed's calls or after
  /// run().
  virtual CoreStatistics statistics() const = 0;
};

/// Reads records of a graph or of clusters in place from `region`, mapped from its header on (tiers
/// dram, shm, devdax, and modelled devices that are reached by loads). Throws Error when a modelled
/// device cannot bring what the index asks for.
std::unique_ptr<SearchCore> make_core(const SearchIndex& index, std::span<const std::byte> region,
                                      const SearchCoreOptions& options);

/// Reads records of region 0 through an endpoint. Throws Error when its reads are too short.
std::unique_ptr<SearchCore> make_core(const SearchIndex& index,
                                      std::unique_ptr<transport::Endpoint> endpoint,
                                      const SearchCoreOptions& options);

}  // namespace farvec::search
