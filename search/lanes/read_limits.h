// Whether the reads of a tier can bring what searches of an index ask for at once.
#pragma once

#include <cstdint>
#include <string>

#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::search {

/// What a core's tier can do; asked when the core is built, so that no search finds it out.
struct ReadLimits {
  std::uint32_t read_bytes = 0;  ///< of one read
  std::string tier;              ///< for the message
};

/// Throws Error when a record is longer than one read.
void require_readable(const layout::GraphLocator& locator, const ReadLimits& limits);

/// Throws Error, naming the first one, when a list or a group, or both where one read brings them,
/// is longer than one read.
void require_readable(const layout::ClusterLocator& locator, const ReadLimits& limits);

/// Addresses of the longest list; each may be a read.
std::uint32_t longest_list(const layout::ClusterLocator& locator);

}  // namespace farvec::search
