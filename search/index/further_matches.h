// FurtherMatches keep, for the last few conditions, the rows that meet them together with further
// rows, which are results whether they meet them or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "attributes/match_cache.h"
#include "base/types.h"

namespace farvec::search {

/// Ids of rows, which ascend, each once. It borrows them.
struct FurtherRows {
  std::span<const std::uint64_t> ids;
  std::uint64_t number = 0;  ///< equal ones have equal ids
};

/// Belongs to one segment. Threads share it.
class FurtherMatches {
 public:
  static constexpr std::size_t kMost = 4;
  /// Appends the rows of the segment that have one of these ids.
  using Find = std::function<void(std::span<const std::uint64_t> ids, std::vector<NodeId>& rows)>;

  attributes::MatchCache::Rows rows_of(const attributes::MatchCache::Rows& matches,
                                       const FurtherRows& further, const Find& find);
  std::size_t dram_bytes() const;

 private:
  struct Answer {
    attributes::MatchCache::Rows matches;
    std::uint64_t number = 0;
    attributes::MatchCache::Rows rows;
  };

  attributes::MatchCache::Rows kept(const attributes::MatchCache::Rows& matches,
                                    std::uint64_t number);

  mutable std::mutex mutex_;
  std::list<Answer> kept_;  ///< the one that was used last comes first
};

}  // namespace farvec::search
