// A WantedCache keeps, for the last few conditions, which rows of an index searches may return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "attributes/match_cache.h"
#include "base/row_set.h"
#include "cluster/cluster_matches.h"

namespace farvec::search {

class SearchIndex;

/// Says which rows of an index meet a condition and are not out.
struct WantedRows {
  attributes::MatchCache::Rows matches;  ///< rows that meet the condition
  std::shared_ptr<const RowSet> out;     ///< rows that were out
  std::uint64_t count = 0;               ///< rows of `matches` that are not in `out`
  RowSet others;                         ///< all other rows of the index
  /// The vertices of `others`, where a vertex has another number than its row and it is known which
  /// has which; else empty.
  RowSet other_vertices = {};
  /// The wanted rows by their clusters; none where it is not known which clusters have them.
  std::optional<cluster::ClusterMatches> by_cluster = {};
};
using WantedPointer = std::shared_ptr<const WantedRows>;

/// Belongs to one index. Threads share it.
class WantedCache {
 public:
  static constexpr std::size_t kMost = 4;

  WantedPointer rows_of(const attributes::MatchCache::Rows& matches,
                        const std::shared_ptr<const RowSet>& out, const SearchIndex& index);
  std::size_t dram_bytes() const;

 private:
  WantedPointer kept(const attributes::MatchCache::Rows& matches,
                     const std::shared_ptr<const RowSet>& out);

  mutable std::mutex mutex_;
  std::list<WantedPointer> kept_;  ///< the one that was used last comes first
};

}  // namespace farvec::search
