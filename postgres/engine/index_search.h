// An IndexSearch is one search of an index, from the request to its answer.
#pragma once

#include "attributes/condition.h"
#include "base/memory.h"
#include "postgres/channel/requests.h"
#include "postgres/engine/indexes.h"
#include "postgres/engine/open_index.h"
#include "postgres/engine/request.h"
#include "search/core/search_core.h"
#include "search/index/further_matches.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace farvec::postgres {

/// It cannot be moved, because a core holds pointers into it. It is used again for other searches.
class IndexSearch final : public search::SearchTask, public search::SearchCaller {
 public:
  IndexSearch();
  IndexSearch(const IndexSearch&) = delete;
  IndexSearch& operator=(const IndexSearch&) = delete;

  /// The copy of what was asked. The members below are what it says, after prepare().
  Request asked;

  /// Returns which index is asked. Throws StatusError (invalid_argument).
  IndexName index_name() const;
  /// Checks the request in full and makes it a search of this index, which it holds then. Throws
  /// StatusError.
  void prepare(std::shared_ptr<OpenIndex> index);
  /// Says whether the process that asked waits no more. The search then ends, and the slot takes no
  /// other request before that.
  bool gave_up() const override { return asked.is_given_up(); }
  /// Answers after the search, and lets go of the index.
  void finish();

  const std::shared_ptr<OpenIndex>& index() const { return index_; }

 private:
  struct alignas(kCacheLineBytes) Line {
    std::byte bytes[kCacheLineBytes];
  };

  void set_query(std::span<const std::byte> query, const layout::CollectionManifest& shape);

  std::shared_ptr<OpenIndex> index_;
  attributes::ConditionPointer condition_;             ///< null: there is none
  std::shared_ptr<const SharedVectors::Hosts> hosts_;  ///< vertices with rows that meet it
  search::FurtherRows further_;
  std::vector<Line> query_;
  std::array<std::uint64_t, ASK_MOST_ROWS> ids_;  ///< vertices that are found
  std::array<float, ASK_MOST_ROWS> distances_;
  std::array<std::uint64_t, ASK_MOST_FOUND> vids_;  ///< their rows
  std::array<float, ASK_MOST_FOUND> row_distances_;
  std::vector<std::byte> told_;
};

}  // namespace farvec::postgres
