// A Searcher is what a Python program searches, on this machine or on a node.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/packed_bits.h"
#include "layout/attributes/tuple.h"
#include "measure/goal/recall_goal.h"
#include "search/core/asked_search.h"
#include "search/core/search_core.h"

namespace farvec::python {

/// The names of the arguments of a search.
inline constexpr search::SearchNames kArgumentNames{
    "k",      "list",      "width", "probe", "prune_ratio", ", the most that it was opened with",
    "refine", "candidates"};

/// Is one call of a search.
struct Call {
  search::AskedSearch asked;
  double deadline_seconds = 10;  ///< for each query, and for the wait for a core
  Interruption interrupted = {};
};

struct Answer {
  dataset::GroundTruth neighbors;       ///< missing ones are kInvalidNode and infinity
  bool has_user_ids = false;            ///< user_ids take the place of `neighbors.ids`
  std::vector<std::uint64_t> user_ids;  ///< missing ones are search::kNoUserId
  /// The selected columns of every neighbour, of a schema of these columns alone.
  layout::Tuples attributes;
  layout::Schema schema;  ///< without columns: none were selected
  search::QueryCounts totals;
  double coverage = 1;  ///< the least of all queries
};

/// Answers searches. Any thread may call everything.
class Searcher {
 public:
  virtual ~Searcher() = default;

  /// Returns the type of queries.
  virtual ElementType type() const = 0;
  /// Returns whether queries, or rows to insert, may have that type.
  virtual bool takes(ElementType given) const { return given == type(); }
  virtual std::uint32_t dimension() const = 0;
  virtual Metric metric() const = 0;
  /// Returns whether a search may have a filter. What it names is checked later.
  virtual bool takes_filters() const { return false; }
  /// Returns a path, or a node's address.
  virtual std::string place() const = 0;
  /// Returns the number of vectors that are searched; none where a node would have to be asked.
  virtual std::optional<std::uint64_t> count() const { return std::nullopt; }
  /// Returns the limits of the searches that it takes at the moment.
  virtual search::SearchBounds bounds() const = 0;
  /// Returns how far they can look.
  virtual measure::SearchReach reach() const { return {.bounds = bounds()}; }
  /// Returns whether distances are those of an exact search.
  virtual bool has_exact_distances() const { return true; }
  /// Searches for queries of a type that takes() allows and of dimension(), each of which has
  /// distances to others. Throws StatusError.
  virtual Answer search(const VectorView& queries, const Call& call) = 0;
  /// Describes what it is, and where.
  virtual nlohmann::ordered_json describe() const = 0;

  /// The order of bits in arrays that come and go, where vectors are of bits. It is set once,
  /// before anyone else has the object.
  dataset::BitOrder bit_order() const { return bit_order_; }
  void set_bit_order(dataset::BitOrder order) { bit_order_ = order; }

 private:
  dataset::BitOrder bit_order_ = dataset::BitOrder::big;
};

}  // namespace farvec::python
