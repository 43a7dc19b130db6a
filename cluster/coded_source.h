// A CodedSource is where a search of coded clusters gets codes and vectors from.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "base/coded_members.h"
#include "base/posting_block.h"
#include "base/status.h"
#include "base/types.h"

namespace farvec::cluster {

/// scan() fetches the codes of `clusters` and hands out each cluster that has members, as
/// visit(CodedMembers). fetch() fetches the vectors at `addresses`, in any order, and hands out in
/// blocks, as visit(PostingBlock), each of them that it has not handed out since the search began,
/// once. The reads of one call go out together as far as its buffers hold. Both suspend. On an
/// error either ends with that status, and something may have been handed out.
template <typename Source>
concept CodedSource = requires(Source source, std::span<const ClusterId> clusters,
                               std::span<const std::uint32_t> addresses,
                               void (*scanned)(const CodedMembers&),
                               void (*fetched)(const PostingBlock&)) {
  { source.scan(clusters, scanned) } -> std::same_as<Status>;
  { source.fetch(addresses, fetched) } -> std::same_as<Status>;
};

}  // namespace farvec::cluster
