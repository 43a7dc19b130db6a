// What an index, or the node that serves it, allows a search to ask for.
#pragma once

#include "cli/search/asked_search.h"
#include "layout/region/manifest.h"

namespace farvec::compute_node::v1 {
class DescribeResponse;
}

namespace farvec::cli {

/// An index that is searched in this process has no limit but memory.
search::SearchBounds limits_of(const layout::Manifest& manifest);
search::SearchBounds limits_of(const compute_node::v1::DescribeResponse& node);

/// What a search of an index of that kind does with what was asked for. Throws Error naming the
/// option that asks for what is not allowed, and what is. Looks at list and width for a graph
/// alone, and at the clusters to probe for clusters alone.
search::SearchParameters check_limits(const AskedSearch& asked, const search::SearchBounds& limits);

}  // namespace farvec::cli
