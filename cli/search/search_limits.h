// What an index, or the node that serves it, allows a search to ask for.
#pragma once

#include <cstdint>
#include <limits>

#include "cli/search/batch_search.h"
#include "layout/region/manifest.h"

namespace farvec::compute_node::v1 {
class DescribeResponse;
}

namespace farvec::cli {

struct SearchLimits {
  std::uint64_t vectors = 0;   ///< in the index
  std::uint32_t clusters = 0;  ///< 0: a graph
  // Limits of the compute node. An index that is searched in this process has no limit but memory.
  std::uint32_t max_k = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t max_list = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t max_probe = std::numeric_limits<std::uint32_t>::max();
};

SearchLimits limits_of(const layout::Manifest& manifest);
SearchLimits limits_of(const compute_node::v1::DescribeResponse& node);

/// Throws Error naming the option that asks for what is not allowed, and what is. Looks at list and
/// width for a graph alone, and at the clusters to probe for clusters alone.
void check_limits(const BatchParameters& parameters, const SearchLimits& limits);

}  // namespace farvec::cli
