// VidPages compare what an index has with the status pages of the server's relation: VIDs that
// lack, and VIDs that have no entry any more.
#pragma once

#include "collection/state/view.h"
#include "postgres/channel/requests.h"
#include <cstdint>
#include <span>
#include <unordered_map>
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

/// Which VIDs an index has at one moment. Fresh rows and those that share vectors are ordered by
/// their pages once, for the comparisons of a whole pass. It holds the view.
class HeldVids {
 public:
  HeldVids(collection::ViewPointer view, const SharedRows& shared);

  /// Returns the bits of all VIDs of a page that are there.
  AskBits of_page(std::uint64_t number) const;
  /// Returns the VIDs within the range that are on none of these pages.
  std::vector<std::uint64_t> elsewhere(const std::unordered_set<std::uint64_t>& pages,
                                       const VidRange& range) const;

 private:
  /// What segments do not say of a page.
  struct Beside {
    AskBits there;  ///< fresh rows, and rows that share
    AskBits gone;   ///< vertices that are there for others alone
  };

  bool is_gone(std::uint64_t vid) const;

  collection::ViewPointer view_;
  std::unordered_map<std::uint64_t, Beside> pages_;
};

/// What a comparison has found.
struct PageDifferences {
  std::vector<AskBits> lacks;       ///< for each page: VIDs that live and are not held
  std::vector<std::uint64_t> gone;  ///< VIDs of these pages that are held and do not live
};

/// Compares pages, whose numbers differ, within the range.
PageDifferences compare_pages(const HeldVids& held, std::span<const AskPage> pages,
                              const VidRange& range);

}  // namespace farvec::postgres
