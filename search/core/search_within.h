// search_within() searches for the rows that are no farther from a query than it says.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "search/core/core_part.h"
#include "search/core/search_core.h"

namespace farvec::search {

/// Leaves the results that are no farther than request.within. They come first.
void keep_within(const SearchRequest& request, SearchAnswer& answer);

/// Works like part.search(), with the results that are no farther than request.within, k of them at
/// most. A graph is walked with a short list at first. While all results of a walk are near enough,
/// it is walked again for twice as many, with a list in proportion, up to k and the list of the
/// request. So the work follows the number of results, and the counts are those of all walks.
Status search_within(CorePart& part, std::uint32_t slot, const SearchRequest& request,
                     SearchAnswer& answer);

}  // namespace farvec::search
