// UpdatedMatches keep, for the last few conditions, which rows meet them after attributes were
// updated.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "attributes/columns.h"
#include "attributes/condition.h"
#include "attributes/match_cache.h"
#include "layout/attributes/updated_tuples.h"

namespace farvec::search {

using UpdatesPointer = std::shared_ptr<const layout::UpdatedTuples>;

/// Belongs to one segment. Threads share it.
class UpdatedMatches {
 public:
  static constexpr std::size_t kMost = 16;
  /// What the answers may take with the updates that they are of, each of which counts once. The
  /// last two answers are kept in any case.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  /// What is asked, and of which attributes. It borrows all but the updates.
  struct Asked {
    const attributes::Condition& condition;
    const std::string& text;  ///< the condition's
    const attributes::IdLookup& ids;
    UpdatesPointer updates;  ///< not empty
  };

  /// `matches` are the rows that met the condition before any was updated. Where the last answer
  /// for this condition is known, only rows that were updated after it are asked.
  attributes::MatchCache::Rows rows_of(const attributes::MatchCache::Rows& matches,
                                       const Asked& asked);
  /// Returns the bytes of the answers and of the updates that they are of.
  std::size_t dram_bytes() const;

 private:
  struct Answer {
    std::string text;
    UpdatesPointer updates;
    attributes::MatchCache::Rows rows;
  };

  Answer kept(const std::string& text);
  void keep(Answer answer);
  std::size_t bytes() const;

  mutable std::mutex mutex_;
  std::list<Answer> kept_;  ///< the one that was used last comes first
};

}  // namespace farvec::search
