// A PostingSource is where a probe gets the vectors of its clusters from: DRAM, a memory node, an
// SSD.
#pragma once

#include <concepts>
#include <span>

#include "base/posting_block.h"
#include "base/status.h"
#include "base/types.h"

namespace farvec::cluster {

/// probe() fetches the members of `clusters` and hands out each of them at least once, in blocks of
/// any size and order, as visit(block). All its reads go out together as far as its buffers hold.
/// It suspends. On an error the probe ends with that status; some blocks may have been handed out.
/// distinct() is true when it hands out no vector twice between two searches.
template <typename Source>
concept PostingSource = requires(Source source, std::span<const ClusterId> clusters,
                                 void (*visit)(const PostingBlock&)) {
  { source.probe(clusters, visit) } -> std::same_as<Status>;
  { source.distinct() } -> std::convertible_to<bool>;
};

}  // namespace farvec::cluster
