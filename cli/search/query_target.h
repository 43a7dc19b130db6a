// A QueryTarget is what `farvec search` sends its queries to: an index in this process, or a
// compute node.
#pragma once

#include <cstddef>
#include <memory>

#include "base/progress.h"
#include "cli/search/search_arguments.h"
#include "dataset/groundtruth.h"
#include "measure/goal/recall_goal.h"
#include "search/core/asked_search.h"

namespace farvec::cli {

struct QueryAnswers {
  dataset::GroundTruth found;
  double seconds = 0;
  double coverage = 1;          ///< the least coverage of all queries
  bool exact_distances = true;  ///< whether they can be compared with the truth's
};

class QueryTarget {
 public:
  virtual ~QueryTarget() = default;

  virtual std::size_t queries() const = 0;
  /// Returns how far searches can look.
  virtual measure::SearchReach reach() const = 0;
  /// Searches all queries. The progress counts them. Throws Error naming the option that is not
  /// allowed, and what searches throw.
  virtual QueryAnswers search(const search::AskedSearch& asked, Progress& progress) = 0;
  /// Searches the first `count` queries, to learn what they find. It measures no slots and writes
  /// nothing.
  virtual QueryAnswers try_out(const search::AskedSearch& asked, std::size_t count,
                               Progress& progress) = 0;
};

/// Loads the index, or the queries, that the arguments name, which must outlive the target. Throws
/// Error.
std::unique_ptr<QueryTarget> open_query_target(const SearchArguments& arguments);

}  // namespace farvec::cli
