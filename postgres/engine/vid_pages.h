// VidPages compare what an index has with the status pages of the server's relation: VIDs that
// lack, and VIDs that have no entry any more.
#pragma once

#include "collection/state/view.h"
#include "postgres/channel/requests.h"
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace farvec::postgres {

/// VIDs that are not less than `from` and less than `until`.
struct VidRange {
  std::uint64_t from = 0;
  std::uint64_t until = 0;

  bool contains(std::uint64_t vid) const { return vid >= from && vid < until; }
};

inline std::uint64_t page_of(std::uint64_t vid) {
  return vid >> ASK_PLACE_BITS;
}

/// Rows that share vectors, beside those that a view has.
struct SharedRows {
  std::vector<std::uint64_t> more;         ///< VIDs of which others have the vertices
  std::unordered_set<std::uint64_t> gone;  ///< VIDs of vertices that are there for others alone
};

/// What a comparison has found.
struct PageDifferences {
  std::vector<AskBits> lacks;       ///< for each page: VIDs that live and are not in the view
  std::vector<std::uint64_t> gone;  ///< VIDs of these pages that are in the view and do not live
};

/// Compares pages, whose numbers differ, with a view, within the range.
PageDifferences compare_pages(const collection::View& view, const SharedRows& shared,
                              std::span<const AskPage> pages, const VidRange& range);

/// Returns the VIDs of a view within the range that are on none of these pages.
std::vector<std::uint64_t> vids_elsewhere(const collection::View& view, const SharedRows& shared,
                                          const std::unordered_set<std::uint64_t>& pages,
                                          const VidRange& range);

}  // namespace farvec::postgres
