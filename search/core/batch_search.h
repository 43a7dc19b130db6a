// run_batch() runs a set of queries through search cores, as fast as they go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"
#include "dataset/groundtruth.h"
#include "search/core/search_core.h"

namespace farvec::search {

/// Says which threads run the cores of a batch.
enum class BatchThreads : std::uint8_t {
  pinned,  ///< new ones, each on a processor of its own where there are enough: for measurements
  own,     ///< the calling thread for the first core, new ones for the others, wherever they run
};

struct BatchParameters {
  SearchParameters search;
  std::uint64_t first = 0;    ///< the search to begin with; its query is the row modulo count
  std::uint32_t repeats = 1;  ///< how often every query is searched, at most
  /// No search begins more than this long after the first, except that each core begins one. 0: no
  /// limit.
  double limit_ms = 0;
  double deadline_ms = 10'000;            ///< per query, from its start
  bool partial = false;                   ///< go on without records that no memory node can deliver
  bool count_lines = false;               ///< SearchRequest::count_lines
  bool exact = false;                     ///< SearchRequest::exact
  float within = SearchRequest{}.within;  ///< SearchRequest::within
  const attributes::Condition* condition = nullptr;  ///< SearchRequest::condition
  FilterPlan plan = FilterPlan::chosen;              ///< SearchRequest::plan
  std::uint32_t refine = 0;                          ///< SearchRequest::refine
  bool candidates = false;                           ///< SearchRequest::candidates
  /// Called before every search, by the threads of all cores, in their fibers; true ends the batch.
  /// When it is empty, nothing ends the batch.
  std::function<bool()> stop = {};
  /// Receives the ids in place of the results (queries x k; missing ones are kNoUserId). Null: the
  /// results do, and an id that has more than 32 bits is an error.
  std::vector<std::uint64_t>* user_ids = nullptr;
  /// Receives for each query how to read the attributes of its results. Null: they are not asked
  /// for.
  std::vector<std::shared_ptr<const ResultAttributes>>* attributes = nullptr;
  BatchThreads threads = BatchThreads::pinned;
};

/// Unwraps parameters that were not checked against an index. Throws what run_batch() throws when
/// the first search fails.
SearchParameters searchable(const Result<SearchParameters>& made);

struct BatchOutcome {
  double seconds = 0;             ///< wall time of all cores together
  double processor_seconds = 0;   ///< processor time of their threads, in sum
  std::vector<float> latency_us;  ///< one per search, start to end
  QueryCounts totals;             ///< summed over the first search of each query
  double coverage = 1;            ///< the least SearchAnswer::coverage of these searches
};

/// Runs one SearchCore per thread. Each takes the next query in turn until every one has been
/// searched `repeats` times, the time is over, or `stop` ends the batch. A query's first result
/// goes to its row of `results` (queries x k; missing ones are kInvalidNode and infinity; rows of
/// queries that were not searched are undefined). `queries` are in the index's form. Throws
/// StatusError with the status of the first search that fails.
BatchOutcome run_batch(std::span<const std::unique_ptr<SearchCore>> cores, VectorView queries,
                       const BatchParameters& parameters, dataset::GroundTruth& results);

}  // namespace farvec::search
