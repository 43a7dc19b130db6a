// SearchParameters say what one search asks for: made once, unable to hold a wrong combination,
// trusted from then on.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>

#include "base/check.h"
#include "base/status.h"
#include "graph/limits.h"
#include "layout/index/index_description.h"

namespace farvec::search {

/// A GraphChoice is what a search of a graph may choose.
struct GraphChoice {
  static constexpr layout::IndexKind kKind = layout::IndexKind::graph;

  std::uint32_t list = 1;   ///< L: candidates kept, at least k
  std::uint32_t width = 1;  ///< W: records fetched per hop, 1 to graph::kMaxWidth

  std::uint32_t size() const { return list; }
};

/// A ProbeChoice is what a search of a cluster index may choose.
struct ProbeChoice {
  static constexpr layout::IndexKind kKind = layout::IndexKind::cluster;

  std::uint32_t clusters = 0;  ///< most to probe, at least 1
  /// Clusters that are this many times as far as the nearest are left out; at least 1.
  float prune_ratio = std::numeric_limits<float>::infinity();
  bool dedup = true;  ///< read no vector twice in one query
  /// L, for coded clusters: how many vectors are read, among those whose codes say that they are
  /// near; k where that is more.
  std::uint32_t list = 64;

  std::uint32_t size() const { return clusters; }
};

/// A SearchChoice has one alternative for each kind of index. Code that handles every kind does not
/// compile until it handles a new one.
using SearchChoice = std::variant<GraphChoice, ProbeChoice>;

/// Returns the kind of index that the choice searches.
layout::IndexKind kind_of(const SearchChoice& choice);
/// Returns the number with which the search's work grows: the list, or the clusters to probe.
std::uint32_t size_of(const SearchChoice& choice);

/// Says how a graph is searched among the rows that meet a condition. All ways find the same with a
/// list that is long enough; tests and measurements ask for one.
enum class FilterPlan : std::uint8_t {
  chosen,  ///< whichever takes less
  walk,    ///< the graph is walked
  scan,    ///< the rows are compared one by one
};

/// A RefineChoice is what a search may choose of an index with a second copy of its vectors.
struct RefineChoice {
  std::uint32_t refine = 0;  ///< SearchRequest::refine
  bool candidates = false;   ///< SearchRequest::candidates
};

/// SearchBounds are what an index, its cores, or a daemon in front of them allow.
struct SearchBounds {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  layout::IndexKind kind = layout::IndexKind::graph;                  ///< the kind of index
  std::uint64_t vectors = std::numeric_limits<std::uint64_t>::max();  ///< in the index
  std::uint32_t k = kNone;
  std::uint32_t list = kNone;
  std::uint32_t width = graph::kMaxWidth;
  std::uint32_t clusters = kNone;  ///< clusters to probe
  bool refines = false;            ///< the index has a second copy of its vectors
};

/// A SearchFault is what is wrong with a search. Each interface has its own words and names for it.
enum class SearchFault : std::uint8_t {
  none,
  wrong_kind,  ///< for another kind of index
  k_zero,
  k_above_vectors,
  k_above_bound,
  list_below_k,
  list_above_bound,
  width_out_of_range,  ///< 0 or above graph::kMaxWidth
  width_above_bound,
  prune_ratio_below_one,  ///< below 1, or NaN
  clusters_zero,
  clusters_above_bound,
  no_second_copy,      ///< the index has none, by which candidates could be ranked again
  refined_candidates,  ///< candidates are asked for as they are, and to be ranked again
  refine_above_list,   ///< more candidates than the search has
};

/// Returns the first fault of a search of k results within the bounds, in the order of SearchFault.
/// All faults of searches are found here and nowhere else. Does not allocate.
SearchFault find_fault(std::uint32_t k, const SearchChoice& choice, const SearchBounds& bounds);

class SearchParameters;

/// Returns the first fault of what a search asks of a second copy of the vectors.
SearchFault find_fault(const RefineChoice& asked, const SearchParameters& search,
                       const SearchBounds& bounds);

/// Returns the fault as the status of a core: invalid_argument, or ok.
Status to_status(SearchFault fault);

/// SearchParameters are a search of one kind of index that is right in itself. check() says whether
/// an index or a core allows it.
class SearchParameters {
 public:
  /// The smallest search of a graph.
  SearchParameters() = default;

  /// Returns invalid_argument when the combination is wrong in itself.
  static Result<SearchParameters> make(std::uint32_t k, const SearchChoice& choice);
  /// Returns invalid_argument also when the bounds do not allow it.
  static Result<SearchParameters> make(std::uint32_t k, const SearchChoice& choice,
                                       const SearchBounds& bounds);

  std::uint32_t k() const { return k_; }
  const SearchChoice& choice() const { return choice_; }
  /// Returns the choice for a graph or for clusters; asking for the wrong one is a broken
  /// invariant.
  const GraphChoice& graph() const { return of<GraphChoice>(); }
  const ProbeChoice& probing() const { return of<ProbeChoice>(); }

  /// Returns the most results that a second copy can rank again: the list, or k where that is more.
  std::uint32_t candidates() const;

  /// Returns invalid_argument when the bounds do not allow it, another kind of index included.
  Status check(const SearchBounds& bounds) const {
    return to_status(find_fault(k_, choice_, bounds));
  }

 private:
  SearchParameters(std::uint32_t k, const SearchChoice& choice) : k_(k), choice_(choice) {}

  template <typename Choice>
  const Choice& of() const {
    const Choice* choice = std::get_if<Choice>(&choice_);
    FARVEC_CHECK(choice != nullptr, "a search of another kind of index");
    return *choice;
  }

  std::uint32_t k_ = 1;
  SearchChoice choice_;
};

}  // namespace farvec::search
