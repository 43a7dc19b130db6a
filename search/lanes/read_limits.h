// Checks whether the reads of a tier can bring what searches of an index ask for at once.
#pragma once

#include <cstdint>
#include <string>

#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::search {

/// Says what a core's tier can do. It is checked when the core is made, so that no search has to
/// find it out.
struct ReadLimits {
  std::uint32_t read_bytes = 0;  ///< the most that one read brings
  std::string tier;              ///< the tier's name in the message
};

/// Throws Error when a record is longer than one read.
void require_readable(const layout::GraphLocator& locator, const ReadLimits& limits);

/// Throws Error, naming the first one, when a list or a group is longer than one read, or both
/// together where one read brings them.
void require_readable(const layout::ClusterLocator& locator, const ReadLimits& limits);

/// Returns the number of addresses in the longest list; each may need a read.
std::uint32_t longest_list(const layout::ClusterLocator& locator);

}  // namespace farvec::search
