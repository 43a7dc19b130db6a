// A filtered part searches an index whose rows have attributes: it makes sets of rows of
// conditions.
#pragma once

#include <memory>

#include "search/core/core_part.h"
#include "search/index/search_index.h"

namespace farvec::search {

/// Makes a part that takes conditions, and the attributes of results, of one that does not. The
/// index, which is the inner part's, has attributes and must outlive the part. Its rows are their
/// own ids.
std::unique_ptr<CorePart> make_filtered_part(std::unique_ptr<CorePart> inner,
                                             const SearchIndex& index);

}  // namespace farvec::search
