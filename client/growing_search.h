// A GrowingSearch asks for the rows nearest to one query again and again, each time for more. That
// gives rows page after page, and the node keeps nothing for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "search/core/asked_search.h"

namespace farvec::client {

/// It does no search itself: next() says what to ask for, and came() takes what came of it.
class GrowingSearch {
 public:
  /// `first` has the list and the clusters to probe of the first search, and an empty k. `clusters`
  /// are all that the index has; 0 for a graph.
  GrowingSearch(search::AskedSearch first, const search::SearchBounds& most,
                std::uint32_t clusters);

  /// Returns a search for at least `rows` rows, as far as there is room. Throws StatusError
  /// (resource_exhausted) where there is no room for a larger search than the last one.
  search::AskedSearch next(std::uint64_t rows);
  /// Takes how many rows the search that next() returned last has found, and how many clusters it
  /// probed.
  void came(std::size_t rows, std::uint64_t probed);

  /// Returns whether the last search found all rows that there are.
  bool complete() const { return complete_; }
  /// Returns whether there is no further search.
  bool is_last() const { return complete_ || !used_up_.empty(); }

 private:
  void end_or_probe_more(std::uint64_t probed);

  search::AskedSearch asked_;  ///< its k is that of the next search
  const search::SearchBounds most_;
  const std::uint32_t clusters_;
  const std::uint32_t list_;       ///< the least
  const std::uint32_t most_rows_;  ///< that a search has room for
  bool complete_;
  std::string used_up_;  ///< what is not large enough for a search of more; empty: there is room
};

}  // namespace farvec::client
